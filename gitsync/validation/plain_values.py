"""Which values of a spec a check may have something to say of. Nearly all are plain: no check has.

What makes a value plain is found once for each place of a kind, and not for each value of each manifest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

from gitsync.catalog.aso_types import ASO_TYPES, SCALARS
from gitsync.catalog.places import HEADER, Place, find_root
from gitsync.catalog.spec_visitor import Visit, list_children, make_visit
from gitsync.model.facts import Kind
from gitsync.problems.field_path import FieldPath
from gitsync.validation.constraints import has_limits, keeps_limits, select_limits
from gitsync.validation.exclusive_fields import SOURCES

Judge = Callable[[Any], bool]

_TYPES: Final[Mapping[str, type]] = {"string": str, "boolean": bool, "integer": int, "number": int, "list": list}
"""By shape: the type of nearly all its values. Others may have the shape too: they are left to the checks."""


def select_visits(kind: Kind, spec: Any) -> list[Visit]:
    """The visits of a spec, as `visit_spec` has them, without those of plain values."""
    visits: list[Visit] = []
    _select(visits, find_root(kind), ("spec",), spec)
    return visits


def select_other_visits(others: Mapping[str, Any]) -> list[Visit]:
    """The same of the fields of a manifest beside its spec."""
    visits: list[Visit] = []
    _select(visits, HEADER, (), others)
    return visits


def _select(visits: list[Visit], place: Place, path: FieldPath, value: Any) -> None:
    if not find_judge(place)(value):
        visit = make_visit(place, path, value)
        visits.append(visit)
        if not visit.fits or visit.shape in SCALARS:
            return
    for key, child, inner in list_children(place, value):
        if inner.shape not in SCALARS or not find_judge(inner)(child):  # most are plain, and need no path
            _select(visits, inner, (*path, key), child)


@cache
def find_judge(place: Place) -> Judge:
    """Return what tells whether a value of a place is plain. Its members are judged by themselves."""
    if place.shape == "mapping":
        return _make_judge_of_fields(place)
    if place.shape == "map":
        return lambda value: type(value) is dict
    if place.shape == "any":
        return lambda _value: not has_limits(place.rules)
    usual = _TYPES[place.shape]
    limits = select_limits(place.rules, usual())
    if not limits:
        return lambda value: type(value) is usual
    return lambda value: type(value) is usual and keeps_limits(value, limits)


def _make_judge_of_fields(place: Place) -> Judge:
    """References and destinations are never plain, as several checks look at them, and no union is."""
    if place.name == "knownOwner":
        return _names_owner
    if place.name in ASO_TYPES or place.facts is None or place.facts.get("oneOf"):
        return lambda _value: False
    known = place.fields.keys()
    required = frozenset(name for name, field in place.fields.items() if field.get("required"))
    sources = frozenset(name for name in known if name.endswith(SOURCES))

    def judge(value: Any) -> bool:
        if type(value) is not dict or None in value.values():
            return False
        return value.keys() <= known and required <= value.keys() and sources.isdisjoint(value)

    return judge


def _names_owner(value: Any) -> bool:
    """The usual form of an owner: a name alone, and not an ARM id in its place."""
    if type(value) is not dict or len(value) != 1:
        return False
    name = value.get("name")
    return type(name) is str and name != "" and "/" not in name
