"""Owners that Azure lacks and that no manifest of the run declares: reported once, not asked for again and again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitsync.emulator.settings import EmulatorSettings
from gitsync.model.limits import ARM_LIMITS, Limit, RequestKind
from gitsync.model.verdict import Action, Verdict
from tests.agent.run.test_scenarios import ASSIGNMENT, IDENTITY
from tests.agent.run.test_secret_digests import KEY
from tests.support.fault_rules import rules
from tests.support.world import GROUP, GROUP_ID, SUBNET, SUBNET_ID, VNET, VNET_ID, World, annotated, of

ABSENT_ID = GROUP_ID.replace("core", "absent")
ACCOUNT_ID = f"{GROUP_ID}/providers/Microsoft.Storage/storageAccounts/absent"
PRINCIPAL = "principalIdFromConfig: {name: me, key: principal}"
LITERAL = "principalId: 11111111-1111-1111-1111-111111111111"
RULE = """\
    apiVersion: dbforpostgresql.azure.com/v1api20240801
    kind: FlexibleServersFirewallRule
    metadata:
      name: office
    spec:
      owner:
        armId: {owner}
      startIpAddress: 1.2.3.4
      endIpAddress: 1.2.3.4
    """


def owned_by(document: str, arm_id: str) -> str:
    """The document with an owner that it names by id."""
    lines = document.splitlines(keepends=True)
    start = next(location for location, line in enumerate(lines) if line.strip() == "owner:")
    end = next(
        location for location, line in enumerate(lines[start + 1 :], start + 1) if not line.startswith("        ")
    )
    return "".join((*lines[: start + 1], f"        armId: {arm_id}\n", *lines[end:]))


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def test_nothing_is_written_below_a_group_that_is_absent(world):
    """Each assignment uses an identity that the run creates, so a missing resource may be one that does not show yet."""
    assignments = {
        f"a{number}": owned_by(ASSIGNMENT, ABSENT_ID)
        .replace("reader", f"reader{number}")
        .replace("81ae7", f"81ae{number}")
        for number in range(5)
    }
    world.says(group=GROUP, identity=IDENTITY, **assignments)
    planned, begin = world.plan(), world.clock.monotonic()
    synced = world.sync()
    assert world.clock.monotonic() - begin < 10, "nothing is waited for"
    assert len(world.writes) == 2, "the group and the identity"
    for report in (planned, synced):
        found = of(report, "RoleAssignment", "reader0")
        assert (found.verdict, found.condition.reason, report.exit_code) == (
            Verdict.BLOCKED,
            "ResourceGroupNotFound",
            1,
        )
        assert found.message == "Resource group 'absent' could not be found."
    world.outside("PUT", ABSENT_ID, {"location": "westeurope"})
    assert (world.sync().exit_code, len(world.writes)) == (0, 5), "the next run looks again"
    world.outside("DELETE", ABSENT_ID)
    found = of(world.sync(), "RoleAssignment", "reader0")
    assert (found.condition.reason, found.record.claim.is_ours) == ("ResourceGroupNotFound", True)
    assert world.writes == []


@pytest.mark.parametrize(
    ("documents", "kind", "writes", "reason", "why"),
    [
        (
            {"one": owned_by(SUBNET, f"{GROUP_ID}/providers/Microsoft.Network/virtualNetworks/absent")},
            "VirtualNetworksSubnet",
            1,
            "ParentResourceNotFound",
            "the read says that there is no network, so no subnet; the write that it needs one",
        ),
        (
            {"role": owned_by(ASSIGNMENT, ACCOUNT_ID), "identity": IDENTITY},
            "RoleAssignment",
            1,
            "ResourceNotFound",
            "only the write says so, and the identity was created by this run",
        ),
        (
            {"rule": RULE.format(owner=f"{GROUP_ID}/providers/Microsoft.DBforPostgreSQL/flexibleServers/absent")},
            "FlexibleServersFirewallRule",
            0,
            "Failed",
            "the state of the server is checked before",
        ),
    ],
)
def test_an_absent_owner_is_final(world, documents, kind, writes, reason, why):
    begin = world.clock.monotonic()
    found = of(world.says(group=GROUP, **documents).sync(), kind)
    assert (found.condition.reason, found.action, found.is_fine) == (reason, Action.NONE, False), why
    assert len([path for path in world.sent("PUT") if path == found.arm_id]) == writes
    assert world.clock.monotonic() - begin < 10
    if not writes:  # now that the group exists
        assert of(world.plan(), kind).message == found.message, "a plan sees it too"


def test_an_owner_by_id_that_the_run_creates_is_not_absent(world):
    world.says(group=GROUP, net=VNET, one=owned_by(SUBNET, VNET_ID))
    assert of(world.plan(), "VirtualNetworksSubnet").action is Action.CREATE
    assert world.sync().exit_code == 0


def test_what_is_only_read_is_absent_as_its_owner_is(world):
    document = annotated(owned_by(ASSIGNMENT, ABSENT_ID).replace(PRINCIPAL, LITERAL), reconcile_policy="skip")
    found = of(world.says(role=document).plan(), "RoleAssignment")
    assert (found.verdict, found.condition.reason) == (Verdict.SKIP, "AzureResourceNotFound")


def test_a_unit_may_wait_for_an_owner_that_is_absent_in_azure(world):
    wait = "units:\n  - {path: ., missingOwner: wait}\n"
    world.says(gitsync=wait, one=owned_by(ASSIGNMENT, ABSENT_ID).replace(PRINCIPAL, LITERAL))
    for report in (world.plan(), world.sync()):
        found = of(report, "RoleAssignment")
        assert (found.condition.reason, found.ending.is_tolerated, report.exit_code) == (
            "ResourceGroupNotFound",
            True,
            0,
        )
    assert world.writes == []


def test_an_owner_that_another_repository_declares_is_waited_for(tmp_path):
    (tmp_path / "platform").mkdir()
    platform = World(tmp_path / "platform").says(group=GROUP.replace("core", "absent"))
    platform.sync(digest_key=KEY)
    platform.outside("DELETE", ABSENT_ID)
    (tmp_path / "team").mkdir()
    team = World(tmp_path / "team").says(
        group=GROUP, identity=IDENTITY, role=ASSIGNMENT.replace("name: core", "name: absent")
    )
    report = team.sync(digest_key=KEY, known_from=(str(platform.state),), run_timeout=60.0)
    found = of(report, "RoleAssignment")
    assert (found.condition.reason, report.exit_code) == ("ResourceGroupNotFound", 1)
    assert team.sent("PUT").count(found.arm_id) > 1


@pytest.mark.parametrize(
    ("named", "tries", "why"),
    [
        ("/virtualNetworks/elsewhere/subnets/one", 1, "nothing of this run, though in its group"),
        ("/virtualNetworks/hub", 2, "what this run created"),
        ("/virtualNetworks/hub/subnets/inline", 2, "a part of it"),
    ],
)
def test_a_reference_is_waited_for_if_azure_names_what_the_run_created(world, named, tries, why):
    text = f"Resource {GROUP_ID}/providers/Microsoft.Network{named} referenced by resource {SUBNET_ID} was not found."
    missing = f"{{match: {{method: PUT, path: '*/subnets/one', nth: 1}}, answer: {{code: InvalidResourceReference, status: 400, message: {text}}}}}"
    world.settings = EmulatorSettings(limits=None, rules=rules(missing))
    found = of(world.says(group=GROUP, net=VNET, one=SUBNET).sync(), "VirtualNetworksSubnet")
    assert world.sent("PUT").count(SUBNET_ID) == tries, why
    assert found.condition.is_ready is (tries == 2)


@pytest.mark.parametrize(
    ("document", "tries", "why"),
    [
        (ASSIGNMENT, 2, "an identity of this run may not have reached the directory"),
        (ASSIGNMENT.replace(PRINCIPAL, LITERAL), 1, "no run creates a principal whose id is in a manifest"),
    ],
)
def test_a_principal_is_waited_for_if_the_run_may_have_created_it(world, document, tries, why):
    missing = "{match: {method: PUT, type: Microsoft.Authorization/roleAssignments, nth: 1}, answer: {code: PrincipalNotFound, status: 400}}"
    world.settings = EmulatorSettings(limits=None, rules=rules(missing))
    found = of(world.says(group=GROUP, identity=IDENTITY, role=document).sync(), "RoleAssignment")
    assert world.sent("PUT").count(found.arm_id) == tries, why
    assert found.condition.is_ready is (tries == 2)


class Slow(World):
    """A world in which the run may write three times, and then waits long for each write."""

    def access(self, url):
        return replace(super().access(url), limits={**ARM_LIMITS, RequestKind.WRITES: Limit(3, 0.001)})


def test_the_last_azure_answer_is_the_reason_when_the_time_is_up(tmp_path):
    world = Slow(tmp_path)
    busy = "{match: {method: PUT, type: Microsoft.Network/virtualNetworks}, answer: {code: AnotherOperationInProgress}}"
    world.settings = EmulatorSettings(limits=None, rules=rules(busy))
    found = of(world.says(group=GROUP, net=VNET).sync(run_timeout=60.0), "VirtualNetwork")
    assert found.attempts[-1].code == "DeadlineExceeded", "the last try was not sent"
    assert found.condition.reason == "AnotherOperationInProgress"
