"""Stands in for values that only Azure has, such as an address: what was sent last, else a made-up value of the right
type.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.cel.source_types import KNOWN_ELSEWHERE, make_source_type
from gitsync.desired.cel.types.types import Type
from gitsync.desired.cel.value_expressions import check_value, parse_value
from gitsync.desired.request.secret_digest import mask_digests
from gitsync.model.gvk import Key
from gitsync.model.record import Record
from gitsync.model.resource import Prepared
from gitsync.model.secret import MASKED
from gitsync.model.template import ComputedValue
from gitsync.workflows.rehearsal.known_values import pair_gaps

_MADE_UP: Final[Mapping[str, Any]] = {"bool": False, "int": 1, "uint": 1, "double": 1.0, "map": {}}

_Name = tuple[str, frozenset[tuple[str, Key]]]


class ComputedStandIns:
    """The stand-ins of one simulated run. `made_up` collects the fields that got a made-up value."""

    def __init__(self, prepared: Iterable[Prepared], records: Mapping[Key, Record], made_up: set[str]) -> None:
        self._prepared = {resource.key: resource for resource in prepared}
        self._sent = dict(_list_sent(self._prepared.values(), records))
        self._made_up = made_up

    def recall(self, value: ComputedValue) -> Any:
        """Return what the same expression gave when its value was sent last; None if it was never sent."""
        return self._sent.get(_name(value))

    def make_up(self, value: ComputedValue) -> Any:
        """Make up a value of the type that the expression has."""
        self._made_up.add(value.field)
        types = {name: self._find_type(key) for name, key in value.sources.items()}
        return _make_up(check_value(parse_value(value.expression), types), value)

    def _find_type(self, key: Key) -> Type:
        resource = self._prepared.get(key)
        kind = open_catalog().kind_of(resource.resource) if resource else None
        return make_source_type(kind) if kind else KNOWN_ELSEWHERE


def _name(value: ComputedValue) -> _Name:
    """Name an expression so that it is the same for all fields that have it."""
    return value.expression, frozenset(value.sources.items())


def _list_sent(prepared: Iterable[Prepared], records: Mapping[Key, Record]) -> Iterable[tuple[_Name, Any]]:
    for resource in prepared:
        record = records.get(resource.key)
        if record is None or record.spec.applied is None or resource.template is None:
            continue
        for gap, sent in pair_gaps(resource.template.body, mask_digests(record.spec.applied)):
            # A masked value is not what was sent, and would be compared as if it were.
            if isinstance(gap, ComputedValue) and sent is not None and MASKED not in str(sent):
                yield _name(gap), sent


def _make_up(type_: Type, value: ComputedValue) -> Any:
    if type_.name == "optional_type":
        return _make_up(type_.params[0], value)
    if type_.name == "list":
        return [_make_up(type_.params[0], value)]
    return {} if type_.fields is not None else _MADE_UP.get(type_.name, f"value-of-{value.field.rpartition('.')[2]}")
