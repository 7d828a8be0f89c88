"""Bodies that cannot be made of a manifest alone, in whole runs: roles by name, and vaults that were deleted."""

from gitsync.emulator.identity.roles import BUILT_IN
from gitsync.emulator.settings import EmulatorSettings
from gitsync.model.condition import Severity
from gitsync.model.result import Stage
from gitsync.model.verdict import Action, Verdict
from gitsync.repository.git.state.plan_file import encode_plan
from tests.support.fault_rules import rules
from tests.support.world import GROUP, GROUP_ID, SUBSCRIPTION, World, of

ROLES = "/providers/Microsoft.Authorization/roleDefinitions"


def assignment(name="reads", role="Reader"):
    return f"""\
    apiVersion: authorization.azure.com/v1api20220401
    kind: RoleAssignment
    metadata:
      name: {name}
    spec:
      owner:
        name: core
        group: resources.azure.com
        kind: ResourceGroup
      principalId: 5a9ad4b2-3f0c-4d6b-9c3e-2f6f6f6f6f6f
      roleDefinitionReference:
        wellKnownName: {role}
    """


def role_id(name):
    return f"/subscriptions/{SUBSCRIPTION}{ROLES}/{BUILT_IN[name]}"


def bodies(world, kind, method="PUT"):
    return [r.body for r in world.requests if r.method == method and kind.casefold() in r.path.casefold()]


def test_a_role_is_assigned_by_its_name(tmp_path):
    world = World(tmp_path)
    found = of(world.says(group=GROUP, a=assignment(role="reader")).sync(), "RoleAssignment")
    assert found.condition.is_ready, found.condition
    assert [body["properties"]["roleDefinitionId"] for body in bodies(world, "roleAssignments")] == [role_id("Reader")]
    assert found.record.spec.applied["properties"]["roleDefinitionId"] == role_id("Reader")


def test_a_name_is_not_drift(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP, a=assignment())
    assert of(world.sync(), "RoleAssignment").verdict is Verdict.IN_SYNC
    assert world.writes == []
    found = of(world.plan(), "RoleAssignment")
    assert (found.verdict, found.differences) == (Verdict.IN_SYNC, ())


def test_what_was_assigned_by_its_id_is_in_sync_by_its_name(tmp_path):
    world = World(tmp_path)
    by_id = assignment().replace("wellKnownName: Reader", f"armId: {role_id('Reader')}")
    world.synced(group=GROUP, a=by_id)
    assert of(world.says(group=GROUP, a=assignment()).sync(), "RoleAssignment").verdict is Verdict.IN_SYNC
    assert world.writes == []


def test_roles_are_listed_once_in_a_run(tmp_path):
    pages = {"plan": [], "sync": []}
    for count in (1, 3):
        (tmp_path / str(count)).mkdir()
        world = World(tmp_path / str(count))
        named = {
            f"a{number}": assignment(f"a{number}", role) for number, role in zip(range(count), BUILT_IN, strict=False)
        }
        world.says(group=GROUP, **named)
        for run, listed in pages.items():
            report = getattr(world, run)()
            assert [r.verdict for r in report.results if r.key.kind == "RoleAssignment"] == [Verdict.CREATE] * count
            listed.append(sum(r.path == ROLES for r in world.requests))
            assert run == "sync" or {r.method for r in world.requests} == {"GET"}
    assert all(few == many > 0 for few, many in pages.values()), pages


def test_a_name_that_no_built_in_role_has_is_reported(tmp_path):
    world = World(tmp_path)
    roles = {"a0": "Raeder", "a1": "Keeper of the lights"}
    world.says(group=GROUP, **{name: assignment(name, role) for name, role in roles.items()})
    for report in (world.plan(), world.sync()):
        for name, role in roles.items():
            found = of(report, "RoleAssignment", name)
            assert found.verdict is Verdict.BLOCKED
            assert (found.condition.reason, found.condition.severity) == ("Failed", Severity.WARNING)
            assert found.condition.message == (
                f'unable to find Azure built-in role-definition with well-known name "{role}" '
                "(see https://learn.microsoft.com/azure/role-based-access-control/built-in-roles)"
            )
        assert bodies(world, "roleAssignments") == []


def test_roles_that_cannot_be_listed_are_unknown_and_nothing_is_sent(tmp_path):
    denied = rules(
        "{match: {method: GET, path: '*/roleDefinitions'}, answer: {status: 403, code: AuthorizationFailed}}"
    )
    world = World(tmp_path, rules=denied)
    found = of(world.says(group=GROUP, a=assignment()).sync(), "RoleAssignment")
    assert (found.verdict, found.condition.reason) == (Verdict.UNKNOWN, "Failed")
    assert found.condition.message.startswith("AuthorizationFailed")
    assert bodies(world, "roleAssignments") == []
    world.settings = EmulatorSettings(limits=None)
    assert of(world.sync(), "RoleAssignment").condition.is_ready


VAULT_ID = f"{GROUP_ID}/providers/Microsoft.KeyVault/vaults/safe-in-azure"
DELETED_ID = (
    f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.KeyVault/locations/westeurope/deletedVaults/safe-in-azure"
)
VAULT_API = "2023-07-01"


def vault(mode, owner="core", name="safe"):
    return f"""\
    apiVersion: keyvault.azure.com/v1api20230701
    kind: Vault
    metadata:
      name: {name}
    spec:
      azureName: {name}-in-azure
      location: westeurope
      owner:
        name: {owner}
      properties:
        createMode: {mode}
        tenantId: 00000000-0000-0000-0000-00000000000a
        sku: {{family: A, name: standard}}
        accessPolicies: []
    """


OTHER = GROUP.replace("name: core", "name: other")
BODY = {
    "location": "westeurope",
    "properties": {
        "tenantId": "00000000-0000-0000-0000-00000000000a",
        "sku": {"family": "A", "name": "standard"},
        "accessPolicies": [],
    },
}


def with_deleted_vault(tmp_path, mode, owner="core", **settings):
    """A world in which a vault of the name was deleted from the group `core`."""
    world = World(tmp_path, **settings)
    world.synced(group=GROUP, other=OTHER)
    world.outside("PUT", VAULT_ID, BODY, VAULT_API)
    world.outside("DELETE", VAULT_ID, api_version=VAULT_API)
    return world.says(group=GROUP, other=OTHER, vault=vault(mode, owner))


def modes_sent(world):
    return [body["properties"]["createMode"] for body in bodies(world, "/vaults/")]


MODES = ("createOrRecover", "purgeThenCreate")
BOTH = {mode: vault(mode, name=mode.lower()) for mode in MODES}
"""A vault of each mode."""


def test_a_vault_without_a_deleted_one_is_created(tmp_path):
    world = World(tmp_path).says(group=GROUP, **BOTH)
    plan, done = world.plan(), world.sync()
    for mode in MODES:
        planned, found = (of(report, "Vault", mode.lower()) for report in (plan, done))
        assert (planned.verdict, planned.condition.message) == (Verdict.CREATE, ""), mode
        assert found.condition.is_ready, found.condition
        assert "createMode" not in found.record.spec.applied["properties"], mode
    assert modes_sent(world) == ["default"] * 2
    assert world.sent("POST") == []


def test_of_a_vault_that_is_there_no_deleted_one_is_looked_for(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP, **BOTH)
    silent = world.sync()
    for mode in MODES:
        found = of(silent, "Vault", mode.lower())
        assert (found.verdict, found.comparison.unverified) == (Verdict.IN_SYNC, ()), mode
    assert [r.path for r in world.requests if "deletedVaults" in r.path] == []
    report = world.says(
        group=GROUP, **{mode: text.replace("standard", "premium") for mode, text in BOTH.items()}
    ).sync()
    assert {mode: of(report, "Vault", mode.lower()).action for mode in MODES} == dict.fromkeys(MODES, Action.UPDATE)
    assert modes_sent(world) == ["default"] * 2


def test_a_deleted_vault_is_recovered(tmp_path):
    world = with_deleted_vault(tmp_path, "createOrRecover")
    planned = of(world.plan(), "Vault")
    assert (planned.verdict, planned.condition.reason) == (Verdict.CREATE, "Planned")
    assert planned.condition.message == "Would recover the deleted vault safe-in-azure."
    assert {r.method for r in world.requests} == {"GET"}
    found = of(world.sync(), "Vault")
    assert found.condition.is_ready, found.condition
    assert modes_sent(world) == ["recover"]
    assert of(world.sync(), "Vault").verdict is Verdict.IN_SYNC


def test_what_git_changed_in_between_is_sent_to_a_vault_that_was_recovered(tmp_path):
    """Azure gives back the vault as it was, and takes nothing of the body that recovers it."""
    world = with_deleted_vault(tmp_path, "createOrRecover")
    world.says(group=GROUP, other=OTHER, vault=vault("createOrRecover").replace("standard", "premium"))
    found = of(world.sync(), "Vault")
    assert found.condition.is_ready, found.condition
    assert modes_sent(world) == ["recover", "default"]
    assert world.read(VAULT_ID)["properties"]["sku"]["name"] == "premium"
    assert of(world.sync(), "Vault").verdict is Verdict.IN_SYNC


def test_a_deleted_vault_is_purged(tmp_path):
    world = with_deleted_vault(tmp_path, "purgeThenCreate")
    planned = of(world.plan(), "Vault")
    assert planned.condition.message.startswith("Would purge the deleted vault safe-in-azure, with all its contents")
    assert {r.method for r in world.requests} == {"GET"}
    found = of(world.sync(), "Vault")
    assert found.condition.is_ready, found.condition
    assert world.writes == [f"POST {DELETED_ID}/purge", f"PUT {VAULT_ID}"]
    assert modes_sent(world) == ["default"]
    assert of(world.sync(), "Vault").verdict is Verdict.IN_SYNC


def test_a_deleted_vault_of_another_group_is_not_recovered(tmp_path):
    world = with_deleted_vault(tmp_path, "createOrRecover", owner="other")
    for report in (world.plan(), world.sync()):
        found = of(report, "Vault")
        assert (found.verdict, found.condition.reason) == (Verdict.BLOCKED, "Failed")
        assert found.condition.severity is Severity.ERROR
        assert "was in resource group core, and cannot be recovered to other" in found.condition.message
        assert modes_sent(world) == []


def test_a_purge_requests_no_group(tmp_path):
    world = with_deleted_vault(tmp_path, "purgeThenCreate", owner="other")
    assert of(world.sync(), "Vault").condition.is_ready


FAULTS = {
    "denied": ("answer: {status: 403, code: AuthorizationFailed}", "AuthorizationFailed"),
    "busy": ("answer: {status: 503, code: ServerBusy}", "ServerBusy"),
    "dropped": ("drop: before", "UnknownError"),
}


def test_a_look_up_without_an_answer_is_unknown(tmp_path):
    """Each row is a vault of each mode, of which it is unknown whether one was deleted."""
    rows = {f"{fault}{number}": fault for fault in FAULTS for number in range(len(MODES))}
    world = World(tmp_path)
    world.synced(group=GROUP)
    failing = (
        f"{{match: {{method: GET, path: '*/deletedVaults/{name}-in-azure'}}, {FAULTS[fault][0]}}}"
        for name, fault in rows.items()
    )
    world.settings = EmulatorSettings(limits=None, rules=rules(*failing))
    vaults = {name: vault(MODES[int(name[-1])], name=name) for name in rows}
    report = world.says(group=GROUP, **vaults).sync(resource_timeout=60.0)
    for name, fault in rows.items():
        found = of(report, "Vault", name)
        assert found.verdict is Verdict.UNKNOWN, name
        assert found.condition.message.startswith(FAULTS[fault][1]), found.condition
    assert [line for line in world.writes if "KeyVault" in line] == []


def test_a_purge_that_fails_is_a_warning_and_nothing_is_created(tmp_path):
    failing = rules(
        "{match: {method: POST, path: '*/purge'}, answer: {status: 400, code: LocationRequired, message: No.}}"
    )
    world = with_deleted_vault(tmp_path, "purgeThenCreate")
    world.settings = EmulatorSettings(limits=None, rules=failing)
    found = of(world.sync(resource_timeout=60.0), "Vault")
    assert (found.condition.reason, found.condition.severity) == ("Failed", Severity.WARNING)
    assert found.condition.message.startswith("LocationRequired: No."), "a class of the code would be fatal"
    assert modes_sent(world) == []
    assert {attempt.stage for attempt in found.attempts} == {Stage.ACT}


def test_nothing_is_looked_up_nor_purged_under_policy_skip(tmp_path):
    world = with_deleted_vault(tmp_path, "purgeThenCreate")
    skipped = vault("purgeThenCreate").replace(
        "name: safe\n", "name: safe\n      annotations: {serviceoperator.azure.com/reconcile-policy: skip}\n", 1
    )
    world.synced(group=GROUP, other=OTHER, vault=skipped)
    assert [r.path for r in world.requests if "deletedVaults" in r.path] == []


def test_a_sync_purges_nothing_that_the_reviewed_plan_did_not_report(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP)
    world.says(group=GROUP, vault=vault("purgeThenCreate"))
    file = tmp_path / "plan.json"
    file.write_text(encode_plan(world.plan(plan_out=str(file)).plan.review))
    world.outside("PUT", VAULT_ID, BODY, VAULT_API)
    world.outside("DELETE", VAULT_ID, api_version=VAULT_API)
    found = of(world.sync(plan_file=str(file)), "Vault")
    assert (found.condition.reason, world.writes) == ("PlanOutdated", [])
    file.write_text(encode_plan(world.plan(plan_out=str(file)).plan.review))
    assert of(world.sync(plan_file=str(file)), "Vault").condition.is_ready
    assert world.sent("POST") == [f"{DELETED_ID}/purge"]
