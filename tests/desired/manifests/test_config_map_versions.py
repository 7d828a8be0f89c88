"""ConfigMaps that several clusters declare under one name: which cluster has which, and when that is an error."""

import pytest

from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.manifests.used_objects import find_in_cluster
from gitsync.model.export import Address, ObjectKind
from gitsync.model.unit import ObjectSettings, Unit
from gitsync.model.unit_kind import UnitKind

ADDRESS = Address(ObjectKind.CONFIG_MAP, "flux-system", "vars")
GROUP = "apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\nmetadata: {name: a, namespace: NAMESPACE}\nspec: {location: x}\n"


def variables(text):
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: vars, namespace: flux-system}}\ndata: {{cluster: {text}}}\n"


def read(files, clusters=("clusters/a", "clusters/b"), namespace="apps"):
    made = {
        f"{cluster_folder}/x/y.yaml": Unit(
            name=f"{cluster_folder}/x/y",
            path="x",
            kind=UnitKind.FLUX,
            settings=ObjectSettings(cluster_folder=cluster_folder),
        )
        for cluster_folder in clusters
    }
    texts = {path: text.encode() for path, text in files.items()} | dict.fromkeys(
        made, GROUP.replace("NAMESPACE", namespace).encode()
    )
    return read_manifests(texts, units=made)


@pytest.mark.parametrize(
    ("paths", "texts", "more", "problems", "why"),
    [
        (("clusters/a/v.yaml", "clusters/b/v.yaml"), "ab", {}, 0, "each cluster has its own"),
        (("clusters/a/v.yaml", "clusters/b/v.yaml"), "aa", {"namespace": "flux-system"}, 0, "both have the same"),
        (("clusters/a/v.yaml", "clusters/b/v.yaml"), "ab", {"namespace": "flux-system"}, 1, "a resource may refer to either"),
        (("clusters/a/v.yaml", "clusters/a/w.yaml"), "ab", {}, 1, "one cluster has two"),
        (("clusters/a/v.yaml", "shared/v.yaml"), "ab", {}, 1, "nothing says of which cluster the second is"),
        (("a/v.yaml", "b/v.yaml"), "ab", {"clusters": ()}, 1, "there are no clusters"),
        (("clusters/a/v.yaml", "clusters/b/v.yaml"), "ab", {"clusters": ("",)}, 1, "all is one cluster"),
    ],
)  # fmt: skip
def test_two_config_maps_of_one_name_are_an_error_unless_each_cluster_has_its_own(paths, texts, more, problems, why):
    found = read({path: variables(text) for path, text in zip(paths, texts, strict=True)}, **more)
    assert [problem.code for problem in found.problems] == ["DuplicateManifest"] * problems, why


def test_a_cluster_gets_its_own_and_only_its_own():
    files = {"clusters/a/v.yaml": "a", "clusters/b/v.yaml": "b", "clusters/c/v.yaml": "c", "clusters/c/w.yaml": "d"}
    versions = read({path: variables(text) for path, text in files.items()}).objects.versions[ADDRESS]
    own = {cluster: find_in_cluster(versions, f"clusters/{cluster}") for cluster in "abcd"}
    assert own == {"a": {"cluster": "a"}, "b": {"cluster": "b"}, "c": None, "d": None}
