"""What fails the turn of one resource, and not the run: internal errors, and faults of other packages' extensions."""

from __future__ import annotations

import pytest

from gitsync.errors import CatalogError
from gitsync.extensions.api import Extension, proceed, success
from gitsync.extensions.registry import BUILT_IN
from gitsync.extensions.third_party import guard_extension
from gitsync.model.condition import Severity
from gitsync.model.record import Claim
from gitsync.model.verdict import Action, Verdict
from tests.support.world import GROUP, SUBNET, VNET, VNET_ID, World, of

VNETS = ("network.azure.com", "VirtualNetwork")


def raising(error):
    async def check(subject, azure, next):
        raise error

    return check


def extended(world: World, *extensions: Extension) -> World:
    world.extensions = (*extensions, *BUILT_IN)
    return world


@pytest.mark.parametrize("error", [KeyError("value of a manifest"), CatalogError("The facts are damaged.")])
@pytest.mark.parametrize("writes", [True, False], ids=["sync", "plan"])
def test_an_internal_error_ends_one_turn_and_the_run_with_70(tmp_path, error, writes):
    world = extended(World(tmp_path), Extension(group=VNETS[0], kind=VNETS[1], pre_check=raising(error)))
    world.says(group=GROUP, vnet=VNET, subnet=SUBNET)
    report = world.sync() if writes else world.plan()
    broken = of(report, "VirtualNetwork")
    assert (report.exit_code, broken.ending.fault, broken.verdict) == (70, error, Verdict.UNKNOWN)
    assert type(error).__name__ in broken.condition.message
    assert "value of a manifest" not in broken.condition.message
    assert (broken.condition.reason, broken.condition.severity) == ("Failed", Severity.WARNING)
    assert of(report, "ResourceGroup").is_fine, "the rest went on"
    assert of(report, "VirtualNetworksSubnet").verdict is Verdict.BLOCKED, "what depends on it did not"


def test_a_fault_after_the_write_loses_nothing_of_it(tmp_path):
    broken = Extension(group=VNETS[0], kind=VNETS[1], post_check=raising(KeyError("x")))
    world = extended(World(tmp_path), broken).says(group=GROUP, vnet=VNET)
    found = of(world.sync(), "VirtualNetwork")
    assert (found.action, found.record.claim, found.record.condition.reason) == (
        Action.CREATE,
        Claim.CREATED,
        "Failed",
    )
    assert '"reason": "Failed"' in next(world.state.rglob("hub.json")).read_text()
    assert of(extended(world).sync(), "VirtualNetwork").condition.is_ready
    assert world.writes == []


def test_a_fault_is_not_tried_again_after_prunes(tmp_path):
    """It could end better then, and no one would hear of it."""
    requested = []

    async def once(subject, azure, next):
        requested.append(subject.key.name)
        raise KeyError(len(requested))

    world = World(tmp_path).says(group=GROUP, vnet=VNET, old=VNET.replace("name: hub", "name: old"))
    world.sync()
    extended(world, Extension(group=VNETS[0], kind=VNETS[1], pre_check=once)).says(group=GROUP, vnet=VNET)
    report = world.sync(prune=True)
    assert of(report, "VirtualNetwork", "old").action is Action.DELETE
    assert (report.exit_code, requested) == (70, ["hub"])


def theirs(**points) -> Extension:
    return guard_extension(Extension(group=VNETS[0], kind=VNETS[1], **points), "acme")


async def answers_nothing(subject, azure, next):
    return None


def is_not_asynchronous(subject, azure, next):
    return proceed()


def breaks_off(*_, **__):
    raise LookupError("no such team")


THEIRS = [
    ({"owner_check": raising(LookupError("no such team"))}, "LookupError: no such team", "an owner check"),
    ({"pre_check": raising(LookupError("no such team"))}, "LookupError: no such team", "a pre-check"),
    ({"post_check": raising(LookupError("no such team"))}, "LookupError: no such team", "a post-check"),
    ({"modify": breaks_off}, "LookupError: no such team", "a body modifier"),
    ({"pre_check": answers_nothing}, "it returned a NoneType, not a CheckResult", "a forgotten return"),
    ({"modify": lambda body, subject: None}, "it returned a NoneType, not a Mapping", "a forgotten return"),
    ({"pre_check": is_not_asynchronous}, "TypeError", "not asynchronous"),
]


@pytest.mark.parametrize(("points", "told", "why"), THEIRS, ids=[row[-1] for row in THEIRS])
def test_an_extension_that_fails_means_that_the_check_could_not_be_made(tmp_path, points, told, why):
    world = extended(World(tmp_path), theirs(**points)).says(group=GROUP, vnet=VNET)
    report = world.sync()
    found = of(report, "VirtualNetwork")
    assert (report.exit_code, found.ending.fault, found.verdict) == (1, None, Verdict.BLOCKED), why
    assert (found.condition.reason, found.condition.severity) == ("Failed", Severity.WARNING)
    assert found.condition.message.startswith("The extension 'acme' failed: ")
    assert told in found.condition.message
    assert of(report, "ResourceGroup").condition.is_ready


def test_a_classifier_that_fails_is_reported(tmp_path):
    from tests.support.fault_rules import rules

    refused = "{match: {method: PUT, type: Microsoft.Network/virtualNetworks}, answer: {code: Bad, status: 400}}"
    world = extended(World(tmp_path, rules=rules(refused)), theirs(classify=breaks_off))
    report = world.says(group=GROUP, vnet=VNET).sync()
    assert "LookupError: no such team" in of(report, "VirtualNetwork").condition.message
    assert report.exit_code == 1
    assert [attempt.code for attempt in of(report, "VirtualNetwork").attempts] == ["Bad"], "what Azure said shows"


def test_an_internal_error_behind_an_extension_stays_one(tmp_path):
    async def prompts_on(subject, azure, next):
        return await next(subject, azure)

    ours = Extension(group=VNETS[0], kind=VNETS[1], pre_check=raising(KeyError("x")))
    world = extended(World(tmp_path), theirs(pre_check=prompts_on), ours).says(group=GROUP, vnet=VNET)
    assert world.sync().exit_code == 70


def test_an_extension_may_query_azure_and_what_azure_refuses_is_not_its_mistake(tmp_path):
    async def asks(subject, azure, next):
        await azure.get("/subscriptions/0/resourceGroups/none/providers/Nobody.Knows", "2024-01-01")
        return success()

    world = extended(World(tmp_path), theirs(pre_check=asks)).says(group=GROUP, vnet=VNET)
    found = of(world.sync(), "VirtualNetwork")
    assert "acme" not in found.condition.message


def test_an_operation_is_remembered_by_a_run_that_could_not_look(tmp_path):
    from gitsync.emulator.settings import Denial, EmulatorSettings, Timing

    world = World(tmp_path).says(group=GROUP)
    world.sync()
    world.settings = EmulatorSettings(limits=None, operations=Timing(seconds=600, polls=1))
    begun = of(world.says(group=GROUP, vnet=VNET).sync(run_timeout=30.0), "VirtualNetwork").record.writes.operation
    world.settings = EmulatorSettings(limits=None, denied=(Denial(action="*virtualNetworks/read"),))
    assert of(world.sync(), "VirtualNetwork").record.writes.operation == begun
    world.settings = EmulatorSettings(limits=None)
    found = of(world.sync(), "VirtualNetwork")
    assert (found.condition.is_ready, found.record.writes.operation) == (True, None)
    assert VNET_ID not in world.sent("PUT")
