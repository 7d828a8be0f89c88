"""The types of values that flow: that of a resource in an expression, and that of the field which it sets
(docs/values.md).

Separate from `sources`, which evaluates: an offline check needs no evaluator.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from gitsync.desired.catalog.arm_types import open_arm_types
from gitsync.desired.catalog.positions import SpecPosition, find_root
from gitsync.desired.catalog.version_annotation import BODY
from gitsync.desired.cel.types.arm_bodies import make_body_type
from gitsync.desired.cel.types.inference import Inference
from gitsync.desired.cel.types.kinds import escape_name, make_self_type
from gitsync.desired.cel.types.types import DOUBLE, DYN, INT, NULL, STRING, Type, make_struct_type
from gitsync.desired.problems.field_path import FieldPath, format_field
from gitsync.desired.problems.suggest import suggest
from gitsync.model.facts import Kind

KNOWN_ELSEWHERE: Final = make_struct_type("resource", {"id": STRING, "name": STRING})
"""The type of a resource that another source declares: its id is known, and nothing else of it."""

UNKNOWN_KIND: Final = make_struct_type("resource", {"id": STRING, "name": STRING, "spec": DYN, "status": DYN})
"""The type of a resource whose kind is not known, which is a problem of its own manifest."""

_OPERATOR: Final = ("genruntime.", "core.")
"""Go packages of references and destinations: the operator reads them, and Azure never gets them as they are."""

_BODY: Final[FieldPath] = ("spec", "body")
_ANNOTATION: Final[FieldPath] = ("metadata", "annotations", BODY)


def make_source_type(kind: Kind) -> Type:
    """Make the type of a resource in an expression."""
    fields = make_self_type(kind).fields or {}
    status = _make_body_type(kind) if kind.is_any_type else fields["status"]
    return make_struct_type(kind.gvk.kind, {"id": STRING, "name": STRING, "spec": fields["spec"], "status": status})


def _make_body_type(kind: Kind) -> Type:
    """Make the type of the body of an AzureResource; dyn if ARM's types do not have its version."""
    body_type = open_arm_types().find_body(kind.arm_type, kind.api_version)
    return make_body_type(body_type) if body_type else DYN


class Unsettable(NamedTuple):
    """Why a field cannot be set."""

    message: str  # a sentence
    hint: str = ""


def find_field_type(kind: Kind, field: FieldPath) -> Type | Unsettable:
    """Find the type of a field of spec or of `gitsync/body`, or why no expression can set it."""
    if kind.is_any_type and field[:2] != _BODY:
        return STRING  # the owner, or the name
    body = _find_body(field)
    start, type_ = len(body) or 1, _make_body_type(kind) if body else (make_self_type(kind).fields or {})["spec"]
    for end in range(start, len(field)):
        if type_ == DYN:
            return DYN
        found = _take_step(type_, field[: end + 1], kind)
        if isinstance(found, Unsettable):
            return found
        type_ = found
    if type_.fields is not None and not body:
        members = ["armId"] if type_.name.startswith(_OPERATOR) else []
        fault = f"{format_field(field)} is a mapping, and an expression sets a single value."
        return Unsettable(
            fault, f"Set {format_field((*field, *members))}." if members else "Set its members one by one."
        )
    return type_


def _find_body(field: FieldPath) -> FieldPath:
    """Find the start of a field that is written as ARM has it; empty for any other."""
    return next((start for start in (_BODY, _ANNOTATION) if field[: len(start)] == start), ())


def find_choices(kind: Kind, field: FieldPath) -> tuple[str, ...]:
    """Find the words that a field may have; empty if it is not an enumeration, or if ARM checks it."""
    position = _find_position(kind, field)
    return tuple(position.rules.get("enum", ())) if position else ()


def is_required(kind: Kind, field: FieldPath) -> bool:
    """Return whether what has the field needs it; False if ARM checks it."""
    above = _find_position(kind, field[:-1])
    return above is not None and above.shape == "mapping" and field[-1] in above.required


def _find_position(kind: Kind, field: FieldPath) -> SpecPosition | None:
    """Find the position of a field of spec; None if the kind does not have it, or if ARM checks it."""
    if kind.is_any_type or field[:1] != ("spec",):
        return None
    position: SpecPosition | None = find_root(kind)
    for step in field[1:]:
        if position is None:
            return None
        is_named = position.shape == "mapping"
        position = (position.members[str(step)] if step in position.fields else None) if is_named else position.entry
    return position


def _take_step(type_: Type, field: FieldPath, kind: Kind) -> Type | Unsettable:
    """Find the type of a field in a value of a type: the last step leads there."""
    step, shown = field[-1], format_field(field)
    if type_.name in {"list", "map"}:
        is_right = (type_.name == "list") is isinstance(step, int)
        fault = f"{kind.gvk.kind} has no field {shown}."
        return type_.params[-1] if is_right else Unsettable(fault, f"{format_field(field[:-1])} is a {type_.name}.")
    found = (type_.fields or {}).get(escape_name(step)) if isinstance(step, str) else None
    if found is None:
        close = suggest(str(step), type_.fields or ())
        hint = f"{format_field(field[:-1])} is a single value." if not type_.fields else "Fix its name."
        if close:
            hint = f"Did you mean {format_field((*field[:-1], close))}?"
        return Unsettable(f"{kind.gvk.kind} has no field {shown}.", hint)
    # The operator resolves names in a cluster, so only an id is a value that Azure gets.
    if type_.name.startswith(_OPERATOR) and step != "armId":
        return Unsettable(f"{shown} is not a value that Azure gets.", "Set armId of an owner or a reference.")
    return found


def fits_field(wanted: Type, given: Type) -> bool:
    """Return whether a value of a type may be that of a field; null, and an optional without a value, leave it out."""
    given = given.params[0] if given.name == "optional_type" else given
    # Azure's JSON has one sort of number, so an int is right where a double is wanted.
    if given in {DYN, NULL} or wanted == DYN or (wanted == DOUBLE and given == INT):
        return True
    if wanted.fields is not None:  # a body: the members of both are Azure's
        return given.fields is not None or given.name == "map"
    return Inference().fits([wanted], [given])
