"""Where the fields of a struct of the status are in Azure's response: from its PopulateFromARM."""

from __future__ import annotations

import re

from extract_facts.assignments import Locals, find_writes
from extract_facts.go_source import GoMethod, read_text
from extract_facts.not_supported import NotSupportedError

_INPUT = "typedInput"
_OF_STRUCT = re.compile(r"armInput\.\(arm\.(\w+)\)")
_COPIES = frozenset({"DeepCopy"})
"""Methods at the end of a path that copy the value."""
_NAME = "Name"
"""What a statement for one of the values of a union fills in as well."""


def find_arm_struct(method: GoMethod) -> str:
    """The ARM struct that PopulateFromARM reads. NotSupportedError if it reads none."""
    found = _OF_STRUCT.search(method.text)
    if found is None:
        raise NotSupportedError("PopulateFromARM does not name the type that it reads", method.node)
    return found[1]


def read_filled(method: GoMethod) -> dict[str, tuple[str, ...]]:
    """The path of Go's names in the ARM struct that each field is filled from, by its name in Go."""
    filled: dict[str, tuple[str, ...]] = {}
    known = Locals(_INPUT)
    for statement in method.statements():
        known.add(statement)
        writes = {write.path[0]: write for write in find_writes(statement, method.receiver)}
        names = known.find_reads(writes.pop(_NAME).value) if len(writes) > 1 and _NAME in writes else []
        paths = [path for path in known.find_reads(statement) if path not in names]
        if not writes:
            continue
        if len(writes) > 1 or not paths:
            what = " and ".join(sorted(writes)) if paths else read_text(statement)[:80]
            raise NotSupportedError(f"PopulateFromARM fills in one statement: {what}", statement)
        longest = max(paths, key=len)
        filled[next(iter(writes))] = longest[:-1] if longest[-1] in _COPIES else longest
    return filled
