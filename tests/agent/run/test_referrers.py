"""What a delete takes along beside what is below the resource: what refers to it by reference, by export, or by value."""

from __future__ import annotations

import json

import pytest

from gitsync.model.verdict import Action
from gitsync.planning.referrers import list_given_ids
from gitsync.report import json as report_json
from gitsync.report import text
from tests.agent.run.test_other_providers import records_of
from tests.support.world import GROUP, GROUP_ID, SUBNET, VNET, VNET_ID, World, annotated, of

TEAM = """\
    apiVersion: entra.azure.com/v1
    kind: SecurityGroup
    metadata:
      name: team
    spec:
      displayName: The Team
      mailNickname: team
      membershipType: assigned
      operatorSpec: {configmaps: {entraID: {name: team-id, key: id}}}
    """
MAIL = TEAM.replace("membershipType: assigned", "membershipType: assignedm365")
IDENTITY = """\
    apiVersion: managedidentity.azure.com/v1api20230131
    kind: UserAssignedIdentity
    metadata: {name: me}
    spec:
      owner: {name: core}
      location: westeurope
      operatorSpec: {configMaps: {principalId: {name: me, key: principalId}}}
    """
IDENTITY_ID = f"{GROUP_ID}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/me"
ROUTES = """\
    apiVersion: network.azure.com/v1api20240301
    kind: RouteTable
    metadata: {name: routes}
    spec: {owner: {name: core}, location: westeurope}
    """
LINK = """\
    apiVersion: network.azure.com/v1api20240601
    kind: PrivateDnsZone
    metadata: {name: zone.example}
    spec: {owner: {name: core}, location: global}
    ---
    apiVersion: network.azure.com/v1api20240601
    kind: PrivateDnsZonesVirtualNetworkLink
    metadata: {name: link}
    spec:
      owner: {name: zone.example}
      location: global
      virtualNetwork: {reference: REFERENCE}
    """


def assign(principal: str, name: str = "ra") -> str:
    return f"""\
    apiVersion: authorization.azure.com/v20220401
    kind: RoleAssignment
    metadata:
      name: {name}
    spec:
      owner: {{name: core, group: resources.azure.com, kind: ResourceGroup}}
      {principal}
      roleDefinitionReference: {{wellKnownName: Reader}}
    """


def move(text: str) -> str:
    return text.replace("westeurope", "northeurope")


def by_reference(world: World) -> None:
    reference = "{group: network.azure.com, kind: VirtualNetwork, name: hub}"
    world.synced(group=GROUP, network=VNET, link=LINK.replace("REFERENCE", reference))
    world.says(group=GROUP, network=move(VNET), link=LINK.replace("REFERENCE", reference))


def by_arm_id(world: World) -> None:
    reference = f"{{armId: {VNET_ID}}}"
    world.synced(group=GROUP, network=VNET, link=LINK.replace("REFERENCE", reference))
    world.says(group=GROUP, network=move(VNET), link=LINK.replace("REFERENCE", reference))


def by_what_is_below(world: World) -> None:
    table = "routeTable: {reference: {group: network.azure.com, kind: RouteTable, name: routes}}"
    subnet = f"{SUBNET.rstrip()}\n      {table}\n    "
    world.synced(group=GROUP, network=VNET, routes=ROUTES, subnet=subnet)
    world.says(group=GROUP, network=VNET, routes=move(ROUTES), subnet=subnet)


def by_export(world: World) -> None:
    assignment = assign("principalIdFromConfig: {name: me, key: principalId}")
    world.synced(group=GROUP, identity=IDENTITY, assignment=assignment)
    world.says(group=GROUP, identity=move(IDENTITY), assignment=assignment)


def by_value(world: World) -> None:
    world.synced(group=GROUP, identity=IDENTITY)
    principal = world.read(IDENTITY_ID, "2023-01-31")["properties"]["principalId"]
    assignment = assign(f"principalId: {principal.upper()}")
    world.synced(group=GROUP, identity=IDENTITY, assignment=assignment)
    world.says(group=GROUP, identity=move(IDENTITY), assignment=assignment)


def group_by_export(world: World) -> None:
    assignment = assign("principalIdFromConfig: {name: team-id, key: id}")
    world.synced(group=GROUP, team=TEAM, assignment=assignment)
    world.says(group=GROUP, team=MAIL, assignment=assignment)


def group_by_value(world: World) -> None:
    world.synced(group=GROUP, team=TEAM)
    assignment = assign(f"principalId: {records_of(world)['SecurityGroup'].kept.given_id}")
    world.synced(group=GROUP, team=TEAM, assignment=assignment)
    world.says(group=GROUP, team=MAIL, assignment=assignment)


CASES = [
    (by_reference, "VirtualNetwork", ["link"], "a reference"),
    (by_arm_id, "VirtualNetwork", ["link"], "its ARM id"),
    (by_what_is_below, "RouteTable", ["one"], "a reference of something that is below another resource"),
    (by_export, "UserAssignedIdentity", ["ra"], "a value that it exports"),
    (by_value, "UserAssignedIdentity", ["ra"], "an id that Azure gave it, in the manifest"),
    (group_by_export, "SecurityGroup", ["ra"], "the object id that the group exports"),
    (group_by_value, "SecurityGroup", ["ra"], "the object id of the group, in the manifest"),
]


@pytest.mark.parametrize(("change", "kind", "names", "why"), CASES, ids=[case[-1] for case in CASES])
def test_what_refers_to_it_goes_along(tmp_path, change, kind, names, why):
    world = World(tmp_path)
    change(world)
    report = world.plan()
    replacement = of(report, kind).change.replacement
    assert [key.name for key in replacement.refers] == names, why
    assert set(replacement.refers) <= set(replacement.takes)
    (said,) = [line for line in text.render(report).splitlines() if "A delete would also delete" in line]
    assert f"what {replacement.refers[0].kind}/{names[0]} refers to" in said
    assert "nothing else" not in said
    document = json.loads(report_json.render(report))
    (needed,) = [resource["replaceNeeded"] for resource in document["resources"] if resource["kind"] == kind]
    assert needed["refers"] == list(map(str, replacement.refers))


def test_what_is_below_and_what_refers_to_that_are_distinguished(tmp_path):
    world = World(tmp_path)
    link = LINK.replace("REFERENCE", f"{{armId: {VNET_ID}}}")
    world.synced(group=GROUP, network=VNET, subnet=SUBNET, link=link)
    report = world.says(group=GROUP, network=move(VNET), subnet=SUBNET, link=link).plan()
    replacement = of(report, "VirtualNetwork").change.replacement
    assert ([key.name for key in replacement.below], [key.name for key in replacement.refers]) == (["one"], ["link"])
    assert "VirtualNetworksSubnet/one, and what PrivateDnsZonesVirtualNetworkLink/link refers to." in text.render(
        report
    )


NOTHING = [
    (assign("principalId: 11111111-2222-3333-4444-555555555555"), "an id of somebody else"),
    (ROUTES, "what is only in the same group"),
]


@pytest.mark.parametrize(("other", "why"), NOTHING, ids=[case[-1] for case in NOTHING])
def test_what_does_not_refer_to_it_stays(tmp_path, other, why):
    world = World(tmp_path)
    world.synced(group=GROUP, identity=IDENTITY, other=other)
    report = world.says(group=GROUP, identity=move(IDENTITY), other=other).plan()
    assert of(report, "UserAssignedIdentity").change.replacement.takes == (), why
    assert "A delete would also delete nothing else that gitsync manages." in text.render(report)


def test_what_will_be_created_loses_nothing(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP, identity=IDENTITY)
    assignment = assign("principalIdFromConfig: {name: me, key: principalId}")
    report = world.says(group=GROUP, identity=move(IDENTITY), assignment=assignment).plan()
    assert of(report, "UserAssignedIdentity").change.replacement.takes == ()


def test_what_refers_to_it_is_not_deleted_and_not_counted_as_a_delete(tmp_path):
    world = World(tmp_path)
    link = LINK.replace("REFERENCE", f"{{armId: {VNET_ID}}}")
    world.synced(group=GROUP, network=VNET, subnet=SUBNET, link=link)
    moved = annotated(move(VNET), **{"gitsync/replace": "location=northeurope"})
    world.says(group=GROUP, network=moved, subnet=SUBNET, link=link)
    planned = world.plan(prune=True, max_deletes=2)
    assert of(planned, "VirtualNetwork").action is Action.REPLACE
    assert "PrivateDnsZonesVirtualNetworkLink/link refers to it." in text.render(planned)
    done = world.sync(prune=True, max_deletes=2)
    assert (done.exit_code, len(world.sent("DELETE"))) == (0, 2)
    assert "PrivateDnsZonesVirtualNetworkLink/link refers to it." in text.render(done)


def test_a_group_is_replaced_with_the_assignment_that_takes_its_id(tmp_path):
    world = World(tmp_path)
    group_by_export(world)
    before = records_of(world)["SecurityGroup"].kept.given_id
    team = annotated(MAIL, **{"gitsync/replace": "membershipType=assignedm365"})
    assignment = assign("principalIdFromConfig: {name: team-id, key: id}")
    agreed = annotated(assignment, **{"gitsync/replace": "principalIdFromConfig=team-id/id"})
    world.says(group=GROUP, team=team, assignment=agreed)
    planned = world.plan(prune=True, max_deletes=2)
    assert [of(planned, kind).action for kind in ("SecurityGroup", "RoleAssignment")] == [Action.REPLACE] * 2
    assert "creates it again. RoleAssignment/ra refers to it." in text.render(planned)
    done = world.sync(prune=True, max_deletes=2)
    assert done.exit_code == 0, [(str(result.key), result.condition.message) for result in done.results]
    after = records_of(world)["SecurityGroup"].kept.given_id
    assert after != before
    assignment_id = of(done, "RoleAssignment").arm_id
    assert world.read(assignment_id, "2022-04-01")["properties"]["principalId"] == after
    again = world.sync(prune=True, max_deletes=2)
    assert (again.exit_code, world.writes) == (0, [])


@pytest.mark.parametrize(
    ("body", "found", "why"),
    [
        ({"id": "E8989FF4-1d3e-591e-b3c6-b831e8ed51d0"}, 1, "the object id of a group"),
        (
            {"identity": {"principalId": "e8989ff4-1d3e-591e-b3c6-b831e8ed51d0"}},
            1,
            "that of a system-assigned identity",
        ),
        ({"properties": {"tenantId": "e8989ff4-1d3e-591e-b3c6-b831e8ed51d0"}}, 0, "its tenant is not its own"),
        ({"systemData": {"createdBy": "e8989ff4-1d3e-591e-b3c6-b831e8ed51d0"}}, 0, "nor is who created it"),
        (
            {"identity": {"userAssignedIdentities": {"/x": {"principalId": "e8989ff4-1d3e-591e-b3c6-b831e8ed51d0"}}}},
            0,
            "nor are the identities that it has",
        ),
        ({"id": "/x/e8989ff4-1d3e-591e-b3c6-b831e8ed51d0"}, 0, "part of another id"),
        (None, 0, "a resource that is not known"),
    ],
)
def test_ids_that_azure_gives(body, found, why):
    assert len(list_given_ids(body)) == found, why
