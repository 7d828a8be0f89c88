"""Deleters of extensions, in whole runs: what they get, and that the DELETE stays the resource's own."""

from gitsync.emulator.settings import EmulatorSettings
from gitsync.errors import GitsyncError
from gitsync.extensions.api import Extension
from gitsync.extensions.builtin.registrations import BUILT_IN
from gitsync.model.condition import Severity
from gitsync.model.verdict import Verdict
from tests.support.fault_rules import rules
from tests.support.world import GROUP, VNET, VNET_ID, World, of

CONDITIONAL = {"max_deletes": 5, "prune": True}


def with_deleter(tmp_path, delete, **settings):
    """A world whose network has was removed from git, and is deleted so."""
    world = World(tmp_path, **settings)
    world.synced(group=GROUP, vnet=VNET)
    world.extensions = (Extension(group="network.azure.com", kind="VirtualNetwork", delete=delete), *BUILT_IN)
    return world.says(group=GROUP)


def test_a_deleter_gets_the_resource_as_read_and_nothing_of_its_manifest(tmp_path):
    seen = []

    async def delete(subject, azure, next):
        seen.append(subject)
        await next(subject, azure)

    world = with_deleter(tmp_path, delete)
    assert of(world.sync(**CONDITIONAL), "VirtualNetwork").condition.reason == "Deleted"
    assert world.writes == [f"DELETE {VNET_ID}"]
    (subject,) = seen
    assert (subject.spec, subject.arm_id, subject.api_version) == ({}, VNET_ID, "2024-03-01")
    assert subject.live.body["properties"]["addressSpace"] == {"addressPrefixes": ["10.0.0.0/16"]}
    assert (subject.owner_name, str(subject.gvk)) == ("core", "VirtualNetwork.v1api20240301.network.azure.com")


def test_a_plan_reads_no_deleter(tmp_path):
    async def delete(subject, azure, next):
        raise AssertionError("a plan acts")

    world = with_deleter(tmp_path, delete)
    assert of(world.plan(**CONDITIONAL), "VirtualNetwork").verdict is Verdict.DELETE
    assert of(world.sync(), "VirtualNetwork").condition.reason == "NotPruned"


def test_what_it_does_first_does_not_block_the_delete(tmp_path):
    async def delete(subject, azure, next):
        await azure.call(f"{subject.arm_id}/empty", subject.api_version)
        await next(subject, azure)

    world = with_deleter(tmp_path, delete)
    emptied = "{match: {method: POST, path: '*/empty'}, answer: {status: 200}, move: {id: %s, set: {/tags/is: empty}}}"
    world.settings = EmulatorSettings(limits=None, rules=rules(emptied % VNET_ID))
    found = of(world.sync(**CONDITIONAL), "VirtualNetwork")
    assert found.condition.reason == "Deleted", found.condition
    assert world.writes == [f"POST {VNET_ID}/empty", f"DELETE {VNET_ID}"], "each once, though the ETag moved between"


def test_what_azure_returns_to_the_deleter_is_reported_and_the_resource_stays(tmp_path):
    async def delete(subject, azure, next):
        await azure.call(f"{subject.arm_id}/empty", subject.api_version)
        await next(subject, azure)

    denied = "{match: {method: POST, path: '*/empty'}, answer: {status: 403, code: AuthorizationFailed, message: No.}}"
    world = with_deleter(tmp_path, delete)
    world.settings = EmulatorSettings(limits=None, rules=rules(denied))
    found = of(world.sync(**CONDITIONAL), "VirtualNetwork")
    assert (found.condition.reason, found.condition.severity) == ("Failed", Severity.WARNING)
    assert found.condition.message.startswith("AuthorizationFailed: No.")
    assert (found.ending.exists, found.record is not None, world.sent("DELETE")) == (True, True, [])


def test_a_refused_delete_keeps_its_own_code_behind_a_deleter(tmp_path):
    async def delete(subject, azure, next):
        await next(subject, azure)

    world = with_deleter(tmp_path, delete)
    locked = "{match: {method: DELETE}, answer: {status: 409, code: ScopeLocked, message: Locked.}}"
    world.settings = EmulatorSettings(limits=None, rules=rules(locked))
    found = of(world.sync(**CONDITIONAL), "VirtualNetwork")
    assert (found.condition.reason, found.condition.message) == ("ScopeLocked", "Locked.")


def test_a_deleter_that_cannot_go_on_reports_why(tmp_path):
    async def delete(subject, azure, next):
        raise GitsyncError("It is still needed.", hint="Ask its users.")

    found = of(with_deleter(tmp_path, delete).sync(**CONDITIONAL), "VirtualNetwork")
    assert (found.condition.reason, found.condition.message) == ("Failed", "It is still needed.")
    assert found.condition.advice == "Ask its users."
    assert found.record is not None
