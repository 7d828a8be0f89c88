"""A change of the text of a manifest, by its path in the document."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from gitsync.model.lines import Step


class Removed(Enum):
    """Marks a value that was removed. It is not JSON, so no manifest has it."""

    REMOVED = auto()


REMOVED = Removed.REMOVED


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One field of a document and its new value."""

    path: tuple[Step, ...]
    """Its steps from the top (`("spec", "sku", "name")`); a missing parent is added, and the index past the end adds an
    item.
    """

    value: Any  # JSON, or REMOVED to remove a key or an item
