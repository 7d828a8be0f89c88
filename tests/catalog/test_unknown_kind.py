"""Kinds and versions that the catalog does not have."""

import pytest
from handmade import VERSION, a_catalog

from gitsync.catalog.unknown_kind import explain_unknown_kind
from gitsync.model.gvk import GVK

CATALOG = a_catalog({"storage.azure.com": ["StorageAccount"], "network.azure.com": ["VirtualNetwork"]})


@pytest.mark.parametrize(
    ("gvk", "code", "field", "hint", "why"),
    [
        (("sql.azure.com", "v1", "User"), "NotArm", "kind", "Leave it to ASO", "not a kind of ARM"),
        (("entra.azure.com", "v1", "SecurityGroup"), "NotArm", "kind", "Leave it to ASO", "not a kind of ARM"),
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
