"""Find manifests that `gitsync/depends-on` puts after a lock that holds for them: a run creates locks last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gitsync.desired.catalog.type_words import format_short_key
from gitsync.desired.problems.finding import Finding
from gitsync.desired.validation.depends_on_annotation import CODE, DEPENDS_ON_PATH
from gitsync.desired.validation.relations import Member
from gitsync.model.lock_ids import find_scope, is_lock


def check_lock_order(members: Sequence[Member]) -> Iterator[tuple[Member, Finding]]:
    """Report every manifest that names a lock of its own resource, or of one above it."""
    waiting = [member for member in members if member.named_first and member.arm_id]
    if not waiting:
        return
    locks = {m.key: find_scope(m.arm_id) for m in members if m.arm_id and is_lock(m.arm_id)}
    for member in waiting:
        for key in member.named_first:
            if key in locks and member.arm_id and member.arm_id.is_within(locks[key]):
                name = format_short_key(key)
                message = f"{name} is a lock that holds for this resource, so it is created after it."
                yield member, Finding(code=CODE, path=DEPENDS_ON_PATH, message=message, hint=f"Remove {name}.")
