"""Manifests held against the schemas for editors, by another implementation of JSON Schema than that of an editor."""

from functools import cache

import jsonschema
import referencing
from referencing.jsonschema import DRAFT7

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.editor.kind_schemas import build_kind_schema
from gitsync.desired.editor.schema_files import ENTRY, SHARED, build_entry, list_kind_files
from gitsync.desired.editor.settings_schemas import build_settings_schemas
from gitsync.desired.editor.shared_schemas import build_definitions
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.validation.validate import validate_resource

CATALOG = open_catalog()
_BASE = "https://example.com/"


@cache
def kind_files():
    """The files of all kinds by their paths."""
    return {file.path: file for file in list_kind_files(CATALOG)}


@cache
def _paths():
    """The path of the schema by apiVersion and kind."""
    return {(version, file.kind.gvk.kind): path for path, file in kind_files().items() for version in file.api_versions}


@cache
def schema(path):
    """One schema by its path: built when a test needs it, since all of them take a second."""
    if path in kind_files():
        file = kind_files()[path]
        return build_kind_schema(file.kind, file.api_versions, CATALOG, file.unserved)
    if path == SHARED:
        return {"definitions": build_definitions(CATALOG)}
    if path == ENTRY:
        return build_entry(tuple(kind_files().values()), {})
    return build_settings_schemas()[path]


def _read(path):
    return referencing.Resource.from_contents(schema(path), default_specification=DRAFT7)


@cache
def _registry():
    """What schemas refer to. Those that most refer to are in it: one that is retrieved is searched at each reference."""
    others = referencing.Registry(retrieve=lambda uri: _read(uri.removeprefix(_BASE)))
    return others.with_resource(f"{_BASE}{SHARED}", _read(SHARED)).crawl()


@cache
def _validator(path):
    registry = _registry().with_resource(f"{_BASE}{path}", _read(path)).crawl()
    return jsonschema.Draft7Validator({"$ref": f"{_BASE}{path}"}, registry=registry)


def find_errors(path, value):
    """What a schema marks: the path of each point, and why."""
    return [(".".join(map(str, e.absolute_path)), e.message) for e in _validator(path).iter_errors(value)]


def find_kind_errors(document):
    """What the schema of its kind marks in a manifest; of a kind or version that no schema has, the header."""
    path = _paths().get((document["apiVersion"], document["kind"]))
    return find_errors(path, document) if path else [("kind", "unknown")]


def is_valid(document):
    """Return whether the schema of a manifest's kind marks nothing in it: unlike `find_kind_errors`, up to the first."""
    return _validator(_paths()[document["apiVersion"], document["kind"]]).is_valid(document)


def find_problems(text):
    """The errors that `gitsync validate` finds in each manifest of a text alone, by its apiVersion, kind and name."""
    manifests = read_manifests({"one.yaml": text})
    return {
        (resource.gvk.api_version, resource.gvk.kind, resource.key.name): [
            problem
            for problem in (*manifests.problems, *resource.problems, *_validate(resource))
            if problem.is_error and not _is_of_variables(problem)
        ]
        for resource in manifests.resources
    }


def _is_of_variables(problem):
    """Whether a variable is replaced, and by what letters, is up to its unit."""
    return problem.code == "VariableNotReplaced" or ("must be made of" in problem.message and "${" in problem.message)


def _validate(resource):
    return validate_resource(resource, CATALOG.kind(resource.gvk), catalog=CATALOG)
