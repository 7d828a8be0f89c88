"""What Azure shows of a resource beside the fields that git sets (docs/drift.md#outside-changes)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideChange:
    """A change in Azure of a value that git does not set. A side without the value is None."""

    path: str  # JSON pointer (RFC 6901) into the ARM body; an index is that of the live list, where it has the entry
    before: Any  # as recorded; MASKED for a secret, and for a long value, of which a digest is recorded
    now: Any  # as Azure shows it; MASKED for a secret
    weakens: str = ""  # a sentence on how it makes the estate weaker; "" if it does not
    is_restorable: bool = True  # the record has the former value itself


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetValue:
    """A value in Azure that a PUT leaves out, so that Azure may reset it."""

    path: str  # JSON pointer (RFC 6901) into the ARM body
    live: Any  # MASKED for a secret
    entries: int = 0  # of a list, how many it has; 0 for any other value


@dataclass(kw_only=True, slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class RecordedOutside:
    """What Azure showed of the members that git does not set and that can be written, when the resource was last
    written, adopted or accepted. Secrets and long values are digests (`desired.request.secret_digest`).
    """

    values: Mapping[str, Any]  # a part of the body
    types: str  # the revision of ARM's types by which the members were selected
    read: str  # a digest of the body that was last compared, so that an equal one needs no comparison
    changed: tuple[str, ...] = ()  # JSON pointers of the outside changes that the last sync found
    is_written: bool = False  # made after a PUT of gitsync, so that another one resets none of the values
