"""The permissions of Microsoft Graph that the groups of a source need: what is missing, and the commands for it."""

from __future__ import annotations

import json
import shlex
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.emulator.graph.graph_settings import GraphSettings
from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import EmulatedPrincipal, EmulatorSettings
from gitsync.model.provider import Provider
from gitsync.providers.entra import graph_permissions
from gitsync.providers.entra.graph_permissions import (
    GROUP_READ,
    GROUP_WRITE,
    list_missing,
)
from tests.leaks.hunting import Hunt
from tests.support.command_line import SUBSCRIPTION, in_background, run_here
from tests.support.private_ca import make
from tests.support.provided import prepare_all

CLIENT = "11111111-1111-4111-8111-111111111111"
OBJECT = "22222222-2222-4222-8222-222222222222"
TENANT = "33333333-3333-4333-8333-333333333333"
GROUP = """
apiVersion: entra.azure.com/v1
kind: SecurityGroup
metadata: {name: operators}
spec: {displayName: Operators, mailNickname: operators, membershipType: assigned}
"""
FOR_ROLES = GROUP.replace("assigned}", "assigned, isAssignableToRole: true}")
READ_ONLY = GROUP.replace(
    "{name: operators}", "{name: operators, annotations: {serviceoperator.azure.com/reconcile-policy: skip}}"
)
RESOURCE_GROUP = """
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: core}
spec: {location: westeurope}
"""
MEMBERS = GROUP.replace(
    "{name: operators}",
    '{name: operators, annotations: {gitsync/members: "added: [3f2a8a1e-1111-4111-8111-111111111111]"}}',
)
APPLICATION = """
apiVersion: entra.azure.com/v1
kind: Application
metadata: {name: deployer}
spec: {displayName: Deployer}
"""
CREDENTIAL = """
apiVersion: azure.gitsync/v1
kind: ApplicationFederatedCredential
metadata: {name: main}
spec: {owner: {name: deployer}, issuer: "https://token.actions.githubusercontent.com", subject: "repo:o@1/r@2:pull_request"}
"""
ROLE = """
apiVersion: azure.gitsync/v1
kind: AppRoleAssignment
metadata: {name: reader}
spec:
  principal: 3f2a8a1e-1111-4111-8111-111111111111
  resource: 4f2a8a1e-1111-4111-8111-111111111111
  role: User.Read.All
"""
IDS = {
    permission.role_id: permission.name
    for permission in vars(graph_permissions).values()
    if isinstance(permission, graph_permissions.GraphPermission)
}


@pytest.fixture(scope="module")
def ca(tmp_path_factory):
    return make(tmp_path_factory.mktemp("ca"))


@asynccontextmanager
async def started(ca, settings):
    emulator = Emulator(settings)
    await emulator.start(tls=ca.tls)
    try:
        yield emulator
    finally:
        await emulator.stop()


@contextmanager
def emulated(ca, permissions, **principal):
    """An emulator with one principal, whose permissions of Graph are these; None for all."""
    one = EmulatedPrincipal(client=CLIENT, object=OBJECT, secret="s3cret-of-it", tenant=TENANT, **principal)
    settings = EmulatorSettings(
        require_token=True, principals=(one,), graph=replace(GraphSettings(), permissions=permissions)
    )
    with in_background(started(ca, settings)) as emulator:
        yield emulator


def read_check(folder, manifests, emulator, ca):
    """The check in the JSON of doctor; None if there is none."""
    source = folder / "source"
    source.mkdir(exist_ok=True)
    (source / "all.yaml").write_text(manifests.lstrip())
    ended = run_here(
        *("doctor", "--output", "json", "--ca-bundle", str(ca.bundle)),
        folder=source,
        AZURE_RESOURCE_MANAGER_ENDPOINT=emulator.url,
        AZURE_AUTHORITY_HOST=emulator.url,
        AZURE_SUBSCRIPTION_ID=SUBSCRIPTION,
        AZURE_TENANT_ID=TENANT,
        AZURE_CLIENT_ID=CLIENT,
        AZURE_CLIENT_SECRET="s3cret-of-it",
        GITSYNC_CREDENTIAL="client-secret",
    )
    assert not Hunt(secret="s3cret-of-it").found(ended.out)
    return next((check for check in json.loads(ended.out)["checks"] if check["name"] == "graph-permissions"), None)


ROWS = [
    (GROUP, None, "", "all are granted"),
    (GROUP, ("Group.ReadWrite.All",), "", "exactly what is needed"),
    (GROUP, ("Directory.ReadWrite.All",), "", "a larger one"),
    (GROUP, ("Group.Read.All",), "Group.ReadWrite.All", "a plan works, and the sync does not"),
    (GROUP, ("Group.Create",), "Group.ReadWrite.All", "the group could be neither changed nor deleted"),
    (GROUP, (), "Group.ReadWrite.All", "none"),
    (READ_ONLY, (), "Group.Read.All", "a group that is only read"),
    (READ_ONLY, ("Group.Read.All",), "", "which needs no more"),
    (FOR_ROLES, ("Group.ReadWrite.All",), "RoleManagement.ReadWrite.Directory", "a group for roles"),
    (FOR_ROLES, (), "Group.ReadWrite.All, RoleManagement.ReadWrite.Directory", "both"),
    (MEMBERS, ("Group.Read.All", "GroupMember.ReadWrite.All"), "Group.ReadWrite.All", "members, and the group itself"),
    (MEMBERS, ("Group.ReadWrite.All",), "", "a larger one includes the members"),
    (APPLICATION, (), "Application.ReadWrite.OwnedBy", "an application"),
    (f"{APPLICATION}---{CREDENTIAL}", ("Application.Read.All",), "Application.ReadWrite.OwnedBy", "a credential"),
    (APPLICATION, ("Application.ReadWrite.All",), "", "a larger one for applications"),
    (ROLE, ("Application.Read.All",), "AppRoleAssignment.ReadWrite.All", "an app role"),
    (f"{GROUP}---{READ_ONLY.replace('operators', 'others')}", (), "Group.ReadWrite.All", "the larger is enough"),
]


@pytest.mark.parametrize(("manifests", "granted", "missing", "why"), ROWS, ids=[row[-1] for row in ROWS])
def test_what_is_missing_of_what_manifests_need(manifests, granted, missing, why):
    needed = graph_permissions.list_needed_permissions(prepare_all(manifests).values()).to_grant
    has = list(IDS.values()) if granted is None else granted
    assert ", ".join(permission.name for permission in list_missing(needed, has)) == missing, why
    assert list_missing(needed, (*has, *missing.split(", "))) == [], "with these it is enough"


IN_FULL = [row for row in ROWS if row[-1] in {"all are granted", "exactly what is needed", "both", "an app role"}]


@pytest.mark.parametrize(("manifests", "granted", "missing", "why"), IN_FULL, ids=[row[-1] for row in IN_FULL])
def test_doctor_names_what_is_missing_and_its_commands_grant_that(ca, tmp_path, manifests, granted, missing, why):
    with emulated(ca, granted) as emulator:
        check = read_check(tmp_path, manifests, emulator, ca)
        url = emulator.url
    assert check["level"] == ("error" if missing else "ok"), why
    assert ("give itself and others any permission" in check["hint"]) is (manifests == ROLE)
    assert check.get("values", {}).get("missing", "") == missing
    if not missing:
        return
    roles = run_az(check["commands"], url)
    assert roles == missing.split(", ")
    with emulated(ca, (*granted, *roles)) as emulator:
        level = read_check(tmp_path, manifests, emulator, ca)["level"]
    assert level == ("warning" if manifests == ROLE else "ok"), "with what the commands grant"


def run_az(commands, url):
    """The names of the permissions that the commands grant to the principal of the token."""
    show, *grants = map(shlex.split, commands)
    assert show == shlex.split("az ad sp show --id 00000003-0000-0000-c000-000000000000 --query id --output tsv")
    names = []
    for words in grants:
        assert words[:4] == ["az", "rest", "--method", "POST"]
        flags = dict(zip(words[4::2], words[5::2], strict=True))
        assert flags["--url"] == f"{url}/v1.0/servicePrincipals/{OBJECT}/appRoleAssignments"
        body = json.loads(flags["--body"])
        assert (body["principalId"], body["resourceId"]) == (OBJECT, "GRAPH-ID")
        names.append(IDS[body["appRoleId"]])
    return names


def test_a_source_without_groups_requests_no_token_for_graph(ca, tmp_path):
    with emulated(ca, ()) as emulator:
        assert read_check(tmp_path, RESOURCE_GROUP, emulator, ca) is None


def test_a_group_with_its_own_credential_is_not_checked_as_this_identity(ca, tmp_path):
    own = GROUP.replace(
        "{name: operators}", "{name: operators, annotations: {serviceoperator.azure.com/credential-from: red}}"
    )
    with emulated(ca, ()) as emulator:
        assert read_check(tmp_path, f"{own}---{RESOURCE_GROUP}", emulator, ca) is None


@pytest.mark.parametrize(
    ("granted", "level", "says"),
    [
        (("Group.ReadWrite.All",), "ok", "as far as the roles of the person allow"),
        (("Directory.AccessAsUser.All",), "ok", "as far as the roles of the person allow"),
        (("User.Read",), "error", "Sign in as an application"),
    ],
)
def test_the_permissions_of_a_person_are_those_of_the_tool(ca, tmp_path, granted, level, says):
    with emulated(ca, granted, user="anna@contoso.com") as emulator:
        check = read_check(tmp_path, GROUP, emulator, ca)
    assert check["level"] == level
    assert says in f"{check['message']} {check['hint']}"
    assert check["commands"] == []


NO_WRITES = "Permissions to write are not checked without a token."
READS = [
    (GROUP, "[Group.Read.All]", "ok", f"returns groups. {NO_WRITES}", "groups"),
    (GROUP, "[]", "error", "Group.Read.All", "no permission for groups"),
    (APPLICATION, "[Application.Read.All]", "ok", f"returns applications. {NO_WRITES}", "no groups in the source"),
    (APPLICATION, "[Group.Read.All]", "error", "Application.Read.All", "no permission for applications"),
    (CREDENTIAL, "[Application.Read.All]", "ok", "returns applications.", "a credential is in its application"),
    (ROLE, "[Group.Read.All]", "error", "Application.Read.All", "an app role is in a service principal"),
    (f"{GROUP}---{APPLICATION}", "[]", "error", "Application.Read.All", "the first that lacks a permission"),
    (f"{GROUP}---{APPLICATION}", "[Application.Read.All]", "error", "Group.Read.All", "the second"),
    (f"{GROUP}---{APPLICATION}", "[Directory.Read.All]", "ok", f"returns applications, groups. {NO_WRITES}", "both"),
]


@pytest.mark.parametrize(("manifests", "permissions", "level", "says", "why"), READS, ids=[row[-1] for row in READS])
def test_without_a_token_reads_show_what_graph_returns(tmp_path, manifests, permissions, level, says, why):
    (tmp_path / "script.yaml").write_text(f"settings: {{graph: {{permissions: {permissions}}}}}\n")
    source = tmp_path / "source"
    source.mkdir()
    (source / "all.yaml").write_text(manifests.lstrip())
    ended = run_here(
        *("doctor", "--output", "json", "--emulator", "--emulator-script", str(tmp_path / "script.yaml")),
        folder=source,
        AZURE_SUBSCRIPTION_ID=SUBSCRIPTION,
    )
    check = next(check for check in json.loads(ended.out)["checks"] if check["name"] == "graph-permissions")
    assert check["level"] == level, why
    assert says in f"{check['message']} {check['hint']}"


def test_every_kind_of_entra_has_rows():
    catalog = open_catalog()
    kinds = {(group, kind) for group in catalog.all_groups() for kind in catalog.kinds(group)}
    assert set(graph_permissions._BY_KIND) == {row for row in kinds if catalog.provider(*row) is Provider.ENTRA}


def test_an_adopted_application_needs_the_permission_for_all():
    prepared = prepare_all(APPLICATION)["deployer"]
    usual = graph_permissions.list_needed_permissions([prepared])
    adopted = graph_permissions.list_needed_permissions([prepared], {prepared.key})
    assert [each.name for each in usual.to_grant] == ["Application.ReadWrite.OwnedBy"]
    assert [each.name for each in adopted.to_grant] == ["Application.ReadWrite.All"]


def test_a_larger_permission_includes_a_smaller_one():
    assert list_missing([GROUP_READ], ["Group.ReadWrite.All"]) == []
    assert list_missing([GROUP_READ, GROUP_WRITE], ["Group.Read.All"]) == [GROUP_WRITE]


def test_the_page_about_groups_names_every_permission_and_shows_the_commands():
    folder = Path(__file__).resolve().parents[3] / "docs" / "how-to"
    page = (folder / "groups.md").read_text()
    pages = page + (folder / "applications.md").read_text()
    assert all(f"`{name}`" in pages for name in IDS.values())
    commands = graph_permissions.format_grant_commands([GROUP_WRITE], OBJECT, "https://graph.microsoft.com")
    assert "".join(f"         {command}\n" for command in commands) in page
