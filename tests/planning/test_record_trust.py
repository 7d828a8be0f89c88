"""Records that contradict themselves: an id that its kind or its owner cannot have."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.request.build import prepare
from gitsync.model.gvk import Key
from gitsync.model.record import Claim, Trust
from gitsync.planning.record_trust import collect_untrusted, explain_contradiction
from tests.support.builders import SUBSCRIPTION, group_id, record, rg, subnet, vnet, vnet_id

CATALOG = open_catalog()
EXAMPLES = Path(__file__).parent.parent.parent / "examples" / "manifests"
ALIAS = Key("subscription.azure.com", "Alias", "default", "team")
ROLE = Key("authorization.azure.com", "RoleAssignment", "default", "reader")
USER = Key("dbforpostgresql.azure.com", "User", "default", "app")
SERVER = f"{group_id()}/providers/Microsoft.DBforPostgreSQL/flexibleServers/books"
OTHER_SUBSCRIPTION = "11111111-1111-1111-1111-111111111111"
GROUP = record(rg(), group_id())
HUB = record(vnet(), vnet_id(), owner=rg())


@pytest.mark.parametrize(
    ("entry", "says", "why"),
    [
        (GROUP, "", "a group with the id of a group"),
        (HUB, "", "a network below its group"),
        (record(vnet(), vnet_id().upper(), owner=rg()), "", "ids have no case"),
        (record(vnet(), vnet_id(group="else")), "", "an owner that is named by its id is not on record"),
        (record(vnet(), group_id()), "has the type Microsoft.Resources/resourceGroups", "a network is no group"),
        (record(rg(), vnet_id()), "has the type Microsoft.Network/virtualNetworks", "nor is a group a network"),
        (record(rg(), f"/subscriptions/{SUBSCRIPTION}"), "has the type Microsoft.Resources/subscriptions", "or more"),
        (record(subnet(), vnet_id(), owner=vnet()), "has the type", "a child is not its parent"),
        (record(vnet(), vnet_id(group="else"), owner=rg()), "is not below its owner", "another group than its owner's"),
        (record(subnet(), f"{vnet_id('two')}/subnets/one", owner=vnet()), "is not below its owner", "another network"),
        (record(vnet(), f"{vnet_id()}/../../x"), "is not an ARM id", "a path that leads elsewhere"),
        (record(vnet(), "hub"), "is not an ARM id", "no path at all"),
        (
            record(Key("network.azure.com", "Nothing", "default", "x"), group_id()),
            "does not support the kind Nothing",
            "an unknown kind proves nothing",
        ),
        (
            record(
                rg("landing"),
                f"/subscriptions/{OTHER_SUBSCRIPTION}/resourceGroups/landing",
                owner=ALIAS,
            ),
            "",
            "only Azure knows the subscription of an alias",
        ),
        (
            record(ROLE, f"{vnet_id()}/providers/Microsoft.Authorization/roleAssignments/r", owner=vnet()),
            "",
            "an extension is below what it extends",
        ),
        (record(USER, f"{SERVER}/users/%41%2Fb"), "", "a user may be called what no id may have"),
        (record(USER, f"{SERVER}/users/50%"), "is not an ARM id", "if the name is encoded"),
        (record(USER, f"{SERVER}/users/../x"), "is not an ARM id", "a path that leads elsewhere"),
        (record(vnet(), f"{vnet_id()}%2F"), "is not an ARM id", "what is ARM's has no such name"),
        (record(USER, SERVER), "has the type Microsoft.DBforPostgreSQL/flexibleServers", "a user is no server"),
    ],
)
def test_what_a_record_claims(entry, says, why):
    alias = record(ALIAS, "/providers/Microsoft.Subscription/aliases/team")
    records = {rg(): GROUP, vnet(): HUB, ALIAS: alias, entry.key: entry}
    found = explain_contradiction(entry, records, CATALOG)
    assert says in found if says else found == "", why


@pytest.mark.parametrize(
    ("entry", "declared", "refused", "why"),
    [
        (replace(HUB, trust=Trust.UNSIGNED), {}, "is not signed", "nothing proves it"),
        (replace(HUB, trust=Trust.ALTERED), {vnet(): vnet_id()}, "was changed", "a manifest does not prove the rest"),
        (replace(HUB, trust=Trust.OTHER_KEY), {}, "does not have", "nor does a strange key"),
        (replace(HUB, trust=Trust.SIGNED), {}, "", "it is signed"),
        (replace(HUB, trust=Trust.SIGNED_BEFORE), {}, "", "the previous key counts"),
        (record(vnet(), group_id()), {}, "contradicts itself", "the wrong id"),
        (record(vnet(), group_id(), claim=Claim.NONE), {}, "", "what was never ours is never deleted"),
        (record(vnet(), group_id()), {vnet(): group_id()}, "", "the manifest gives the same id"),
    ],
)
def test_which_records_are_not_believed(entry, declared, refused, why):
    found = collect_untrusted({entry.key: entry}, CATALOG, declared)
    assert refused in found.get(entry.key, "") if refused else found == {}, why


def test_every_id_that_gitsync_makes_is_believed():
    files = {str(path.relative_to(EXAMPLES)): path.read_bytes() for path in EXAMPLES.rglob("*.yaml")}
    prepared = prepare(read_manifests(files), catalog=CATALOG, subscription=SUBSCRIPTION)
    records = {
        resource.key: record(
            resource.key, resource.arm_id, owner=resource.relations.owner.key if resource.relations.owner else None
        )
        for resource in prepared
        if resource.arm_id
    }
    assert len(records) > 50
    assert collect_untrusted(records, CATALOG, {}) == {}
