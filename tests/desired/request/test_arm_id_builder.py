"""ARM ids, by scope and by how the owners are rooted."""

import pytest

from gitsync.desired.request.arm_id_builder import ArmIds, Standing
from gitsync.desired.validation.annotations import OVERRIDE
from gitsync.model.arm_id import ArmId
from gitsync.model.facts import Scope
from gitsync.model.gvk import GVK, Key
from gitsync.model.resource import OwnerRef
from gitsync.model.template import ConfigMapKeyRef, RootRef, Text
from tests.support.handmade_kinds import GROUP, a_kind, a_resource

SUBSCRIPTION = "11111111-1111-1111-1111-111111111111"
GROUP_ID = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/Core"
ELSEWHERE = "/subscriptions/2/resourceGroups/far"

RG = a_kind(kind="Group", scope=Scope.LOCATION, arm_type="Microsoft.Resources/resourceGroups")
TENANT = a_kind(kind="Alias", scope=Scope.TENANT, arm_type="Microsoft.Subscription/aliases")
TOP = a_kind(kind="Top", arm_type="Microsoft.Things/tops", owner=(GROUP, "Group"))
MIDDLE = a_kind(kind="Middle", arm_type="Microsoft.Things/Tops/middles", owner=(GROUP, "Top"))
LEAF = a_kind(kind="Leaf", arm_type="Microsoft.Things/tops/middles/leaves", owner=(GROUP, "Middle"))
EXTENSION = a_kind(kind="Ext", arm_type="Microsoft.Ext/exts", scope=Scope.EXTENSION, any_owner=True)


def key(kind, name):
    return Key(GROUP, kind, "default", name)


def standing(kind, name, owner=None, azure_name=None, **more):
    by = {"arm_id": ArmId(owner)} if isinstance(owner, str) else {"key": owner}
    return Standing(
        resource=a_resource(name=name, kind=kind.gvk.kind, **more),
        kind=kind,
        name=azure_name or name,
        owner=OwnerRef(**by) if owner else None,
    )


def ids(*standings):
    found = ArmIds({s.resource.key: s for s in standings}, lambda _: SUBSCRIPTION)
    return [found.of(s.resource.key) for s in standings]


CORE = standing(RG, "core", azure_name="Core")
TOP_ONE = standing(TOP, "t", key("Group", "core"))


def last(*standings):
    return ids(*standings)[-1]


@pytest.mark.parametrize(
    ("standings", "expected", "why"),
    [
        ([CORE], GROUP_ID, "a resource group, by its name in Azure"),
        ([standing(TENANT, "a")], "/providers/Microsoft.Subscription/aliases/a", "a resource of the tenant"),
        ([CORE, TOP_ONE], f"{GROUP_ID}/providers/Microsoft.Things/tops/t", "a resource of a group"),
        (
            [CORE, TOP_ONE, standing(MIDDLE, "m", key("Top", "t"))],
            f"{GROUP_ID}/providers/Microsoft.Things/tops/t/middles/m",
            "a child extends the id of its owner, whose types its own kind spells in another way",
        ),
        (
            [CORE, TOP_ONE, standing(MIDDLE, "m", key("Top", "t")), standing(LEAF, "l", key("Middle", "m"))],
            f"{GROUP_ID}/providers/Microsoft.Things/tops/t/middles/m/leaves/l",
            "a grandchild",
        ),
        (
            [standing(TOP, "t", f"{ELSEWHERE}/")],
            f"{ELSEWHERE}/providers/Microsoft.Things/tops/t",
            "a slash at the end of an owner's id is taken off",
        ),
        (
            [standing(TOP, "t", ELSEWHERE)],
            f"{ELSEWHERE}/providers/Microsoft.Things/tops/t",
            "a group by its id, in another subscription",
        ),
        (
            [standing(MIDDLE, "m", f"{ELSEWHERE}/providers/microsoft.things/tops/T")],
            f"{ELSEWHERE}/providers/microsoft.things/tops/T/middles/m",
            "a parent by its id keeps how it is spelled",
        ),
        (
            [
                standing(MIDDLE, "m", f"{ELSEWHERE}/providers/Microsoft.Things/tops/T"),
                standing(LEAF, "l", key("Middle", "m")),
            ],
            f"{ELSEWHERE}/providers/Microsoft.Things/tops/T/middles/m/leaves/l",
            "a grandchild of what is named by its id",
        ),
        (
            [standing(TOP, "t", ELSEWHERE), standing(MIDDLE, "m", key("Top", "t"))],
            f"{ELSEWHERE}/providers/Microsoft.Things/tops/t/middles/m",
            "a child of what lies in a group that is named by its id",
        ),
        (
            [CORE, standing(EXTENSION, "e", key("Group", "core"))],
            f"{GROUP_ID}/providers/Microsoft.Ext/exts/e",
            "an extension of a group",
        ),
        (
            [CORE, TOP_ONE, standing(EXTENSION, "e", key("Top", "t"))],
            f"{GROUP_ID}/providers/Microsoft.Things/tops/t/providers/Microsoft.Ext/exts/e",
            "an extension of a resource",
        ),
        (
            [standing(EXTENSION, "e", "/subscriptions/2")],
            "/subscriptions/2/providers/Microsoft.Ext/exts/e",
            "an extension of a subscription, by its id",
        ),
        (
            [CORE, standing(EXTENSION, "e", key("Group", "core")), standing(EXTENSION, "f", key("Ext", "e"))],
            f"{GROUP_ID}/providers/Microsoft.Ext/exts/e/providers/Microsoft.Ext/exts/f",
            "an extension of an extension",
        ),
        (
            [
                standing(TENANT, "a", annotations={OVERRIDE: "/subscriptions/9"}),
                standing(EXTENSION, "e", key("Alias", "a")),
            ],
            "/subscriptions/9/providers/Microsoft.Ext/exts/e",
            "an extension of an alias stands below the subscription that the alias created",
        ),
        (
            [standing(TENANT, "a", annotations={OVERRIDE: "odd"}), standing(EXTENSION, "e", key("Alias", "a"))],
            Text((RootRef(key("Alias", "a")), "/providers/Microsoft.Ext/exts/e")),
            "an override that is no id is passed over",
        ),
        (
            [
                standing(TENANT, "a"),
                standing(EXTENSION, "e", key("Alias", "a")),
                standing(EXTENSION, "f", key("Ext", "e")),
            ],
            Text((RootRef(key("Alias", "a")), "/providers/Microsoft.Ext/exts/e/providers/Microsoft.Ext/exts/f")),
            "which subscription an alias made only Azure knows, for all that stands below it",
        ),
    ],
)
def test_an_id(standings, expected, why):
    assert last(*standings) == expected, why


@pytest.mark.parametrize(
    ("standings", "why"),
    [
        ([standing(TOP, "t")], "no owner"),
        ([TOP_ONE], "an owner that is not there"),
        ([standing(EXTENSION, "e", key("Top", "t"))], "an extension of what is not there"),
        ([standing(EXTENSION, "e")], "an extension of nothing"),
        ([standing(EXTENSION, "e", "not an id")], "an extension of what is no id"),
        ([TOP_ONE, standing(MIDDLE, "m", key("Top", "t"))], "an owner whose owner is not there"),
        ([standing(TOP, "t", f"{ELSEWHERE}/providers/Microsoft.Things/tops/x")], "a group is needed"),
        ([standing(MIDDLE, "m", ELSEWHERE)], "a parent is needed, and a group is named"),
        ([standing(MIDDLE, "m", f"{ELSEWHERE}/providers/Microsoft.Other/tops/x")], "a parent of another provider"),
        ([standing(TOP, "t", "/subscriptions/2/resourcegroups/../x")], "a way out of the id"),
        ([CORE, standing(LEAF, "l", key("Group", "core"))], "names are missing on the way"),
        ([standing(TENANT, "a"), standing(TOP, "t", key("Alias", "a"))], "an owner that is in no group"),
        ([standing(EXTENSION, "e", key("Ext", "e"))], "what owns itself"),
        (
            [standing(EXTENSION, "e", key("Ext", "f")), standing(EXTENSION, "f", key("Ext", "e"))],
            "what own each other",
        ),
        (
            [standing(MIDDLE, "m", key("Middle", "n")), standing(MIDDLE, "n", key("Middle", "m"))],
            "what own each other inside a group",
        ),
    ],
)
def test_no_id(standings, why):
    assert last(*standings) is None, why


def test_a_manifest_without_a_name_has_no_id_and_neither_have_its_dependents():
    nameless = Standing(resource=a_resource(name="core", kind="Group"), kind=RG, name=None, owner=None)
    assert ids(nameless, TOP_ONE) == [None, None]


def test_a_name_from_a_config_map_leaves_a_placeholder_in_all_ids_below():
    ref = ConfigMapKeyRef("c", "k")
    found = ids(CORE, standing(TOP, "t", key("Group", "core"), ref), standing(MIDDLE, "m", key("Top", "t")))
    assert found[1:] == [
        Text((f"{GROUP_ID}/providers/Microsoft.Things/tops/", ref)),
        Text((f"{GROUP_ID}/providers/Microsoft.Things/tops/", ref, "/middles/m")),
    ]


def test_a_chain_that_no_azure_could_have_is_given_up():
    many = [standing(EXTENSION, "e0", "/subscriptions/2")]
    many += [standing(EXTENSION, f"e{n}", key("Ext", f"e{n - 1}")) for n in range(1, 5000)]
    assert ids(*reversed(many))[0] is None


def list_kinds(catalog):
    for group in catalog.groups():
        for name in catalog.kinds(group):
            yield catalog.kind(GVK(group, catalog.versions(group, name)[-1], name))


def test_every_kind_has_an_id_that_extends_the_id_of_its_owner(catalog):
    kinds = {(kind.gvk.group, kind.gvk.kind): kind for kind in list_kinds(catalog)}
    group = standing(kinds["resources.azure.com", "ResourceGroup"], "g", group="resources.azure.com")
    for kind in kinds.values():
        if kind.scope is not Scope.RESOURCE_GROUP:
            continue
        chain = [kind]
        while chain[-1].scope is Scope.RESOURCE_GROUP:
            chain.append(kinds[chain[-1].owner])
        standings = [group]
        for resource in chain[-2::-1]:
            standings.append(standing(resource, "x", standings[-1].resource.key, group=resource.gvk.group))
        *_, owner_id, arm_id = ids(*standings)
        extended = arm_id.removeprefix(owner_id)
        assert extended != arm_id, f"{kind.gvk}: {arm_id} under {owner_id}"
        assert arm_id.casefold() == f"{ids(group)[0]}{name_path(kind.arm_type)}".casefold(), kind.gvk


def name_path(arm_type):
    provider, *words = arm_type.split("/")
    return f"/providers/{provider}" + "".join(f"/{word}/x" for word in words)
