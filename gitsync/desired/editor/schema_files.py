"""Build all schemas as files: their paths in a folder, and their bytes, which are the same for the same catalog.

The entry schema selects the schema of a document by its apiVersion and kind.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from gitsync.desired.catalog.any_type import TypeAndVersion
from gitsync.desired.catalog.catalog import LEGACY, Catalog
from gitsync.desired.catalog.type_words import join_with_or
from gitsync.desired.editor.body_schemas import build_body_schema, list_body_files, list_newest_types, select_bodies
from gitsync.desired.editor.examples import build_examples
from gitsync.desired.editor.kind_schemas import DRAFT, Schema, build_kind_schema, offer_versions
from gitsync.desired.editor.settings_schemas import build_settings_schemas
from gitsync.desired.editor.shared_schemas import build_definitions
from gitsync.desired.manifests.aso_groups import ASO_VERSION, FOREIGN, GROUPS
from gitsync.desired.validation.explain import ALL_CHOICES
from gitsync.model.facts import Kind
from gitsync.model.gvk import GVK

# In the entry schema, conditions select, first by group, then by version, then by kind, so that an editor speaks of one
# kind only: with a list of alternatives it would speak of 290. A document of another tool meets no condition, and is
# not evaluated. Conditions have patterns and no constants: while a person writes, yaml-language-server counts the
# beginning of a constant as met.


ENTRY: Final = "manifest.json"
SHARED: Final = "definitions.json"


class KindFile(NamedTuple):
    """The schema of a kind at a version."""

    kind: Kind
    api_versions: tuple[str, ...]  # all spellings of its apiVersion
    path: str
    unserved: str = ""  # the last spelling if gitsync reads it and ASO does not serve it; "" if there is none


def list_kind_files(catalog: Catalog) -> Iterator[KindFile]:
    """List one file for each kind and version, sorted. Two spellings of a version share it if their shapes are
    equal.
    """
    for group in sorted(catalog.all_groups()):
        for name in catalog.kinds(group):
            yield from _list_versions(group, name, catalog)


def build_entry(files: Iterable[KindFile], examples: Mapping[str, Any]) -> Schema:
    """Build the entry schema. `examples` are manifests by their kinds, offered in an empty document."""
    by_group: dict[str, list[KindFile]] = {}
    for file in files:
        by_group.setdefault(file.kind.gvk.group, []).append(file)
    newest = sorted({versions[0] for members in by_group.values() for _, versions, *_ in members})
    return {
        "$schema": DRAFT,
        "properties": {
            "apiVersion": {"description": "Group and version of the kind.", "examples": newest},
        },
        "allOf": [
            _offer_examples(examples),
            *(_select_group(group, members) for group, members in sorted(by_group.items())),
            _refuse_unknown_groups(by_group),
            *_select_core_kinds(),
        ],
    }


def _list_versions(group: str, name: str, catalog: Catalog) -> Iterator[KindFile]:
    versions = catalog.versions(group, name)
    shapes: dict[tuple[str, int], list[Kind]] = {}
    for version in versions:
        if (kind := catalog.kind(GVK(group, version, name))) is not None:
            # Spellings with equal shapes share one object of facts, which an alias of the catalog names.
            shapes.setdefault((kind.api_version, id(kind.types)), []).append(kind)
    for kinds in shapes.values():
        newest = kinds[-1]
        spellings = [kind.gvk.version for kind in reversed(kinds)]
        # gitsync accepts both spellings of a version: `v20240301` and `v1api20240301`.
        version = newest.gvk.version
        is_legacy = version.startswith(LEGACY)
        other = "v" + version.removeprefix(LEGACY) if is_legacy else LEGACY + version.removeprefix("v")
        unserved = "" if other in versions or newest.is_any_type else f"{group}/{other}"
        api_versions = tuple(f"{group}/{version}" for version in spellings)
        path = f"{group}/{name.lower()}_{newest.gvk.version}.json"
        yield KindFile(newest, (*api_versions, unserved) if unserved else api_versions, path, unserved)


def _select_group(group: str, files: Sequence[KindFile]) -> Schema:
    by_version: dict[str, list[KindFile]] = {}
    for file in files:
        for api_version in file.api_versions:
            by_version.setdefault(api_version, []).append(file)
    served = {version for file in files for version in file.api_versions if version != file.unserved}
    known = sorted({file.api_versions[0].partition("/")[2] for file in files})
    return {
        "if": _has_api_version({"pattern": f"^{re.escape(group)}/"}),
        "then": {
            "properties": {
                "apiVersion": offer_versions(
                    served,
                    by_version.keys() - served,
                    f"{group} has no such version. Known versions: {join_with_or(known, ALL_CHOICES)}.",
                ),
                "kind": {"type": "string"},
                "metadata": {"type": "object"},
                "spec": {"type": "object"},
            },
            "allOf": [_select_version(version, members) for version, members in sorted(by_version.items())],
        },
    }


def _select_version(api_version: str, files: Iterable[KindFile]) -> Schema:
    paths = {file.kind.gvk.kind: file.path for file in files}
    kinds = sorted(paths)
    return {
        "if": _has_api_version(_match(api_version)),
        "then": {
            "required": ["kind"],
            "properties": {
                "kind": {
                    "enum": kinds,
                    "errorMessage": f"{api_version} has no such kind. Known kinds: {join_with_or(kinds, ALL_CHOICES)}.",
                }
            },
            "allOf": [
                {
                    "if": {"required": ["kind"], "properties": {"kind": _match(kind)}},
                    "then": {"$ref": paths[kind]},
                }
                for kind in kinds
            ],
        },
    }


def _has_api_version(rule: Schema) -> Schema:
    return {"type": "object", "required": ["apiVersion"], "properties": {"apiVersion": {"type": "string", **rule}}}


def _match(text: str) -> Schema:
    """Match a text for a condition."""
    return {"type": "string", "pattern": f"^{re.escape(text)}$"}


def _refuse_unknown_groups(known: Iterable[str]) -> Schema:
    """Refuse a group that looks like one of ASO and is none, such as a misspelt one. Other operators have no date as a
    version.
    """
    others = "|".join(
        [*map(re.escape, sorted(known)), *(rf"(?:[^/]*\.)?{re.escape(group)}" for group in sorted(FOREIGN))]
    )
    message = "ASO has no such group. Fix the group in apiVersion."
    return {
        "if": _has_api_version({"pattern": f"^[^/]*{re.escape(GROUPS)}/{ASO_VERSION.pattern}$"}),
        "then": {"properties": {"apiVersion": {"pattern": f"^(?:{others})/", "errorMessage": message}}},
    }


def _select_core_kinds() -> Iterator[Schema]:
    """Yield what gitsync reads of Kubernetes' own kinds."""
    texts = {
        "type": "object",
        "additionalProperties": {"type": "string", "errorMessage": "The value must be a string. Quote it."},
    }
    forms: Mapping[str, Schema] = {
        "ConfigMap": {"properties": {"data": texts}},
        "Secret": {"properties": {"data": texts, "stringData": texts}},
        "List": {"properties": {"items": {"type": "array", "items": {"$ref": "#"}}}},
        "Namespace": {"properties": {"metadata": {"$ref": f"{SHARED}#/definitions/namespaceMetadata"}}},
    }
    for kind, form in forms.items():
        header = {"apiVersion": _match("v1"), "kind": _match(kind)}
        yield {"if": {"type": "object", "required": ["apiVersion", "kind"], "properties": header}, "then": form}


def _offer_examples(examples: Mapping[str, Any]) -> Schema:
    """Offer whole manifests, as snippets for a document that has no apiVersion yet."""
    snippets = [
        {"label": label, "description": f"A {label} with its required fields.", "body": body}
        for label, body in sorted(examples.items())
    ]
    return {"if": {"not": {"required": ["apiVersion"]}}, "then": {"defaultSnippets": snippets}}


def build_files(catalog: Catalog, types: Iterable[TypeAndVersion] = ()) -> Iterator[tuple[str, bytes]]:
    """Yield the path and the content of each file, one at a time: all of them are some megabytes. `types` are those
    whose bodies get a schema.
    """
    files = tuple(list_kind_files(catalog))
    bodies = tuple(list_body_files(types))
    for file in files:
        yield from _build_kind_files(file, catalog, bodies if file.kind.is_any_type else ())
    for wanted, path in bodies:
        yield path, _encode(build_body_schema(wanted))
    for name, schema in build_settings_schemas().items():
        yield name, _encode(schema)
    yield SHARED, _encode({"$schema": DRAFT, "definitions": build_definitions(catalog)})
    yield ENTRY, _encode(build_entry(files, build_examples(catalog)))


def _build_kind_files(
    file: KindFile, catalog: Catalog, bodies: Iterable[tuple[TypeAndVersion, str]]
) -> Iterator[tuple[str, bytes]]:
    """Build the schema of a kind, and one that refers to it for each other spelling of its version."""
    schema = build_kind_schema(file.kind, file.api_versions, catalog, file.unserved)
    if file.kind.is_any_type:
        schema["properties"]["spec"]["properties"]["type"]["examples"] = list_newest_types()
        rules = [*schema.get("allOf", ()), *select_bodies(bodies)]
        schema |= {"allOf": rules} if rules else {}  # an empty list is not valid, and an editor would mark nothing
    yield file.path, _encode(schema)
    folder, _, name = file.path.rpartition("/")
    kind = file.kind.gvk
    for version in catalog.versions(kind.group, kind.kind):
        if f"{kind.group}/{version}" in file.api_versions[1:]:
            yield f"{folder}/{kind.kind.lower()}_{version}.json", _encode({"$schema": DRAFT, "$ref": name})


def _encode(schema: Any) -> bytes:
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
