"""Makes the value of `self` for an evaluation: a manifest and its status, read with the types of its kind.

A field that is not set reads as the zero value of its type, as in ASO (docs/expressions.md#presence), so
`self.status.a.b` has a value even before `a` exists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from gitsync.desired.cel.functions.times import parse_timestamp
from gitsync.desired.cel.types.kinds import SpelledFields, TypeFields, make_self_type
from gitsync.desired.cel.types.types import BOOL, BYTES, DOUBLE, DYN, INT, STRING, TIME, TIMESTAMP, UINT, Type
from gitsync.desired.cel.values import Timestamp, Uint
from gitsync.desired.validation.name_rules import find_azure_name as own_name
from gitsync.errors import EvaluationError
from gitsync.model.facts import Kind
from gitsync.model.resource import Resource
from gitsync.model.secret import Secret

_ZEROS: Final[Mapping[Type, Any]] = {
    STRING: "",
    INT: 0,
    UINT: Uint(0),
    DOUBLE: 0.0,
    BOOL: False,
    BYTES: b"",
    TIMESTAMP: Timestamp(0),
}


class Object:
    """A struct: the members of a mapping, read as the fields of its type."""

    __slots__ = ("_data", "_type")

    def __init__(self, type_: Type, data: Mapping[str, Any]) -> None:
        self._type = type_
        self._data = data

    def read_member(self, name: str) -> Any:
        """Read a field; the zero value of its type if it is not set. Raises EvaluationError if the type has no such
        field.
        """
        return convert_value(self._list_fields()[self._require_field(name)], self._find_raw(name), type(self))

    def has(self, name: str) -> bool:
        """Return whether a field is set in Go: a pointer if it exists, any other field if it is not its zero value."""
        raw, fields = self._find_raw(name), self._list_fields()
        is_pointer = isinstance(fields, TypeFields) and fields.is_pointer(fields.spell(name))
        # A pointer is set even if it points to false, 0 or an empty text.
        return raw is not None and (is_pointer or _is_set(fields[name], raw))

    def is_zero(self) -> bool:
        """Return whether nothing is set."""
        return not any(self.has(name) for name in self._list_fields())

    def find_type_name(self) -> str:
        return self._type.name

    def to_json(self) -> dict[str, Any]:
        """Return the fields that are set, as in the manifest."""
        return {name: value for name, value in self._data.items() if value is not None}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Object) and other._type == self._type and other._data == self._data

    def __hash__(self) -> int:
        return hash(self._type)

    def __repr__(self) -> str:
        return f"<{self._type}>"

    def _list_fields(self) -> Mapping[str, Type]:
        return self._type.fields or {}

    def _require_field(self, name: str) -> str:
        if name not in self._list_fields():
            raise EvaluationError(f"no such field: {name}")
        return name

    def _find_raw(self, name: str) -> Any:
        fields = self._type.fields
        known = self._require_field(name)
        return self._data.get(fields.spell(known) if isinstance(fields, SpelledFields) else known)


def _is_set(type_: Type, raw: Any) -> bool:
    """Return whether a JSON value differs from Go's zero value of a type that is not a pointer."""
    if type_ in {TIME, TIMESTAMP}:
        return bool(raw)
    if type_.fields is not None:
        return not (isinstance(raw, Mapping) and Object(type_, raw).is_zero())
    # An empty list or map of JSON is not nil in Go, so it is set.
    return type_.name in {"list", "map"} or type_ == DYN or bool(raw)


def make_recorded_status(kind: Kind, status: Mapping[str, Any]) -> RecordedObject:
    """Make the recorded part of a resource's status, for `make_self`."""
    type_ = (make_self_type(kind).fields or {})["status"]
    return RecordedBody(type_, status) if kind.is_any_type else RecordedObject(type_, status)


def make_self(
    resource: Resource,
    kind: Kind,
    status: Mapping[str, Any] | RecordedObject,
    *,
    azure_name: str = "",
    generation: int = 1,
) -> Object:
    """Make `self` for a manifest and its status (as `status.aso_status` makes it). `azure_name` is the resource's name
    in Azure, for a manifest without it; ASO fills it in as well.
    """
    named = own_name(resource, kind)
    name = azure_name or (named[1] if named else "")
    spec = (
        {"azureName": name, **resource.spec}
        if name and "azureName" in kind.types[kind.spec]["fields"]
        else resource.spec
    )
    metadata = {
        "name": resource.key.name,
        "namespace": resource.key.namespace,
        "labels": resource.labels or None,
        "annotations": resource.annotations or None,
        "generation": generation,
    }
    return make_object(
        kind,
        {
            "apiVersion": f"{kind.gvk.group}/{resource.gvk.version}",
            "kind": kind.gvk.kind,
            "metadata": metadata,
            "spec": spec,
            "status": status,
        },
    )


def make_object(kind: Kind, document: Mapping[str, Any]) -> Object:
    """Make `self` from a complete object of an API server: apiVersion, kind, metadata, spec and status."""
    metadata = document.get("metadata")
    embedded = metadata if isinstance(metadata, Mapping) else {}
    # Go embeds the metadata, so `self.namespace` is a field too.
    return Object(make_self_type(kind), {**embedded, **document})


class RecordedObject(Object):
    """A struct that is known in part: a missing field is unknown, and not zero."""

    __slots__ = ()

    def _find_raw(self, name: str) -> Any:
        found = super()._find_raw(name)
        if found is None:
            raise EvaluationError(f"the field {name} is not recorded")
        return found


class RecordedBody(RecordedObject):
    """A body without a type that is known in part: a missing member is unknown in it too."""

    __slots__ = ()

    def read_member(self, name: str) -> Any:
        found = self._find_raw(name)
        return RecordedBody(self._type, found) if isinstance(found, Mapping) else found

    def has(self, name: str) -> bool:
        return self._find_raw(name) is not None

    def _require_field(self, name: str) -> str:
        return name


MakeObject = Callable[[Type, Mapping[str, Any]], Object]


def convert_value(type_: Type, raw: Any, make: MakeObject = Object) -> Any:
    """Convert JSON to the value of a type, with `make` for structs; other JSON is kept as it is, and fails when it is
    used.
    """
    if raw is None:
        return _make_zero(type_)
    # An expression could write its value to a ConfigMap, in plain text.
    if isinstance(raw, Secret):
        raise EvaluationError("the field has a variable from a Secret, which an expression cannot read")
    # Go has a struct here, whose one field is the timestamp.
    if type_ == TIME:
        return Object(TIME, {"Time": raw})
    if type_.fields is not None:
        return make(type_, raw) if isinstance(raw, Mapping) else raw
    return _convert_plain(type_, raw, make)


def _convert_plain(type_: Type, raw: Any, make: MakeObject) -> Any:
    match type_.name:
        case "list" if isinstance(raw, list | tuple):
            return [convert_value(type_.params[0], item, make) for item in raw]
        case "map" if isinstance(raw, Mapping):
            return {key: convert_value(type_.params[1], value, make) for key, value in raw.items()}
        # JSON may write a double without a fraction, and CEL refuses arithmetic with an int and a double.
        case "double" if isinstance(raw, int) and not isinstance(raw, bool):
            return float(raw)
        case "int" if isinstance(raw, float) and raw.is_integer():
            return int(raw)
        case "timestamp" if isinstance(raw, str):
            return parse_timestamp(raw)
        case _:
            return raw


def _make_zero(type_: Type) -> Any:
    if type_.fields is not None:
        return Object(type_, {})
    if type_.name in {"list", "map"}:
        return [] if type_.name == "list" else {}
    return _ZEROS.get(type_)
