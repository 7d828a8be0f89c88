"""The schemas of kinds: what `gitsync validate` accepts they accept, and what it refuses they refuse."""

import copy
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from gitsync.desired.catalog.kind_names import find_kind
from gitsync.desired.catalog.spec_visitor import visit_spec
from gitsync.desired.editor.examples import build_example
from gitsync.desired.manifests.aso_groups import is_ours
from gitsync.desired.manifests.headers import is_object
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.manifests.yaml_output import dump
from gitsync.desired.validation.constraints import list_violations
from gitsync.desired.validation.validate import validate_resource
from tests.desired.editor.schema_validation import CATALOG, find_kind_errors, find_problems, is_valid
from tests.support.recordings import FOLDER as RECORDINGS
from tests.support.recordings import needs_recordings

ROOT = Path(__file__).resolve().parents[3]
SAMPLES = sorted((RECORDINGS / "conformance" / "cases").glob("*-v2*/manifests"))
"""Those of the newer spelling of versions: the older ones have the same shapes, and schemas."""

EXAMPLES = sorted((ROOT / "examples").glob("**/*.yaml"))
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def find_disagreements(file):
    """Manifests of a file that either the schema or `validate` refuses, and not both."""
    text = file.read_bytes()
    problems = find_problems(text)
    documents = [
        document for document in yaml.load_all(text, LOADER) if is_object(document) and is_ours(document["apiVersion"])
    ]
    for part in documents:
        found = problems.get((part["apiVersion"], part["kind"], part["metadata"]["name"]), ["it is not read"])
        errors = find_kind_errors(part)
        if bool(found) is not bool(errors):
            yield part["kind"], errors, found


def test_the_examples_of_the_project():
    assert EXAMPLES
    assert [fault for file in EXAMPLES for fault in find_disagreements(file)] == []


@needs_recordings(RECORDINGS / "conformance" / "cases")
def test_samples_of_the_operator():
    assert SAMPLES
    assert [
        fault for folder in SAMPLES for file in sorted(folder.rglob("*.yaml")) for fault in find_disagreements(file)
    ] == []


MUTATED = (
    "DnsZonesARecord",
    "MetricAlert",
    "StorageAccountsManagementPolicy",
    "agent pool",
    "container group",
    "kusto.azure.com/DataConnection",
    "mysql",
    "nsg rule",
    "redis",
    "role assignment",
    "storage",
)
"""Kinds with every sort of rule: choices, patterns, bounds, lengths, counts, unions, pairs, references, Secrets."""


def list_mutations(kind, spec):
    """Copies of a spec with one change each, and what was changed, for every value below the spec."""
    for visit in visit_spec(kind, spec):
        location = ".".join(map(str, visit.path))
        for name, change in _CHANGES.items():
            for value in change(visit):
                yield f"{name} at {location}: {value!r}"[:120], _set(spec, visit.path, value)
        required = [field for field, facts in visit.fields.items() if facts.get("required")]
        for field in set(required) & set(visit.value if visit.fits and visit.fields else ()):
            rest = {name: value for name, value in visit.value.items() if name != field}
            yield f"no {field} at {location}", _set(spec, visit.path, rest)


_WRONG = {
    "string": (12, True, ["x"]),
    "integer": ("1", 1.5, True, 10**20),
    "number": ("1",),
    "boolean": ("true", 1),
    "list": ("text", {"a": "b"}),
    "map": ("text", ["text"]),
    "mapping": ("text", ["text"]),
}


def _wrong_types(visit):
    return _WRONG.get(visit.shape, ()) if visit.path != ("spec",) else ()


def _unknown_fields(visit):
    return ({**visit.value, "unheardOf": "x"},) if visit.shape == "mapping" and isinstance(visit.value, dict) else ()


def _bad_values(visit):
    """Texts and numbers of the right type that break a rule. An empty name in Azure counts as absent."""
    tries = {
        "string": (
            *(() if visit.path == ("spec", "azureName") else ("",)),
            "!",
            "x" * 300,
            "https://Example.com/%",
            "Unheard-Of",
        ),
        "integer": (-1, 10**9),
        "number": (-1,),
    }
    return tuple(value for value in tries.get(visit.shape, ()) if any(list_violations(value, visit.rules)))


def _right_values(visit):
    """Texts that the rules accept: schemas may not refuse what `validate` accepts."""
    tries = {"string": ("abc", "a1", "10.0.0.0/16"), "integer": (1, 5), "number": (1, 0.5), "boolean": (False,)}
    return tuple(value for value in tries.get(visit.shape, ()) if not any(list_violations(value, visit.rules)))


def _nulls(visit):
    """An API server drops it where nothing is required, but not in a list."""
    return (None,) if visit.path != ("spec",) else ()


_CHANGES = {
    "a wrong type": _wrong_types,
    "null": _nulls,
    "an unknown field": _unknown_fields,
    "a value that breaks a rule": _bad_values,
    "a right value": _right_values,
}


def _set(spec, path, value):
    """A copy of a spec with another value at a path, which begins with `spec`."""
    copied = {"spec": copy.deepcopy(spec)}
    parent = copied
    for step in path[:-1]:
        parent = parent[step]
    parent[path[-1]] = value
    return copied["spec"]


@pytest.mark.parametrize("name", MUTATED)
def test_seeded_mistakes_are_found_by_both(name):
    kind = find_kind(name, CATALOG).kind
    example = build_example(kind, CATALOG)
    (resource,) = read_manifests({"one.yaml": dump(example)}).resources
    mutations = dict(list_mutations(kind, example["spec"]))
    refused = {what for what, spec in mutations.items() if not is_valid({**example, "spec": spec})}
    assert refused == {
        what
        for what, spec in mutations.items()
        if any(problem.is_error for problem in validate_resource(replace(resource, spec=spec), kind, catalog=CATALOG))
    }
    assert {what.partition(" at ")[0] for what in refused} >= {"a wrong type", "an unknown field"}
    assert len(refused) < len(mutations)


HEADERS = {
    "nothing else": {},
    "a status": {"status": {"conditions": []}},
    "an unknown field": {"tags": {"a": "b"}},
    "an unknown field that is null": {"tags": None},
    "the note of SOPS": {"sops": {"mac": "x"}},
    "the notes of a cluster": {
        "metadata": {"creationTimestamp": None, "generation": 2, "uid": "a", "managedFields": [{"manager": "x"}]}
    },
    "a time": {"metadata": {"creationTimestamp": "2026-11-22T10:00:00Z"}},
    "a time that is none": {"metadata": {"creationTimestamp": "yesterday"}},
    "a name that is to be made": {"metadata": {"generateName": "x-"}},
    "a misspelt field": {"metadata": {"lables": {"a": "b"}}},
    "a number for a text": {"metadata": {"uid": 5}},
    "a large number": {"metadata": {"generation": 2**64}},
    "a finalizer": {"metadata": {"finalizers": ["example.com/keep"]}},
    "a finalizer that is no list": {"metadata": {"finalizers": "keep"}},
    "a finalizer that is no name": {"metadata": {"finalizers": ["a/b/c"]}},
    "an owner": {
        "metadata": {
            "ownerReferences": [{"apiVersion": "v1", "kind": "x", "name": "a", "uid": "b", "controller": None}]
        }
    },
    "an owner without a name": {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "x", "uid": "b"}]}},
    "an owner with an empty name": {
        "metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "x", "name": "", "uid": "b"}]}
    },
    "no owners": {"metadata": {"ownerReferences": None}},
    "a null in a list": {"metadata": {"ownerReferences": [None]}},
    "null in labels": {"metadata": {"labels": {"a": None}}},
    "no labels": {"metadata": {"labels": None, "annotations": None}},
    "a label that is a number": {"metadata": {"labels": {"a": 5}}},
    "labels as a list": {"metadata": {"labels": ["a"]}},
    "a key of a label": {"metadata": {"labels": {"example.com/a_B.c": ""}}},
    "a key with a blank": {"metadata": {"labels": {"bad key": "x"}}},
    "a key with capitals before the slash": {"metadata": {"labels": {"Example.com/a": "x"}}},
    "a key with a long prefix": {"metadata": {"labels": {f"{'x' * 254}/a": "x"}}},
    "a value with a blank": {"metadata": {"labels": {"a": "my app"}}},
    "a long value": {"metadata": {"labels": {"a": "x" * 64}}},
    "an annotation": {"metadata": {"annotations": {"Example.com/A": "any text"}}},
    "an annotation that is null": {"metadata": {"annotations": {"a": None, "gitsync/update-method": None}}},
    "an annotation that is empty": {"metadata": {"annotations": {"gitsync/update-method": ""}}},
    "an annotation that is a number": {"metadata": {"annotations": {"a": 5}}},
    "an annotation with two slashes": {"metadata": {"annotations": {"a/b/c": "x"}}},
}


def test_what_a_manifest_has_in_addition_to_its_spec():
    """Both evaluators agree, and both have much to accept and to refuse."""
    example = build_example(find_kind("ResourceGroup", CATALOG).kind, CATALOG)
    documents = {
        what: {**example, **header, "metadata": {**example["metadata"], **header.get("metadata", {})}}
        for what, header in HEADERS.items()
    }
    refused = {what for what, document in documents.items() if find_kind_errors(document)}
    assert refused == {
        what for what, document in documents.items() for problems in find_problems(dump(document)).values() if problems
    }
    assert 15 < len(refused) < len(HEADERS) - 10
