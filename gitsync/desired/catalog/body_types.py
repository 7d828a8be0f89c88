"""The types of the bodies that ARM takes, as tools/build_arm_types.py packs them.

A type is read from its line when it is used: a namespace has thousands, and a body reaches a few dozen.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple

from gitsync.desired.formats.json_members import find_in_any_case

LIMITS: Final = frozenset({"minItems", "maxItems", "minLength", "maxLength", "minimum", "maximum"})
"""Limits of a value, by the names that constraints of kinds have too. Patterns are apart: see `may_match`."""


REQUIRED: Final = 1
READ_ONLY: Final = 2
WRITE_ONLY: Final = 4
"""Flags of a member, with the numbers of the source. Plain numbers, since members are read by the thousand."""


class BodyType:
    """A type. Types of one namespace that are equal are one object, so one that holds itself is its own member."""

    def __init__(self, facts: Mapping[str, Any], line: int, lines: TypeLines) -> None:
        self.shape: str = facts["shape"]
        """object, variants, list, string, choice, integer, boolean or any. `variants` is an object of which the value
        of one member decides which others it has."""
        self._facts, self._line, self._lines = facts, line, lines

    @property
    def name(self) -> str:
        """The name of an object as the source has it, which may be a long one; "" for other shapes."""
        return str(self._facts.get("name", ""))

    @property
    def is_object(self) -> bool:
        return self.shape in {"object", "variants"}

    @property
    def is_sensitive(self) -> bool:
        """Return whether the source marks the value as a secret. It does not mark all."""
        return bool(self._facts.get("sensitive"))

    @cached_property
    def limits(self) -> Mapping[str, Any]:
        """The limits of a value of this type."""
        return {name: limit for name, limit in self._facts.items() if name in LIMITS}

    @cached_property
    def pattern(self) -> str:
        """A pattern that a part of a string matches, for an engine that the source does not name; "" for none."""
        return str(self._facts.get("pattern", ""))

    @property
    def choices(self) -> Sequence[str]:
        """All values of a `choice`; of a string, those that are known."""
        return self._facts.get("values") or self._facts.get("known") or ()

    @cached_property
    def folded_choices(self) -> frozenset[str]:
        """The choices in lower case: ARM compares them without case."""
        return frozenset(choice.casefold() for choice in self.choices)

    @cached_property
    def members(self) -> Mapping[str, BodyMember]:
        """The members of an object by their names; of variants, those that all have, without the one that decides."""
        return {name: self._make_member(name, packed) for name, packed in self._facts.get("members", {}).items()}

    def find_member(self, name: str) -> BodyMember | None:
        """Find a member by its name, in any case if none has this case: ARM has no case."""
        return self.members.get(name) or self._folded_members.get(name.casefold())

    @cached_property
    def required(self) -> tuple[BodyMember, ...]:
        """The members that must be set, without those that Azure sets anyway."""
        return tuple(member for member in self.members.values() if member.is_required and not member.is_read_only)

    @property
    def others(self) -> BodyType | None:
        """The type of members of any name; None if an object has those of `members` only."""
        return self._find("others")

    @property
    def item(self) -> BodyType | None:
        """The type of the items of a list."""
        return self._find("item")

    @property
    def by(self) -> str:
        """The member of variants that decides."""
        return str(self._facts.get("by", ""))

    @property
    def variant_names(self) -> Sequence[str]:
        """The values of the deciding member."""
        return tuple(self._facts.get("variants", ()))

    def find_variant(self, value: str) -> BodyType | None:
        """Find what a value of the deciding member adds, in any case: an object, which has that member too."""
        variants = self._facts.get("variants", {})
        folded = value.casefold()
        found = next((name for name in (value, *variants) if name in variants and name.casefold() == folded), None)
        return None if found is None else self._lines.get_type(self._line + variants[found])

    def choose_variant(self, value: Mapping[str, Any], name: str = "") -> BodyType | None:
        """Choose what the value of the deciding member of an object adds; None if that is not known. `name` is that
        of the resource, if this is its body: it stands for a member that the body need not have.
        """
        if not self.by:
            return None
        chosen = name if self.by == "name" and name else find_in_any_case(value, self.by)
        return self.find_variant(chosen) if isinstance(chosen, str) else None

    def list_variants(self) -> Iterator[BodyType]:
        """All that the deciding member can add."""
        return (self._lines.get_type(self._line + distance) for distance in self._facts.get("variants", {}).values())

    @cached_property
    def _folded_members(self) -> Mapping[str, BodyMember]:
        return {name.casefold(): member for name, member in self.members.items()}

    def _make_member(self, name: str, packed: int | list[int]) -> BodyMember:
        distance, flags = (packed, 0) if isinstance(packed, int) else packed
        return BodyMember(name, flags, self._line + distance, self._lines)

    def _find(self, part: str) -> BodyType | None:
        distance = self._facts.get(part)
        return None if distance is None else self._lines.get_type(self._line + distance)


class BodyMember(NamedTuple):
    """A member of an object."""

    name: str  # as Azure spells it
    flags: int  # a sum of the flags above, and of others that have no effect here
    line: int
    lines: TypeLines

    @property
    def type(self) -> BodyType:
        return self.lines.get_type(self.line)

    @property
    def is_required(self) -> bool:
        return bool(self.flags & REQUIRED)

    @property
    def is_read_only(self) -> bool:
        return bool(self.flags & READ_ONLY)

    @property
    def is_write_only(self) -> bool:
        return bool(self.flags & WRITE_ONLY)


class TypeLines:
    """The lines of one namespace. Its only mutable state are the types that were read from them."""

    def __init__(self, lines: Sequence[bytes]) -> None:
        self._lines = lines
        self._types: dict[int, BodyType] = {}

    def get_type(self, line: int) -> BodyType:
        """The type of a line. ValueError for a line that is damaged."""
        found = self._types.get(line)
        if found is None:
            found = self._types[line] = BodyType(json.loads(self._lines[line]), line, self)
        return found
