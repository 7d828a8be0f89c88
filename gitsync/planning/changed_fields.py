"""Finds the fields of the manifests that differences, outside changes, resets and findings of checks are in: a person
edits `spec.minimumTlsVersion` in a file, and not `/properties/minimumTlsVersion` of a request.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.formats.json_pointer import JsonPath, format_pointer, parse_pointer
from gitsync.desired.formats.list_pairing import KEY_FIELDS, find_key
from gitsync.desired.problems.field_path import Entry, FieldPath, format_field
from gitsync.desired.problems.finding import find_location
from gitsync.desired.request.body import find_field
from gitsync.desired.validation.body_annotation import BODY_PATH, locate_member
from gitsync.desired.validation.directory_links import locate_link
from gitsync.model.facts import Kind
from gitsync.model.gvk import Key
from gitsync.model.outside import OutsideChange
from gitsync.model.plan import Apply
from gitsync.model.problem import SourceLocation
from gitsync.model.resource import Resource
from gitsync.model.result import ManifestField, Result
from gitsync.model.verdict import Difference
from gitsync.planning.diff.list_elements import split_lists, split_outside


def locate_fields(results: Iterable[Result], applies: Mapping[Key, Apply], catalog: Catalog) -> tuple[Result, ...]:
    """Return the results with the fields of their differences, of what was not compared, of what checks found, of
    outside changes, and of what a write may reset.
    """
    return tuple(
        _locate(result, applies[result.key].prepared.resource, catalog)
        if result.key in applies and _has_paths(result)
        else result
        for result in results
    )


def _has_paths(result: Result) -> bool:
    notes, change = result.comparison, result.change
    return bool(result.differences or notes.unverified or notes.outside or change.checks or change.resets)


def _locate(result: Result, resource: Resource, catalog: Catalog) -> Result:
    kind = catalog.kind_of(resource)
    if kind is None:
        return result
    parts = [part for difference in result.differences for part in (difference, *split_lists(difference))]
    # Only an entry that git lacks is named by its live value: any other has an index in the manifest.
    live = {part.path: part.live for part in parts if part.desired is None}
    outside = [part for change in result.comparison.outside for part in _split_outside(change)]
    live |= {part.path: part.live if part.desired is None else part.desired for part in outside}
    live |= {value.path: value.live for value in result.change.resets}
    checked = (finding.path for finding in result.change.checks if finding.path)
    beside = (*(part.path for part in outside), *(value.path for value in result.change.resets if value.path))
    fields = {}
    for pointer in (*(part.path for part in parts), *result.comparison.unverified, *checked, *beside):
        path = parse_pointer(pointer)
        if field := find_field(kind, path, resource):
            name = name_entry(kind, path, live.get(pointer), resource) or format_field(field)
            fields[pointer] = ManifestField(name, _find_source(field, resource))
    return replace(result, comparison=replace(result.comparison, fields=fields)) if fields else result


def _split_outside(change: OutsideChange) -> list[Difference]:
    return [Difference(change.path, change.now, change.before, ""), *split_outside(change)]


def _find_source(field: FieldPath, resource: Resource) -> SourceLocation:
    if field[: len(BODY_PATH)] == BODY_PATH:
        return locate_member(field, resource)
    is_link = field[:2] == ("metadata", "annotations") and len(field) > len(BODY_PATH)
    return locate_link(str(field[2]), str(field[3]), resource) if is_link else find_location(field, resource)


def name_entry(kind: Kind, path: JsonPath, live: Any, resource: Resource) -> str:
    """Name an entry by what identifies it: one of a map of ARM ids, or one of a list that only Azure has, where an
    index would be that of another entry. Returns "" for anything else. `live` is the entry as Azure shows it.
    """
    last = path[-1]
    if isinstance(last, int):
        # An index of Azure's list would point a reader to another entry of the manifest.
        entry = next((Entry(name, key) for name in KEY_FIELDS if (key := find_key(live, name))), None)
        field = find_field(kind, path[:-1], resource) if entry else None
        return format_field((*field, entry)) if field and entry else ""
    field = find_field(kind, path, resource) if last.startswith("/") else None
    if not field:
        return ""
    return format_field(field if field[-1] == last else (*field, last))


def name_path(kind: Kind, path: JsonPath, live: Any, resource: Resource) -> str:
    """Name a path of a body as the manifest does, by its entry or its field; a path without a field as it is."""
    field = find_field(kind, path, resource)
    return name_entry(kind, path, live, resource) or (format_field(field) if field else format_pointer(path))
