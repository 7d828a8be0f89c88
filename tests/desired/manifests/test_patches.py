"""Fields of built manifests that a patch has set: a problem leads to the patch."""

import json
import textwrap

import pytest

from gitsync.desired.manifests.origins import list_patch_files
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.problems.finding import find_location
from gitsync.model.unit import Unit
from gitsync.model.unit_kind import UnitKind

BASE = """\
apiVersion: storage.azure.com/v1api20230101
kind: StorageAccount
metadata: {name: logs}
spec:
  location: westeurope
  sku: {name: Standard_LRS}
"""
HEAD = "apiVersion: storage.azure.com/v1api20230101\nkind: StorageAccount\nmetadata: {name: logs}\n"
FILE = f"# of prod\n{HEAD}spec:\n  location: northeurope\n  tags:\n    a: b\n"
OPERATIONS = "- op: replace\n  path: /spec/location\n  value: northeurope\n- {op: remove, path: /spec/x}\n"


def kustomization(patches):
    return f"resources: [../base]\npatches:\n{textwrap.dedent(patches)}"


def locate(spec, files, *path):
    """The location of a field of the built manifest with a spec."""
    contents = {"base/a.yaml": BASE.encode(), **{name: text.encode() for name, text in files.items()}}
    unit = Unit(
        name="prod", path="prod", kind=UnitKind.KUSTOMIZATION, file="prod/kustomization.yaml", contents=contents
    )
    origin = {"config.kubernetes.io/origin": "path: ../source/base/a.yaml\n"}
    head = {"apiVersion": "storage.azure.com/v1api20230101", "kind": "StorageAccount"}
    built = json.dumps({**head, "metadata": {"name": "logs", "annotations": origin}, "spec": spec}).encode()
    (resource,) = read_manifests({unit.file: built}, units={unit.file: unit}).resources
    return str(find_location(path, resource))


CHANGED = {"location": "northeurope", "sku": {"name": "Standard_LRS"}, "tags": {"a": "b"}}
SPEC_FILE = {"prod/kustomization.yaml": kustomization("- path: p.yaml\n"), "prod/p.yaml": FILE}


@pytest.mark.parametrize(
    ("files", "path", "location", "why"),
    [
        (SPEC_FILE, ("spec", "location"), "prod/p.yaml:6", "a value that the base has too"),
        (SPEC_FILE, ("spec", "tags", "a"), "prod/p.yaml:8", "a field that the base does not have"),
        (SPEC_FILE, ("spec", "tags", "other"), "prod/p.yaml:7", "what is missing in a field of the patch"),
        (SPEC_FILE, ("spec", "sku", "name"), "base/a.yaml:6", "a field that no patch changes"),
        (SPEC_FILE, ("kind",), "base/a.yaml:2", "what both have"),
        (SPEC_FILE, ("spec", "owner"), "base/a.yaml:4", "what neither has"),
        ({"prod/kustomization.yaml": kustomization("- path: p.yaml\n").replace("patches:\n- path: ", "patchesStrategicMerge:\n- "), "prod/p.yaml": FILE}, ("spec", "location"), "prod/p.yaml:6", "the older form"),
        ({"prod/kustomization.yaml": kustomization("- target: {kind: StorageAccount}\n  path: p.yaml\n"), "prod/p.yaml": OPERATIONS}, ("spec", "location"), "prod/p.yaml:3", "operations"),
        ({"prod/kustomization.yaml": kustomization("- target: {kind: StorageAccount}\n  patch: |-\n" + textwrap.indent(OPERATIONS, "    "))}, ("spec", "location"), "prod/kustomization.yaml:7", "a patch inside"),
        ({"prod/kustomization.yaml": kustomization("- patch: |-\n" + textwrap.indent(FILE, "    "))}, ("spec", "tags", "a"), "prod/kustomization.yaml:11", "a whole one"),
        ({"prod/kustomization.yaml": kustomization("- path: p.yaml\n"), "prod/p.yaml": FILE.replace("logs", "other")}, ("spec", "location"), "base/a.yaml:5", "for another manifest"),
        ({"prod/kustomization.yaml": kustomization("- path: p.yaml\n"), "prod/p.yaml": FILE.replace("northeurope", "westus")}, ("spec", "location"), "base/a.yaml:5", "another value"),
    ],
)  # fmt: skip
def test_a_field_that_a_patch_set_has_the_location_of_the_patch(files, path, location, why):
    assert locate(CHANGED, files, *path) == location, why


@pytest.mark.parametrize(
    "patches",
    [
        "patches: 1\n",
        "patches: [1, {}, {patch: 5}, {path: [a]}, {path: ../../x}]\n",
        "patches: [{target: [], patch: '[1]'}]\n",
        "patches: [{patch: '{kind: [a], metadata: {name: {}}}'}]\n",
        f"patches: [{{patch: '[{{op: add, path: /spec/{'9' * 5000}, value: 1}}]'}}]\n",
        "patches: [{patch: '{{'}]\n",
    ],
)
def test_unexpected_patches_are_not_an_origin(patches):
    assert (
        locate(CHANGED, {"prod/kustomization.yaml": f"resources: [../base]\n{patches}"}, "spec", "location")
        == "base/a.yaml:5"
    )


def test_files_are_kept_only_if_there_are_patches():
    files = {"a/kustomization.yaml": b"resources: [x.yaml]", "a/x.yaml": b"", "a/y.txt": b""}
    assert list_patch_files(files) == frozenset()
    patched = {**files, "a/kustomization.yaml": b"patches: []"}
    assert list_patch_files(patched) == {"a/kustomization.yaml", "a/x.yaml"}


CLUSTER = """\
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureASOManagedCluster
metadata: {name: c1}
spec:
  resources:
    - apiVersion: resources.azure.com/v1api20200601
      kind: ResourceGroup
      metadata: {name: c1}
      spec: {location: westeurope}
"""
GATEWAY = {
    "apiVersion": "network.azure.com/v1api20240301",
    "kind": "NatGateway",
    "metadata": {"name": "nat"},
    "spec": {"location": "westeurope", "owner": {"name": "c1"}, "sku": {"name": "Standart"}},
}
SECOND = {**GATEWAY, "metadata": {"name": "second"}}
FIRST = {
    "apiVersion": "resources.azure.com/v1api20200601",
    "kind": "ResourceGroup",
    "metadata": {"name": "c1"},
    "spec": {"location": "westeurope"},
}


def add(at, *values):
    """A patch that adds objects at a pointer, in JSON, each value in a line of its own from line 7 on."""
    operations = [f"      - {{op: add, path: {at}, value:\n          {json.dumps(value)}}}\n" for value in values]
    return "".join(["- target: {kind: AzureASOManagedCluster}\n  patch: |-\n", *operations])


def place_objects(built, files):
    """The locations of the objects inside a built object of CAPZ, by name, and those of their locations."""
    contents = {"base/c.yaml": CLUSTER.encode(), **{name: text.encode() for name, text in files.items()}}
    unit = Unit(
        name="over", path="over", kind=UnitKind.KUSTOMIZATION, file="over/kustomization.yaml", contents=contents
    )
    origin = {"config.kubernetes.io/origin": "path: ../source/base/c.yaml\n"}
    head = {"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "AzureASOManagedCluster"}
    complete = {**head, "metadata": {"name": "c1", "annotations": origin}, "spec": {"resources": built}}
    found = read_manifests({unit.file: json.dumps(complete).encode()}, units={unit.file: unit})
    return {
        resource.key.name: (str(resource.source), str(find_location(("spec", "location"), resource)))
        for resource in found.resources
    }


OVER = "over/kustomization.yaml"


@pytest.mark.parametrize(
    ("patches", "built", "positions", "why"),
    [
        (add("/spec/resources/-", GATEWAY), [FIRST, GATEWAY], {"nat": 6, "c1": 0}, "at the end"),
        (add("/spec/resources/1", GATEWAY), [FIRST, GATEWAY], {"nat": 6, "c1": 0}, "at an index"),
        (
            add("/spec/resources/-", GATEWAY, SECOND),
            [FIRST, GATEWAY, SECOND],
            {"nat": 6, "second": 8, "c1": 0},
            "two, which have the same values but for a name",
        ),
        (add("/spec/resources", [FIRST, GATEWAY]), [FIRST, GATEWAY], {"nat": 6, "c1": 6}, "the list as a whole"),
    ],
)
def test_an_object_that_a_patch_added_has_the_location_of_the_patch(patches, built, positions, why):
    files = {OVER: f"resources: [../base]\npatches:\n{patches}"}
    base = ("base/c.yaml:6", "base/c.yaml:9")
    expected = {name: (f"{OVER}:{line}",) * 2 if line else base for name, line in positions.items()}
    assert place_objects(built, files) == expected, why


def test_an_object_of_a_merged_patch_has_its_location_too():
    lines = "".join(f"    - {json.dumps(patch)}\n" for patch in (FIRST, GATEWAY))
    patch = CLUSTER.partition("    - api")[0] + lines
    files = {OVER: "resources: [../base]\npatches: [{path: p.yaml}]\n", "over/p.yaml": patch}
    assert place_objects([FIRST, GATEWAY], files)["nat"] == ("over/p.yaml:7", "over/p.yaml:7")
