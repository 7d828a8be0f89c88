"""How many requests the checks of a large plan send, and what it announces of its sync."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gitsync.agent.checks.allowance import ALL_OF, FOR_EACH_MORE, LIMIT_REACHED
from gitsync.emulator.settings import Timing, read_settings
from gitsync.emulator.types.behaviour import Style
from gitsync.model.check import CheckName
from gitsync.report.run_facts import estimate_sync
from tests.support.world import GROUP, SUBSCRIPTION, World

ALL = tuple(name.value for name in CheckName)
COUNT = 110
"""Of accounts: without a limit, each beyond the first hundred would have a request more than the limit leaves room for.
"""
FOR_ALL = 13
"""Requests that do not grow with the plan: lists, providers, locks, quotas, a validation and policies of types."""
POLICY = f"""\
settings:
  policies:
    - {{name: europe, scope: /subscriptions/{SUBSCRIPTION}, effect: deny, if: {{field: location, notIn: [westeurope]}}}}
"""


def storage(number: int, group: str, **fields: Any) -> str:
    more = "".join(f", {name}: {value}" for name, value in fields.items())
    return (
        "apiVersion: storage.azure.com/v1api20230101\nkind: StorageAccount\n"
        f"metadata: {{name: shop{number:04}}}\n"
        f"spec: {{owner: {{name: {group}}}, location: westeurope, kind: StorageV2, sku: {{name: Standard_LRS}}{more}}}\n"
    )


def group(name: str) -> str:
    return GROUP.replace("core", name)


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    file = tmp_path / "settings.yaml"
    file.write_text(POLICY)
    made.settings = replace(read_settings(file), limits=None, operations=Timing(style=Style.DONE))
    return made


ESTATES = [  # groups; the owners of accounts; fields of each; requests for each of the riskiest; accounts of a sync; why
    (
        [group(f"g{n}") for n in range(40)],
        [f"g{max(n - 70, 0)}" for n in range(COUNT)],
        {},
        1,
        COUNT,
        "equal ones, most in one new group, and one in each of thirty-nine",
    ),
    ([group("core")], ["core"] * COUNT, {"tags": "{{number: n{number}}}"}, 2, 15, "each of another body"),
]


@pytest.mark.parametrize(("groups", "owners", "fields", "each", "synced", "why"), ESTATES, ids=[r[-1] for r in ESTATES])
def test_checks_do_not_grow_with_what_is_new(world: World, groups, owners, fields, each, synced, why):
    accounts = [
        storage(number, owner, **{name: value.format(number=number) for name, value in fields.items()})
        for number, owner in enumerate(owners)
    ]
    world.says(groups="---\n".join(groups), accounts="---\n".join(accounts))
    plan = world.plan(checks=ALL)
    changes = len(groups) + len(owners)
    checks = plan.requests.checks + plan.requests.reads - len(groups)  # each group was looked for

    # What is requested for all at once; and for each of the first hundred its name, and its policy if it has its own.
    assert checks <= FOR_ALL + each * ALL_OF + (changes - ALL_OF) * FOR_EACH_MORE, why
    said = Counter(finding.code for result in plan.results for finding in result.change.checks)
    assert said[LIMIT_REACHED] >= COUNT - ALL_OF, why
    assert all(result.change.checks for result in plan.results), "what was not asked is said"

    if synced < COUNT:
        world.says(groups="---\n".join(groups), accounts="---\n".join(accounts[:synced]))
        plan = world.plan(checks=ALL)
    need = estimate_sync(plan)
    sync = world.sync(checks=ALL)
    assert need is not None
    assert (need.checks, need.writes) == (sync.requests.checks, sync.requests.writes)
    assert sync.exit_code == 0
