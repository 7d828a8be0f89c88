"""What the checks of a whole plan ask: nothing for what does not change, and each question once."""

from collections import Counter
from pathlib import Path

import pytest

from gitsync.model.check import CheckName
from gitsync.model.verdict import Action
from tests.support.world import SUBSCRIPTION, World

SUB = f"/subscriptions/{SUBSCRIPTION}"
GROUP = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: core, namespace: default}
spec: {location: westeurope}
"""
ACCOUNT = """\
apiVersion: storage.azure.com/v1api20230101
kind: StorageAccount
metadata: {{name: account{0:02}, namespace: default}}
spec: {{location: westeurope, kind: StorageV2, owner: {{name: core}}, sku: {{name: Standard_LRS}}}}
"""
ACCOUNTS = {f"account{number:02}": ACCOUNT.format(number) for number in range(20)}
ALL = tuple(CheckName)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def count(world: World) -> Counter[str]:
    """Requests of the last run by their path after the subscription, those of resources left out."""
    paths = (f"{request.method} {request.path}".casefold().replace(SUB, "…") for request in world.requests)
    return Counter(path for path in paths if "/resourcegroups" not in path or "microsoft.policyinsights" in path)


def test_twenty_changes_ask_each_question_once(world: World):
    report = world.says(group=GROUP, **ACCOUNTS).plan(checks=ALL)
    assert sum(result.action is Action.CREATE for result in report.results) == 21
    asked = count(world)
    provider = "get …/providers/microsoft."
    for path in ("authorization/locks", "authorization/denyassignments", "storage", "resources"):
        assert asked[provider + path] == 1, path
    assert asked["post …/providers/microsoft.storage/checknameavailability"] == 20, "one for each name"
    preflights = asked["post /providers/microsoft.resources/validateresources"]
    assert preflights == 2, "one for the type of the group, one for that of the accounts"


def test_an_unchanged_estate_asks_nothing(world: World):
    world.says(group=GROUP, **ACCOUNTS).sync(checks=())
    logs = []
    for checks in (ALL, ()):
        world.plan(checks=checks)
        logs.append(sorted((request.method, request.path) for request in world.requests))
    assert logs[0] == logs[1]


@pytest.mark.parametrize("name", ALL)
def test_a_check_that_is_not_named_asks_nothing(world: World, name: CheckName):
    world.says(group=GROUP, **ACCOUNTS).plan(checks=())
    none = count(world)
    world.plan(checks=(name,))
    one = count(world)
    assert one - none, name
    world.plan(checks=tuple(other for other in ALL if other is not name))
    assert not (one - none).keys() & (count(world) - none).keys()
