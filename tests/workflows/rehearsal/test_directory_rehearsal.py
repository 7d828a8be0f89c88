"""Rehearsals of Entra ID objects: the directory of the emulator has what the records describe."""

import pytest

from gitsync.model.rehearsal import Blank
from gitsync.model.verdict import Action, Verdict
from tests.support.world import World
from tests.workflows.rehearsal.pieces import rehearse_world

TEAM = """\
    apiVersion: entra.azure.com/v1
    kind: SecurityGroup
    metadata: {name: team}
    spec: {displayName: Team, mailNickname: team, membershipType: assignedm365}
    """
APPLICATION = """\
    apiVersion: entra.azure.com/v1
    kind: Application
    metadata: {name: shop}
    spec: {displayName: Shop, tags: [a], web: {redirectUris: ["https://shop.example.com"]}}
    """
PRINCIPAL = """\
    apiVersion: entra.azure.com/v1
    kind: ServicePrincipal
    metadata:
      name: shop
      annotations: {gitsync/set: 'spec.appId: resource("Application/shop").status.appId'}
    spec: {}
    """
GRAPH = """\
    apiVersion: entra.azure.com/v1
    kind: ServicePrincipal
    metadata: {name: graph}
    spec: {appId: 00000003-0000-0000-c000-000000000000, operatorSpec: {creationMode: AdoptOnly}}
    """
CREDENTIAL = """\
    apiVersion: azure.gitsync/v1
    kind: ApplicationFederatedCredential
    metadata: {name: main}
    spec: {owner: {name: shop}, issuer: "https://token.actions.githubusercontent.com", subject: "repo:a/b:ref:main"}
    """
ROLE = """\
    apiVersion: azure.gitsync/v1
    kind: AppRoleAssignment
    metadata: {name: mail}
    spec: {principal: ServicePrincipal/shop, resource: ServicePrincipal/graph, role: Mail.Send}
    """
ALL = {
    "team": TEAM,
    "application": APPLICATION,
    "principal": PRINCIPAL,
    "graph": GRAPH,
    "credential": CREDENTIAL,
    "role": ROLE,
}


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def test_what_is_recorded_is_there(world):
    world.synced(**ALL)
    rehearsal = rehearse_world(world)
    assert (rehearsal.writes, rehearsal.later_writes) == ((), ())
    assert {result.verdict for result in rehearsal.first.results} == {Verdict.IN_SYNC, Verdict.SKIP}


def test_a_change_is_an_update(world):
    world.synced(**ALL)
    rehearsal = rehearse_world(world.says(**{**ALL, "application": APPLICATION.replace("[a]", "[b]")}))
    changed = {result.key.name: result.action for result in rehearsal.first.results if result.action is not Action.NONE}
    assert changed == {"shop": Action.UPDATE}
    assert rehearsal.later_writes == ()


def test_an_empty_subscription_has_them_too(world):
    """Without records, the sync adopts what is in the tenant."""
    world.synced(**ALL)
    rehearsal = rehearse_world(world, from_nothing=True)
    assert (rehearsal.writes, rehearsal.gaps) == ((), ())
    assert {result.verdict for result in rehearsal.first.results} == {Verdict.ADOPT, Verdict.SKIP}


def test_a_first_sync_is_killed_after_each_write(world):
    rehearsal = rehearse_world(world.says(**ALL), interrupts=True)
    assert len(rehearsal.interrupts) == 5
    assert [interrupt.differences for interrupt in rehearsal.interrupts] == [()] * 5
    assert None not in {write.key for write in rehearsal.writes}
    assert Blank.STATEMENTS not in {blank.blank for blank in rehearsal.not_rehearsed}


CREDENTIAL = """\
    apiVersion: azure.gitsync/v1
    kind: ApplicationFederatedCredential
    metadata: {name: main}
    spec: {owner: {name: shop}, issuer: "https://token.example.com", subject: "repo:o@1/r@2:pull_request"}
    """
ROLE = """\
    apiVersion: azure.gitsync/v1
    kind: AppRoleAssignment
    metadata: {name: reader}
    spec: {principal: ServicePrincipal/shop, resource: ServicePrincipal/graph, role: Group.Read.All}
    """
OWNED = APPLICATION.replace(
    "{name: shop}", '{name: shop, annotations: {gitsync/owners: "complete: [3f2a8a1e-1111-4111-8111-111111111111]"}}', 1
)
PARTS = {**ALL, "application": OWNED, "credential": CREDENTIAL, "role": ROLE}


@pytest.mark.parametrize("from_nothing", [False, True])
def test_credentials_roles_and_owners_are_there_too(world, from_nothing):
    world.synced(**PARTS)
    rehearsal = rehearse_world(world, from_nothing=from_nothing)
    assert (rehearsal.writes, rehearsal.later_writes) == ((), ())


ADOPTED_GRAPH = GRAPH.replace("AdoptOnly", "AdoptOrCreate")
BY_ID = ROLE.replace("ServicePrincipal/graph", "aaaaaaaa-1111-4111-8111-111111111111")


@pytest.mark.parametrize(
    ("graph", "role"),
    [
        (GRAPH, ROLE),
        (ADOPTED_GRAPH, ROLE),  # Entra ID has the API although a sync might create the principal
        (GRAPH, BY_ID),  # no manifest declares the API
    ],
)
@pytest.mark.parametrize("is_recorded", [False, True])
def test_an_api_has_the_app_roles_that_git_names(world, graph, role, is_recorded):
    """Only Entra ID has them all, so a rehearsal refuses none."""
    before = {**ALL, "graph": graph}
    if is_recorded:
        world.synced(**before)
    rehearsal = rehearse_world(world.says(**before, another=role.replace("Group.Read.All", "Sites.Selected")))
    assert [result for result in rehearsal.first.results if result.verdict is Verdict.UNKNOWN] == []
    assert Action.CREATE in {result.action for result in rehearsal.first.results if result.key.name == "reader"}
    assert rehearsal.later_writes == ()
