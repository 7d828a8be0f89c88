"""What people change in the portal of 38 resources, and what an unrelated PUT then does: data for whole runs.

portal_changes.yaml has a row a resource:

| key | meaning |
|---|---|
| `name` | the name of the row, of its namespace and of its resource group |
| `needs` | the parents of the resource: keys of `parents` |
| `manifest` | the manifest of the resource |
| `update` | a text of the manifest, and another one: the unrelated change in git |
| `changes` | what the portal sets, by kind (`ChangeKind`): a JSON pointer and a value. `/-` adds an entry to a list |
| `kept` | the kinds that a PUT keeps, though its body lacks them, by recordings |
| `defaults` | the values to which a PUT resets, by kind and by recordings; anything else is gone |

A type that has no tags, lists or maps to change lacks these kinds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import yaml

from gitsync.emulator.faults import Move


class ChangeKind(StrEnum):
    """What the portal changes, from the viewpoint of git."""

    DESIRED = "desired"  # a field that git has: drift
    UNMENTIONED = "unmentioned"  # a field that git does not have, and that a body can set
    READ_ONLY = "read-only"  # a field that only Azure sets
    ENTRY = "entry"  # an entry of a list that git does not have
    TAG = "tag"  # a tag that git does not have
    MAP = "map"  # an entry of a map, or an object, that git does not have

    @property
    def is_outside(self) -> bool:
        """Return whether git does not have the member, and could."""
        return self not in {ChangeKind.DESIRED, ChangeKind.READ_ONLY}


@dataclass(frozen=True, slots=True, kw_only=True)
class PortalChange:
    """One change of a resource."""

    kind: ChangeKind
    pointer: str  # a JSON pointer into the body; it ends with `/-` for a new entry of a list
    value: Any
    is_kept: bool  # whether a PUT without it keeps the value
    default: Any = None  # what a PUT without it resets the value to; None if it is gone

    @property
    def member(self) -> str:
        """The JSON pointer of the member: of the list, for a new entry."""
        return self.pointer.removesuffix("/-")


@dataclass(frozen=True, slots=True, kw_only=True)
class PortalRow:
    """One resource, and what the portal changes of it."""

    name: str
    parents: tuple[str, ...]  # the documents of its group and its parents
    manifest: str
    kind: str  # of the manifest
    resource_name: str  # that of the manifest
    update: tuple[str, str]  # a text of the manifest, and what git replaces it with
    changes: tuple[PortalChange, ...]

    @property
    def move(self) -> Move:
        """All changes at once: what a person sets, and what Azure itself shows."""
        own = {change.pointer: change.value for change in self.list_changes(ChangeKind.READ_ONLY)}
        people = {change.pointer: change.value for change in self.changes if change.pointer not in own}
        return Move(set=people, show=own, by="rob@contoso.com", client="Azure Portal")

    def list_changes(self, *kinds: ChangeKind) -> tuple[PortalChange, ...]:
        """List the changes of some kinds."""
        return tuple(change for change in self.changes if change.kind in kinds)

    @property
    def outside(self) -> tuple[PortalChange, ...]:
        """The changes of members that git does not have, and could."""
        return tuple(change for change in self.changes if change.kind.is_outside)

    @property
    def reset(self) -> tuple[PortalChange, ...]:
        """The changes outside of git that an unrelated PUT resets."""
        return tuple(change for change in self.outside if not change.is_kept)

    def write(self, *, is_updated: bool = False) -> str:
        """Write the documents of the row as one file, in a namespace and a resource group of its own; after the
        unrelated change in git with `is_updated`.
        """
        manifest = self.manifest.replace(*self.update) if is_updated else self.manifest
        text = "---\n".join((*self.parents, manifest))
        text = text.replace("metadata: {name:", f"metadata: {{namespace: {self.name}, name:")
        return text.replace(
            "spec: {location: westeurope}", f"spec: {{azureName: {self.name}, location: westeurope}}", 1
        )


def _make_row(entry: Mapping[str, Any], parents: Mapping[str, str]) -> PortalRow:
    kept, defaults = entry.get("kept", ()), entry.get("defaults", {})
    before, after = entry["update"]
    document = yaml.load(entry["manifest"], _LOADER)
    assert entry["manifest"].count(before) == 1, f"{entry['name']}: the update is not clear"
    return PortalRow(
        name=entry["name"],
        parents=tuple(parents[name] for name in ("group", *entry.get("needs", ()))),
        manifest=entry["manifest"],
        kind=document["kind"],
        resource_name=document["metadata"]["name"],
        update=(before, after),
        changes=tuple(
            PortalChange(
                kind=ChangeKind(kind), pointer=pointer, value=value, is_kept=kind in kept, default=defaults.get(kind)
            )
            for kind, values in entry["changes"].items()
            for pointer, value in values.items()
        ),
    )


_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast, and each worker reads it
_DATA = yaml.load(Path(__file__).with_suffix(".yaml").read_bytes(), _LOADER)
ROWS = tuple(_make_row(entry, _DATA["parents"]) for entry in _DATA["resources"])
