"""Makes the type of an ARM body for expressions, from the types of ARM (`catalog.body_types`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gitsync.desired.catalog.body_types import BodyMember, BodyType
from gitsync.desired.cel.types.kinds import SpelledFields
from gitsync.desired.cel.types.types import (
    BOOL,
    DYN,
    INT,
    STRING,
    Type,
    make_list_type,
    make_map_type,
    make_struct_type,
)

_PLAIN: Final[Mapping[str, Type]] = {"string": STRING, "choice": STRING, "integer": INT, "boolean": BOOL}


def make_body_type(type_: BodyType) -> Type:
    """Make the type of a value. An object that may have members of any other name has no type."""
    if type_.item is not None:
        return make_list_type(make_body_type(type_.item))
    if not type_.is_object:
        return _PLAIN.get(type_.shape, DYN)
    members = _collect_members(type_)
    if type_.others is not None:
        # An object with named and free members is neither a struct nor a map, and either type would refuse valid
        # fields.
        return DYN if members else make_map_type(STRING, make_body_type(type_.others))
    return make_struct_type(type_.name or "object", _BodyFields(members)) if members else DYN


def _collect_members(type_: BodyType) -> Mapping[str, BodyMember]:
    """Collect the members of an object, those of all variants included: an expression may read any."""
    members: dict[str, BodyMember] = {}
    for part in (type_, *type_.list_variants()):
        for name, member in part.members.items():
            members.setdefault(name, member)
    return members


class _BodyFields(SpelledFields):
    """The members of an object."""

    __slots__ = ("_members",)

    def __init__(self, members: Mapping[str, BodyMember]) -> None:
        super().__init__(members)
        self._members = members

    def _make_field(self, name: str) -> Type:
        return make_body_type(self._members[name].type)
