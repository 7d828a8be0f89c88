"""Check the body of a resource against ARM's type at one api-version.

Recorded bodies that Azure accepted decide the levels (docs/decisions/catalog.md). Unknown members, values of another
type and values outside of closed choices are errors, which `--unknown-fields warn` lowers. The types are wrong more
often about required and read-only members, limits and variants: those are warnings that Azure may refuse the body.

Names of members and choices have no case, as in ARM. Null is absent: services differ in what they make of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from gitsync.desired.catalog.arm_types import open_arm_types
from gitsync.desired.catalog.body_paths import OWN_NAMES, find_facts
from gitsync.desired.catalog.body_types import BodyMember, BodyType
from gitsync.desired.catalog.body_words import EXPRESSION, find_word, unescape
from gitsync.desired.formats.json_members import find_in_any_case
from gitsync.desired.formats.secret_names import is_secret_name
from gitsync.desired.problems.field_path import FieldPath
from gitsync.desired.problems.finding import Finding
from gitsync.desired.validation.arm_body_findings import (
    list_faults,
    make_broken_limits,
    make_filled,
    make_given_twice,
    make_missing,
    make_other_case,
    make_own_name,
    make_read_only,
    make_unknown_choice,
    make_unknown_member,
    make_unknown_variant,
    make_wrong_type,
)
from gitsync.model.problem import Level
from gitsync.model.secret import Placeholder, Secret

BODY: Final[FieldPath] = ("spec", "body")

_Types = tuple[BodyType, BodyType | None]
"""The type of an object and its variant."""

_ACCEPTED: Final[Mapping[str, type | tuple[type, ...]]] = {
    "object": dict,
    "variants": dict,
    "list": list,
    "string": str,
    "choice": str,
    "integer": (int, float),  # the source has no other type for numbers with a fraction
    "boolean": bool,
}
"""The values of each shape, as they are read from YAML."""


def check_body(
    body: Any,
    arm_type: str,
    api_version: str,
    *,
    name: str = "",
    unknown: Level = Level.ERROR,
    path: FieldPath = BODY,
) -> Sequence[Finding]:
    """Find what is wrong with a body. Nothing is found in one of a type or version that the facts do not have.

    `name` is the name in Azure, which decides the members of some types (`Microsoft.Web/sites/config`). `unknown` is
    the level of the errors. `path` is the field of the manifest that has the body.
    """
    body_type = open_arm_types().find_body(arm_type, api_version)
    if body_type is None:
        return ()
    check = _Check(body_type, path, name.rpartition("/")[2], unknown)
    own = [key for key in body if key.casefold() in OWN_NAMES] if isinstance(body, dict) else []
    check.findings.extend(make_own_name((*path, key)) for key in own)
    check.check_value({key: body[key] for key in body if key not in own} if own else body, body_type, path)
    return check.findings


@dataclass(slots=True)
class _Check:
    """The check of one body."""

    type: BodyType
    path: FieldPath
    name: str  # the last step of the name in Azure, "" if it is not known
    unknown: Level
    findings: list[Finding] = field(default_factory=list)

    def check_value(self, value: Any, type_: BodyType, path: FieldPath) -> None:
        """Check a value and all inside it."""
        shape = type_.shape
        if value is None or shape == "any":
            return
        if not _fits(value, shape):
            self._check_other(value, type_, path)
        elif isinstance(value, dict):
            self._check_mapping(value, type_, path)
        elif shape == "choice":
            # Several services return and accept the empty text for no choice.
            if value and value.casefold() not in type_.folded_choices:
                self.findings.append(
                    make_unknown_choice(value, type_, path, self.unknown, is_hidden=self._is_hidden(path))
                )
        else:
            if faults := list_faults(value, type_):
                self.findings.extend(make_broken_limits(faults, path, is_hidden=self._is_hidden(path)))
            if shape == "list" and type_.item is not None:
                self._check_entries(value, type_.item, path)

    def _check_entries(self, entries: list[Any], type_: BodyType, path: FieldPath) -> None:
        for index, entry in enumerate(entries):
            where = (*path, index)
            # In an object null is absent, and in a list it takes an index.
            if entry is None and type_.shape != "any":
                self.findings.append(
                    make_wrong_type(entry, type_, where, self.unknown, is_hidden=self._is_hidden(where))
                )
            else:
                self.check_value(entry, type_, where)

    def _check_other(self, value: Any, type_: BodyType, path: FieldPath) -> None:
        """Check a value of another type: one that is not known yet may have the right one."""
        is_text = type_.shape in {"string", "choice"}
        word = find_word(value)
        if word == EXPRESSION or isinstance(value, Placeholder):
            return
        if is_text and (word or isinstance(value, Secret)):
            return
        if word:
            self.findings.append(make_filled(type_, path, word, self.unknown))
        else:
            self.findings.append(make_wrong_type(value, type_, path, self.unknown, is_hidden=self._is_hidden(path)))

    def _check_mapping(self, value: dict[str, Any], type_: BodyType, path: FieldPath) -> None:
        word = find_word(value) if path != self.path else ""
        if not word:
            variant = self._choose_variant(value, type_, path) if type_.by else None
            self._check_members(value, (type_, variant), path)
            self._check_required(value, type_, path)
            if variant is not None:
                self._check_required(value, variant, path)
        elif word != EXPRESSION:
            self.findings.append(make_filled(type_, path, word, self.unknown))

    def _check_members(self, value: dict[str, Any], types: _Types, path: FieldPath) -> None:
        type_, variant = types
        for key, child in value.items():
            where = (*path, key)
            name = unescape(key) if key[:2] == "$$" else key
            member = (variant.find_member(name) if variant else None) or type_.find_member(name)
            if member is not None:
                if member.name != name:
                    self._add_other_case(where, member, value)
                self._check_member(child, member, where)
            elif (others := type_.others) is not None:
                self.check_value(child, others, where)
            # Without a known variant, a member of any of them may be right.
            elif variant or not any(other.find_member(name) for other in type_.list_variants()):
                self._add_unknown(name, types, where)

    def _check_member(self, value: Any, member: BodyMember, path: FieldPath) -> None:
        if member.is_read_only and not member.is_required:
            self.findings.append(make_read_only(path))
            return
        self.check_value(value, member.type, path)

    def _check_required(self, value: dict[str, Any], type_: BodyType, path: FieldPath) -> None:
        for member in type_.required:
            # The URL of the request gives these, whatever the type states.
            is_own = path == self.path and member.name.casefold() in OWN_NAMES
            if not is_own and find_in_any_case(value, member.name) is None:
                self.findings.append(make_missing((*path, member.name)))

    def _choose_variant(self, value: dict[str, Any], type_: BodyType, path: FieldPath) -> BodyType | None:
        """Choose what an object has in addition; None if that is not known."""
        where = (*path, type_.by)
        if path == self.path and type_.by == "name":
            return type_.find_variant(self.name)
        variant = type_.choose_variant(value)
        chosen = find_in_any_case(value, type_.by)
        if chosen is None:
            self.findings.append(make_missing(where, type_.variant_names))
        elif variant is None and isinstance(chosen, str):
            self.findings.append(make_unknown_variant(chosen, where, type_.variant_names))
        return variant

    def _add_other_case(self, path: FieldPath, member: BodyMember, value: Mapping[str, Any]) -> None:
        if member.name in value:
            self.findings.append(make_given_twice(path, member, self.unknown))
        else:
            self.findings.append(make_other_case(path, member))

    def _add_unknown(self, name: str, types: _Types, path: FieldPath) -> None:
        members = (member for type_ in types if type_ is not None for member in type_.members.values())
        is_root = path[:-1] == self.path
        known = [member for member in members if not (is_root and member.name.casefold() in OWN_NAMES)]
        self.findings.append(make_unknown_member(path, known, self._find_level(name, path[:-1]), self.unknown))

    def _is_hidden(self, path: FieldPath) -> bool:
        """Return whether a value may be a secret, so that no message quotes it. Few values need to know."""
        inside = path[len(self.path) :]
        facts = find_facts(self.type, inside)
        return facts.is_secret if facts else any(is_secret_name(str(step)) for step in inside)

    def _find_level(self, name: str, path: FieldPath) -> FieldPath | None:
        """Find the object that has a member which its level lacks: the top of the body, or `properties`."""
        properties = self.type.find_member("properties")
        if path != self.path and self.type.find_member(name) is not None:
            return self.path
        if path == self.path and properties is not None and properties.type.find_member(name) is not None:
            return (*self.path, properties.name)
        return None


def _fits(value: Any, shape: str) -> bool:
    return isinstance(value, _ACCEPTED[shape]) and not (shape == "integer" and isinstance(value, bool))
