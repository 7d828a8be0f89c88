"""What a script can make wrong with a list: entries that are missing, trimmed, stale, listed twice or out of order."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from gitsync.emulator.http.call import ListFault, ServerRequest
from gitsync.emulator.patch import GONE, change_at
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.past import PastStore


def apply_lag(cloud: EmulatedCloud, call: ServerRequest) -> EmulatedCloud:
    """The cloud as a stale list shows it."""
    lag = call.list_fault.stale
    return replace(cloud, store=PastStore(cloud.store, cloud.clock.now().timestamp() - lag)) if lag else cloud


def place(keys: Sequence[str], fault: ListFault) -> list[tuple[str, str]]:
    """The keys that a list with a fault has, each with its place in the list, by which pages go on."""
    if fault == ListFault():
        return list(zip(keys, keys, strict=True))
    listed = [(key, key) for key in keys if not _matches(key, fault.missing)]
    listed += [(f"~{key}", key) for key, _ in listed if _matches(key, fault.duplicate)]
    return sorted((_shuffle(where), key) for where, key in listed) if fault.reorder else listed


def _shuffle(where: str) -> str:
    return hashlib.sha256(where.encode()).hexdigest()


def _matches(key: str, patterns: Collection[str]) -> bool:
    return any(fnmatchcase(key, pattern) for pattern in patterns)


def trim(entry: dict[str, Any], fault: ListFault) -> dict[str, Any]:
    """An entry without the members that a list with a fault leaves out."""
    for pointer in fault.trim:
        entry = dict(change_at(entry, tuple(pointer.split("/")[1:]), lambda _member: GONE))
    return entry
