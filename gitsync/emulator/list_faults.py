"""What a script can make wrong with a list: entries that are missing, trimmed, stale, listed twice or out of order."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import replace
from fnmatch import fnmatchcase
from operator import itemgetter
from typing import Any, TypeVar

from gitsync.emulator.http.call import ListFault, ServerRequest
from gitsync.emulator.patch import GONE, change_at
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.past import PastStore

_Entry = TypeVar("_Entry")


def apply_lag(cloud: EmulatedCloud, call: ServerRequest) -> EmulatedCloud:
    """The cloud as a stale list shows it."""
    lag = call.list_fault.stale
    return replace(cloud, store=PastStore(cloud.store, cloud.clock.now().timestamp() - lag)) if lag else cloud


def spoil(rows: Iterable[tuple[str, _Entry]], fault: ListFault) -> list[tuple[str, _Entry]]:
    """The rows that a list with a fault has. The key of each is its place in the list, by which pages go on."""
    shown = [row for row in rows if not _matches(row[0], fault.missing)]
    shown += [(f"~{key}", entry) for key, entry in shown if _matches(key, fault.duplicate)]
    if not fault.reorder:
        return shown
    return sorted(((hashlib.sha256(key.encode()).hexdigest(), entry) for key, entry in shown), key=itemgetter(0))


def _matches(key: str, patterns: Collection[str]) -> bool:
    return any(fnmatchcase(key, pattern) for pattern in patterns)


def trim(entry: dict[str, Any], fault: ListFault) -> dict[str, Any]:
    """An entry without the members that a list with a fault leaves out."""
    for pointer in fault.trim:
        entry = dict(change_at(entry, tuple(pointer.split("/")[1:]), lambda _member: GONE))
    return entry
