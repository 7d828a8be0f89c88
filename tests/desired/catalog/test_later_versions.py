"""Which later version stands in for one that ASO has removed."""

import pytest

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.catalog.later_versions import find_later_version
from gitsync.desired.catalog.unknown_kind import explain_unknown_kind
from gitsync.model.gvk import GVK
from gitsync.model.problem import Level

CATALOG = open_catalog()
CLUSTER = ("containerservice.azure.com", "ManagedCluster")
SUBNET = ("network.azure.com", "VirtualNetworksSubnet")
NETWORK = ("network.azure.com", "VirtualNetwork")
GROUP = ("resources.azure.com", "ResourceGroup")
ASSIGNMENT = ("authorization.azure.com", "RoleAssignment")


@pytest.mark.parametrize(
    ("kind", "version", "spec", "later", "lacks", "why"),
    [
        (GROUP, "v1beta20200601", {"location": "here"}, "v1api20200601", "", "the same api-version, spelled anew"),
        (NETWORK, "v1alpha1api20201101", {}, "v1api20201101", "", "the oldest spelling"),
        (NETWORK, "v1api20210101", {}, "v1api20240301", "", "the nearest later one"),
        (NETWORK, "v20240401", {}, "v20250301", "", "not an earlier one"),
        (GROUP, "v1beta20200601", {"location": {"Location": None}}, "v1api20200601", "", "a placeholder in braces"),
        (CLUSTER, "v1api20240402preview", {}, "v1api20240901", "", "a release for a preview"),
        (CLUSTER, "v1api20240402preview", {"kind": "Base"}, "v1api20250801", "", "the nearest with this field"),
        (
            CLUSTER,
            "v1api20240402preview",
            {"creationData": {}},
            "v20251002preview",
            "",
            "a preview for a preview",
        ),
        (
            CLUSTER,
            "v1api20230201",
            {"creationData": {}},
            "v1api20240901",
            "spec.creationData",
            "no preview for a release",
        ),
        (CLUSTER, "v1api20230201", {"sku": "Base"}, "v1api20240901", "spec.sku", "another type is another field"),
        (CLUSTER, "v1api20230201", {"sku": None}, "v1api20240901", "", "null is absent"),
        (
            NETWORK,
            "v1beta20201101",
            {"owner": {"group": "resources.azure.com", "kind": "ResourceGroup", "name": "core"}},
            "v1api20201101",
            "",
            "group and kind of an owner have no effect, and do no harm",
        ),
        (ASSIGNMENT, "v1beta20220401", {}, "v1api20220401", "", "the older spelling, which makes other names"),
    ],
)
def test_the_nearest_later_version_with_all_fields(kind, version, spec, later, lacks, why):
    found = find_later_version(GVK(kind[0], version, kind[1]), spec, CATALOG)
    assert (found.gvk.version, found.lacks) == (later, lacks), why


@pytest.mark.parametrize(
    ("kind", "version", "spec", "found", "why"),
    [
        (SUBNET, "v1beta20201101", {"location": "x"}, ("v1api20201101", "", False, ("spec.location",)), "no version has it"),
        (
            SUBNET,
            "v1beta20201101",
            {"location": "x", "defaultOutboundAccess": True},
            ("v1api20240301", "", False, ("spec.location",)),
            "the nearest with what a version has",
        ),
        (
            CLUSTER,
            "v1api20230201",
            {"sku": {"nome": "x"}, "kind": "Base"},
            ("v1api20250801", "", False, ("spec.sku.nome",)),
            "a field further down",
        ),
        (
            CLUSTER,
            "v1api20230201",
            {"a": 1, "sku": {"nome": "x"}, "creationData": {}},
            ("v1api20240901", "spec.creationData", False, ("spec.a", "spec.sku.nome")),
            "a preview has what a release has not",
        ),
        (
            CLUSTER,
            "v1api20240402preview",
            {"creationData": {"a": 1}},
            ("v20251002preview", "", False, ("spec.creationData.a",)),
            "inside of a field that few versions have",
        ),
        (CLUSTER, "v1api20230201", {"sku": "Base"}, ("v1api20240901", "spec.sku", True, ()), "another type is no unknown field"),
    ],
)  # fmt: skip
def test_fields_that_no_version_has_do_not_choose_the_version(kind, version, spec, found, why):
    later = find_later_version(GVK(kind[0], version, kind[1]), spec, CATALOG)
    assert (later.gvk.version, later.lacks, later.retypes, later.unknown) == found, why


@pytest.mark.parametrize("version", ["v20990101", "v1", "latest", ""])
def test_what_is_later_than_all_or_no_date_has_none(version):
    assert find_later_version(GVK(NETWORK[0], version, NETWORK[1]), {}, CATALOG) is None


@pytest.mark.parametrize(
    ("version", "spec", "advice", "why"),
    [
        (
            "v1api20230201",
            {},
            "Change it to v1api20240901, the nearest later one, which has all fields of the manifest, or set `migrateVersions: true` for the unit in gitsync.yaml to read it as that version.",
            "removed",
        ),
        (
            "v1api20230201",
            {"creationData": {}},
            "Change it to a later one; the nearest, v1api20240901, has no spec.creationData.",
            "removed, with a field that a preview has",
        ),
        (
            "v1api20230201",
            {"sku": "Base"},
            "Change it to a later one; the nearest, v1api20240901, has another type at spec.sku.",
            "removed, with a value of another type",
        ),
        (
            "v1api20230201",
            {"spek": 1},
            "Fix or remove spec.spek, which no version has, and change it to v1api20240901, the nearest later one, which has all other fields. To drop unknown fields as an API server does, use --unknown-fields warn.",
            "removed, with a field that was never there",
        ),
        (
            "v1api20230201",
            {"a": 1, "b": 1, "c": 1, "d": 1},
            "Fix or remove spec.a, spec.b, spec.c and 1 more, which no version has, and change it to v1api20240901, the nearest later one, which has all other fields. To drop unknown fields as an API server does, use --unknown-fields warn.",
            "several such fields",
        ),
        ("v1api20240902", {"spek": 1}, "Did you mean v1api20240901?", "one letter is a typo"),
    ],
)
def test_the_error_names_the_versions_there_are(version, spec, advice, why):
    finding = explain_unknown_kind(GVK(CLUSTER[0], version, CLUSTER[1]), spec, CATALOG)
    assert finding.code == "UnknownVersion"
    known = f"{advice} Known versions: v20251002preview, v1api20250801 or v1api20240901."
    kept = 'the annotation `gitsync/api-version: "2023-02-01"`.' if version == "v1api20230201" else ""
    assert finding.hint.startswith(known), why
    assert finding.hint.removeprefix(known).endswith(kept), why


def test_unknown_fields_that_are_dropped_are_not_in_the_way():
    gvk = GVK(CLUSTER[0], "v1api20230201", CLUSTER[1])
    finding = explain_unknown_kind(gvk, {"spek": 1}, CATALOG, Level.WARNING)
    assert finding.hint.startswith(
        "Change it to v1api20240901, the nearest later one, which has all fields of the manifest but spec.spek, which no version has, or set"
    )
