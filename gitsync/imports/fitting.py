"""A spec of an import as its kind allows it: Azure returns values that no manifest may have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from gitsync.catalog.catalog import open_catalog
from gitsync.catalog.places import find_root
from gitsync.catalog.spec_visitor import visit_spec
from gitsync.formats.json_pointer import JsonPath, format_pointer
from gitsync.imports.conversion import EVERY, ConvertedSpec
from gitsync.model.facts import Field, Kind
from gitsync.model.problem import Level
from gitsync.problems.field_path import FieldPath, find_member
from gitsync.validation.validate import check_spec


def fit_spec(kind: Kind, converted: ConvertedSpec) -> ConvertedSpec:
    """Leave out the smallest parts of a spec without which it is valid, and add their places to the unfit ones.

    A part that the kind requires goes with what holds it, and an entry with its list: a shorter list would ask for
    something else. What the spec itself requires stays as it is.
    """
    fields, unfit = converted.fields, dict.fromkeys(converted.unfit)
    while found := sorted(set(_find_unfit(kind, fields))):
        fields = deepcopy(fields)
        for path in found:
            parent = find_member(fields, *path[:-1])
            if isinstance(parent, dict):  # not left out with a part before
                parent.pop(path[-1], None)
            unfit[format_pointer(tuple(part for _, steps in _follow(kind, path) for part in steps))] = None
    return ConvertedSpec(fields=fields, unfit=tuple(unfit))


def _find_unfit(kind: Kind, fields: Mapping[str, Any]) -> Iterator[FieldPath]:
    """The parts of a spec to leave out."""
    for finding in check_spec(visit_spec(kind, fields), kind, open_catalog()):
        _, *steps = finding.path[:-1] if finding.code == "MissingField" else finding.path
        path = _climb(kind, fields, tuple(steps))
        if finding.level is Level.ERROR and path and find_member(fields, *path) is not None:
            yield path


def _climb(kind: Kind, fields: Mapping[str, Any], path: FieldPath) -> FieldPath:
    """The part that goes with one that goes: the list of an entry, and what would be empty then and may be absent."""
    facts = [one for one, _ in _follow(kind, path)]
    while path:
        above = path[:-1]
        is_spare = bool(above) and isinstance(above[-1], str) and not facts[len(above) - 1].get("required")
        if not isinstance(path[-1], int) and not (is_spare and len(find_member(fields, *above) or "") == 1):
            break
        path = above
    return path


def _follow(kind: Kind, path: FieldPath) -> Iterator[tuple[Field, JsonPath]]:
    """The facts of each step of a path in a spec, and its steps in the body; the choice of a union has none, nor have
    the parts of a reference.
    """
    place = find_root(kind)
    for step in path:
        if place.facts is None:
            yield {}, (EVERY if place.shape == "list" else step,)
            place = place.entry
            continue
        one = place.fields[str(step)]
        yield one, tuple(one["arm"].split("/")) if "arm" in one and not place.facts.get("oneOf") else ()
        place = place.members[str(step)]
