"""Versions that ASO has removed: errors, or read as later ones if the unit allows that."""

from dataclasses import replace

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.request.build import prepare
from gitsync.model.unit import Unit, UnitOptions

CATALOG = open_catalog()
OLD = b"""\
apiVersion: resources.azure.com/v1beta20200601
kind: ResourceGroup
metadata: {name: shop}
spec: {location: westeurope}
---
apiVersion: containerservice.azure.com/v1api20240402preview
kind: ManagedCluster
metadata: {name: shop}
spec: {owner: {name: shop}, location: westeurope, dnsPrefix: shop}
---
apiVersion: network.azure.com/v1api20240301
kind: VirtualNetwork
metadata: {name: shop}
spec: {owner: {name: shop}, location: westeurope, addressSpace: {addressPrefixes: [10.0.0.0/16]}}
"""


def ready(content, *, migrates, unknown_fields="error"):
    manifests = read_manifests({"old.yaml": content})
    unit = Unit(name=".", path=".", options=UnitOptions(migrates_versions=migrates))
    resources = tuple(replace(resource, unit=unit) for resource in manifests.resources)
    found = prepare(
        replace(manifests, resources=resources), catalog=CATALOG, subscription="0", unknown_fields=unknown_fields
    )
    return {resource.key.kind: resource for resource in found}


def said(prepared):
    return [(problem.code, problem.level.value, problem.line) for problem in prepared.problems]


def test_a_removed_version_is_an_error():
    found = ready(OLD, migrates=False)
    assert said(found["ResourceGroup"]) == [("UnknownVersion", "error", 1)]
    assert found["ResourceGroup"].arm_id is None


def test_a_unit_may_read_it_as_a_later_one_with_a_warning():
    found = ready(OLD, migrates=True)
    assert said(found["ResourceGroup"]) == [("VersionMigrated", "warning", 1)]
    assert said(found["ManagedCluster"]) == [("VersionMigrated", "warning", 6)]
    assert said(found["VirtualNetwork"]) == []
    assert [request.api_version for request in found.values()] == ["2024-09-01", "2024-03-01", "2020-06-01"]
    assert all(resource.is_valid for resource in found.values())
    assert found["ManagedCluster"].arm_id.startswith(found["ResourceGroup"].arm_id)
    assert found["ManagedCluster"].problems[0].message == (
        "ManagedCluster of containerservice.azure.com has no version v1api20240402preview: it is read as v1api20240901."
    )


def test_a_field_that_no_later_version_has_stays_an_error():
    cluster = ready(OLD.replace(b"dnsPrefix", b"dnsSuffix"), migrates=True)["ManagedCluster"]
    assert said(cluster) == [("UnknownVersion", "error", 6)]
    assert cluster.problems[0].hint.startswith("Fix or remove spec.dnsSuffix, which no version has, and change it to ")


def test_unknown_fields_are_dropped_before_a_version_is_chosen():
    content = OLD.replace(b"dnsPrefix: shop", b"dnsPrefix: shop, dnsSuffix: x, kind: Base")
    cluster = ready(content, migrates=True, unknown_fields="warn")["ManagedCluster"]
    assert said(cluster) == [("VersionMigrated", "warning", 6), ("UnknownField", "warning", 9)]
    assert cluster.problems[0].hint == "Change it to v1api20250801.", "the nearest that has spec.kind"
    assert "dnsSuffix" not in str(cluster.template.body)
    assert cluster.is_valid


def test_a_version_that_the_newest_release_removed_is_read_as_it_is_or_as_a_later_one():
    """Of all kinds that have one: the facts of such a version stay for a release."""
    for group, kinds in CATALOG._index.items():
        for kind, entry in kinds.items():
            for version in entry.get("removed", ()):
                text = f"apiVersion: {group}/{version}\nkind: {kind}\nmetadata: {{name: shop}}\nspec: {{}}\n"
                (as_it_is,) = ready(text.encode(), migrates=False).values()
                (later,) = ready(text.encode(), migrates=True).values()
                assert as_it_is.resource.gvk.version == version
                assert "VersionNotServed" in {problem.code for problem in as_it_is.problems}
                assert later.resource.gvk.version in CATALOG.versions(group, kind)
                assert "VersionMigrated" in {problem.code for problem in later.problems}
