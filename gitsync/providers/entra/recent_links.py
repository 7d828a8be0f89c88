"""What a run has written of the relations of one Entra ID object: lists of Microsoft Graph lag behind writes."""

from __future__ import annotations

from dataclasses import dataclass, field

from gitsync.desired.catalog.directory_relations import DirectoryRelation


@dataclass(slots=True)
class RecentLinks:
    """What this run has written of the relations of one object, which lists may not show yet."""

    changes: dict[tuple[str, str], bool] = field(default_factory=dict)
    """By the name of a relation and an object id: True for one that was added, False for one that was removed."""

    until: float = float("-inf")  # in the clock's monotonic seconds

    def note(self, relation: DirectoryRelation, object_id: str, *, is_added: bool, until: float) -> None:
        self.changes[relation.name, object_id], self.until = is_added, until

    def correct(self, relation: DirectoryRelation, ids: set[str], now: float) -> set[str]:
        """Return the ids of a list, with what was written while that may lag behind."""
        if now >= self.until:
            return ids
        recent = {object_id: is_added for (name, object_id), is_added in self.changes.items() if name == relation.name}
        return {*ids, *(found for found, is_added in recent.items() if is_added)} - {
            found for found, is_added in recent.items() if not is_added
        }
