"""Owners and references across manifests: there, not there, or below something that is not there."""

from dataclasses import replace

import pytest

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.validation.missing_targets import check_presence
from gitsync.desired.validation.references import list_named_references
from gitsync.desired.validation.relations import Member
from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import Key
from gitsync.model.manifests import KnownId, UnusableDeclarations
from gitsync.model.problem import Level, SourceLocation
from gitsync.model.resource import OwnerRef
from gitsync.model.unit import Unit, UnitOptions
from tests.support.handmade_kinds import a_catalog, a_kind, a_resource

GROUP = "things.azure.com"
CATALOG = a_catalog({GROUP: ["Thing", "Other"]})
KIND = a_kind({"ref": {"type": "reference"}, "role": {"type": "wellKnownReference"}}, owner=(GROUP, "Thing"))
ROOT = a_kind()


def key(name, kind="Thing", namespace="default"):
    return Key(GROUP, kind, namespace, name)


def ref(name, kind="Thing"):
    return {"ref": {"group": GROUP, "kind": kind, "name": name}}


def member(name, owner=None, spec=None, *, kind=KIND, **more):
    named = OwnerRef(key=key(owner, namespace=more.get("namespace", "default"))) if owner else None
    if owner is None:
        named = OwnerRef(arm_id=ArmId("/subscriptions/0/resourceGroups/rg"))
    resource = a_resource(spec, name=name, **more)
    references = tuple(list_named_references(kind, resource.spec, resource.key.namespace))
    return Member(resource=resource, kind=kind, owner=named, references=references)


WAIT = " If another repository is to create it, set `missingOwner: wait` for the unit in gitsync.yaml."


def add(name):
    """The hint for a missing owner."""
    arm_id = f"/subscriptions/<subscription>/resourceGroups/<resource group>/providers/Microsoft.X/Thing/{name}"
    return f"Add its manifest, or set spec.owner.armId to {arm_id}.{WAIT}"


def found(*members):
    return [(m.key.name, f.code, f.hint) for m, f in check_presence(members, CATALOG)]


def test_what_is_there_is_fine():
    assert found(member("a"), member("b", "a"), member("c", "b", ref("a"))) == []


@pytest.mark.parametrize(
    ("members", "expected", "why"),
    [
        (
            [member("core-net"), member("x", "core-nett")],
            [("x", "OwnerNotFound", "Did you mean Thing/core-net?")],
            "a name that is nearly one",
        ),
        (
            [member("x", "nobody")],
            [("x", "OwnerNotFound", add("nobody"))],
            "a name that is nothing like one",
        ),
        (
            [member("account", kind=ROOT), member("other", kind=ROOT), member("x", "account", kind=KIND)],
            [],
            "an owner of the right kind",
        ),
        (
            [member("hub"), member("x", spec=ref("hubb"))],
            [("x", "ReferenceNotFound", "Did you mean Thing/hub?")],
            "a reference",
        ),
        (
            [member("hub", namespace="other"), member("x", "hub")],
            [
                (
                    "x",
                    "OwnerNotFound",
                    "It is declared in namespace other, but owners and references stay within a namespace.",
                )
            ],
            "another namespace",
        ),
        (
            [member("x", "missing"), member("y", "x"), member("z", "y")],
            [
                ("x", "OwnerNotFound", add("missing")),
                ("y", "OwnerUnresolved", "Fix that first."),
                ("z", "OwnerUnresolved", "Fix that first."),
            ],
            "what hangs below has no place",
        ),
        (
            [member("x", "missing"), member("y", spec=ref("x"))],
            [
                ("x", "OwnerNotFound", add("missing")),
                ("y", "ReferenceUnresolved", "Fix that first."),
            ],
            "nor has what refers to it an id to send",
        ),
        (
            [member("x", "/subscriptions/0/resourceGroups/rg")],
            [],
            "an id where a name belongs is told by the check of forms, and once",
        ),
        ([member("x", spec=ref("y", kind="Thang"))], [], "a kind that is none is told by the check of forms, and once"),
        ([member("x", spec={"role": {"wellKnownName": "Reader"}})], [], "a well-known name is no manifest"),
    ],
)
def test_presence(members, expected, why):
    assert found(*members) == expected, why


def test_an_owner_of_the_wrong_kind_is_reported():
    owner = Member(resource=a_resource(name="hub", kind="Other"), kind=ROOT)
    assert found(owner, member("x", "hub")) == [("x", "OwnerKind", "Other/hub exists, but this references a Thing.")]


@pytest.mark.parametrize(
    ("owner", "cause"),
    [
        (Member(resource=a_resource(name="a"), kind=None), "Thing/a is not of a known kind"),
        (Member(resource=a_resource(name="a"), kind=KIND), "Thing/a has no usable owner"),
    ],
)
def test_an_owner_that_has_no_location_itself_is_reported_with_the_cause(owner, cause):
    (found_,) = [f for m, f in check_presence([owner, member("b", "a")], CATALOG) if m.key.name == "b"]
    assert found_.message == f"spec.owner names Thing/a, which has no ARM id: {cause}."


def test_a_ring_of_owners_is_reported_for_those_below_it_and_not_for_itself():
    members = [member("a", "b"), member("b", "a"), member("c", "a"), member("d", "c")]
    assert [(m.key.name, f.message) for m, f in check_presence(members, CATALOG)] == [
        ("c", "spec.owner names Thing/a, which has no ARM id: it is in a cycle."),
        ("d", "spec.owner names Thing/c, which has no ARM id: Thing/a is in a cycle."),
    ]


def test_an_owner_that_owns_itself_does_not_run_without_end():
    assert found(member("a", "a")) == []


def test_very_many_names_that_are_wrong_are_reported_without_guessing_at_all_of_them():
    members = [member(f"n{number:04}") for number in range(500)]
    wrong = [member(f"x{number:04}", f"m{number:04}") for number in range(500)]
    hints = [hint for _, _, hint in found(*members, *wrong)]
    assert len(hints) == 500
    guessed = sum(hint.startswith("Did you mean") for hint in hints)
    assert 0 < guessed < 500
    assert hints[-1] == add("m0499")


WAITING = Unit(name=".", path=".", options=UnitOptions(waits_for_owners=True))


def told(members, known=None):
    return [(m.key.name, f.code, f.level.value) for m, f in check_presence(members, CATALOG, known or {})]


def in_unit(member):
    return replace(member, resource=replace(member.resource, unit=WAITING))


@pytest.mark.parametrize(
    ("members", "expected", "why"),
    [
        ([in_unit(member("x", "gone"))], [("x", "OwnerNotFound", "warning")], "it waits"),
        (
            [in_unit(member("x", "gone")), in_unit(member("y", "x")), in_unit(member("z", spec=ref("y")))],
            [
                ("x", "OwnerNotFound", "warning"),
                ("y", "OwnerUnresolved", "warning"),
                ("z", "ReferenceUnresolved", "warning"),
            ],
            "what depends on it waits too",
        ),
        (
            [in_unit(member("x", "gone")), member("y", "x")],
            [("x", "OwnerNotFound", "warning"), ("y", "OwnerUnresolved", "error")],
            "but not in a unit that does not wait",
        ),
        ([in_unit(member("x", spec=ref("gone")))], [("x", "ReferenceNotFound", "error")], "a reference is no owner"),
        (
            [member("hub", kind=ROOT, namespace="x"), replace(in_unit(member("x", "y")), kind=KIND)],
            [("x", "OwnerNotFound", "warning")],
            "whatever else there is",
        ),
    ],
)
def test_a_unit_may_wait_for_owners(members, expected, why):
    assert told(members) == expected, why


def test_a_circle_is_an_error_in_a_unit_that_waits():
    members = [in_unit(member(*names)) for names in (("a", "b"), ("b", "a"), ("c", "a"))]
    assert told(members) == [("c", "OwnerUnresolved", "error")]


KNOWN = KnownId(arm_id=ArmId("/subscriptions/1/resourceGroups/far"), location="branch state of platform")


def test_a_reference_that_another_source_declares_is_there():
    members = [member("x", spec=ref("far")), member("y", "x")]
    assert told(members, {key("far"): KNOWN}) == []


def test_an_id_that_is_doubted_is_suggested_only():
    doubted = {key("far"): replace(KNOWN, doubt="Its record is not signed.")}
    ((_, finding),) = check_presence([member("x", "far")], CATALOG, doubted)
    assert (finding.code, finding.level) == ("OwnerNotFound", Level.ERROR)
    assert finding.hint == (
        "Set spec.owner.armId to /subscriptions/1/resourceGroups/far, the id in branch state of platform. "
        "Its record is not signed."
    )


FAR_SUBNET = (
    "/subscriptions/7/resourceGroups/<resource group>/providers/Microsoft.Network/virtualNetworks/<virtualNetworks>"
    "/subnets/far"
)


@pytest.mark.parametrize(
    ("owner", "hint", "why"),
    [
        (
            Key("resources.azure.com", "ResourceGroup", "default", "far"),
            "Add its manifest, or set spec.owner.armId to /subscriptions/7/resourceGroups/far.",
            "a resource group is known whole",
        ),
        (
            Key("network.azure.com", "VirtualNetworksSubnet", "default", "far"),
            f"Add its manifest, or set spec.owner.armId to {FAR_SUBNET}.",
            "of others the parents are not known",
        ),
        (
            Key("authorization.azure.com", "RoleDefinition", "default", "far"),
            "Add its manifest, or set spec.owner.armId, its full id.",
            "an extension resource may be anywhere",
        ),
        (
            Key("subscription.azure.com", "Alias", "default", "far"),
            "Add its manifest, or set spec.owner.armId to /providers/Microsoft.Subscription/aliases/far.",
            "an alias is in no subscription",
        ),
    ],
)
def test_a_missing_owner_is_suggested_by_the_id_that_it_would_have(owner, hint, why):
    one = Member(resource=a_resource(), kind=KIND, owner=OwnerRef(key=owner), subscription="7")
    ((_, finding),) = check_presence([one], open_catalog())
    assert finding.hint == hint + WAIT, why


def test_a_file_that_a_kustomization_leaves_out_is_named():
    """Whatever namespace it names: that of the kustomization may be another."""
    left_out = {key("far", namespace=""): SourceLocation("apps/far.yaml", 3)}
    members = [member("x", "far", spec=ref("far")), member("y", "other")]
    hints = [
        finding.hint for _, finding in check_presence(members, CATALOG, {}, UnusableDeclarations(left_out=left_out))
    ]
    position = (
        "apps/far.yaml:3 declares it, but its kustomization leaves that file out. Add the file to `resources` there."
    )
    assert hints == [position, position, add("other")]


def test_a_unit_that_waits_already_is_not_advised_to_wait():
    ((_, finding),) = check_presence([in_unit(member("x", "far"))], CATALOG)
    assert (finding.level, "missingOwner" in finding.hint) == (Level.WARNING, False)


@pytest.mark.parametrize(
    ("former", "name", "tool", "why"),
    [
        ("core", "dev-core", "namePrefix made it dev-core", "a prefix"),
        ("core", "core-dev", "nameSuffix made it core-dev", "a suffix"),
        ("core", "dev-core-1", "namePrefix and nameSuffix made it dev-core-1", "both"),
        ("core", "hub", "kustomize made it hub", "another name"),
    ],
)
def test_a_hint_names_the_tool_that_changed_a_name(former, name, tool, why):
    """kustomize does not know references of ASO, so it changes the name and not what refers to it."""
    renamed = member(name)
    renamed = replace(renamed, resource=replace(renamed.resource, renamed_from=former))
    ((_, owner), (_, reference)) = check_presence([renamed, member("x", former, spec=ref(former))], CATALOG)
    assert owner.hint.startswith(f"{tool}: add a nameReference"), why
    fields = f"fieldSpecs: [{{group: {GROUP}, kind: Thing, path: spec/owner/name}}]"
    assert f"`nameReference: [{{group: {GROUP}, kind: Thing, {fields}}}]`" in owner.hint
    assert "path: spec/ref/name" in reference.hint
    assert "armId" not in owner.hint
