"""Finds the fields of the manifests that differences and findings of checks are in: a person edits
`spec.minimumTlsVersion` in a file, and not `/properties/minimumTlsVersion` of a request.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from gitsync.catalog.catalog import Catalog
from gitsync.diff.list_elements import split_lists
from gitsync.formats.json_pointer import parse_pointer
from gitsync.model.gvk import Key
from gitsync.model.plan import Apply
from gitsync.model.resource import Resource
from gitsync.model.result import ManifestField, Result
from gitsync.problems.field_path import format_field
from gitsync.problems.finding import find_place
from gitsync.request.body import find_field


def locate_fields(results: Iterable[Result], applies: Mapping[Key, Apply], catalog: Catalog) -> tuple[Result, ...]:
    """Return the results with the fields of their differences, of what was not compared, and of what checks found."""
    return tuple(
        _locate(result, applies[result.key].prepared.resource, catalog)
        if result.key in applies and (result.differences or result.unverified or result.checks)
        else result
        for result in results
    )


def _locate(result: Result, resource: Resource, catalog: Catalog) -> Result:
    kind = catalog.kind(resource.gvk)
    if kind is None:
        return result
    fields = {}
    paths = [part.path for difference in result.differences for part in (difference, *split_lists(difference))]
    for path in (*paths, *result.unverified, *(finding.path for finding in result.checks if finding.path)):
        if field := find_field(kind, parse_pointer(path), resource.spec):
            fields[path] = ManifestField(format_field(field), find_place(field, resource))
    return replace(result, fields=fields)
