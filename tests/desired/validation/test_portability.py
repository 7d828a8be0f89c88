"""What ASO does not read is named, with what its next PUT would change."""

from __future__ import annotations

import pytest

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.validation.portability import check_portability
from tests.support.handmade_kinds import a_resource

STORAGE = {"group": "storage.azure.com", "version": "v1api20230101", "kind": "StorageAccount"}
ANY = {"group": "azure.gitsync", "version": "v1", "kind": "AzureResource"}
SEVEN = "{properties: {a: 1, b: 2, c: {d: 3, e: {}}, f: null, g: [1], h: 1, i: 1}}"
ROWS = [
    ("nothing of ours", STORAGE, {}, {}, ()),
    ("a rule for gitsync alone", STORAGE, {"gitsync/ignore": "[spec.tags]"}, {}, ()),
    ("the version of ASO", STORAGE, {"gitsync/api-version": "2023-01-01"}, {}, ()),
    ("another one", STORAGE, {"gitsync/api-version": "2025-01-01"}, {}, ("it sends Microsoft.Storage/storageAccounts at 2023-01-01, not at 2025-01-01",)),
    ("members", STORAGE, {"gitsync/body": "{properties: {x: 1}, tags: null}"}, {}, ("would change properties.x and tags of",)),
    ("many members", STORAGE, {"gitsync/body": SEVEN}, {}, ("properties.f and 3 more of",)),
    ("our kind", ANY, {}, {"type": "Microsoft.Logic/workflows@2019-05-01"}, ("ASO has no kind AzureResource",)),
    ("our kind without a type", ANY, {}, {}, ("ASO has no kind AzureResource",)),
    ("a computed field", STORAGE, {"gitsync/set": "{spec.tags.a: x, spec.dnsEndpointType: x}"}, {}, ("it sends no spec.tags.a.", "it sends no spec.dnsEndpointType.")),
    ("a required one", STORAGE, {"gitsync/set": "{spec.kind: x, spec.sku.name: x}"}, {"sku": {}}, ("without spec.kind.", "without spec.sku.name.")),
    ("a broken one", STORAGE, {"gitsync/set": "[]"}, {}, ()),
    ("an unknown kind", {"group": "storage.azure.com", "kind": "Nothing"}, {}, {}, ()),
]  # fmt: skip


@pytest.mark.parametrize(("why", "gvk", "annotations", "spec", "expected"), ROWS, ids=[row[0] for row in ROWS])
def test_what_aso_does_not_read(why, gvk, annotations, spec, expected):
    found = list(check_portability(a_resource(spec, annotations=annotations, **gvk), open_catalog()))
    assert [finding.code for finding in found] == ["NotPortable"] * len(expected), why
    for finding, text in zip(found, expected, strict=True):
        assert text in finding.message


def test_a_type_that_aso_has_is_named():
    (finding,) = check_portability(
        a_resource({"type": "Microsoft.Storage/storageAccounts@2023-01-01"}, **ANY), open_catalog()
    )
    assert "StorageAccount of storage.azure.com" in finding.hint


def test_default_tags_are_named():
    tags = frozenset({("spec", "tags", "team"), ("spec", "tags", "a.b")})
    (finding,) = check_portability(a_resource(default_tags=tags, **STORAGE), open_catalog())
    assert 'its next PUT would remove spec.tags["a.b"] and spec.tags.team.' in finding.message
