"""The release of ASO that the catalog is of, and the releases that serve a version of a kind."""

import re

import pytest

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.catalog.releases import (
    CatalogRelease,
    Lifetime,
    Release,
    describe_lifetime,
    find_lifetime,
    parse_release,
    read_catalog_release,
)
from gitsync.desired.catalog.served_versions import check_served_version
from gitsync.model.gvk import GVK
from gitsync.model.provider import Provider

CATALOG = open_catalog()
NEWEST = read_catalog_release().release
SERVED = [
    GVK(group, version, kind)
    for group in CATALOG.groups()
    for kind in CATALOG.kinds(group)
    if CATALOG.provider(group, kind) is Provider.ARM
    for version in CATALOG.versions(group, kind)
]


@pytest.mark.parametrize(
    ("text", "release"), [("2.20", Release(2, 20)), ("v2.20.0", Release(2, 20)), ("2.9.1", Release(2, 9))]
)
def test_a_release_has_a_major_and_a_minor_number(text, release):
    assert parse_release(text) == release


@pytest.mark.parametrize(
    ("kind", "release", "refusal"),
    [
        ("Application", "2.21", ""),
        ("Application", "2.20", "ASO serves Application of entra.azure.com at v1 from 2.21 on"),
        ("SecurityGroup", "2.14", ""),
        ("SecurityGroup", "2.13", "from 2.14 on"),
        ("ServicePrincipal", "2.21", "No release of ASO serves ServicePrincipal of entra.azure.com at v1, which its"),
    ],
)
def test_a_cluster_refuses_what_its_release_of_aso_does_not_have(kind, release, refusal):
    findings = list(check_served_version(GVK("entra.azure.com", "v1", kind), {}, CATALOG, parse_release(release)))
    assert [refusal in finding.message for finding in findings] == ([True] if refusal else [])


@pytest.mark.parametrize("text", ["2", "2.", "newest", "2.20.0-beta", "2,20", ""])
def test_other_texts_are_refused(text):
    with pytest.raises(ValueError, match="expected a release such as"):
        parse_release(text)


def test_releases_compare_as_numbers():
    assert parse_release("2.9") < parse_release("2.20")


@pytest.mark.parametrize(
    ("release", "text"),
    [
        (CatalogRelease("2.21", "2026-08-21", "2026-08-20"), "ASO 2.21 (tree of 2026-08-21), ARM types of 2026-08-20"),
        (CatalogRelease("2.21.1", "", "2026-09-20"), "ASO 2.21.1, ARM types of 2026-09-20"),
    ],
)
def test_the_catalog_names_what_it_is_of(release, text):
    assert str(release) == text


@pytest.mark.parametrize(
    ("first", "removed", "covered", "text"),
    [
        ("2.11", None, ["2.11", "2.12"], "by ASO 2.11 and later"),
        ("2.11", "2.13", ["2.11", "2.12"], "from ASO 2.11 until ASO 2.13, which removed it"),
        (None, "2.13", ["2.10", "2.11", "2.12"], "until ASO 2.13, which removed it"),
    ],
)
def test_a_version_is_served_from_its_first_release_until_it_is_removed(first, removed, covered, text):
    lifetime = Lifetime(*(parse_release(number) if number else None for number in (first, removed)))
    releases = [f"2.{minor}" for minor in (10, 11, 12, 13)]
    if not removed:
        releases.remove("2.13")
    assert [release for release in releases if lifetime.covers(parse_release(release))] == covered
    assert describe_lifetime(lifetime) == text


def test_the_first_release_of_every_version_is_known():
    lifetimes = {gvk: find_lifetime(gvk) for gvk in SERVED}
    assert [gvk for gvk, found in lifetimes.items() if not found or not found.first or not found.covers(NEWEST)] == []


@pytest.mark.parametrize("minor", [1, 9, 18, 20])
def test_a_version_that_came_after_a_release_is_a_warning_that_names_one_which_it_serves(minor):
    release = Release(2, minor)
    later = 0
    for gvk in SERVED:
        findings = list(check_served_version(gvk, {}, CATALOG, release))
        assert bool(findings) == (find_lifetime(gvk).first > release), gvk
        for finding in findings:
            later += 1
            assert f"from {find_lifetime(gvk).first} on: a cluster with ASO {release} refuses it." in finding.message
            named = re.search(r"Change it to (\w+),", finding.hint)
            if named:
                assert find_lifetime(gvk._replace(version=named[1])).covers(release), finding.hint
            else:
                assert finding.hint.startswith("Upgrade ASO"), gvk
    assert later > 20


@pytest.mark.parametrize("minor", [0, 5, 18])
def test_no_preview_is_named_where_the_release_serves_another_version(minor):
    release = Release(2, minor)
    for gvk in SERVED:
        served = [
            version
            for version in CATALOG.versions(gvk.group, gvk.kind)
            if find_lifetime(gvk._replace(version=version)).covers(release) and not version.endswith("preview")
        ]
        for finding in check_served_version(gvk, {}, CATALOG, release):
            named = re.search(r"Change it to \w+preview, the newest", finding.hint)
            assert not (served and named), finding.hint


def test_versions_that_the_release_of_the_catalog_removed_are_read_with_a_warning():
    removed = [
        GVK(group, version, kind)
        for group, kinds in CATALOG._index.items()
        for kind, entry in kinds.items()
        for version in entry.get("removed", ())
    ]
    for gvk in removed:
        assert find_lifetime(gvk).removed == NEWEST
        assert CATALOG.kind(gvk) is not None
        assert gvk.version not in CATALOG.versions(gvk.group, gvk.kind)
        (finding,) = check_served_version(gvk, {}, CATALOG)
        assert finding.message.startswith(f"ASO {NEWEST} removed {gvk.kind}")
        named = re.match(r"Change it to (?:a later one; the nearest, )?(\w+),", finding.hint)
        assert named[1] in CATALOG.versions(gvk.group, gvk.kind)
        before = Release(NEWEST.major, NEWEST.minor - 1)
        assert list(check_served_version(gvk, {}, CATALOG, before)) == []


def test_a_version_that_is_no_longer_in_the_facts_is_named_with_the_release_that_removed_it():
    assert find_lifetime(GVK("containerservice.azure.com", "v1api20210501", "ManagedCluster")).removed == Release(2, 16)
    assert find_lifetime(GVK("containerservice.azure.com", "v1api20990101", "ManagedCluster")) is None
