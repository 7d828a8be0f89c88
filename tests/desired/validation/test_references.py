"""Owners and references of a single manifest: their forms, and what they name."""

import pytest

from gitsync.desired.validation.references import check_reference, is_arm_id, list_named_references
from gitsync.model.facts import Scope
from gitsync.model.gvk import Key
from gitsync.model.problem import Level
from tests.support.handmade_kinds import a_catalog, a_kind, seen

SUB = "/subscriptions/0"
RG = f"{SUB}/resourceGroups/rg"
BAD_ENDS = (
    (f"{RG}/", "a slash at the end of a group"),
    (f"{RG}//", "two slashes"),
    (f"{RG}/providers/Microsoft.Z/y/x/", "a slash at the end of a resource"),
    (f"{RG} ", "a blank at the end"),
    (f" {RG}", "a blank at the start"),
    (f"{RG}\n", "the end of a line"),
    (f"{RG}\u00a0", "a blank that does not break"),
    (f"{RG} /providers/Microsoft.Z/y/x", "a blank at the end of the group inside"),
    (f"{RG}/providers/Microsoft.Z/y/ x", "a blank at the start of the name"),
    (f"{RG}[0]", "a name that no group has"),
    (f"{RG},b/providers/Microsoft.Z/y/x", "nor one around a resource"),
    (f"{RG}/providers/Microsoft.Network/virtualNetworks/a b", "a name that no network has"),
)

CATALOG = a_catalog({"network.azure.com": ["VirtualNetwork", "RouteTable"], "resources.azure.com": ["ResourceGroup"]})
FIELDS = {
    "ref": {"type": "reference"},
    "refs": {"type": {"list": "reference"}},
    "role": {"type": "wellKnownReference"},
    "byName": {"type": {"map": "reference"}},
    "owner": {"type": "knownOwner"},
    "any": {"type": "arbitraryOwner"},
}
CHILD = a_kind(FIELDS, arm_type="Microsoft.Kusto/clusters/databases", owner=("kusto.azure.com", "Cluster"))
TOP = a_kind(FIELDS, owner=("resources.azure.com", "ResourceGroup"))


def findings(field, value, kind=TOP):
    return list(check_reference(seen(kind, {field: value}, ("spec", field)), kind, CATALOG))


@pytest.mark.parametrize(
    ("arm_id", "expected", "why"),
    [
        (SUB, True, "a subscription"),
        (RG, True, "a resource group"),
        (RG.upper(), True, "ids have no case"),
        (f"{RG}/providers/Microsoft.X/a/b", True, "a resource"),
        (f"{RG}/providers/Microsoft.X/a/b/c/d", True, "a child"),
        (f"{RG}/providers/Microsoft.X/a/b/providers/Microsoft.Y/c/d", True, "an extension of a resource"),
        ("/providers/Microsoft.Management/managementGroups/mg", True, "tenant scope"),
        (f"{SUB}/providers/Microsoft.X/a/b", True, "subscription scope"),
        (f"{RG}/", False, "an empty segment at the end"),
        ("subscriptions/0", False, "no slash before it"),
        (f"{RG}/providers/Microsoft.X/a", False, "a type without a name"),
        (f"{RG}/providers/Microsoft.X", False, "a provider without a type"),
        (f"{RG}\n", False, "a line break after it"),
        (f"{SUB}/resourceGroups/..", False, "dots would lead elsewhere"),
        (f"{SUB}/resourceGroups/../providers/Microsoft.X/a/b", False, "and in the middle"),
        (f"{SUB}/resourceGroups/a?b", False, "a question mark would end the path"),
        (f"{SUB}/resourceGroups/a%2Fb", False, "an escape would be read once more"),
        ("my-network", False, "a plain name"),
        ("", False, "nothing"),
    ],
)
def test_what_an_arm_id_is(arm_id, expected, why):
    assert is_arm_id(arm_id) is expected, why


VNET = {"group": "network.azure.com", "kind": "VirtualNetwork", "name": "hub"}


@pytest.mark.parametrize(
    ("field", "value", "kind", "expected", "why"),
    [
        ("ref", VNET, TOP, [], "by name"),
        ("ref", {"armId": RG}, TOP, [], "by id"),
        ("ref", {}, TOP, ["ReferenceForm"], "neither"),
        ("ref", {"group": "", "armId": ""}, TOP, ["ReferenceForm"], "empty is not set"),
        ("ref", VNET | {"armId": RG}, TOP, ["ReferenceForm"], "both"),
        ("ref", {"name": "hub"}, TOP, ["ReferenceForm"], "half of one"),
        ("ref", {"armId": "hub"}, TOP, ["ArmIdForm"], "an id that is none"),
        ("ref", VNET | {"name": RG}, TOP, ["NameIsArmId"], "an id where a name belongs"),
        ("ref", VNET | {"kind": "VirtualNetwrk"}, TOP, ["ReferenceKind"], "a kind that is misspelt"),
        ("ref", VNET | {"group": "netwrk.azure.com"}, TOP, ["ReferenceKind"], "a group that is misspelt"),
        ("ref", {"group": "sql.azure.com", "kind": "User", "name": "u"}, TOP, ["ReferenceKind"], "not ARM's"),
        ("role", {"wellKnownName": "Reader"}, TOP, [], "well known"),
        ("role", {"wellKnownName": "Reader", "armId": RG}, TOP, ["ReferenceForm"], "the well-known name wins"),
        ("role", {"wellKnownName": "Reader", "armId": "a"}, TOP, ["ReferenceForm"], "whatever the other is"),
        ("role", {"wellKnownName": "Reader", "name": "x"}, TOP, ["ReferenceForm"], "and over a name"),
        ("role", {"wellKnownName": "Reader", "name": "", "armId": None}, TOP, [], "which are not set"),
        ("role", {"wellKnownName": "Reader", "armId": ""}, TOP, ["ArmIdForm"], "a pattern takes no empty text"),
        ("owner", {"name": "rg", "armId": ""}, TOP, ["ArmIdForm"], "nor that of an owner"),
        ("role", {}, TOP, ["ReferenceForm"], "not even that"),
        ("owner", {"name": "rg"}, TOP, [], "a known owner by name"),
        ("owner", {}, TOP, ["OwnerForm"], "an owner without anything"),
        ("owner", {"name": "rg", "armId": RG}, TOP, ["OwnerForm"], "an owner twice"),
        ("owner", {"armId": RG}, TOP, [], "a resource group"),
        ("owner", {"armId": RG.lower()}, TOP, [], "in any case"),
        ("owner", {"armId": SUB}, TOP, ["OwnerType"], "a subscription owns no resource"),
        ("owner", {"name": RG}, TOP, ["NameIsArmId"], "an id as the name of an owner"),
        ("owner", {"armId": f"{RG}/providers/microsoft.kusto/clusters/c"}, CHILD, [], "the parent's type"),
        ("owner", {"armId": RG}, CHILD, ["OwnerType"], "a group owns no database"),
        ("owner", {"armId": f"{RG}/providers/Microsoft.Kusto/pools/c"}, CHILD, ["OwnerType"], "another type"),
        ("owner", {"name": "rg", "kind": "ResourceGroup", "group": "resources.azure.com"}, TOP, ["NoEffect"] * 2, "right"),
        ("owner", {"name": "rg", "kind": None}, TOP, ["NoEffect"], "null does not make a field known"),
        ("owner", {"name": "rg", "kind": "VirtualNetwork"}, TOP, ["OwnerKind"], "an owner of the wrong kind"),
        ("any", VNET, TOP, [], "an owner of any kind"),
        ("any", {"name": "hub"}, TOP, ["OwnerForm"], "of which all must be said"),
        ("any", {"armId": f"{RG}/providers/Microsoft.Z/y/x"}, TOP, [], "an id of any type"),
        ("any", {"armId": f"{RG}/providers/Microsoft.Z/y/x y"}, TOP, [], "a blank inside a name"),
        ("any", {"armId": f"{RG}/providers/Microsoft.Sql/servers/Main01"}, TOP, [], "an id has no case"),
        ("any", {"armId": f"{RG}/providers/Microsoft.Sql/servers/main_01"}, TOP, ["ArmIdForm"], "not a name of a server"),
        *(("any", {"armId": armId}, TOP, ["ArmIdForm"], why) for armId, why in BAD_ENDS),
        *(("owner", {"armId": armId}, TOP, ["ArmIdForm"], f"an owner: {why}") for armId, why in BAD_ENDS),
    ],
)  # fmt: skip
def test_forms(field, value, kind, expected, why):
    assert [f.code for f in findings(field, value, kind)] == expected, why


def test_scopes_without_a_parent_check_no_type():
    tenant = a_kind(FIELDS, scope=Scope.TENANT, owner=("resources.azure.com", "ResourceGroup"))
    assert findings("owner", {"armId": SUB}, tenant) == []


@pytest.mark.parametrize(
    ("field", "value", "kind", "message", "hint"),
    [
        (
            "ref",
            {},
            TOP,
            (
                "at least one of ['ARMID'] or ['Group', 'Kind', 'Namespace', 'Name'] must be set for ResourceReference: "
                "spec.ref has none."
            ),
            "Set group, kind and name of a manifest in this namespace, or armId.",
        ),
        (
            "ref",
            VNET | {"armId": RG},
            TOP,
            (
                "the 'ARMID' field is mutually exclusive with 'Group', 'Kind', 'Namespace', and 'Name' for "
                "ResourceReference: spec.ref has armId and group, kind and name."
            ),
            "Keep either armId or group, kind and name.",
        ),
        (
            "ref",
            {"kind": "VirtualNetwork", "name": "hub"},
            TOP,
            (
                "when referencing a Kubernetes resource, 'Group', 'Kind', 'Namespace', and 'Name' must all be specified for "
                "ResourceReference: spec.ref lacks group."
            ),
            "Add group.",
        ),
        (
            "owner",
            {"armId": f"{RG}/providers/Microsoft.Compute/virtualMachines/vm"},
            TOP,
            'expected owner ARM ID to be for a resource group, but was "Microsoft.Compute/virtualMachines".',
            "Set the id of the ResourceGroup that owns this Thing.",
        ),
        (
            "owner",
            {"armId": f"{RG}/providers/Microsoft.Compute/clusters/c"},
            CHILD,
            'expected owner ARM ID to be from provider "Microsoft.Kusto", but was "Microsoft.Compute".',
            "Set the id of the Cluster that owns this Thing.",
        ),
        (
            "owner",
            {"armId": f"{RG}/providers/Microsoft.Kusto/pools/c"},
            CHILD,
            'expected owner ARM ID to be of type "Microsoft.Kusto/clusters", but was "Microsoft.Kusto/pools".',
            "Set the id of the Cluster that owns this Thing.",
        ),
        (
            "ref",
            VNET | {"kind": "virtualnetwork"},
            TOP,
            'spec.ref: group "network.azure.com", kind "virtualnetwork" is not an ARM kind that ASO serves.',
            "Did you mean VirtualNetwork?",
        ),
    ],
)
def test_what_is_reported(field, value, kind, message, hint):
    (finding,) = findings(field, value, kind)
    assert (finding.message, finding.hint) == (message, hint)


def test_spare_fields_of_an_owner_are_of_the_level_of_unknown_fields():
    owner = {"name": "rg", "kind": "ResourceGroup", "group": "x.azure.com"}
    visit = seen(TOP, {"owner": owner}, ("spec", "owner"))
    found = list(check_reference(visit, TOP, CATALOG, Level.WARNING))
    assert [(problem.code, problem.level) for problem in found] == [
        ("OwnerKind", Level.ERROR),
        ("NoEffect", Level.WARNING),
    ]


def test_a_reference_by_a_well_known_name_reports_what_has_no_effect():
    (finding,) = findings("role", {"wellKnownName": "Reader", "armId": RG})
    assert finding.message == "spec.role has wellKnownName, so armId has no effect: the well-known name wins."
    assert finding.hint == "Keep either wellKnownName or armId."


def test_references_are_found_wherever_they_stand():
    spec = {
        "ref": VNET,
        "refs": [{"armId": RG}, VNET | {"name": "two"}],
        "byName": {"x": VNET | {"name": "three"}},
        "role": VNET | {"wellKnownName": "Reader"},
        "any": VNET | {"name": "owners are no references"},
    }
    found = list(list_named_references(TOP, spec, "ns"))
    assert found == [
        (("spec", "ref"), Key("network.azure.com", "VirtualNetwork", "ns", "hub")),
        (("spec", "refs", 1), Key("network.azure.com", "VirtualNetwork", "ns", "two")),
        (("spec", "byName", "x"), Key("network.azure.com", "VirtualNetwork", "ns", "three")),
    ]


def test_a_reference_that_is_half_said_names_nothing():
    spec = {"ref": {"name": "x"}, "refs": [{"group": 1, "kind": "K", "name": "n"}, "text"]}
    assert list(list_named_references(TOP, spec, "ns")) == []


@pytest.mark.parametrize(
    ("arm_id", "says"),
    [
        (f"{RG}/providers/Microsoft.Network/virtualNetworks/{'x' * 60}/subnets/a/", 'it ends with a slash: "/'),
        (f"{RG}/providers/Microsoft.Network/virtualNetworks/{'x' * 60} ", 'ends with a blank: "/'),
    ],
)
def test_what_is_wrong_at_the_end_of_a_long_id_is_shown(arm_id, says):
    (finding,) = findings("any", {"armId": arm_id})
    assert says in finding.message
    assert finding.message.endswith(f'{arm_id[-10:]}".')
