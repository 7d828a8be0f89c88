"""The records that a run does not trust: everyone who can push to the status branch could write them.

The reader of a record checks its seal (`Record.trust`). Here the ARM id is checked: its kind and its owner must allow
it. An untrusted record stays as it is, and its resource is neither written nor deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from gitsync.catalog.catalog import Catalog
from gitsync.formats.arm_path import is_below, normalize_id
from gitsync.model.gvk import Key
from gitsync.model.problem import Level, Problem
from gitsync.model.record import Claim, Record, Trust
from gitsync.request.arm_id import is_alias
from gitsync.validation.references import is_arm_id, parse_arm_type

_RESTORE = "Restore it from the history of the status, or remove it."
_SIGN = "Check the record, then run `gitsync status --sign`."

UNTRUSTED: Mapping[Trust, str] = {
    Trust.UNSIGNED: f"Its record is not signed. {_SIGN}",
    Trust.UNPLACED: f"An older gitsync signed its record, and did not say for which repository. {_SIGN}",
    Trust.OTHER_PLACE: "Its record was signed for another repository or status branch, and may be a copy from there. "
    "If this repository or its branch was renamed, check the record, then run `gitsync status --sign`.",
    Trust.OTHER_KEY: f"Its record was signed with a key that this run does not have. {_SIGN}",
    Trust.ALTERED: f"Its record was changed after it was signed. {_RESTORE}",
}
"""Why a record is not trusted, by the result of the check of its seal."""


def renew_seals(
    records: Mapping[Key, Record], declared: Mapping[Key, str | None]
) -> tuple[Mapping[Key, Record], tuple[Problem, ...]]:
    """Vouch for records whose seals name no repository, if a manifest declares their ARM id: a sync signs those again.
    The history of the status proves nothing, since everyone who can push to it can write it.

    Returns all records, and a warning if there are such. `declared` are the ARM ids of the manifests.
    """
    ids = {normalize_id(arm_id) for arm_id in declared.values() if arm_id}
    renewed = {
        key: replace(record, trust=Trust.SIGNED)
        for key, record in records.items()
        if record.trust is Trust.UNPLACED and record.arm_id and normalize_id(record.arm_id) in ids
    }
    if not renewed:
        return records, ()
    count = f"{len(renewed)} record{'' if len(renewed) == 1 else 's'}"
    warning = Problem(
        code="SealsRenewed",
        level=Level.WARNING,
        message=f"An older gitsync signed {count} without the name of the repository. The manifests declare the same "
        "ARM ids, so a sync signs them again.",
        hint="Run `gitsync sync` once.",
    )
    return {**records, **renewed}, (warning,)


def find_untrusted(
    records: Mapping[Key, Record], catalog: Catalog, declared: Mapping[Key, str | None]
) -> dict[Key, str]:
    """Return the reason for each untrusted record, as sentences with the fix.

    `records` are those of this agent; `declared` are the ARM ids of the manifests: an id that is also in the manifest
    needs no other proof.
    """
    untrusted = {}
    for key, record in records.items():
        if record.trust in UNTRUSTED:
            untrusted[key] = UNTRUSTED[record.trust]
        elif record.arm_id and record.claim is not Claim.NONE and record.arm_id != declared.get(key):
            contradiction = find_contradiction(record, records, catalog)
            if contradiction:
                untrusted[key] = f"Its record contradicts itself: {contradiction} {_RESTORE}"
    return untrusted


def find_contradiction(record: Record, records: Mapping[Key, Record], catalog: Catalog) -> str:
    """Say what is wrong with the ARM id of a record; "" if nothing is."""
    claim = _Claimed(record, records.get(record.owner) if record.owner else None, catalog)
    return next((text for rule in _RULES if (text := rule(claim))), "")


class _Claimed(NamedTuple):
    """A record with the record of its owner, if there is one."""

    record: Record
    owner: Record | None
    catalog: Catalog


def _check_form(claimed: _Claimed) -> str:
    return "" if is_arm_id(claimed.record.arm_id) else f"{claimed.record.arm_id!r} is not an ARM id."


def _check_kind(claimed: _Claimed) -> str:
    """A network's record is never the id of a resource group."""
    key = claimed.record.key
    expected = claimed.catalog.arm_type(key.group, key.kind)
    if expected is None:
        return f"gitsync does not know the kind {key.kind} of {key.group}."
    recorded = parse_arm_type(claimed.record.arm_id)
    if recorded.casefold() == expected.casefold():
        return ""
    return f"{claimed.record.arm_id} is of type {recorded}, and a {key.kind} is of type {expected}."


def _check_owner(claimed: _Claimed) -> str:
    """What is owned has an id below that of its owner. The subscription of an alias is known to Azure only."""
    owner = claimed.owner
    if owner is None or not owner.arm_id or is_alias(owner.key) or is_below(claimed.record.arm_id, owner.arm_id):
        return ""
    return f"{claimed.record.arm_id} is not below its owner {owner.arm_id}."


_RULES: tuple[Callable[[_Claimed], str], ...] = (_check_form, _check_kind, _check_owner)
