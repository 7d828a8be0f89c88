"""The author and the time of the creation of a stray: from what Azure showed of it, then from Resource Graph and the
activity log.

The first has it for all time, but not for every type; the others keep 14 and 90 days.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from gitsync.agent.attribution import activity_log, resource_graph
from gitsync.agent.attribution.change import RecordedChange, classify_caller, read_guid
from gitsync.agent.attribution.drift_authors import MARGIN, SKEW
from gitsync.agent.checks.check_requests import CheckRequests, shorten_text
from gitsync.desired.formats.json_members import read_mapping
from gitsync.model.arm_id import ArmId, IdKey
from gitsync.model.attribution import Attribution, AuthorKind
from gitsync.model.clock import format_rfc3339, read_time
from gitsync.workflows.unmanaged.unmanaged_search import Stray

_TYPES: Final = {
    "user": AuthorKind.PERSON,
    "application": AuthorKind.APPLICATION,
    "managedidentity": AuthorKind.APPLICATION,
}
"""By the `createdByType` of ARM's systemData."""


def read_creation(stray: Stray) -> Attribution:
    """Return what Azure showed of a creation: its time and its author, as far as they are known."""
    said = read_mapping(stray.body, "systemData")
    at = read_time(said.get("createdAt")) or read_time(stray.created)
    name = shorten_text(said.get("createdBy"))
    by_form = classify_caller(name, "") if name else AuthorKind.UNKNOWN
    # The name of a person is left out of most reports, so a name that looks like one counts as one.
    is_person = by_form is AuthorKind.PERSON
    author = by_form if is_person else _TYPES.get(str(said.get("createdByType")).casefold(), by_form)
    is_named = bool(name) and author in {AuthorKind.PERSON, AuthorKind.APPLICATION}
    return Attribution(
        author=author if name else AuthorKind.UNKNOWN,
        name=name if is_named else "",
        at=format_rfc3339(at) if at else "",
    )


async def list_creators(
    strays: Sequence[Stray], requests: CheckRequests, now: datetime, *, reads_authors: bool
) -> tuple[dict[ArmId, Attribution], tuple[str, ...]]:
    """List who created each stray, by ARM id, and why that is not known of some: sentences. Azure's records of changes
    are read only with `reads_authors`, and only for what does not show it itself.
    """
    creations = {stray.arm_id: read_creation(stray) for stray in strays}
    gaps: list[str] = []
    for source in (_query_graph, _read_log) if reads_authors else ():
        if unknown := [arm_id for arm_id, change in creations.items() if change.author is AuthorKind.UNKNOWN]:
            creations |= await source(unknown, creations, requests, now, gaps)
    principal = await requests.find_principal() if reads_authors else None
    own = {principal.client.casefold(), principal.object.casefold()} - {""} if principal else set()
    return {arm_id: _name_own(change, own) for arm_id, change in creations.items()}, tuple(dict.fromkeys(gaps))


async def _query_graph(
    arm_ids: Sequence[ArmId],
    creations: Mapping[ArmId, Attribution],
    requests: CheckRequests,
    now: datetime,
    gaps: list[str],
) -> dict[ArmId, Attribution]:
    records = await resource_graph.read_graph(arm_ids, now - resource_graph.RETENTION + MARGIN, requests)
    gaps += filter(None, [records.gap])
    return _merge(arm_ids, creations, records.changes)


async def _read_log(
    arm_ids: Sequence[ArmId],
    creations: Mapping[ArmId, Attribution],
    requests: CheckRequests,
    now: datetime,
    gaps: list[str],
) -> dict[ArmId, Attribution]:
    """Read from the log of each subscription what may have been created within its memory."""
    start = now - activity_log.RETENTION + MARGIN
    by_subscription: defaultdict[str, list[ArmId]] = defaultdict(list)
    for arm_id in arm_ids:
        at = read_time(creations[arm_id].at)
        # The log has nothing about what was created before it begins.
        if (subscription := arm_id.subscription) and (at is None or at >= start):
            by_subscription[subscription.casefold()].append(arm_id)
    merged: dict[ArmId, Attribution] = {}
    for _, ids in sorted(by_subscription.items()):
        records = await activity_log.read_log(ids, start, now + SKEW, requests)
        gaps += filter(None, [records.gap])
        merged |= _merge(ids, creations, records.changes)
    return merged


def _merge(
    arm_ids: Iterable[ArmId], creations: Mapping[ArmId, Attribution], changes: Iterable[RecordedChange]
) -> dict[ArmId, Attribution]:
    """Return the creations that some changes tell of, with the time that Azure gives itself if there is one. The newest
    counts: before it there was another resource.
    """
    newest: dict[IdKey, RecordedChange] = {}
    for change in (change for change in changes if change.creates):
        known = newest.get(change.arm_id)
        if known is None or change.at > known.at:
            newest[change.arm_id] = change
    return {
        arm_id: replace(newest[path].said, at=creations[arm_id].at or newest[path].said.at)
        for arm_id in arm_ids
        if (path := arm_id.key) in newest
    }


def _name_own(creation: Attribution, own: set[str]) -> Attribution:
    """Name gitsync as the author of what its own application created: git had it once, and lets go of it."""
    if creation.author is AuthorKind.APPLICATION and read_guid(creation.name) in own:
        return replace(creation, author=AuthorKind.GITSYNC, name="", label="", client="")
    return creation
