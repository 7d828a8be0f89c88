"""Dataclasses as the standard library declares them, made by msgspec.

The standard ones compile their methods one by one, which was a quarter of the time for all imports, and a frozen one
sets its members through the check that forbids it. For a type checker they are the standard ones: to do without
msgspec, import those instead. At run time, `fields` and the like of the standard library do not know them.

A class that no struct can stand for is a standard one: without slots, with bases, with `__post_init__`, or with members
that are not given to `__init__`, or described by metadata.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, field
from operator import attrgetter
from types import new_class
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    from dataclasses import dataclass, fields, replace

__all__ = ["dataclass", "field", "fields", "replace"]


def _dataclass(cls: type | None = None, /, *, slots: bool = False, **options: bool) -> Any:
    """As `dataclasses.dataclass`, of its options `frozen`, `slots`, `kw_only`, `order` and `eq`."""

    def make(cls: type) -> type:
        if slots and _fits_struct(cls):
            return _make_struct(cls, options)
        return dataclasses.dataclass(cls, slots=slots, **options)

    return make if cls is None else make(cls)


def _fields(value: Any) -> Iterable[Any]:
    """The members of a class or a value, as `dataclasses.fields`: each has a `name`."""
    return msgspec.structs.fields(value) if hasattr(value, "__struct_fields__") else dataclasses.fields(value)


def _replace(value: Any, /, **members: Any) -> Any:
    """As `dataclasses.replace`. Raises TypeError for an unknown member."""
    if isinstance(value, Struct):
        return msgspec.structs.replace(value, **members)
    is_open = hasattr(value, "__dict__") and not hasattr(value, "__post_init__")
    return _copy_open(value, members) if is_open else dataclasses.replace(value, **members)


def _copy_open(value: Any, members: Mapping[str, Any]) -> Any:
    """A copy of a value without slots and `__post_init__`, in a tenth of the time: attempts have 36 members, and each
    stage of each resource copies one.
    """
    names = value.__dataclass_fields__
    if unknown := members.keys() - names.keys():
        raise TypeError(f"{type(value).__name__} has no {', '.join(sorted(unknown))}")
    held, copy = vars(value), object.__new__(type(value))
    is_bare = len(held) == len(names)
    vars(copy).update(held if is_bare else {name: held[name] for name in names}, **members)  # no cached properties
    return copy


def _fits_struct(cls: type) -> bool:
    is_plain = cls.__bases__ == (object,) and not hasattr(cls, "__post_init__")
    return is_plain and all(one.init and not one.metadata for one in _list_special(cls).values())


def _list_special(cls: type) -> dict[str, Field[Any]]:
    """The members that are declared with more than a default."""
    return {name: value for name, value in vars(cls).items() if isinstance(value, Field)}


def _make_struct(cls: type, options: Mapping[str, bool]) -> type:
    special = _list_special(cls)
    left_out = {"__dict__", "__weakref__", *special}  # what a class with slots is made without
    namespace = {name: value for name, value in vars(cls).items() if name not in left_out}
    namespace |= {name: value for name, one in special.items() if (value := _find_default(one)) is not MISSING}
    if hidden := {name for name, one in special.items() if not one.repr}:
        namespace.setdefault("__repr__", _make_repr(hidden))
    if ignored := {name for name, one in special.items() if not one.compare}:
        namespace |= _make_comparison(cls, ignored, options)
    namespace["__qualname__"] = cls.__qualname__
    return new_class(cls.__name__, (Struct,), dict(options), lambda body: body.update(namespace))


def _find_default(one: Field[Any]) -> Any:
    """The default of a member as msgspec takes it; MISSING if it has none."""
    return one.default if one.default_factory is MISSING else msgspec.field(default_factory=one.default_factory)


def _make_repr(hidden: set[str]) -> Any:
    """The method `__repr__` of a class with members that are not shown."""

    def show(self: Any) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name in self.__struct_fields__ if name not in hidden)
        return f"{type(self).__name__}({', '.join(shown)})"

    return show


def _make_comparison(cls: type, ignored: set[str], options: Mapping[str, bool]) -> dict[str, Any]:
    """The methods that compare values, of a class with members that do not count."""
    select = attrgetter(*(name for name in cls.__annotations__ if name not in ignored))

    def is_equal(self: Any, other: object) -> Any:
        return select(self) == select(other) if type(other) is type(self) else NotImplemented

    def compute_hash(self: Any) -> int:
        return hash(select(self))

    return {"__eq__": is_equal, "__hash__": compute_hash if options.get("frozen") else None}


if not TYPE_CHECKING:
    dataclass, fields, replace = _dataclass, _fields, _replace
