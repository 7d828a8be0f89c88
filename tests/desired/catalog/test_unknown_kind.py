"""Kinds and versions that the catalog does not have."""

import pytest

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.catalog.served_versions import check_served_version
from gitsync.desired.catalog.unknown_kind import explain_unknown_kind
from gitsync.model.gvk import GVK
from gitsync.model.problem import Level
from tests.support.handmade_kinds import VERSION, a_catalog

CATALOG = a_catalog({"storage.azure.com": ["StorageAccount"], "network.azure.com": ["VirtualNetwork"]})


@pytest.mark.parametrize(
    ("gvk", "code", "field", "hint", "why"),
    [
        (("storage.azure.com", VERSION, "StorageAcount"), "UnknownKind", "kind", "Did you mean StorageAccount?", "typo"),
        (("storage.azure.com", VERSION, "Queue"), "UnknownKind", "kind", "Known kinds: StorageAccount.", "no such"),
        (("storag.azure.com", VERSION, "X"), "UnknownKind", "apiVersion", "Did you mean storage.azure.com?", "typo"),
        (
            ("elsewhere.azure.com", VERSION, "VirtualNetwork"),
            "UnknownKind",
            "apiVersion",
            "VirtualNetwork is a kind of network.azure.com.",
            "the group is another",
        ),
        (("elsewhere.azure.com", VERSION, "X"), "UnknownKind", "apiVersion", "`gitsync explain` lists", "no idea"),
        (
            ("storage.azure.com", "v20240102", "StorageAccount"),
            "UnknownVersion",
            "apiVersion",
            "Did you mean v20240101? Known versions: v20240101.",
            "a version that is nearly one",
        ),
        (
            ("storage.azure.com", "2024-01-01", "StorageAccount"),
            "UnknownVersion",
            "apiVersion",
            "ASO's versions begin with v: v20240101. Known versions",
            "as ARM writes it",
        ),
        (
            ("storage.azure.com", "20230101", "StorageAccount"),
            "UnknownVersion",
            "apiVersion",
            "ASO's versions begin with v: v20240101. Known versions",
            "a date that ASO does not have",
        ),
        (
            ("storage.azure.com", "v1", "StorageAccount"),
            "UnknownVersion",
            "apiVersion",
            "Known versions: v20240101.",
            "a version that is none",
        ),
    ],
)  # fmt: skip
def test_unknown_kinds(gvk, code, field, hint, why):
    finding = explain_unknown_kind(GVK(*gvk), {}, CATALOG)
    assert (finding.code, finding.path) == (code, (field,)), why
    assert finding.hint.startswith(hint), why
    assert gvk[0] in finding.message


def test_versions_that_aso_serves_in_one_spelling_get_a_warning_in_the_other():
    """Of all kinds: what ASO serves has no warning, and the warning names what it serves of the same version of ARM."""
    catalog = open_catalog()
    served = [
        GVK(group, version, kind)
        for group in catalog.groups()
        for kind in catalog.kinds(group)
        for version in catalog.versions(group, kind)
    ]
    assert [gvk for gvk in served if [*check_served_version(gvk, {}, catalog)]] == []
    others = {gvk._replace(version=respell(gvk.version)) for gvk in served} - set(served)
    assert len(others) > 300
    for gvk in sorted(others):
        (finding,) = check_served_version(gvk, {}, catalog)
        nearest = gvk._replace(version=finding.hint.removeprefix("Change it to ").partition(",")[0])
        assert (finding.code, finding.level, nearest in served) == ("VersionNotServed", Level.WARNING, True)
        assert catalog.kind(gvk).api_version == catalog.kind(nearest).api_version


def respell(version):
    return f"v{version.removeprefix('v1api')}" if version.startswith("v1api") else f"v1api{version.removeprefix('v')}"


def test_a_version_that_no_kind_has_is_another_problem():
    assert list(check_served_version(GVK("storage.azure.com", "v20240102", "StorageAccount"), {}, CATALOG)) == []


@pytest.mark.parametrize(
    ("gvk", "written", "why"),
    [
        (
            ("storage.azure.com", "v20250601", "ObjectReplicationPolicy"),
            "{type: Microsoft.Storage/TYPE@VERSION,",
            "a kind",
        ),
        (("logic.azure.com", "v20190501", "Workflow"), "{type: Microsoft.Logic/TYPE@VERSION,", "a group"),
        (("xyzzy.azure.com", "v20190501", "Workflow"), "{type: Microsoft.NAME/TYPE@VERSION,", "an unknown namespace"),
        (
            ("storage.azure.com", "v20240101", "StorageAccount"),
            '`gitsync/api-version: "2024-01-01"`',
            "a version of ARM",
        ),
        (("storage.azure.com", "v20980101", "StorageAccount"), "If Azure has version 2098-01-01", "a newer version"),
    ],
)
def test_what_the_catalog_lacks_has_the_manifest_to_write(gvk, written, why):
    finding = explain_unknown_kind(GVK(*gvk), {}, open_catalog())
    assert written in finding.hint, why


@pytest.mark.parametrize(
    ("gvk", "why"),
    [
        (("storage.azure.com", "v20250601", "StorageAcount"), "a typo"),
        (("storag.azure.com", "v20250601", "StorageAccount"), "a typo of the group"),
        (("entra.azure.com", "v1", "ServicePrincipal"), "a group without types of ARM"),
        (("storage.azure.com", "v20240102", "StorageAccount"), "a version that Azure does not have"),
    ],
)
def test_other_mistakes_get_no_other_way(gvk, why):
    hint = explain_unknown_kind(GVK(*gvk), {}, open_catalog()).hint
    assert not {word for word in ("AzureResource", "gitsync/api-version") if word in hint}, why


def test_a_kind_that_a_release_removed_is_named_as_such_and_no_other_one_is_suggested():
    catalog = a_catalog({"cache.azure.com": ["RedisEnterprises"]})
    finding = explain_unknown_kind(GVK("cache.azure.com", "v1api20210301", "RedisEnterprise"), {}, catalog)
    assert finding.message == "RedisEnterprise is not a kind of cache.azure.com: ASO 2.21 removed it."
    assert finding.hint.startswith("For a type that ASO lacks, write `apiVersion: azure.gitsync/v1`")
