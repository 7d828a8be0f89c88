"""Which removed resources are held, and by what: their unit, a document that names them, or a new one like them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.manifests.units import find_unit, may_hide
from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import Key
from gitsync.model.manifests import UnreadDocument
from gitsync.model.plan import Removal, RestOfSource
from gitsync.model.problem import Level, Problem, SourceLocation
from gitsync.model.resource import OwnerRef
from tests.support.builders import group_id, lines_of, prepared, record, rg, subnet, vnet, vnet_id
from tests.support.parts import change
from tests.support.plans import make_plan

BAD = Problem(code="InvalidYaml", message="This is not YAML.", path="infra/net/b.yaml", line=3)
GONE = record(vnet(), vnet_id(), unit="infra/net")


def unread(path="other/x.yaml", line=7, **texts):
    return UnreadDocument(source=SourceLocation(path, line), **texts)


def manifest(key, arm_id, path="a.yaml", **more):
    spec = more.pop("spec", {})
    made = prepared(key, arm_id, **more)
    return replace(made, resource=replace(made.resource, source=SourceLocation(path, 1), spec=spec))


def held(gone=GONE, declared=(), problems=(), unread=(), known=(), removal=None):
    """Why one record is held, when git has this."""
    records = {entry.key: entry for entry in (gone, *known)}
    plan = make_plan(
        declared,
        records,
        problems,
        {gone.key: removal} if removal else {},
        around=RestOfSource(unread=tuple(unread)),
    )
    return plan.prunes[gone.key].kept_because


def at(path, **more):
    return replace(BAD, path=path, **more)


def link(path):
    return at(path, code="PassedOver", level=Level.WARNING, line=0)


UNITS = [
    (BAD, True, "a file of its folder does not parse"),
    (at("infra/other/b.yaml"), False, "a file of another folder"),
    (at("infra/b.yaml"), False, "a file of the folder above"),
    (at("infra/net/deep/b.yaml"), False, "a file of a folder below"),
    (at("infra/network/b.yaml"), False, "a folder whose name begins alike"),
    (at("infra/net"), True, "its folder cannot be read"),
    (at("infra"), True, "nor a folder that it lies in"),
    (at(""), True, "an error of no file in particular"),
    (at("infra/kustomization.yaml"), True, "a kustomization that stands for all below it"),
    (at("infra/net/Kustomization"), True, "or for its folder"),
    (at("apps/kustomization.yaml"), False, "a kustomization of another folder"),
    (at("infra/net/b.yaml", level=Level.WARNING), False, "a warning hides nothing"),
    (at("apps/b.yaml", unit="infra/net"), True, "its own unit, whose file is elsewhere"),
    (at("infra/net/b.yaml", unit="apps"), False, "a file of its folder that another unit is built of"),
    (at("infra/kustomization.yaml", unit="infra"), True, "a unit above, of which its folder may be a part now"),
    (at("apps/k.yaml", unit="apps", parts=("infra/net",)), True, "a unit that is built on its folder now"),
    (
        at("apps/k.yaml", unit="infra/net", code="KustomizationFailed", level=Level.WARNING),
        True,
        "a unit that is not built, though that is a warning",
    ),
    (at("apps/k.yaml", unit="infra/net", level=Level.WARNING), False, "another warning hides nothing"),
    (link("infra/net"), True, "a link stands in the place of its folder"),
    (link("infra/net/b.yaml"), True, "or of a manifest"),
    (link("infra/net/README.md"), False, "but not of a text"),
]


def test_a_unit_that_is_built_is_hidden_by_no_unit_above():
    problem = at("infra/kustomization.yaml", unit="infra", parts=("infra/net",))
    assert may_hide(problem, "infra/net")
    assert not may_hide(problem, "infra/net", {"infra/net"})
    assert may_hide(replace(problem, unit="infra/net"), "infra/net", {"infra/net"}), "but by a problem of its own"


@pytest.mark.parametrize(("problem", "expected", "why"), UNITS, ids=[row[-1] for row in UNITS])
def test_a_unit_that_cannot_be_read_in_full_is_held(problem, expected, why):
    said = held(problems=[problem])
    assert bool(said) is expected, why
    assert may_hide(problem, "infra/net") is expected
    if problem.path and problem.line and expected:
        assert f"{problem.path}:3 cannot be read" in said
        assert "Fix it" in said


def test_a_file_at_the_root_has_a_unit_too():
    assert (find_unit("a.yaml"), find_unit("infra/net/a.yaml")) == (".", "infra/net")
    root = change(GONE, unit=".")
    assert held(root, problems=[at("b.yaml")])
    assert not held(root, problems=[BAD])


def test_a_rejected_document_holds_its_unit_also_without_a_problem():
    said = held(unread=[unread("infra/net/x.yaml", is_rejected=True)])
    assert "infra/net/x.yaml:7" in said
    assert not held(unread=[unread("infra/net/x.yaml")]), "one that is only passed over does not"
    assert not held(unread=[unread("apps/x.yaml", is_rejected=True)]), "nor one of another unit"


def test_an_unknown_kind_holds_its_unit():
    strange = Key("network.azure.com", "Network", "default", "other")
    wrong = Problem(code="UnknownKind", message="There is no such kind.", path="infra/net/x.yaml", line=1)
    hidden = replace(manifest(strange, "", "infra/net/x.yaml", problems=(wrong,)), arm_id=None, api_version=None)
    assert "infra/net/x.yaml:1" in held(declared=[hidden])
    known = manifest(vnet("other"), vnet_id("other"), "infra/net/x.yaml", problems=(wrong,))
    assert not held(declared=[known]), "a manifest that is invalid, and known, holds nothing but itself"


@pytest.mark.parametrize(
    ("problems", "declared", "expected", "why"),
    [
        ([at("apps/x.yaml")], [], True, "a file anywhere that does not parse"),
        (
            [],
            [manifest(rg("new"), group_id("new"), problems=(at("apps/x.yaml"),))],
            True,
            "an invalid manifest anywhere",
        ),
        ([], [], False, "all can be read"),
    ],
)
def test_a_record_of_before_units_were_kept_waits_for_all_of_git(problems, declared, expected, why):
    said = held(change(GONE, unit=""), declared=declared, problems=problems)
    assert bool(said) is expected, why
    assert not said or "apps/x.yaml:3 has an error" in said


def test_a_unit_that_is_moved_is_read_where_it_is_now():
    """The folder of old is empty then, and reads well; the mistyped manifest went along with the others."""
    moved = manifest(vnet("other"), vnet_id("other"), "platform/net/a.yaml")
    before = record(vnet("other"), vnet_id("other"), unit="infra/net")
    broken = at("platform/net/b.yaml")
    assert "platform/net/b.yaml" in held(declared=[moved], known=[before], problems=[broken])
    assert not held(declared=[moved], known=[change(before, unit="apps")], problems=[broken])


def test_the_file_that_history_names_counts_as_well():
    """A manifest that was moved and broken between two runs: the record does not have its last folder."""
    broken = at("platform/net/b.yaml")
    assert held(problems=[broken], removal=Removal(path="platform/net/a.yaml"))
    assert not held(problems=[broken], removal=Removal(path="apps/a.yaml"))


def test_a_folder_that_is_gone_altogether_holds_nothing():
    assert not held(problems=[at("apps/x.yaml")])


NAMED = [
    (unread(kind="VirtualNetwork", name="hub"), True, "it names both"),
    (unread(kind="virtualnetwrok", name="hub"), True, "a kind within two letters, in any case"),
    (unread(kind="VirtualNetworks", name="HUB"), True, "a name in another case"),
    (unread(kind="", name="hub"), True, "a kind that cannot be known may be any"),
    (unread(kind="VirtualNetwork", name="x", azure_name="hub-net"), True, "the name in Azure, as its ARM id ends"),
    (unread(kind="VirtualNetwork", name="hub-net"), True, "the same, where azureName was mistyped"),
    (unread(kind="VirtualNetwork", name="hub", is_rejected=True), True, "a rejected one"),
    (unread(kind="AzureResource", name="hub"), True, "any kind may become an AzureResource"),
    (unread(kind="AzureRessource", name="x", azure_name="a/hub-net"), True, "the last step of a name with several"),
    (unread(kind="VirtualNetwork", name="spoke"), False, "another name"),
    (unread(kind="Deployment", name="hub"), False, "another kind"),
    (unread(kind="VirtualNetwork"), False, "no name"),
    (unread(), False, "nothing at all"),
]


ANY_GONE = record(Key("azure.gitsync", "AzureResource", "default", "hub"), vnet_id("hub"), unit="infra/net")
NAMED_ANY = [
    (unread(kind="VirtualNetwork", name="hub", is_rejected=True), True, "an AzureResource may become any kind"),
    (unread(kind="AzureResource", name="hub"), True, "a kind that gitsync does not read under this group"),
    (unread(kind="Deployment", name="hub"), False, "a document of another tool"),
]


@pytest.mark.parametrize(("document", "expected", "why"), NAMED_ANY, ids=[row[-1] for row in NAMED_ANY])
def test_a_document_may_be_an_azure_resource_of_another_kind(document, expected, why):
    assert bool(held(ANY_GONE, unread=[document])) is expected, why


@pytest.mark.parametrize(("document", "expected", "why"), NAMED, ids=[row[-1] for row in NAMED])
def test_a_document_that_is_not_understood_holds_what_it_names(document, expected, why):
    said = held(replace(GONE, arm_id=vnet_id("hub-net")), unread=[document])
    assert bool(said) is expected, why
    assert not said or ("other/x.yaml:7" in said and "Fix the document" in said)


def test_an_invalid_manifest_holds_what_it_names():
    """A new manifest for the same resource, whose ARM id no one has while its owner is missing."""
    other = manifest(vnet("renamed"), "", problems=(BAD,), spec={"azureName": "hub"})
    assert "whose manifest is invalid" in held(declared=[replace(other, arm_id=None)])
    elsewhere = manifest(vnet("renamed"), "", problems=(BAD,), spec={"azureName": "spoke"})
    assert not held(declared=[replace(elsewhere, arm_id=None)])


def test_a_manifest_that_takes_its_name_from_a_config_map_holds_all_of_its_kind_until_it_is_known():
    spec = {"azureNameFromConfig": {"name": "names", "key": "hub"}}
    unnamed = replace(manifest(vnet("renamed"), "", spec=spec), arm_id=None)
    assert "config map" in held(declared=[unnamed])
    assert not held(declared=[unnamed], known=[record(vnet("renamed"), vnet_id("other"), unit=".")])
    assert not held(record(rg(), group_id(), unit="."), declared=[unnamed])


NEW = [
    (vnet("hubb"), True, "one letter more"),
    (vnet("hu"), True, "one less"),
    (vnet("hob"), True, "another one"),
    (vnet("hbu"), True, "two that changed places"),
    (vnet("Hub"), True, "another case"),
    (Key("network.azure.com", "VirtualNetworks", "default", "hub"), True, "a letter of the kind"),
    (Key("network.azure.com", "VirtualNetwork", "prod", "hub"), True, "another namespace"),
    (Key("network.azure.com", "VirtualNetwork", "prod", "hubs"), True, "a namespace that was lost, and a letter"),
    (vnet("spoke"), False, "another name"),
    (vnet("hubxy"), False, "two letters"),
    (subnet("hubb"), False, "another kind"),
]


@pytest.mark.parametrize(("key", "expected", "why"), NEW, ids=[row[-1] for row in NEW])
def test_a_new_manifest_that_is_all_but_equal_holds_for_one_run(key, expected, why):
    new = manifest(key, f"{vnet_id()}-another")
    said = held(declared=[new])
    assert bool(said) is expected, why
    if expected:
        assert said.startswith(f"Held for this run: {key} was added in the same change and ")
        assert said.endswith(" The next run deletes it.")
    assert not held(declared=[new], known=[record(key, f"{vnet_id()}-another", unit=".")]), "the next run knows it"


def test_a_manifest_that_takes_the_name_of_another_holds():
    """web1 mistyped as web2, which is there already: it is not new, but it stands twice."""
    twins = [manifest(vnet("hub2"), vnet_id("hub2"), path, problems=(BAD,)) for path in ("a.yaml", "b.yaml")]
    said = held(
        replace(GONE, key=vnet("hub1"), arm_id=vnet_id("hub1")),
        declared=twins,
        known=[record(vnet("hub2"), vnet_id("hub2"), unit=".")],
    )
    assert " again, and it" in said


def resource(namespace, *others, name="hub", written=True):
    """Resources of one namespace that the run is not about."""
    keys = [Key("network.azure.com", "VirtualNetwork", namespace, each) for each in (name, *others)]
    made = [manifest(key, "", "other/x.yaml").resource for key in keys]
    return tuple(
        replace(resource, lines=lines_of({("metadata", "namespace"): 1} if written else {})) for resource in made
    )


STRAYS = [
    (resource("prdo"), True, "a namespace within a letter, which nothing else has"),
    (resource("default", written=False), True, "a namespace that is not written"),
    (resource("prod2", "mesh"), False, "a namespace with other resources is meant"),
    (resource("staging"), False, "another namespace"),
    (resource("prdo", name="mesh"), False, "another name"),
]


@pytest.mark.parametrize(("elsewhere", "expected", "why"), STRAYS, ids=[row[-1] for row in STRAYS])
def test_a_namespace_that_is_mistyped_leaves_the_run_and_holds(elsewhere, expected, why):
    """With --target-namespaces, a manifest of another namespace is not part of the run at all."""
    gone = replace(GONE, key=Key("network.azure.com", "VirtualNetwork", "prod", "hub"))
    plan = make_plan([], {gone.key: gone}, around=RestOfSource(elsewhere=elsewhere))
    assert ("other/x.yaml:1 declares" in plan.prunes[gone.key].kept_because) is expected, why


def test_an_owner_that_a_manifest_still_names_is_held():
    child = manifest(subnet(), "", "apps/subnet.yaml", owner=OwnerRef(key=vnet()), problems=(BAD,))
    assert "apps/subnet.yaml:1 still names it as the owner" in held(declared=[replace(child, arm_id=None)])


def test_an_owner_that_a_manifest_names_by_its_arm_id_is_held():
    for arm_id, expected in ((vnet_id().upper(), True), (f"{vnet_id()}/subnets/a", True), (vnet_id("hub2"), False)):
        child = manifest(subnet(), "", owner=OwnerRef(arm_id=ArmId(arm_id)), problems=(BAD,))
        assert bool(held(declared=[replace(child, arm_id=None)])) is expected, arm_id


def test_what_an_invalid_manifest_stands_for_by_its_record_is_not_deleted():
    """Its id is unknown while it is invalid, and the record of old has the same one under another key."""
    invalid = replace(manifest(vnet("other"), "", problems=(BAD,)), arm_id=None)
    plan = make_plan([invalid], {GONE.key: GONE, vnet("other"): record(vnet("other"), vnet_id(), unit=".")})
    assert plan.prunes[GONE.key].detaches


def test_manifests_that_the_run_is_not_about_count():
    renamed = manifest(vnet("spoke"), vnet_id())
    plan = make_plan([], {GONE.key: GONE}, around=RestOfSource(others=(renamed,)))
    assert plan.prunes[GONE.key].detaches
    assert vnet("spoke") not in plan.applies


FOLDERS = st.sampled_from([".", "infra", "infra/net", "apps"])
NAMES = st.sampled_from(["hub", "hubb", "spoke", "lake", "mesh"])


@st.composite
def sources(draw):
    """Records of some networks, of which some are still declared, and rejected documents in some folders."""
    placed = draw(st.dictionaries(NAMES, FOLDERS, min_size=1))
    records = {vnet(name): record(vnet(name), vnet_id(name), unit=unit) for name, unit in placed.items()}
    declared = [
        manifest(vnet(name), vnet_id(draw(NAMES)), f"{draw(FOLDERS)}/a.yaml".removeprefix("./"))
        for name in draw(st.sets(NAMES))
    ]
    broken = draw(st.sets(FOLDERS))
    rejected = [unread(f"{folder}/x.yaml".removeprefix("./"), is_rejected=True) for folder in sorted(broken)]
    return records, declared, broken, rejected


@given(sources())
def test_what_is_deleted_is_never_declared_nor_of_a_unit_with_a_rejected_document(source):
    records, declared, broken, rejected = source
    plan = make_plan(declared, records, around=RestOfSource(unread=tuple(rejected)))
    deleted = [node.record for node in plan.prunes.values() if not node.detaches and not node.kept_because]
    named = {entry.arm_id.casefold() for entry in declared}
    assert not {prune.key for prune in deleted} & {entry.key for entry in declared}
    assert not {prune.arm_id.casefold() for prune in deleted} & named
    assert not {prune.manifest.unit for prune in deleted} & broken
