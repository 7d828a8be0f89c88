"""Whose objects exports go to, as far as manifests tell (docs/reference/reconciliation.md#export-ownership).

The texts of the problems are in tests/desired/validation/bad/taken.txt.
"""

from textwrap import dedent

import pytest

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.request.build import prepare
from gitsync.model.export import is_owned_by
from gitsync.model.gvk import Key

CATALOG = open_catalog()
GROUP = """
    apiVersion: resources.azure.com/v1api20200601
    kind: ResourceGroup
    metadata: {name: core}
    spec: {location: westeurope}
    """
ACCOUNT = """
    apiVersion: storage.azure.com/v1api20230101
    kind: StorageAccount
    metadata: {name: lake}
    spec:
      location: westeurope
      owner: {name: core}
      kind: StorageV2
      sku: {name: Standard_LRS}
      operatorSpec: {secrets: {key1: {name: keys, key: first}}}
    """
SERVER = """
    apiVersion: dbforpostgresql.azure.com/v1api20221201
    kind: FlexibleServer
    metadata: {name: books}
    spec:
      location: westeurope
      owner: {name: core}
      administratorLoginPassword: {name: keys, key: first}
    """
SECRET = """
    apiVersion: v1
    kind: Secret
    metadata: {name: keys}
    """
OWNER = "StorageAccount.storage.azure.com/default/lake"
SEALED = f"""
    apiVersion: v1
    kind: Secret
    metadata: {{name: keys, annotations: {{gitsync/owner: {OWNER}}}}}
    sops: {{mac: x}}
    """
LAKE = Key.parse(OWNER)


def prepared(*documents):
    text = "---".join(map(dedent, documents))
    manifests = read_manifests({"a.yaml": text.encode()})
    return {resource.key.name: resource for resource in prepare(manifests, catalog=CATALOG, subscription="0")}


FOREIGN = [
    ((), None, "nobody declares it"),
    ((SECRET,), "ExportNotOwned", "git declares it"),
    ((SECRET.replace("name: keys", "name: others"),), None, "it has another name"),
    ((SECRET.replace("name: keys", "name: keys, namespace: far"),), None, "it is in another namespace"),
    ((SECRET.replace("Secret", "ConfigMap"),), None, "a ConfigMap is no Secret"),
    ((SEALED,), None, "the sink sops wrote it for this resource"),
    ((SEALED.replace("default/lake", "default/lake of north"),), None, "only a run knows its agent"),
    ((SEALED.replace("default/lake", "default/pond"),), "ExportNotOwned", "the sink sops wrote it for another one"),
    ((SEALED.replace("default/lake", "lake"),), "ExportNotOwned", "its owner is no key"),
    ((SEALED.replace("sops: {mac: x}", ""),), "ExportNotOwned", "the sink sops writes no plain manifest"),
    ((ACCOUNT.replace("name: lake", "name: pond"),), "ExportShared", "another resource exports to it"),
]


@pytest.mark.parametrize("others, code, why", FOREIGN)
def test_an_export_is_a_problem_if_the_object_is_not_its_own(others, code, why):
    lake = prepared(GROUP, ACCOUNT, *others)["lake"]
    assert [problem.code for problem in lake.problems] == ([code] if code else []), why
    assert lake.is_valid, "ASO writes the resource too, and refuses only its export"


def test_both_exporters_of_one_object_are_reported():
    found = prepared(GROUP, ACCOUNT, ACCOUNT.replace("name: lake", "name: pond"))
    assert [problem.code for name in ("lake", "pond") for problem in found[name].problems] == ["ExportShared"] * 2


WAITS = [
    ((), ("core", "lake"), "the value comes from the export"),
    ((SECRET,), ("core",), "the value comes from git, and the export is refused"),
    ((SEALED,), ("core", "lake"), "the export replaces what the sink has written before"),
]


@pytest.mark.parametrize("others, names, why", WAITS)
def test_no_one_waits_for_an_export_that_git_prevents(others, names, why):
    books = prepared(GROUP, ACCOUNT, SERVER, *others)["books"]
    assert tuple(sorted(key.name for key in books.relations.depends_on)) == names, why


@pytest.mark.parametrize(
    "text, expected, why",
    [
        (OWNER, True, "its key"),
        (f"{OWNER} of north", True, "its key, exported by a named agent"),
        (OWNER.replace("lake", "pond"), False, "another key"),
        ("", False, "an object of people"),
        ("a/b", False, "no key at all"),
    ],
)
def test_the_text_of_an_owner(text, expected, why):
    assert is_owned_by(text, LAKE) is expected, why
