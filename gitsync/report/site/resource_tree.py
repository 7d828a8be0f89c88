"""The tree of all resources as columns: `data/tree`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple
from zlib import crc32

from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import Key
from gitsync.model.record import Record
from gitsync.report.site.shapes import TreeShape
from gitsync.report.site.site_looks import STATES

_SHARD_SIZE: Final = 128
"""Resources of one file, about: it is loaded to show one of them."""

_NOWHERE: Final = -1


class TreeRow(NamedTuple):
    """One resource of the tree."""

    target: int  # its position among the targets
    key: Key
    record: Record
    state: str  # a word of `site_looks`
    shard: int  # the number of its file


def count_shards(resources: int) -> int:
    """Count the files that the resources of a target are in: a power of two, so that few move as an estate grows."""
    return 1 << max(0, (resources - 1) // _SHARD_SIZE).bit_length()


def choose_shard(key: Key | str, shards: int) -> int:
    """Choose the file of a resource, by its key alone: those of others do not move it."""
    # Python's own hash of a text is another one in each process.
    return crc32(str(key).encode(errors="surrogatepass")) % shards


class _Table:
    """Texts that rows refer to by position, in the order of their first use."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self.positions = {text: position for position, text in enumerate(texts)}

    def find(self, text: str) -> int:
        return self.positions.setdefault(text, len(self.positions))

    @property
    def texts(self) -> list[str]:
        return list(self.positions)


class _Position(NamedTuple):
    """Where a row is by its ARM id, in the words of `TreeShape`."""

    parent: int  # a row, -1 for none
    scope: int  # a position in `scopes`, -1 for none
    segment: int  # a position in `segments`, -1 for a row without an id
    name: str  # the last name of the id, "" if it is that of the manifest


def build_tree(targets: Sequence[str], rows: Sequence[TreeRow]) -> TreeShape:
    """Build the columns of rows, which are sorted by target and key."""
    namespaces, kinds, agents, scopes, segments = (_Table() for _ in range(5))
    present = {row.state for row in rows}
    states = _Table(word for word in STATES if word in present)
    index = _index_ids(rows)
    found = [_find_position(number, rows, index, scopes, segments) for number in range(len(rows))]
    return {  # the columns fill the tables
        "target": [row.target for row in rows],
        "namespace": [namespaces.find(row.key.namespace) for row in rows],
        "kind": [kinds.find(f"{row.key.kind}.{row.key.group}") for row in rows],
        "name": [row.key.name for row in rows],
        "azureName": [position.name for position in found],
        "scope": [position.scope for position in found],
        "segment": [position.segment for position in found],
        "parent": [position.parent for position in found],
        "state": [states.find(row.state) for row in rows],
        "agent": [agents.find(row.record.agent) for row in rows],
        "shard": [row.shard for row in rows],
        "targets": list(targets),
        "namespaces": namespaces.texts,
        "kinds": kinds.texts,
        "states": states.texts,
        "agents": agents.texts,
        "scopes": scopes.texts,
        "segments": segments.texts,
    }


def _read_id(row: TreeRow) -> ArmId:
    """Read the ARM id of a row; a slash at its end would be a name that is empty."""
    return ArmId(row.record.arm_id.rstrip("/"))


def _index_ids(rows: Sequence[TreeRow]) -> Mapping[str, int]:
    """Find the row of each ARM id; the first of those that share one."""
    index: dict[str, int] = {}
    for number, row in enumerate(rows):
        index.setdefault(_read_id(row).key, number)
    # Rows without an id are not one resource.
    index.pop("", None)
    return index


def _find_position(
    number: int, rows: Sequence[TreeRow], index: Mapping[str, int], scopes: _Table, segments: _Table
) -> _Position:
    arm_id, name = _read_id(rows[number]), rows[number].key.name
    if not arm_id:
        return _Position(_NOWHERE, _NOWHERE, _NOWHERE, "")
    parent = next((row for key in islice(arm_id.lineage, 1, None) if (row := index.get(key)) is not None), _NOWHERE)
    start = len(_read_id(rows[parent])) if parent != _NOWHERE else len(_find_scope(arm_id))
    scope = _NOWHERE if parent != _NOWHERE else scopes.find(arm_id[:start])
    segment, slash, last = arm_id[start:].rpartition("/")
    return _Position(parent, scope, segments.find(segment + slash), "" if last == name else last)


def _find_scope(arm_id: ArmId) -> str:
    """Find the resource group or subscription that an id begins with, "" for none."""
    steps = arm_id.split("/")
    # An id begins with a slash, so its first step is empty.
    length = 5 if arm_id.resource_group else 3 if arm_id.subscription else 0
    # A resource group is below its subscription, and not below itself.
    return "/".join(steps[: min(length, len(steps) - 2)])
