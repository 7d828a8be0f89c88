"""The status tree as earlier versions wrote it, in YAML. The next run that may write it writes it as JSON.

A document keeps its members, so a record keeps its seal, good or bad. `inventory.yaml` stays as a stub, whose schema
stops those versions: they would take the tree for one without records. In a folder, which is written file by file, the
stub is the switch: until it is there, the YAML counts, and from then on the JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from loguru import logger

from gitsync.repository.git.source.listing import SourceEntry, SourceListing
from gitsync.repository.git.state.documents import FORMER_SUFFIX, check_schema, read_document, write_document
from gitsync.repository.git.state.record_files import INVENTORY, is_config_map_path, is_record_path, make_present_path

Files = Mapping[str, bytes | None]
"""Files to write by their path in the tree; None for one to remove."""

FORMER_INVENTORY: Final = "inventory.yaml"
FORMER_SCHEMA: Final = 1
INVENTORY_SCHEMA: Final = 2
STUB: Final = f"""\
# The status is in JSON: see {INVENTORY}. Versions of gitsync that read YAML stop at this file.
schema: {INVENTORY_SCHEMA}
""".encode()

_SCHEMA: Final = re.compile(rb"^schema: *([0-9]{1,9})\s*$", re.MULTILINE)
_AT_ONCE = 2000  # files that are read: each part starts a program


def log_conversion(name: str) -> None:
    """Log that a tree of an earlier version was written as JSON, which happens once."""
    logger.warning(
        "The records in {} are now JSON. Earlier versions of gitsync refuse this status: upgrade all of its agents.",
        name,
    )


def is_former_path(path: str) -> bool:
    """Return whether a path can be that of a record or config map of an earlier version."""
    present = make_present_path(path)
    return present != path and (is_record_path(present) or is_config_map_path(present))


def is_former_tree(listing: SourceListing, entries: Iterable[SourceEntry]) -> bool:
    """Return whether the files of earlier versions count, of all that a tree has. SourceError if it cannot be read."""
    by_path = {entry.path: entry for entry in entries}
    inventory = by_path.get(FORMER_INVENTORY)
    is_converted = INVENTORY in by_path and not any(map(is_former_path, by_path))
    if inventory is None or is_converted:
        return False
    # A folder whose conversion was cut short has both.
    schema = _SCHEMA.search(listing.read([inventory])[FORMER_INVENTORY])
    return schema is None or int(schema[1]) <= FORMER_SCHEMA


def select_documents(entries: Iterable[SourceEntry], *, is_former: bool) -> list[SourceEntry]:
    """Select the inventory, the records and the config maps of a tree; others of its files are ignored."""
    if is_former:
        return [entry for entry in entries if entry.path == FORMER_INVENTORY or is_former_path(entry.path)]
    return [
        entry
        for entry in entries
        if entry.path == INVENTORY or is_record_path(entry.path) or is_config_map_path(entry.path)
    ]


def convert_file(path: str, content: bytes) -> tuple[str, bytes]:
    """Return the path and the content that a file has today. StateError if it is malformed."""
    if not path.endswith(FORMER_SUFFIX):
        return path, content
    document = read_document(path, content)
    if path != FORMER_INVENTORY:
        return make_present_path(path), write_document(document.values)
    check_schema(document, path, FORMER_SCHEMA)
    return INVENTORY, write_document({**document.values, "schema": INVENTORY_SCHEMA})


def convert_tree(listing: SourceListing) -> Iterator[Files]:
    """Yield what makes a tree one of today, in steps: each has to be complete before the next begins. A tree that is
    one already loses the files that a conversion has left. StateError or SourceError if it cannot be read.
    """
    entries = listing.entries("")
    former = [entry for entry in entries if is_former_path(entry.path)]
    if is_former_tree(listing, entries):
        # What a conversion that was cut short has left: an earlier version may have forgotten the resource since.
        files: dict[str, bytes | None] = {e.path: None for e in select_documents(entries, is_former=False)}
        documents = select_documents(entries, is_former=True)
        for start in range(0, len(documents), _AT_ONCE):
            contents = listing.read(documents[start : start + _AT_ONCE])
            files |= dict(convert_file(*content) for content in contents.items())
        yield files
    yield {FORMER_INVENTORY: STUB}
    yield {entry.path: None for entry in former}
