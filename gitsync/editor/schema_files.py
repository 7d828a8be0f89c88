"""All schemas as files: their paths in a folder, and their bytes, which are the same for the same catalog."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from gitsync.catalog.catalog import Catalog
from gitsync.editor.examples import build_examples
from gitsync.editor.kind_schemas import DRAFT, build_kind_schema
from gitsync.editor.manifest_schema import ENTRY, SHARED, KindFile, build_entry, list_kind_files
from gitsync.editor.settings_schemas import build_settings_schemas
from gitsync.editor.shared_schemas import build_definitions


def build_files(catalog: Catalog) -> Iterator[tuple[str, bytes]]:
    """The path and the content of each file, one at a time: all of them are some megabytes."""
    files = tuple(list_kind_files(catalog))
    for file in files:
        yield from _build_kind_files(file, catalog)
    for name, schema in build_settings_schemas().items():
        yield name, _encode(schema)
    yield SHARED, _encode({"$schema": DRAFT, "definitions": build_definitions(catalog)})
    yield ENTRY, _encode(build_entry(files, build_examples(catalog)))


def _build_kind_files(file: KindFile, catalog: Catalog) -> Iterator[tuple[str, bytes]]:
    """The schema of a kind, and one that refers to it for each other spelling of its version."""
    yield file.path, _encode(build_kind_schema(file.kind, file.api_versions, catalog, file.unserved))
    folder, _, name = file.path.rpartition("/")
    kind = file.kind.gvk
    for version in catalog.versions(kind.group, kind.kind):
        if f"{kind.group}/{version}" in file.api_versions[1:]:
            yield f"{folder}/{kind.kind.lower()}_{version}.json", _encode({"$schema": DRAFT, "$ref": name})


def _encode(schema: Any) -> bytes:
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
