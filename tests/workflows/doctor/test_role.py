"""What is in a role, where it is needed, and what a change needs in addition: only git is read."""

from __future__ import annotations

import json

import pytest

from gitsync.errors import ConfigError
from gitsync.settings.config.config import Config
from gitsync.settings.redaction import Redactions
from gitsync.workflows.doctor.role import build_role, compare_rights
from tests.agent.run.tenants import secret
from tests.support.world import GROUP, GROUP_ID, SUBNET, SUBSCRIPTION, VNET, World, annotated

SCOPE = f"/subscriptions/{SUBSCRIPTION}"
NET = "Microsoft.Network/virtualNetworks"
IN_GROUP = VNET.replace("name: core", f"armId: {GROUP_ID}")
ELSEWHERE = IN_GROUP.replace("resourceGroups/core", "resourceGroups/Other").replace("name: hub", "name: two")
GROUPS = "Microsoft.Resources/subscriptions/resourceGroups"


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def role_of(world, **settings):
    base = {"subscription": SUBSCRIPTION, "register_providers": False, "checks": ("none",), "who": "off"}
    return build_role(Config(source=str(world.folder), **{**base, **settings}), Redactions())


SCOPES = [
    ({"a": IN_GROUP}, {}, [GROUP_ID], "the group of what is in it"),
    ({"a": IN_GROUP, "b": ELSEWHERE}, {}, [GROUP_ID, f"{SCOPE}/resourceGroups/Other"], "each group, sorted"),
    ({"a": IN_GROUP, "b": VNET.replace("name: hub", "name: two"), "c": GROUP}, {}, [SCOPE], "a group that is created"),
    ({"a": VNET, "b": annotated(GROUP, reconcile_policy="skip")}, {}, [GROUP_ID], "one that is only read"),
    ({"a": IN_GROUP}, {"register_providers": True}, [SCOPE], "a provider is registered with the subscription"),
]


@pytest.mark.parametrize(("documents", "settings", "scopes", "why"), SCOPES, ids=[row[-1] for row in SCOPES])
def test_the_scopes_are_the_narrowest(world, documents, settings, scopes, why):
    assert list(role_of(world.says(**documents), **settings).scopes) == scopes, why


def test_the_file_is_as_azure_takes_it_and_the_same_each_time(world):
    world.says(b=GROUP, a=VNET, c=SUBNET)
    text = role_of(world).format_json()
    assert role_of(world.says(z=SUBNET, x=VNET, a=GROUP)).format_json() == text, "neither order nor revision counts"
    role = json.loads(text)
    assert list(role) == ["Name", "IsCustom", "Description", "Actions", "NotActions", "DataActions", "AssignableScopes"]
    assert role["Name"] == "gitsync repository"
    assert role["Actions"] == [
        "Microsoft.Authorization/acquirePolicyToken/action",
        f"{NET}/read", f"{NET}/subnets/read", f"{NET}/subnets/write", f"{NET}/write", f"{GROUPS}/read", f"{GROUPS}/write",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("documents", "has", "why"),
    [
        ({"a": GROUP, "b": VNET}, True, "it writes in a subscription"),
        ({"a": IN_GROUP}, False, "it is assigned at a group, where the right has no effect"),
        ({"a": annotated(GROUP, reconcile_policy="skip")}, False, "it only reads"),
    ],
    ids=["in a subscription", "in a group", "reads only"],
)
def test_the_right_to_policy_tokens_widens_no_role(world, documents, has, why):
    role = role_of(world.says(**documents))
    assert ("Microsoft.Authorization/acquirePolicyToken/action" in role.actions) is has, why


ANY_TYPE = """
apiVersion: azure.gitsync/v1
kind: AzureResource
metadata: {name: orders}
spec:
  type: microsoft.logic/WORKFLOWS@2019-05-01
  owner: {armId: GROUP}
  body: {location: westeurope}
  operatorSpec:
    secretAction: listCallbackUrl
    secretExpressions: [{name: orders-url, key: url, value: secret.value}]
---
apiVersion: azure.gitsync/v1
kind: AzureResource
metadata: {name: keep}
spec:
  type: Microsoft.Authorization/locks@2020-05-01
  owner: {group: azure.gitsync, kind: AzureResource, name: orders}
  body: {properties: {level: CanNotDelete}}
"""


def test_an_azure_resource_needs_the_actions_of_its_type(world):
    folder = str(world.folder.parent / "secrets")
    role = role_of(world.says(any=ANY_TYPE.replace("GROUP", GROUP_ID)), prune=True, export_to=(f"file:{folder}",))
    flow, lock = "Microsoft.Logic/workflows", "Microsoft.Authorization/locks"
    own = [action for action in role.actions if action.startswith((flow, lock))]
    assert own == [
        f"{lock}/delete", f"{lock}/read", f"{lock}/write",
        f"{flow}/delete", f"{flow}/listCallbackUrl/action", f"{flow}/read", f"{flow}/write",
    ]  # fmt: skip


def test_a_prune_of_groups_reads_all_so_that_it_sees_strangers(world):
    role = role_of(world.says(a=VNET, b=GROUP), prune=True)
    assert [action for action in role.actions if action.endswith("/read")] == ["*/read"]
    assert f"{GROUPS}/delete" in role.actions
    assert any(note.startswith("*/read: ") for note in role.notes)


def test_what_was_removed_is_deleted_with_prune(world):
    world.says(a=IN_GROUP, b=ELSEWHERE, g=GROUP, o=GROUP.replace("name: core", "name: Other")).sync()
    world.says(g=annotated(GROUP, reconcile_policy="skip"), o=GROUP.replace("name: core", "name: Other"))
    status = {"status_dir": str(world.state)}
    assert f"{NET}/delete" not in role_of(world, **status).actions
    assert f"{NET}/delete" in role_of(world, prune=True, **status).actions


def test_without_a_subscription_there_are_no_scopes(world):
    with pytest.raises(ConfigError, match="No subscription is set"):
        role_of(world.says(a=IN_GROUP), subscription=None)


def test_manifests_that_need_nothing_make_no_role(world):
    with pytest.raises(ConfigError, match="No manifest needs a right"):
        role_of(world.says(a=""))


ALIAS = """\
    apiVersion: subscription.azure.com/v1api20211001
    kind: Alias
    metadata: {name: team}
    spec:
      properties: {displayName: Team, workload: Production, billingScope: /providers/x}
    """
WIDE = """\
    apiVersion: authorization.azure.com/v1api20220401
    kind: RoleAssignment
    metadata: {name: wide}
    spec:
      owner: {armId: "OWNER"}
      principalId: 11111111-1111-4111-8111-111111111111
      roleDefinitionReference: {wellKnownName: Reader}
    """
NOTHING = "The role has no actions for RoleAssignment/wide: the group or subscription is known during a run only"
NOTES = [
    ({"b": WIDE.replace("OWNER", f"{SCOPE}/resourceGroups/*")}, NOTHING, "a group with a *"),
    ({"b": WIDE.replace("OWNER", f"{GROUP_ID}/providers/Microsoft.Compute/*/x")}, NOTHING, "a type with a *"),
    ({"b": WIDE.replace("OWNER", f"{GROUP_ID}/providers/*/things/x")}, NOTHING, "a namespace with a *"),
    ({"b": VNET.replace("name: hub", "name: b")}, "1 manifest cannot be used.", "an owner that is missing"),
    ({"b": annotated(ELSEWHERE, credential_from="other")}, "1 resource with a credential Secret", "another identity"),
    ({"b": ALIAS}, "Grant these actions at the tenant or the management group", "what is in no subscription"),
]


@pytest.mark.parametrize(("documents", "note", "why"), NOTES, ids=[row[-1] for row in NOTES])
def test_what_the_role_lacks_is_reported(world, documents, note, why):
    role = role_of(world.says(a=IN_GROUP, **documents))
    assert [text for text in role.notes if text.startswith(note)], (why, role.notes)
    assert all(action.startswith(("Microsoft.Network/", GROUPS)) for action in role.actions)


def test_what_is_in_no_subscription_is_named_with_its_actions(world):
    [note] = role_of(world.says(a=IN_GROUP, b=ALIAS), prune=True).notes
    assert note.endswith("Microsoft.Subscription/cancel/action.")
    assert "Microsoft.Subscription/aliases/delete" in note, "deleting an alias cancels its subscription"


def compare(world, before, after, **settings):
    """The names and messages of what a change reports."""
    world.says(**before).says(**after)
    config = Config(source=str(world.folder), from_revision="HEAD~1", **settings)
    return [f"{check.level} {check.name}: {check.message}" for check in compare_rights(config, Redactions())]


def test_a_change_needs_what_the_base_does_not(world):
    said = compare(world, {"a": IN_GROUP}, {"a": IN_GROUP, "s": SUBNET})
    assert said == [
        f"warning new-right: {NET}/subnets/write, for VirtualNetworksSubnet/one in resource group core. HEAD~1 does not need it."
    ]


def test_another_location_of_the_same_is_a_new_scope(world):
    said = compare(
        world, {"a": IN_GROUP}, {"a": IN_GROUP, "b": ELSEWHERE}, register_providers=False, checks=("none",), who="off"
    )
    assert said == [
        f"warning new-scope: {SCOPE}/resourceGroups/Other. HEAD~1 does not need it.",
        "ok new-right: None in addition to the 4 actions of HEAD~1.",
    ]


def test_what_nothing_needs_any_more_is_reported_too(world):
    said = compare(world, {"a": IN_GROUP, "s": SUBNET}, {"a": IN_GROUP})
    assert said[1:] == [
        f"ok old-right: {NET}/subnets/write is needed by HEAD~1 only. Remove it from the role once nothing uses it."
    ]


def test_a_right_that_moves_to_another_identity_is_not_called_unneeded(world):
    named = annotated(SUBNET, credential_from="team")
    said = compare(world, {"a": IN_GROUP, "s": SUBNET}, {"a": IN_GROUP, "s": named, "team": secret("team", "team")})
    assert said[1:] == [
        f"warning moved-right: {NET}/subnets/write is needed by resources that have a credential Secret now."
    ]
