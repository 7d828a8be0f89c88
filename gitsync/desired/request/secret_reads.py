"""Finds what an expression reads of another resource that may be a secret: by its name, by the type of the field, or
because ARM withholds it. Secrets do not flow from one resource to another (docs/values.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from gitsync.desired.catalog.arm_types import open_arm_types
from gitsync.desired.catalog.aso_types import SECRET_TYPES
from gitsync.desired.catalog.body_paths import find_facts
from gitsync.desired.cel.syntax.syntax_tree import ExpressionNode, Ident, IndexAccess, Literal, Select, iterate_children
from gitsync.desired.cel.types.kinds import escape_name
from gitsync.desired.cel.value_expressions import ValueExpression, name_variable
from gitsync.desired.formats.json_pointer import JsonPath
from gitsync.desired.formats.secret_names import is_secret_name
from gitsync.model.facts import FieldType, Kind

_ANY: Final = "*"
"""Stands for an index or a key that is computed."""


class _Read(NamedTuple):
    """What a part of an expression reads."""

    root: str  # the variable
    steps: tuple[str, ...]


class _Sent(NamedTuple):
    """Where a field is in the ARM body, and whether it refers to a Secret."""

    path: JsonPath
    is_secret: bool


def find_secret_read(expression: ValueExpression, kinds: Mapping[str, Kind | None]) -> str:
    """Find the first member that may be a secret; "" if there is none. `kinds` are those of the resources by the names
    in the expression, None if only the id of a resource is known.
    """
    by_variable = {name_variable(name): kind for name, kind in kinds.items()}
    for read in _list_reads(expression.tree):
        kind = by_variable.get(read.root)
        # The name counts alone: ARM's types do not mark all secrets, and a kind may be unknown.
        if is_secret_name(read.steps[-1]) or (kind is not None and _is_secret(kind, read.steps)):
            return ".".join(read.steps)
    return ""


def _list_reads(tree: ExpressionNode) -> Iterator[_Read]:
    """List all members that an expression selects; those of the items of a macro have its variable as their root."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        waiting.extend(iterate_children(node))
        if isinstance(node, Select | IndexAccess):
            yield _read_path(node)


def _read_path(node: ExpressionNode) -> _Read:
    steps: list[str] = []
    while isinstance(node, Select | IndexAccess):
        if isinstance(node, Select):
            steps.append(node.field)
        else:
            steps.append(str(node.key.value) if isinstance(node.key, Literal) else _ANY)
        node = node.operand
    return _Read(node.name if isinstance(node, Ident) else "", tuple(reversed(steps)))


def _is_secret(kind: Kind, steps: tuple[str, ...]) -> bool:
    part, inside = steps[0], steps[1:]
    if part not in {"spec", "status"} or not inside:
        return False
    sent = _find_sent(kind, {"ref": kind.spec if part == "spec" else kind.status}, inside)
    if kind.is_any_type:
        is_body = part == "spec" and inside[0] == "body"
        sent = _Sent(inside[1:], False) if is_body else _Sent(inside if part == "status" else (), False)
    if sent.is_secret:
        return True
    body_type = open_arm_types().find_body(kind.arm_type, kind.api_version) if kind.is_arm and sent.path else None
    facts = find_facts(body_type, sent.path) if body_type else None
    return facts is not None and facts.is_secret


def find_sent_path(kind: Kind, type_name: str, steps: JsonPath) -> JsonPath:
    """Find the path in the ARM body of a field of a type of a kind; () if the facts do not have it."""
    return _find_sent(kind, {"ref": type_name}, steps).path


def _find_sent(kind: Kind, type_: FieldType, steps: JsonPath) -> _Sent:
    """Find where a field is in the ARM body, as far as the facts of the kind go."""
    path: JsonPath = ()
    for step in steps:
        while not isinstance(type_, str) and "base" in type_:
            type_ = type_["base"]
        if isinstance(type_, str):
            return _Sent((), type_ in SECRET_TYPES)
        if "ref" not in type_:
            path, type_ = (*path, step), type_["list"] if "list" in type_ else type_["map"]
            continue
        facts = kind.types.get(type_["ref"])
        names = {escape_name(name): name for name in facts["fields"]} if facts else {}
        if facts is None or step not in names:
            return _Sent((), False)
        field = facts["fields"][names[step]]
        type_ = field["type"]
        is_merged = bool(facts.get("oneOf"))  # the content of a union's field is the body
        path = path if is_merged or "arm" not in field else (*path, *field["arm"].split("/"))
    return _Sent(path, type_ in SECRET_TYPES if isinstance(type_, str) else False)
