"""What the check of a body reports: the code, the message and the hint of each fault.

Separate from the walk over the body (`arm_body`), which finds them. `is_hidden` keeps a value that may be a secret out
of the messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from gitsync.desired.catalog.body_types import BodyMember, BodyType
from gitsync.desired.catalog.type_words import describe_shape, describe_value, join_with_or, quote_scalar
from gitsync.desired.formats.linear_pattern import may_match
from gitsync.desired.problems.field_path import FieldPath, format_field
from gitsync.desired.problems.finding import Finding
from gitsync.desired.problems.suggest import suggest
from gitsync.desired.validation.constraints import RULE_CODES, list_violations
from gitsync.desired.validation.spec_schema import reads_as
from gitsync.model.problem import Level

_OWN_HINTS: Final[Mapping[str, str]] = {
    "id": "Remove it: the id follows from the type, the owner and the name.",
    "name": "Remove it: spec.azureName is the name in Azure.",
    "type": "Remove it: spec.type is the type.",
    "apiversion": "Remove it: spec.type has the api-version.",
}
"""The hints for `OWN_NAMES`."""

_SHAPES: Final = {"object": "mapping", "variants": "mapping", "choice": "string", "integer": "number"}
"""Shapes as manifests name them. The source has one type for all numbers."""

_MAY_REFUSE: Final = "Azure may refuse the body"
_SEND: Final = "If Azure accepts it, use --unknown-fields warn."


def make_wrong_type(value: Any, type_: BodyType, path: FieldPath, level: Level, *, is_hidden: bool) -> Finding:
    """Report a value that another type of JSON has."""
    shape = _SHAPES.get(type_.shape, type_.shape)
    message = (
        f"{format_field(path)} must be {describe_shape(shape)}, but is {describe_value(value, is_hidden=is_hidden)}."
    )
    return Finding(
        code="WrongType",
        path=path,
        message=message,
        hint=_suggest_form(value, shape, is_hidden=is_hidden) or _add_setting("", level),
        level=level,
    )


def _suggest_form(value: Any, shape: str, *, is_hidden: bool) -> str:
    if value is None:
        return "Remove the empty item, or give it a value."
    if shape == "string" and isinstance(value, bool | int | float):
        return "Put it in quotes." if is_hidden else f'Put it in quotes: "{quote_scalar(value)}".'
    if shape in {"number", "boolean"} and isinstance(value, str) and reads_as(shape, value):
        return "Write it without quotes."
    if shape == "list" and not isinstance(value, dict):
        return "Write it as a list, with a dash before each item."
    return ""


def make_filled(type_: BodyType, path: FieldPath, word: str, level: Level) -> Finding:
    """Report a word that gives a text where the type has another shape."""
    shape = _SHAPES.get(type_.shape, type_.shape)
    message = f"{format_field(path)} must be {describe_shape(shape)}, but {word} gives a string."
    return Finding(code="WrongType", path=path, message=message, hint=_add_setting("", level), level=level)


def make_unknown_choice(value: str, type_: BodyType, path: FieldPath, level: Level, *, is_hidden: bool) -> Finding:
    """Report a text that a closed choice does not have."""
    shown = "" if is_hidden else f", but is {quote_scalar(value)}"
    message = f"{format_field(path)} must be {join_with_or(type_.choices)}{shown}."
    close = suggest(value, type_.choices)
    hint = f"Did you mean {close}?" if close and not is_hidden else _add_setting("", level)
    return Finding(code="UnknownValue", path=path, message=message, hint=hint, level=level)


def make_unknown_member(
    path: FieldPath, known: Iterable[BodyMember], moved_to: FieldPath | None, level: Level
) -> Finding:
    """Report a member that is not one of `known`. `moved_to` is the path of another object that has it."""
    settable = sorted(member.name for member in known if not member.is_read_only)
    if close := suggest(str(path[-1]), settable):
        hint = f"Did you mean {close}?"
    elif moved_to is not None:
        hint = f"Move it into {format_field(moved_to)}."
    else:
        hint = _add_setting(f"Known fields: {join_with_or(settable)}." if settable else "Remove it.", level)
    return Finding(
        code="UnknownField",
        path=path,
        message=f"{format_field(path)} is an unknown field.",
        hint=hint,
        level=level,
    )


def make_given_twice(path: FieldPath, member: BodyMember, level: Level) -> Finding:
    """Report a member that the body has in another case too."""
    return Finding(
        code="DuplicateKey",
        path=path,
        message=f"{format_field(path)} and {format_field((*path[:-1], member.name))} are one field: ARM has no case.",
        hint=f"Keep {member.name}.",
        level=level,
    )


def make_other_case(path: FieldPath, member: BodyMember) -> Finding:
    """Report a member in a case that Azure accepts and does not return."""
    message = f"{format_field(path)} is {member.name} in Azure, and gitsync compares names with case."
    return _warn("FieldCase", path, message, f"Write {member.name}.")


def make_own_name(path: FieldPath) -> Finding:
    """Report a member that another field of the manifest gives."""
    hint = _OWN_HINTS[str(path[-1]).casefold()]
    return _warn("ReadOnlyField", path, f"{format_field(path)} is not part of a body: Azure may refuse it.", hint)


def make_read_only(path: FieldPath) -> Finding:
    message = f"{format_field(path)} is a value that Azure sets: Azure may ignore it or refuse the body."
    return _warn("ReadOnlyField", path, message, "Remove it, unless Azure requires it.")


def make_missing(path: FieldPath, choices: Sequence[str] = ()) -> Finding:
    """Report a member that the type requires, and its values if it has only some."""
    hint = f"Set it to {join_with_or(choices)}." if choices else f"Add {path[-1]} to {format_field(path[:-1])}."
    return _warn("MissingField", path, f"{format_field(path)} is required: without it, {_MAY_REFUSE}.", hint)


def make_unknown_variant(value: str, path: FieldPath, choices: Sequence[str]) -> Finding:
    """Report a value that chooses no variant."""
    message = f"{format_field(path)} must be {join_with_or(choices)}, but is {quote_scalar(value)}: {_MAY_REFUSE}."
    close = suggest(value, choices)
    return _warn("UnknownValue", path, message, f"Did you mean {close}?" if close else "")


def list_faults(value: Any, type_: BodyType) -> list[tuple[str, str]]:
    """List the limits that a value breaks, each with its message."""
    faults = list(list_violations(value, type_.limits)) if type_.limits else []
    if type_.pattern and not may_match(value, type_.pattern):
        faults.append(("pattern", f"must match {type_.pattern}, but is {quote_scalar(value)}"))
    return faults


def make_broken_limits(faults: Iterable[tuple[str, str]], path: FieldPath, *, is_hidden: bool) -> Iterator[Finding]:
    """Report limits that a value breaks, as `list_faults` lists them."""
    for rule, fault in faults:
        # The second part quotes the value.
        shown = fault.partition(", but ")[0] if is_hidden else fault
        yield _warn(RULE_CODES[rule], path, f"{format_field(path)} {shown}: {_MAY_REFUSE}.", "")


def _warn(code: str, path: FieldPath, message: str, hint: str) -> Finding:
    return Finding(code=code, path=path, message=message, hint=hint, level=Level.WARNING)


def _add_setting(hint: str, level: Level) -> str:
    return f"{hint} {_SEND}".strip() if level is Level.ERROR else hint
