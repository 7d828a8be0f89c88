"""Federated credentials and app role assignments in whole runs: made once, changed, adopted, deleted, and refused."""

from __future__ import annotations

from contextlib import suppress

import pytest

from gitsync.emulator.faults import Canned, FaultRule, Match
from gitsync.model.verdict import Action, Verdict
from tests.support.hypothesis_profile import sample
from tests.support.world import GROUP, KilledError, World

APPLICATION = """\
    apiVersion: entra.azure.com/v1
    kind: Application
    metadata:
      name: deployer
    spec:
      displayName: Deployer
    """
PRINCIPAL = """\
    apiVersion: entra.azure.com/v1
    kind: ServicePrincipal
    metadata:
      name: deployer
      annotations:
        gitsync/set: |
          spec.appId: resource("Application/deployer").status.appId
    spec:
      displayName: Deployer
      operatorSpec:
        configmaps:
          entraID: {name: deployer, key: principal}
    """
GRAPH = """\
    apiVersion: entra.azure.com/v1
    kind: ServicePrincipal
    metadata:
      name: microsoft-graph
    spec:
      appId: 00000003-0000-0000-c000-000000000000
      operatorSpec:
        creationMode: AdoptOnly
    """
CREDENTIAL = """\
    apiVersion: azure.gitsync/v1
    kind: ApplicationFederatedCredential
    metadata:
      name: main
    spec:
      owner:
        name: deployer
      issuer: https://token.actions.githubusercontent.com
      subject: repo:octocat@583231/hello@1296269:ref:refs/heads/main
    """
ROLE = """\
    apiVersion: azure.gitsync/v1
    kind: AppRoleAssignment
    metadata:
      name: reader
    spec:
      principal: ServicePrincipal/deployer
      resource: ServicePrincipal/microsoft-graph
      role: Group.Read.All
    """
ASSIGNMENT = """\
    apiVersion: authorization.azure.com/v1api20220401
    kind: RoleAssignment
    metadata:
      name: deployer
    spec:
      owner:
        group: resources.azure.com
        kind: ResourceGroup
        name: core
      principalIdFromConfig: {name: deployer, key: principal}
      roleDefinitionReference:
        wellKnownName: Contributor
    """
ESTATE = {
    "group": GROUP,
    "application": APPLICATION,
    "principal": PRINCIPAL,
    "graph": GRAPH,
    "credential": CREDENTIAL,
    "role": ROLE,
    "assignment": ASSIGNMENT,
}


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def find(report, kind, name=""):
    return next(r for r in report.results if r.key.kind == kind and name in {"", r.key.name})


def stored(world, word) -> list[dict]:
    azure = world.azure()
    return [azure.received(path) for path in azure.ids("/v1.0/") if f"/{word}/".casefold() in path.casefold()]


def test_a_repository_makes_all_that_a_workflow_needs_and_is_silent_then(world):
    planned = world.says(**ESTATE).plan()
    assert find(planned, "AppRoleAssignment").change.body["principalId"].startswith("<resource(")
    report = world.sync()
    assert report.exit_code == 0, [(r.key, r.condition) for r in report.results if not r.is_fine]
    (credential,) = stored(world, "federatedIdentityCredentials")
    assert (credential["name"], credential["audiences"]) == ("main", ["api://AzureADTokenExchange"])
    assert len(stored(world, "appRoleAssignedTo")) == 1
    assert world.sync().exit_code == 0
    assert world.writes == []


CHANGES = [
    ("subject: repo:octocat@583231", "subject: repo:octocat/", Action.UPDATE, "the subject"),
    ("issuer: https://token", "description: deploys\n      issuer: https://token", Action.UPDATE, "a description"),
    ("issuer: https://token", "audiences: [api://other]\n      issuer: https://token", Action.UPDATE, "an audience"),
]


def test_a_changed_credential_is_updated_and_given_up_again(world):
    """Each row is a credential of its own."""
    first = {f"credential-{row}": rename_credential(row) for row in range(len(CHANGES))}
    then = {name: text.replace(*row[:2]) for (name, text), row in zip(first.items(), CHANGES, strict=True)}
    world.synced(**ESTATE, **first)
    before = store_by_name(world)

    def sync(documents):
        report = world.says(**ESTATE, **documents).sync()
        for row, (_, _, action, why) in enumerate(CHANGES):
            assert find(report, "ApplicationFederatedCredential", f"row-{row}").action is action, why
        return store_by_name(world)

    changed = sync(then)
    assert [row[-1] for number, row in enumerate(CHANGES) if changed[f"row-{number}"] == before[f"row-{number}"]] == []
    world.sync()
    assert world.writes == []
    assert sync(first) == before


def rename_credential(row: int, text: str = CREDENTIAL) -> str:
    return text.replace("name: main", f"name: row-{row}", 1).replace("heads/main", f"heads/b{row}")


def store_by_name(world) -> dict[str, dict]:
    """The values of the credentials, by name."""
    return {
        body["name"]: {name: value for name, value in body.items() if value is not None}
        for body in stored(world, "federatedIdentityCredentials")
    }


def test_what_somebody_changes_is_drift_and_what_somebody_deletes_is_made_again(world):
    world.synced(**ESTATE)
    azure = world.azure()
    (path,) = [path for path in azure.ids("/v1.0/") if "/federatedidentitycredentials/" in path.casefold()]
    azure.change(path, "/subject", "repo:somebody/else:ref:refs/heads/main")
    (role,) = [path for path in azure.ids("/v1.0/") if "/approleassignedto/" in path.casefold()]
    azure.remove(role)
    planned = world.plan()
    assert find(planned, "ApplicationFederatedCredential").verdict is Verdict.DRIFTED
    assert find(planned, "AppRoleAssignment").verdict is Verdict.MISSING
    world.sync()
    assert world.sync().exit_code == 0
    assert world.writes == []
    assert len(stored(world, "appRoleAssignedTo")) == 1


def test_what_was_there_is_adopted_and_not_made_twice_and_an_adopted_one_is_kept(world):
    world.synced(**ESTATE)
    world.state = world.state.parent / "another"
    report = world.says(**ESTATE).sync()
    assert {r.action for r in report.results} <= {Action.NONE}
    assert len(stored(world, "federatedIdentityCredentials")) == len(stored(world, "appRoleAssignedTo")) == 1


def test_what_was_removed_from_git_is_deleted(world):
    world.synced(**ESTATE)
    left = {name: text for name, text in ESTATE.items() if name not in {"credential", "role"}}
    world.says(**left).sync(prune=True, max_deletes=5)
    assert stored(world, "federatedIdentityCredentials") == stored(world, "appRoleAssignedTo") == []
    world.says(group=GROUP).sync(prune=True, max_deletes=9)
    assert not world.azure().ids("/v1.0/applications/")


def test_the_delete_of_an_application_names_all_that_goes_along(world):
    world.synced(**ESTATE)
    azure = world.azure()
    (path,) = [path for path in azure.ids("/v1.0/") if "/federatedidentitycredentials/" in path.casefold()]
    azure.change(path, "/name", "by-hand")
    planned = world.says(group=GROUP, graph=GRAPH).plan(prune=True, max_deletes=9)
    message = find(planned, "Application").condition.message
    for part in ("Deployer", "by-hand", "Microsoft Graph", "/roleAssignments/"):
        assert part in message


def test_a_role_assignment_waits_for_a_principal_that_azure_does_not_find_yet(tmp_path):
    canned = Canned(status=400, code="PrincipalNotFound", message="Principal x does not exist in the directory y.")
    match = Match(methods=("PUT",), type="microsoft.authorization/roleassignments", nth=(1, 2))
    world = World(tmp_path, rules=(FaultRule(match=match, answer=canned),))
    report = world.says(**ESTATE).sync()
    assert report.exit_code == 0
    assert [find(report, "RoleAssignment").action, world.runs] == [Action.CREATE, 1]


def test_a_role_assignment_of_a_principal_that_was_there_is_not_tried_again_in_the_run(tmp_path):
    canned = Canned(status=400, code="PrincipalNotFound", message="Principal x does not exist in the directory y.")
    match = Match(methods=("PUT",), type="microsoft.authorization/roleassignments")
    world = World(tmp_path, rules=(FaultRule(match=match, answer=canned),))
    world.says(**{name: text for name, text in ESTATE.items() if name != "assignment"}).sync()
    report = world.says(**ESTATE).sync()
    assert find(report, "RoleAssignment").condition.reason == "PrincipalNotFound"
    assert len([path for path in world.writes if "roleAssignments" in path]) == 1


def test_a_role_that_the_resource_lacks_names_those_that_it_has(world):
    report = world.says(**{**ESTATE, "role": ROLE.replace("Group.Read.All", "Group.Red.All")}).sync()
    condition = find(report, "AppRoleAssignment").condition
    assert "AppRoleNotFound" in condition.message or "no app role" in condition.message
    assert "Group.Read.All" in condition.advice


FAULTS = [
    ("credential", "https://token", "http://token", "FederatedCredential", "an issuer without TLS"),
    ("credential", "https://token.actions.githubusercontent.com", "'https://['", "FederatedCredential", "no URL"),
    ("credential", "subject: repo", f"subject: {'x' * 600}repo", "FederatedCredential", "a long subject"),
    ("credential", "issuer:", "audiences: [a, b]\n      issuer:", "FederatedCredential", "two audiences"),
    ("credential", "issuer:", "audiences: []\n      issuer:", "FederatedCredential", "no audience"),
    ("credential", "issuer:", "azureName: a.b\n      issuer:", "AzureName", "a dot in a name"),
    ("credential", "issuer:", "azureName: ab\n      issuer:", "AzureName", "a short name"),
    ("role", "ServicePrincipal/deployer", "ServicePrincipal/deployr", "PrincipalReference", "no such principal"),
    ("role", "ServicePrincipal/deployer", "Application/deployer", "PrincipalReference", "an application"),
    ("role", "ServicePrincipal/deployer", "ResourceGroup/core", "PrincipalReference", "no principal"),
    ("role", "ServicePrincipal/deployer", "deployer", "PrincipalReference", "no name of a manifest"),
    ("role", "ServicePrincipal/microsoft-graph", "Application/deployer", "PrincipalReference", "no API"),
    ("role", "role: Group.Read.All", 'role: ""', "PrincipalReference", "no role"),
]


def test_a_wrong_manifest_is_a_problem(world):
    """Each row is a credential or a role of its own, in a file of its own."""
    wrong = {}
    for row, (name, old, new, _, _) in enumerate(FAULTS):
        text = ESTATE[name].replace(old, new, 1)
        wrong[f"row-{row}"] = rename_credential(row, text) if name == "credential" else rename_role(row, text)
    problems = world.says(**ESTATE, **wrong).plan().problems
    found = [(problem.location.partition(".")[0], problem.code) for problem in problems]
    for row, (_, _, _, code, why) in enumerate(FAULTS):
        assert [problem for name, problem in found if name == f"row-{row}"] == [code], why
    assert len(found) == len(FAULTS)


def rename_role(row: int, text: str) -> str:
    return text.replace("name: reader", f"name: row-{row}").replace("Group.Read.All", f"Role.{row}")


def test_an_application_has_at_most_twenty_credentials(world):
    """Each row is an application of its own."""
    rows = {20: 0, 21: 1, 23: 3}
    documents = {f"of-{count}": declare_many(count) for count in rows}
    report = world.says(**documents).plan()
    assert {problem.code for problem in report.problems} == {"FederatedCredential"}
    found = [problem.location.partition(".")[0] for problem in report.problems]
    assert {count: found.count(f"of-{count}") for count in rows} == rows


def declare_many(count: int) -> str:
    """An application with so many credentials."""
    application = APPLICATION.replace("deployer", f"app-{count}").replace("Deployer", f"App {count}")
    credentials = [rename_credential(row).replace("deployer", f"app-{count}") for row in range(count)]
    return "---\n".join([application, *(text.replace("name: row-", f"name: of-{count}-", 1) for text in credentials)])


def test_two_credentials_cannot_trust_the_same_token(world):
    twice = f"{CREDENTIAL}---\n{CREDENTIAL.replace('name: main', 'name: again', 1)}"
    report = world.says(**{**ESTATE, "credential": twice}).plan()
    assert [problem.code for problem in report.problems] == ["FederatedCredential"]


@pytest.mark.parametrize("moment", sample(range(1, 31)))
def test_a_run_that_was_killed_is_finished_by_the_next_without_a_second_object(world, moment):
    world.says(**ESTATE).kill_after = moment
    with suppress(KilledError):
        world.sync()
    world.kill_after = None
    assert world.sync().exit_code == 0
    assert world.sync().exit_code == 0
    assert world.writes == []
    assert [len(stored(world, word)) for word in ("federatedIdentityCredentials", "appRoleAssignedTo")] == [1, 1]
    assert len([path for path in world.azure().ids("/v1.0/applications/") if path.count("/") == 3]) == 1
