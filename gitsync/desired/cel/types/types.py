"""Defines the types of expressions, as the checker reasons about them (CEL's language definition, "Values").

A struct has a mapping of fields that may be computed one by one: Azure kinds are large, and an expression uses a few
fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True)
class Type:
    """A type and its parts."""

    name: str
    params: tuple[Type, ...] = ()  # the types of the items of a list, or of keys and values of a map
    fields: Mapping[str, Type] | None = field(default=None, compare=False, repr=False)
    """Only of structs; those with the same name are one type."""

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.params))})" if self.params else self.name

    @property
    def is_param(self) -> bool:
        """Whether it is a parameter, for a type to be inferred."""
        return self.name.startswith("_var")

    @property
    def is_nullable(self) -> bool:
        """Whether null is a value of this type."""
        return self.fields is not None or self.name == "optional_type" or self in (TIMESTAMP, DURATION, NULL)


DYN: Final = Type("dyn")
NULL: Final = Type("null")
BOOL: Final = Type("bool")
INT: Final = Type("int")
UINT: Final = Type("uint")
DOUBLE: Final = Type("double")
STRING: Final = Type("string")
BYTES: Final = Type("bytes")
TIMESTAMP: Final = Type("timestamp")
DURATION: Final = Type("duration")


def make_list_type(item: Type) -> Type:
    return Type("list", (item,))


def make_map_type(key: Type, value: Type) -> Type:
    return Type("map", (key, value))


def make_optional_type(inner: Type) -> Type:
    return Type("optional_type", (inner,))


def make_type_type(inner: Type) -> Type:
    return Type("type", (inner,))


def make_type_parameter(name: str) -> Type:
    """Make a type to be inferred; the name distinguishes it from others."""
    return Type(f"_var{name}")


def make_struct_type(name: str, fields: Mapping[str, Type]) -> Type:
    return Type(name, (), fields)


_PARTS_OF_ID: dict[str, Type] = {
    "subscriptionId": STRING,
    "resourceGroupName": STRING,
    "provider": STRING,
    "location": STRING,
    "resourceType": make_struct_type("cel.ResourceType", {"namespace": STRING, "type": STRING}),
    "name": STRING,
}
RESOURCE_ID: Final = make_struct_type("cel.ResourceID", _PARTS_OF_ID)
"""The result of aso.parseResourceId; the parent of an id is an id
(docs/reference/reconciliation.md#export-expressions).
"""
_PARTS_OF_ID["parent"] = RESOURCE_ID

TIME: Final = make_struct_type("v1.Time", {"Time": TIMESTAMP})
"""A time in Kubernetes metadata: Go's struct, whose one field is the timestamp."""

NAMED: Final[Mapping[str, Type]] = {
    **{type_.name: type_ for type_ in (BOOL, INT, UINT, DOUBLE, STRING, BYTES)},
    "list": make_list_type(DYN),
    "map": make_map_type(DYN, DYN),
    "null_type": NULL,
    "type": make_type_type(DYN),
    "dyn": DYN,
    "optional_type": make_optional_type(DYN),
    "google.protobuf.Timestamp": TIMESTAMP,
    "google.protobuf.Duration": DURATION,
}
"""The names of types in expressions: `type(x) == string`."""
