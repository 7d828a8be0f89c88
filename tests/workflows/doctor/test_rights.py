"""The rights that manifests need, and what grants them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitsync.extensions.registry import BUILT_IN, Registry
from gitsync.model.gvk import Key
from gitsync.model.reconcile_policy import Policy
from gitsync.model.resource import OwnerRef
from gitsync.settings.config.config import Config
from gitsync.workflows.doctor.azure import grants
from gitsync.workflows.doctor.rights import Use, list_needed_rights, name_action
from tests.support.builders import group_id, prepared, record, rg, subnet, vnet, vnet_id
from tests.support.parts import change
from tests.support.provided import NAMES, prepare_all

REGISTRY = Registry(BUILT_IN)
SUBSCRIPTION = group_id().partition("/resourceGroups/")[0]
NET = "Microsoft.Network/virtualNetworks"

GRANTS = [
    ([{"actions": ["*"]}], f"{NET}/write", True, "Owner"),
    ([{"actions": ["*/read"]}], f"{NET}/read", True, "Reader may read"),
    ([{"actions": ["*/read"]}], f"{NET}/write", False, "and nothing else"),
    ([{"actions": ["microsoft.network/*/WRITE"]}], f"{NET}/subnets/write", True, "* stands for several steps"),
    ([{"actions": ["Microsoft.Network/*"]}], "Microsoft.NetworkX/a/write", False, "a dot or slash is itself"),
    ([{"actions": ["*"], "notActions": ["Microsoft.Network/*/write"]}], f"{NET}/write", False, "notActions take away"),
    (
        [{"actions": ["*"], "notActions": [f"{NET}/*"]}, {"actions": [f"{NET}/write"]}],
        f"{NET}/write",
        True,
        "what one role takes away, another may grant",
    ),
    ([], f"{NET}/read", False, "no role"),
    ([{"actions": "*", "notActions": None}], f"{NET}/read", False, "an odd entry grants nothing"),
    ([{"dataActions": ["*"]}], f"{NET}/read", False, "data is another plane"),
]


@pytest.mark.parametrize(("permissions", "action", "expected", "why"), GRANTS, ids=[row[-1] for row in GRANTS])
def test_what_permissions_grant(permissions, action, expected, why):
    assert grants(permissions, action) is expected, why


ACTIONS = [
    (group_id(), "write", "Microsoft.Resources/subscriptions/resourceGroups/write"),
    (vnet_id(), "read", f"{NET}/read"),
    (f"{vnet_id()}/subnets/one", "delete", f"{NET}/subnets/delete"),
    (f"{vnet_id()}/providers/Microsoft.Authorization/locks/x", "write", "Microsoft.Authorization/locks/write"),
    (
        f"{group_id()}/providers/Microsoft.Storage/storageAccounts/x/listKeys",
        "action",
        "Microsoft.Storage/storageAccounts/listKeys/action",
    ),
]


@pytest.mark.parametrize(("path", "verb", "expected"), ACTIONS)
def test_actions_as_roles_spell_them(path, verb, expected):
    assert name_action(path, verb) == expected


def needs(*resources, **settings):
    """The rights without which a run fails."""
    found = list_needed_rights(Config(**settings), resources, REGISTRY).rights
    return {(right.scope.removeprefix(SUBSCRIPTION), right.action) for right in found if right.use is Use.RUN}


def test_what_is_not_arms_needs_the_read_of_its_server_alone():
    ready = prepare_all()
    assert needs(*(ready[name] for name in NAMES), prune=True) == set()
    server = OwnerRef(key=ready["books"].key, arm_id=ready["books"].arm_id)
    elsewhere = change(ready["reader"], owner=server)
    assert needs(elsewhere) == {("/resourceGroups/data", "Microsoft.DBforPostgreSQL/flexibleServers/read")}
    removed = [record(ready[name].key, ready[name].arm_id) for name in NAMES]
    assert list_needed_rights(Config(prune=True), [], REGISTRY, removed).rights == []


def test_a_group_is_created_in_the_subscription_and_its_content_in_the_group():
    name = "Microsoft.Resources/subscriptions/resourceGroups"
    expected = {("", f"{name}/read"), ("", f"{name}/write")}
    assert needs(prepared(rg(), group_id())) == expected
    actions = (f"{NET}/read", f"{NET}/write", f"{NET}/delete", f"{NET}/subnets/read")  # subnets that it does not show
    expected = {("/resourceGroups/core", action) for action in actions}
    assert needs(prepared(vnet(), vnet_id()), prune=True) == expected


def test_what_the_policy_forbids_needs_no_right():
    assert needs(prepared(vnet(), vnet_id(), policy=Policy.SKIP), prune=True) == {
        ("/resourceGroups/core", f"{NET}/read")
    }
    detached = prepared(vnet(), vnet_id(), policy=Policy.DETACH_ON_DELETE)
    assert {action for _, action in needs(detached, prune=True)} == {
        f"{NET}/read",
        f"{NET}/write",
        f"{NET}/subnets/read",
    }
    watched = change(prepared(subnet(), f"{vnet_id()}/subnets/one"), written_by=vnet())
    assert {action for _, action in needs(watched)} == {f"{NET}/subnets/read"}
    outside = replace(prepared(rg(), group_id()), is_watched=True)
    only_read = {("/resourceGroups/core", "Microsoft.Resources/subscriptions/resourceGroups/read")}
    assert needs(outside, prune=True) == only_read, "outside of the run"


def test_an_export_of_keys_needs_the_action_that_lists_them():
    key = Key("storage.azure.com", "StorageAccount", "default", "x")
    entry = prepared(key, f"{group_id()}/providers/Microsoft.Storage/storageAccounts/x")
    spec = {"operatorSpec": {"secrets": {"key1": {"name": "keys", "key": "one"}}}}
    exporting = replace(entry, resource=replace(entry.resource, spec=spec))
    extra = needs(exporting, export_to=("folder",)) - needs(entry)
    assert extra == {("/resourceGroups/core", "Microsoft.Storage/storageAccounts/listKeys/action")}
    assert needs(exporting) == needs(entry), "without a reader of the Secret, keys are not listed"


def test_a_record_of_all_names_is_not_a_wildcard():
    key = Key("network.azure.com", "DnsZonesARecord", "default", "all")
    zone = prepared(key, f"{group_id()}/providers/Microsoft.Network/dnsZones/example.com/A/*")
    assert ("/resourceGroups/core", "Microsoft.Network/dnsZones/A/write") in needs(zone)


def test_ids_that_only_a_run_has_are_left_out():
    assert needs(prepared(vnet(), f"{group_id('<name>')}/x"), replace(prepared(vnet("a"), ""), arm_id=None)) == set()


def test_many_resources_of_one_type_need_each_right_once():
    read, write = f"{NET}/read", f"{NET}/write"
    assert {action for _, action in needs(*(prepared(vnet(n), vnet_id(n)) for n in "abc"))} >= {read, write}
    assert len(needs(*(prepared(vnet(n), vnet_id(n)) for n in "abc"))) == len(needs(prepared(vnet(), vnet_id())))
