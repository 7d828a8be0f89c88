"""Placeholders in braces: YAML reads `{Location}` as a mapping, and the author meant a text."""

from __future__ import annotations

import pytest

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.validation.validate import validate_resource

CATALOG = open_catalog()
ACCOUNT = """\
apiVersion: storage.azure.com/v20230101
kind: StorageAccount
metadata: {name: account}
spec:
  owner: {name: core}
  location: westeurope
  kind: StorageV2
  sku: {name: Standard_LRS}
"""


def find_codes(text):
    (resource,) = read_manifests({"a.yaml": text.encode()}).resources
    found = validate_resource(resource, CATALOG.kind(resource.gvk), catalog=CATALOG)
    return [(problem.code, problem.field) for problem in found]


@pytest.mark.parametrize(
    ("old", "new", "codes", "why"),
    [
        ("westeurope", "{Location}", [("PlaceholderNotReplaced", "spec.location")], "a text"),
        ("StorageV2", "{kind of account}", [("PlaceholderNotReplaced", "spec.kind")], "one of a few texts"),
        ("name: core", "name: {Group}", [("PlaceholderNotReplaced", "spec.owner.name")], "the name of an owner"),
        (
            "westeurope",
            "westeurope\n  isHnsEnabled: {yes or no}",
            [("PlaceholderNotReplaced", "spec.isHnsEnabled")],
            "a boolean",
        ),
        ("westeurope", "{a: b}", [("WrongType", "spec.location")], "a mapping with a value"),
        ("westeurope", "{}", [("WrongType", "spec.location")], "a mapping of nothing"),
        ("westeurope", "westeurope\n  tags: {env: }", [], "a mapping where one belongs"),
        (
            "westeurope",
            "westeurope\n  tags: {env: {Env}}",
            [("PlaceholderNotReplaced", "spec.tags.env")],
            "inside of it",
        ),
    ],
)
def test_a_mapping_of_null_where_a_text_belongs_is_a_placeholder(old, new, codes, why):
    assert find_codes(ACCOUNT.replace(old, new, 1)) == codes, why


def test_a_placeholder_is_not_a_statement_about_a_removed_version():
    text = """\
apiVersion: documentdb.azure.com/v1beta20210515
kind: SqlDatabase
metadata: {name: todo}
spec:
  location: {Location}
  owner: {name: account}
  resource: {id: todo}
"""
    (resource,) = read_manifests({"a.yaml": text.encode()}).resources
    version, placeholder = validate_resource(resource, None, catalog=CATALOG)
    assert (version.code, placeholder.code, placeholder.line) == ("UnknownVersion", "PlaceholderNotReplaced", 5)
    assert "spec.location" not in version.hint
