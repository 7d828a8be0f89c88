"""What of an update is a change, and what comes of it where others wrote meanwhile.

Apart from the stores, because this decides whether there is a commit at all: a run that changes nothing leaves none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gitsync.model.gvk import Key
from gitsync.model.record import Record

Records = Mapping[Key, Record]
Changes = Mapping[Key, Record | None]


def changes_of(base: Records, records: Changes) -> Changes:
    """The records that say something else than `base` did, and None for those to forget, sorted by key.

    A condition's time and request id alone say nothing. Where only other things changed, the condition keeps its time.
    """
    found: dict[Key, Record | None] = {}
    for key, new in sorted(records.items()):
        old = base.get(key)
        if new is None:
            if old is not None:
                found[key] = None
        elif old is None or not _says_the_same(new, old):
            found[key] = _with_time_of(new, old)
    return found


def merge(theirs: Records, ours: Changes) -> Records:
    """Their records, with ours in place of theirs wherever we changed one; sorted by key."""
    both: dict[Key, Record | None] = {**theirs, **ours}
    return {key: record for key, record in sorted(both.items()) if record is not None}


def _says_the_same(new: Record, old: Record) -> bool:
    return new == old or _timeless(new) == _timeless(old)


def _timeless(record: Record) -> Record:
    if record.condition is None:
        return record
    return replace(record, condition=replace(record.condition, time="", request_id=""))


def _with_time_of(new: Record, old: Record | None) -> Record:
    if old is None or old.condition is None or new.condition is None or not new.condition.says_the_same(old.condition):
        return new
    return replace(new, condition=replace(new.condition, time=old.condition.time))
