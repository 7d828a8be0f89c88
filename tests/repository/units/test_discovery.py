"""Which units a source has, and the options of each."""

import pytest

from gitsync.model.unit import UnitEntry, UnitOptions
from gitsync.model.unit_kind import UnitKind
from gitsync.repository.units.discovery import collect_units
from gitsync.repository.units.kustomization_reader import KustomizationReader
from tests.repository.units.trees import MemoryTree

K = "kustomization.yaml"
OPEN = UnitOptions(is_restricted=False)
WAITS = UnitOptions(waits_for_owners=True)


def found(files, path="", entries=()):
    tree = MemoryTree(files)
    paths = tuple(text for text in tree.paths if not path or text.startswith(path + "/"))
    return collect_units(paths, KustomizationReader(tree), path=path, entries=entries)


FILES = {
    "plain/a.yaml": "kind: A",
    "base/kustomization.yaml": "resources: [b.yaml]",
    "base/b.yaml": "kind: B",
    "base/unused.yaml": "kind: U",
    "prod/kustomization.yaml": "resources: [../base]",
    "prod/deep/c.yaml": "kind: C",
}


def test_a_kustomization_owns_its_folder_and_the_rest_is_plain():
    units = found(FILES)
    assert [(unit.name, unit.path, unit.kind, unit.file) for unit in units.built] == [
        ("prod", "prod", UnitKind.KUSTOMIZATION, "prod/kustomization.yaml")
    ]
    assert units.plain == ("plain/a.yaml",)
    assert not units.folders, "a plain folder without options needs no unit"


def test_a_kustomization_at_the_path_is_all_that_is_read():
    units = found({**FILES, K: "resources: [plain/a.yaml]"})
    assert [unit.name for unit in units.built] == ["."]
    assert units.plain == ()
    units = found({**FILES, "prod/extra/kustomization.yaml": "{}"}, path="prod")
    assert [unit.name for unit in units.built] == ["prod"]


ASO = "apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\nmetadata: {name: a}"
MISNAMED = [
    (ASO, True, "a manifest of ASO"),
    (f"{ASO}\n---\n{ASO}", True, "two of them"),
    ("apiVersion: v1\nkind: ConfigMap\ndata: {a: b}", True, "an object of Kubernetes"),
    ("apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nspec: {path: ./a}", True, "an object of Flux"),
    ("kind: ResourceGroup\nmetadata: {name: a}", True, "a manifest without an apiVersion"),
    ("kind: Kustomization\nresources: [b.yaml]", False, "a kustomization"),
    ("resources: [b.yaml]", False, "a kustomization without a header"),
    ("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomizationn", False, "a misspelt kind"),
    ("apiVersion: kustomise.config.k8s.io/v1beta1\nkind: Overlay", False, "a misspelt group"),
    ("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: ResourceGroup", False, "a group of kustomize"),
    ("apiVersion: v1\nkind: Kustomization", False, "a kind of kustomize in a wrong group"),
    (f"{ASO}\nresources: [b.yaml]", False, "files for kustomize under a wrong header"),
    (f"kind: Kustomization\nresources: [b.yaml]\n---\n{ASO}", False, "a kustomization before a manifest"),
    ("resources: [", False, "broken YAML"),
    ("- a", False, "a list"),
    ("", False, "an empty file"),
]  # fmt: skip


@pytest.mark.parametrize("path", ["", "a"])
@pytest.mark.parametrize(("text", "is_misnamed", "why"), MISNAMED, ids=[row[-1] for row in MISNAMED])
def test_a_kustomization_with_objects_of_other_tools_leaves_its_folder_plain(text, is_misnamed, why, path):
    units = found({"a/kustomization.yaml": text, "a/b.yaml": "kind: B"}, path=path)
    assert [unit.file for unit in units.built] == ["a/kustomization.yaml"], "it is reported, and holds deletes"
    assert units.plain == (("a/kustomization.yaml", "a/b.yaml") if is_misnamed else ()), why


def test_what_another_kustomization_is_built_on_must_be_one():
    units = found({"a/kustomization.yaml": ASO, "a/b.yaml": "kind: B", "prod/kustomization.yaml": "resources: [../a]"})
    assert ([unit.name for unit in units.built], units.plain) == (["prod"], ())


def test_a_base_at_the_path_is_built_if_it_is_requested():
    assert [unit.name for unit in found(FILES, path="base").built] == ["base"]


def test_a_file_that_a_kustomization_of_another_folder_names_is_not_read_twice():
    units = found({**FILES, "app/kustomization.yaml": "resources: [../plain/a.yaml]"})
    assert (units.plain, units.claimed) == ((), {"plain/a.yaml"})


def test_a_kustomization_that_cannot_be_read_claims_its_files_too():
    text = "resources:\n- ../plain/a.yaml\n  x: ["
    assert found({**FILES, "app/kustomization.yaml": text}).claimed == {"plain/a.yaml"}


ENTRIES = [
    ([("", OPEN)], {"prod": OPEN, "plain/a.yaml": OPEN}, "one at the root is the default of all"),
    ([("", OPEN), ("prod", WAITS)], {"prod": WAITS, "plain/a.yaml": OPEN}, "the nearest entry counts, and alone"),
    ([("plain", WAITS)], {"prod": UnitOptions(), "plain/a.yaml": WAITS}, "others have none"),
    ([("pla", WAITS)], {"prod": UnitOptions()}, "a folder whose name begins alike is another"),
]


@pytest.mark.parametrize(("entries", "expected", "why"), ENTRIES, ids=[row[-1] for row in ENTRIES])
def test_options_are_those_of_the_nearest_entry(entries, expected, why):
    units = found(FILES, entries=[UnitEntry(path=path, options=options) for path, options in entries])
    options = {unit.name: unit.options for unit in units.built}
    assert options | {path: unit.options for path, unit in units.folders.items()} == expected, why


def test_a_plain_folder_with_options_keeps_its_own_name():
    """Records have the folder of a file, so that a broken file holds no delete of another folder."""
    (unit,) = found(FILES, entries=[UnitEntry(path="", options=WAITS)]).folders.values()
    assert (unit.name, unit.kind) == ("plain", UnitKind.FOLDER)


def test_a_base_that_gitsync_yaml_names_is_a_unit_too():
    units = found(FILES, entries=[UnitEntry(path="base")])
    assert [(unit.name, unit.is_named) for unit in units.built] == [("base", True), ("prod", False)]


def test_a_folder_can_be_read_as_it_is():
    units = found(FILES, entries=[UnitEntry(path="prod", kind=UnitKind.FOLDER)])
    assert [unit.name for unit in units.built] == ["base"]
    assert units.plain == ("plain/a.yaml", "prod/kustomization.yaml", "prod/deep/c.yaml")


def test_many_kustomizations_and_files_are_sorted_out_in_one_pass():
    files = {f"k{n}/kustomization.yaml": "resources: [a.yaml]" for n in range(200)}
    files |= {f"k{n % 250}/f{n}.yaml": "kind: A" for n in range(5_000)}
    tree = MemoryTree(files)
    units = collect_units(tuple(tree.paths), KustomizationReader(tree))
    assert (len(units.built), len(units.plain)) == (200, 1_000)
    assert len(tree.was_read) == len(set(tree.was_read)) + 200, (
        "each kustomization once together, and once to be parsed"
    )
