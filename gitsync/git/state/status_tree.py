"""The status tree as files: records, their index, and the texts for people. The same on a branch and in a folder.

`inventory.yaml` is an index for people and scripts, made from the records. It marks the tree as ours; without it
nothing is read and nothing written. Of what it says only the revision is taken over, but it has to agree with the
records: one that was removed, or that says another id, would have a resource forgotten, or another one deleted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitsync.errors import SourceError, StateError
from gitsync.git.source.ignore import IgnoreRules
from gitsync.git.source.listing import EntryKind, SourceEntry, SourceListing
from gitsync.git.source.selection import ReadLimits, check_budget, select_visible
from gitsync.git.state import config_maps
from gitsync.git.state.codec import SCHEMA, UNSEALED, decode, encode
from gitsync.git.state.fields import DocumentFields
from gitsync.git.state.merging import Changes, Records
from gitsync.git.state.paths import (
    INVENTORY,
    REPORT,
    SUMMARY,
    is_config_map_path,
    is_record_path,
    make_config_map_path,
    make_record_path,
)
from gitsync.git.state.seal import RecordSeals
from gitsync.git.state.store import Update
from gitsync.git.state.yaml_text import dump
from gitsync.model.gvk import Key
from gitsync.model.record import Record, State

Files = Mapping[str, bytes | None]
"""Files to write by their path in the tree; None for one to remove."""

_RESOURCES = b"\nresources:"
_DECIDING = ("armId", "claim", "policy")
"""What decides what may be deleted: the index says it too."""

_MEND = (
    "Restore the tree (see git log of the status branch). To let gitsync treat a resource as "
    f"never recorded, remove its file and its entry in {INVENTORY}."
)


def read_state(listing: SourceListing, seals: RecordSeals = UNSEALED, *, cut_short: bool = False) -> State:
    """Read a whole tree; empty where all files are hidden. StateError for one that is not ours, or not whole.

    `cut_short` says that the last write to it was: then the index may be older than some records.
    """
    try:
        entries = select_visible(listing.entries(""), IgnoreRules({}))
        if not entries:
            return State({})
        wanted = _wanted(listing, entries)
        check_budget(wanted, ReadLimits())
        contents = listing.read(wanted)
    except SourceError as error:
        raise StateError(f"The status in {listing.name} cannot be read: {error.message}", hint=error.hint) from error
    revision = _revision(contents[INVENTORY])
    found = (decode(path, content, seals) for path, content in contents.items() if is_record_path(path))
    maps = (config_maps.decode(path, content) for path, content in contents.items() if is_config_map_path(path))
    records = dict(sorted((record.key, record) for record in found))
    if not cut_short and not contents[INVENTORY].endswith(_index(records)):
        _check_index(contents[INVENTORY], records)
    return State(records, revision, {export.address: export for export in maps})


def _check_index(content: bytes, records: Records) -> None:
    """StateError where the index, which is not as we would write it, disagrees with the records."""
    named = {}
    for entry in DocumentFields.read(INVENTORY, content).each("resources"):
        key = entry.key("key")
        if key is None:
            raise entry.refusal("key", "is missing")
        if key not in records:
            raise StateError(f"{INVENTORY} names {key}, but {make_record_path(key)} does not exist.", hint=_MEND)
        named[key] = entry
    for key, record in records.items():
        if key not in named:
            raise StateError(f"{make_record_path(key)} exists, but {INVENTORY} does not name {key}.", hint=_MEND)
        said = _entry(key, record)
        for name in _DECIDING:
            if named[key].text(name) != said[name]:
                raise StateError(f"{make_record_path(key)} and {INVENTORY} differ in {name}.", hint=_MEND)


def _wanted(listing: SourceListing, entries: tuple[SourceEntry, ...]) -> list[SourceEntry]:
    """The inventory, the records and the config maps. Other files are not ours, and links among ours lead somewhere
    that is not.
    """
    for entry in entries:
        if entry.kind is EntryKind.LINK:
            raise StateError(f"{entry.path} in {listing.name} is a symbolic link.", hint="Remove it.")
    wanted = [entry for entry in entries if entry.path == INVENTORY or _is_ours(entry.path)]
    if not any(entry.path == INVENTORY for entry in wanted):
        raise StateError(
            f"{listing.name} has files but no {INVENTORY}, so it is not a status of gitsync.",
            hint="Set --status-branch or --status-dir to another place.",
        )
    return wanted


def _is_ours(path: str) -> bool:
    return is_record_path(path) or is_config_map_path(path)


def _revision(inventory: bytes) -> str | None:
    head = DocumentFields.read(INVENTORY, inventory.partition(_RESOURCES)[0].rstrip(b"\n") + b"\n")
    head.check_schema(SCHEMA)
    return head.text("revision", "") or None


def build_inventory(records: Records, revision: str | None) -> bytes:
    """The index of all records: one entry a resource, sorted."""
    head = dump({"schema": SCHEMA, **({"revision": revision} if revision else {})})
    return head + _index(records)


def _index(records: Records) -> bytes:
    return dump({"resources": [_entry(key, record) for key, record in sorted(records.items())]})


def _entry(key: Key, record: Record) -> Mapping[str, Any]:
    ready = {"ready": record.condition.status.value} if record.condition else {}
    return {
        "key": str(key),
        "armId": record.arm_id,
        "claim": record.claim.value,
        "policy": record.policy.value,
        "generation": record.generation,
        **ready,
    }


def build_files(changes: Changes, after: State, update: Update, seals: RecordSeals = UNSEALED) -> Files:
    """What to write so that the tree says `after`, of which only `changes` are new; the inventory comes last."""
    texts = {SUMMARY: update.summary, REPORT: update.report}
    return {
        **{make_config_map_path(at): config_maps.encode(e) if e else None for at, e in changes.config_maps.items()},
        **{make_record_path(key): encode(record, seals) if record else None for key, record in changes.records.items()},
        **{name: text().encode() for name, text in texts.items() if text is not None},
        INVENTORY: build_inventory(after.records, after.revision),
    }
