"""Where the fields of a struct of the spec are in the body that ASO sends: from its ConvertToARM.

The method has one statement, or a few, for each property of ARM: an `if` or a loop that copies fields of the receiver
to a path of `result`. What it looks up on the way decides the mode of the field.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from tree_sitter import Node

from extract_facts.assignments import Locals, Write, find_writes
from extract_facts.go_source import GoMethod, read_selectors, read_text
from extract_facts.not_supported import NotSupportedError

_RESULT = "result"
_MADE = re.compile(r"result := &arm\.(\w+)\{\}")
_LOOKUPS = {
    "ResolvedSecrets": "secret",
    "ResolvedSecretMaps": "secretMap",
    "ResolvedConfigMaps": "configMap",
    "ResolvedReferences": "reference",
}
_OF_THE_NAME: Final = ("resolved", "Name")
_SILENT = frozenset({"for_statement", "if_statement", "return_statement", "short_var_declaration", "var_declaration"})
"""Statements that may copy nothing: guards, local names, and what makes room for properties."""


class Sent(NamedTuple):
    """Where a field is sent."""

    path: tuple[str, ...]  # of Go's names in the ARM struct
    mode: str  # "plain", or one of the facts' modes


def find_arm_struct(method: GoMethod) -> str:
    """The ARM struct that ConvertToARM makes. NotSupportedError if it makes none."""
    made = _MADE.search(method.text)
    if made is None:
        raise NotSupportedError("ConvertToARM does not make its result in one step", method.node)
    return made[1]


def read_sent(method: GoMethod) -> dict[str, Sent]:
    """What is sent of each field, by its name in Go."""
    sent: dict[str, Sent] = {}
    known = Locals(method.receiver)
    for statement in method.statements():
        writes = [write for write in find_writes(statement, _RESULT) if not _is_name(write)]
        if not writes:
            if statement.type not in _SILENT and not _sets_result(statement):
                raise NotSupportedError(f"ConvertToARM has a statement of type {statement.type}", statement)
            known.add(statement)
            continue
        target = Sent(_find_path(writes, statement), _find_mode(writes, statement))
        for field in _find_fields(statement, known):
            if sent.setdefault(field, target) != target:
                raise NotSupportedError(f"{field} is sent twice, and not in the same way", statement)
    return sent


def _is_name(write: Write) -> bool:
    """Return whether a write is that of the resource's name, which each body has."""
    value = read_text(write.value)
    return value == ".".join(_OF_THE_NAME) or (write.path[-1] == "Name" and value.endswith(".AzureName"))


def _sets_result(statement: Node) -> bool:
    """Return whether a statement only makes room in the result, or sets its name."""
    return statement.type == "assignment_statement" and read_text(statement).startswith(f"{_RESULT}.")


def _find_path(writes: Iterable[Write], statement: Node) -> tuple[str, ...]:
    paths = {write.path for write in writes}
    if len(paths) > 1:
        names = " and ".join(sorted(map(".".join, paths)))
        raise NotSupportedError(f"one statement writes {names}", statement)
    return paths.pop()


def _find_mode(writes: Iterable[Write], statement: Node) -> str:
    looked_up = [names[1] for names in read_selectors(statement) if names[0] == "resolved" and names[-1] == "Lookup"]
    unknown = [name for name in looked_up if name not in _LOOKUPS]
    if unknown:
        raise NotSupportedError(f"unknown look-up resolved.{unknown[0]}", statement)
    if not looked_up:
        return "plain"
    mode = _LOOKUPS[looked_up[0]]
    return "identityMap" if mode == "reference" and any(write.has_key for write in writes) else mode


def _find_fields(statement: Node, known: Locals) -> list[str]:
    """The fields that a statement copies: one, or both of an `if` and its `else if`."""
    fields = list(dict.fromkeys(path[0] for path in known.find_reads(statement)))
    fields = [field for field in fields if field not in {"ConvertToARM", "AzureName"}] or fields
    if not fields:
        raise NotSupportedError(f"a value that is not a field: {read_text(statement)[:80]}", statement)
    if len(fields) > 1 and statement.child_by_field_name("alternative") is None:
        raise NotSupportedError(f"one statement copies {' and '.join(fields)}", statement)
    return fields
