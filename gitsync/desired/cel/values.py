"""Defines the values of expressions for which Python has no suitable type.

null, bool, int, double, string, bytes, list are Python's None, bool, int, float, str, bytes, list (or tuple). The
others are here: uint, maps that distinguish `true` from `1`, times in nanoseconds, optionals, types. Plain dicts with
string keys are maps too, so JSON is a value as it is. Parser, checker and evaluator share these values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import NoneType
from typing import Any, Final, Protocol, runtime_checkable

from gitsync.errors import EvaluationError


class Uint(int):
    """CEL's uint: equal to an int of the same size, but of another type."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """A point in time, from year 1 to year 9999."""

    nanoseconds: int  # since 1970-01-01T00:00:00Z
    offset: int = field(default=0, compare=False)
    """That of its text, in seconds east of UTC; it is only used to write the text again, and not compared."""


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A length of time in nanoseconds, positive or negative, that fits 64 bits."""

    nanoseconds: int


@dataclass(frozen=True, slots=True)
class Optional:
    """A value, or none."""

    value: Any = None
    present: bool = True  # there is a value, since null is one too


NONE: Final = Optional(present=False)


@dataclass(frozen=True, slots=True)
class TypeValue:
    """A type as a value: the result of `type(x)`, and the value of a type's name."""

    name: str


@runtime_checkable
class Struct(Protocol):
    """An object with declared fields: one that is not set reads as its zero value; `has` distinguishes the two."""

    def read_member(self, name: str) -> Any: ...

    def has(self, name: str) -> bool: ...

    def is_zero(self) -> bool: ...

    def find_type_name(self) -> str: ...


class MapValue(Mapping[Any, Any]):
    """A map that an expression made. `1` and `1u` are one key, `1` and `true` two; the last entry of a key counts.

    Raises EvaluationError for a key that cannot be looked up: bytes, a list, a map or an object.
    """

    __slots__ = ("_entries",)

    def __init__(self, entries: Iterable[tuple[Any, Any]] = ()) -> None:
        self._entries: dict[tuple[bool, Any], Any] = {}
        for key, value in entries:
            # Python would accept a tuple or bytes as a key, which CEL does not support.
            if name_type(key) not in KEYS:
                raise EvaluationError(f"unsupported key type: {find_type(key).name}")
            self._entries[_make_entry_key(key)] = value

    def __getitem__(self, key: Any) -> Any:
        return self._entries[_make_entry_key(key)]

    def __contains__(self, key: object) -> bool:
        return _make_entry_key(key) in self._entries

    def __iter__(self) -> Iterator[Any]:
        return (key for _, key in self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"<map of {len(self)}>"


def _make_entry_key(key: Any) -> tuple[bool, Any]:
    """In Python True and 1 are one key: distinguish them."""
    return isinstance(key, bool), key


KEYS: Final = frozenset({"bool", "int", "uint", "string", "double", "null_type", "timestamp", "duration", "type"})
"""Kinds that a map's key may have."""

_KINDS: Final[dict[type, str]] = {
    NoneType: "null_type",
    bool: "bool",
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    list: "list",
    tuple: "list",
    dict: "map",
    MapValue: "map",
    Timestamp: "timestamp",
    Duration: "duration",
    Optional: "optional",
    TypeValue: "type",
}

_FURTHER_KINDS: Final[tuple[tuple[type, str], ...]] = (
    (str, "string"),
    (bool, "bool"),
    (int, "int"),
    (float, "double"),
    (bytes, "bytes"),
    (Mapping, "map"),
    (Sequence, "list"),
    (Struct, "object"),
)

_LONG_NAMES: Final = {
    "timestamp": "google.protobuf.Timestamp",
    "duration": "google.protobuf.Duration",
    "optional": "optional_type",
}

TYPES: Final[dict[str, TypeValue]] = {
    name: TypeValue(name) for name in sorted({_LONG_NAMES.get(kind, kind) for kind in _KINDS.values()})
}
"""The value of a type's name in an expression."""


def name_type(value: Any) -> str:
    """Find the short name of a value's type ("int", "timestamp", "object"), which selects functions."""
    cls: Any = type(value)
    return _KINDS.get(cls) or _name_kind_of_class(cls)


@cache
def _name_kind_of_class(cls: type) -> str:
    # Cached, since a protocol check is slow.
    return next((name for known, name in _FURTHER_KINDS if issubclass(cls, known)), "unknown")


def find_type(value: Any) -> TypeValue:
    """Find the type of a value, as `type(value)` gives it."""
    kind = name_type(value)
    return TypeValue(value.find_type_name() if kind == "object" else _LONG_NAMES.get(kind, kind))
