"""Decide which records a run trusts: everyone who can push to the status branch could write them.

The reader of a record checks its seal (`Record.trust`). Here the ARM id is checked: its kind and its owner must allow
it. An untrusted record stays as it is, and its resource is neither written nor deleted.

Records also have the ARM ids of owners and references that no manifest of the source declares
(docs/reference/design.md#owners-outside-the-source). Such an id is used only if its record proves more: that the
resource exists, and a valid seal where one is demanded. An untrusted id is kept with the reason, so that a message can
suggest it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.catalog.type_words import add_article
from gitsync.desired.manifests.units import may_hide
from gitsync.desired.request.arm_id_builder import ALIAS_TYPE, is_alias
from gitsync.desired.validation.references import is_arm_id
from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import AZURE_RESOURCE, Key
from gitsync.model.manifests import KnownId
from gitsync.model.problem import Level, Problem
from gitsync.model.provider import Provider
from gitsync.model.record import Claim, Record, Trust

_ENCODED: Final = re.compile(r"%[0-9A-Fa-f]{2}")

_RESTORE = "Restore it from the history of the status, or remove it."
_SIGN = "Check the record, then run `gitsync status --sign`."

UNTRUSTED: Mapping[Trust, str] = {
    Trust.UNSIGNED: f"Its record is not signed. {_SIGN}",
    Trust.UNPLACED: f"An older gitsync signed its record without the name of the repository. {_SIGN}",
    Trust.UNIDENTIFIED: f"An older gitsync signed its record without the identity of the status. {_SIGN}",
    Trust.OTHER_BRANCH: "Its record was signed for another repository or status branch, and may be a copy from there. "
    "If this repository or its branch was renamed, check the record, then run `gitsync status --sign`.",
    Trust.OTHER_STATUS: "Its record was signed for another status, and may be a copy from there. If the file "
    "`identity` of this status was changed or removed, restore it from the history. Otherwise check the record, then "
    "run `gitsync status --sign`.",
    Trust.OTHER_KEY: f"Its record was signed with a key that this run does not have. {_SIGN}",
    Trust.ALTERED: f"Its record was changed after it was signed. {_RESTORE}",
}
"""Why a record is not trusted, by the result of the check of its seal."""

_SEALED: Final = frozenset({Trust.SIGNED, Trust.SIGNED_BEFORE})


def renew_seals(
    records: Mapping[Key, Record], declared: Mapping[Key, ArmId | None]
) -> tuple[Mapping[Key, Record], tuple[Problem, ...]]:
    """Vouch for records whose seals name no repository or no status, if a manifest declares their ARM id: a sync signs
    those again.
    The history of the status proves nothing, since everyone who can push to it can write it.

    Returns all records, and a warning if there are such. `declared` are the ARM ids of the manifests.
    """
    ids = {arm_id.key for arm_id in declared.values() if arm_id}
    renewed = {
        key: replace(record, trust=Trust.SIGNED)
        for key, record in records.items()
        if record.trust.is_former and record.arm_id and record.arm_id.key in ids
    }
    if not renewed:
        return records, ()
    is_unidentified = all(records[key].trust is Trust.UNIDENTIFIED for key in renewed)
    what = "identity of the status" if is_unidentified else "name of the repository"
    count = f"{len(renewed)} record{'' if len(renewed) == 1 else 's'}"
    warning = Problem(
        code="SealsRenewed",
        level=Level.WARNING,
        message=f"An older gitsync signed {count} without the {what}. The manifests declare the same "
        "ARM ids, so a sync signs them again.",
        hint="Run `gitsync sync` once.",
    )
    return {**records, **renewed}, (warning,)


def collect_untrusted(
    records: Mapping[Key, Record], catalog: Catalog, declared: Mapping[Key, ArmId | None]
) -> dict[Key, str]:
    """Return the reason for each untrusted record, as sentences with the fix.

    `records` are those of this agent; `declared` are the ARM ids of the manifests: an id that is also in the manifest
    needs no other proof.
    """
    untrusted = {}
    for key, record in records.items():
        if record.trust in UNTRUSTED:
            untrusted[key] = UNTRUSTED[record.trust]
        # A record without a claim never leads to a delete, so its id can do no harm.
        elif record.arm_id and record.claim is not Claim.NONE and record.arm_id != declared.get(key):
            contradiction = explain_contradiction(record, records, catalog)
            if contradiction:
                untrusted[key] = f"Its record contradicts itself: {contradiction} {_RESTORE}"
    return untrusted


def explain_contradiction(record: Record, records: Mapping[Key, Record], catalog: Catalog) -> str:
    """Return what is wrong with the ARM id of a record; "" if it is right. `records` may have its owner's record."""
    key, arm_id = record.key, record.arm_id
    # A user name may have characters that no id may have, so it is encoded.
    is_arm = catalog.provider(key.group, key.kind) is Provider.ARM
    if not is_arm_id(arm_id if is_arm else _ENCODED.sub("_", arm_id)):
        return f"{arm_id!r} is not an ARM id."
    # The kind must be that of the id: the record of a network is never the id of a resource group.
    expected, recorded = catalog.arm_type(key.group, key.kind), arm_id.arm_type
    if key[:2] == AZURE_RESOURCE:
        # The kind has any type, so the type of the id cannot contradict it.
        expected = recorded
    if expected is None:
        return f"gitsync does not support the kind {key.kind} in {key.group}."
    if recorded.casefold() != expected.casefold():
        return f"{arm_id} has the type {recorded}, but {add_article(key.kind)} has the type {expected}."
    # An owned resource has an id below that of its owner. Only Azure has the subscription of an alias.
    owner = records.get(record.manifest.owner) if record.manifest.owner else None
    is_aside = owner is not None and (is_alias(owner.key) or owner.arm_id.arm_type.casefold() == ALIAS_TYPE)
    if owner is None or not owner.arm_id or is_aside or arm_id.is_below(owner.arm_id):
        return ""
    return f"{arm_id} is not below its owner {owner.arm_id}."


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRecords:
    """Records of one source."""

    location: str  # the name of the source, for messages
    records: Mapping[Key, Record]
    needs_seal: bool  # they must have a seal
    has_key: bool = True  # the run has a key to check the seal
    are_hidden: bool = False  # their manifests may be in what could not be read of the source


def collect_known_ids(
    declared: Collection[Key], sources: Iterable[KnownRecords], catalog: Catalog
) -> dict[Key, KnownId]:
    """Find the ids of resources that are not `declared`. The first source with a trusted record decides.

    An alias is left out: its id does not contain the subscription that it created.
    """
    known: dict[Key, KnownId] = {}
    for known_records in sources:
        for key, record in known_records.records.items():
            # A doubtful id is kept only as long as no other source has a trusted one.
            is_settled = key in known and not known[key].doubt
            if key in declared or is_settled or is_alias(key) or not record.arm_id:
                continue
            found = KnownId(
                arm_id=record.arm_id,
                location=known_records.location,
                doubt=_explain_doubt(record, known_records, catalog),
                is_hidden=known_records.are_hidden,
            )
            if key not in known or not found.doubt:
                known[key] = found
    return known


def select_hidden(
    records: Mapping[Key, Record], problems: Iterable[Problem], built: Collection[str] = ()
) -> dict[Key, Record]:
    """Select the records of an agent whose manifests may be hidden by a problem of the source, so that they are not
    pruned. `built` are the names of the units that were built.

    All others without a manifest are about to be pruned.
    """
    problems, units = tuple(problems), {record.manifest.unit for record in records.values()} - {""}
    hidden_units = {unit for unit in units if any(may_hide(problem, unit, built) for problem in problems)}
    return {key: record for key, record in records.items() if record.manifest.unit in hidden_units}


def _explain_doubt(record: Record, known_records: KnownRecords, catalog: Catalog) -> str:
    """Return why the id of a record is not used by itself; "" if it is trusted."""
    contradiction = explain_contradiction(record, {}, catalog)
    if contradiction:
        return f"Its record contradicts itself: {contradiction}"
    if record.trust in UNTRUSTED:
        return UNTRUSTED[record.trust]
    if known_records.needs_seal and record.trust not in _SEALED:
        if not known_records.has_key:
            return "To use this id by itself, set GITSYNC_DIGEST_KEY to the key of that status."
        return "Its record is not signed with the key of this run, so the id is not used by itself."
    if record.writes.operation is not None and record.writes.operation.kind == "delete":
        return "It is being deleted."
    # A resource that is only read, or that another manifest writes, has no claim, but it is Ready if it exists.
    exists = record.claim.is_ours or (record.condition is not None and record.condition.is_ready)
    return "" if exists else "Its record does not show yet that it exists."
