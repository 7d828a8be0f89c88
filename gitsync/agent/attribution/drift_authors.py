"""WHO CHANGED IT: the changes in Azure behind each drifted, conflicting or missing resource.

Resource Graph is queried first, one query for all; then the activity log of a subscription for what is not there.
Neither is ever a reason for a run to fail: what Azure does not show is a doubt (docs/decisions/attribution.md).
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from gitsync.agent.attribution import activity_log, resource_graph
from gitsync.agent.attribution.change import RecordedChange, Records, Verb
from gitsync.agent.checks.check_requests import CheckRequests
from gitsync.model.arm_id import ArmId, IdKey
from gitsync.model.attribution import Attribution, AuthorKind
from gitsync.model.clock import read_time
from gitsync.model.gvk import Key
from gitsync.model.record import LastWrite

RIGHTS: Final = (
    "Microsoft.Insights/eventtypes/values/read",
    "Microsoft.ResourceGraph/resources/read",
    "Microsoft.Resources/changes/read",
)
"""The actions that the requests need. The role Reader has them."""

MARGIN: Final = timedelta(hours=1)
"""How far from the limit of its retention a source is queried: it refuses a time that is a second too early."""

SKEW: Final = timedelta(minutes=5)
"""How much Azure's clock and the previous run's may differ."""

NOTHING_YET: Final = "Azure has recorded no change yet; records are up to 20 minutes late."
FORGOTTEN: Final = "Azure has recorded no change; it keeps records for 90 days."
OTHER_FIELDS: Final = "Azure has recorded changes of other fields only; records are up to 20 minutes late."
NO_SUBSCRIPTION: Final = "It is not in a subscription, and changes outside of subscriptions are not read."
INCOMPLETE: Final = "Azure's change records were not read in full: {}"

_MOST = 5  # changes of one resource


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """What to look up for one resource."""

    key: Key
    arm_id: ArmId
    paths: tuple[str, ...] = ()  # JSON pointers of what differs, none for a resource that is missing
    is_missing: bool = False  # Azure no longer has the resource
    last_write: LastWrite | None = None  # the last one before this run, None if it is not known
    requests: CheckRequests  # those of its identity


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnWrites:
    """How gitsync recognizes its own writes: the commits of its runs by correlation id, and the ids of the writes of
    this run, which have made no drift.
    """

    commits: Mapping[str, str] = field(default_factory=dict)
    of_this_run: frozenset[str] = frozenset()


def list_ids(write: LastWrite | None) -> frozenset[str]:
    """List the correlation ids that Azure may have for a write: the one that was sent, and the one that it returned."""
    return frozenset({write.correlation_id.casefold(), write.returned_id.casefold()} - {""} if write else ())


@dataclass(slots=True, kw_only=True)
class _Answer:
    """What is known of one drift."""

    changes: list[Attribution] = field(default_factory=list)  # those that may have made it
    others: set[str] = field(default_factory=set)  # the ids of operations that changed other fields only
    gaps: list[str] = field(default_factory=list)  # why the sources may have more

    @property
    def is_enough(self) -> bool:
        return bool(self.changes) and all(change.author is not AuthorKind.UNKNOWN for change in self.changes)


async def find_authors(drifts: Sequence[Drift], own: OwnWrites, now: datetime) -> dict[Key, tuple[Attribution, ...]]:
    """Find who changed each resource, the newest change first; or one entry with a doubt. No drift sends nothing."""
    search = _Search({drift.key: _Answer() for drift in drifts}, own, await _list_own_applications(drifts), now)
    by_identity: defaultdict[CheckRequests, list[Drift]] = defaultdict(list)
    for drift in drifts:
        by_identity[drift.requests].append(drift)
    await asyncio.gather(*map(search.query_graph, by_identity.values()))
    by_subscription: defaultdict[str, list[Drift]] = defaultdict(list)
    for drift in drifts:
        if not search.answers[drift.key].is_enough and (subscription := drift.arm_id.subscription):
            by_subscription[subscription.casefold()].append(drift)
    await asyncio.gather(*map(search.read_log, by_subscription.values()))
    return {drift.key: _conclude(drift, search.answers[drift.key], now) for drift in drifts}


async def _list_own_applications(drifts: Iterable[Drift]) -> frozenset[str]:
    """List the ids of the applications that gitsync runs as."""
    principals = await asyncio.gather(*(session.find_principal() for session in {drift.requests for drift in drifts}))
    ids = {
        principal_id.casefold()
        for principal in principals
        if principal
        for principal_id in (principal.client, principal.object)
    }
    return frozenset(ids - {""})


@dataclass(frozen=True, slots=True)
class _Search:
    """The search for the authors of one run."""

    answers: Mapping[Key, _Answer]
    own: OwnWrites  # the writes of gitsync's own runs
    callers: frozenset[str]  # the ids of gitsync's own applications
    now: datetime

    async def query_graph(self, drifts: Sequence[Drift]) -> None:
        """Ask Resource Graph about the resources of one identity."""
        # One query for all resources starts with the oldest write; what is too old for a resource is left out below.
        start = min(_choose_start(drift, resource_graph.RETENTION, self.now) for drift in drifts)
        records = await resource_graph.read_graph((drift.arm_id for drift in drifts), start, drifts[0].requests)
        by_id = _index(records)
        for drift in drifts:
            answer = self.answers[drift.key]
            answer.gaps.append(records.gap)
            changes = self._select_new(by_id[drift.arm_id.key], drift)
            chosen = _choose_delete([changes]) if drift.is_missing else _choose_by_fields(changes, drift, answer)
            answer.changes = [self._say(change) for change in chosen[:_MOST]]

    async def read_log(self, drifts: Sequence[Drift]) -> None:
        """Read the activity log of one subscription, as the identity that most of the resources belong to."""
        start = min(_choose_start(drift, activity_log.RETENTION, self.now) for drift in drifts)
        requests = Counter(drift.requests for drift in drifts).most_common(1)[0][0]
        records = await activity_log.read_log([drift.arm_id for drift in drifts], start, self.now, requests)
        by_id = _index(records)
        for drift in drifts:
            answer = self.answers[drift.key]
            answer.gaps.append(records.gap)
            # Itself, and then its parents: what changes or deletes those may do so to it.
            family = [self._select_new(by_id[path], drift) for path in drift.arm_id.lineage]
            if answer.changes:
                answer.changes = [self._add_author(change, family[0]) for change in answer.changes]
            else:
                chosen = _choose_delete(family) if drift.is_missing else []
                answer.changes = self._keep_newest_of_each(chosen or self._choose_writes(family, drift, answer.others))

    def _select_new(self, changes: Iterable[RecordedChange], drift: Drift) -> list[RecordedChange]:
        """Select the changes since the last write, which is not one of them; nor are those of this run."""
        # Azure's time of the last write is exact if the source has that write. gitsync's own time allows for two
        # clocks.
        own_ids = list_ids(drift.last_write)
        start = max((change.at for change in changes if change.correlation_id in own_ids), default=None)
        start = start or _choose_start(drift, activity_log.RETENTION, self.now)
        known = own_ids | self.own.of_this_run
        return [change for change in changes if change.at >= start and change.correlation_id not in known]

    def _say(self, change: RecordedChange) -> Attribution:
        """Return what is reported of a change."""
        commit = self.own.commits.get(change.correlation_id)
        # What gitsync wrote is known by its id, else by its application: that of a person who runs it is the client's.
        if commit is None and not (change.callers & self.callers):
            return change.said
        return replace(change.said, author=AuthorKind.GITSYNC, name="", label="", client="", commit=commit or "")

    def _add_author(self, attribution: Attribution, changes: Iterable[RecordedChange]) -> Attribution:
        """Return a change of Resource Graph with the author of the same operation in the activity log, if it has no
        author yet: Resource Graph may have it later than the change.
        """
        correlation_id = attribution.correlation_id if attribution.author is AuthorKind.UNKNOWN else ""
        same = (change for change in changes if change.correlation_id == correlation_id)
        change = next(same, None) if correlation_id else None
        if change is None:
            return attribution
        said = self._say(change)
        return replace(
            attribution, author=said.author, name=said.name, label=said.label, client=said.client, commit=said.commit
        )

    def _choose_writes(
        self, family: Sequence[Sequence[RecordedChange]], drift: Drift, others: Container[str]
    ) -> list[RecordedChange]:
        """Choose the writes of a resource; without any, actions; without any, the writes of the nearest resource above
        it that somebody else wrote: they may contain it.
        """
        itself = [change for change in family[0] if not change.correlation_id or change.correlation_id not in others]
        for verb in (Verb.WRITE, Verb.ACTION) if not drift.is_missing else ():
            if chosen := [change for change in itself if change.verb is verb]:
                return chosen
        for changes in family[1:]:
            # A write of a group or a subscription has no resource in its body, so it explains no drift in one.
            writes = [change for change in changes if change.verb is Verb.WRITE and "/providers/" in change.arm_id]
            if foreign := [change for change in writes if self._say(change).author is not AuthorKind.GITSYNC]:
                return foreign[:1]
        return []

    def _keep_newest_of_each(self, changes: Iterable[RecordedChange]) -> list[Attribution]:
        """Return the newest change of each author, since the activity log does not name the changed fields."""
        said = [self._say(change) for change in changes]
        newest = {(change.author, change.name, change.client): change for change in reversed(said)}
        return [change for change in said if newest[change.author, change.name, change.client] is change][:_MOST]


def _choose_start(drift: Drift, memory: timedelta, now: datetime) -> datetime:
    """Choose from when on changes count: since the last write, as far back as a source remembers."""
    earliest = now - memory + MARGIN
    written_at = read_time(drift.last_write.at) if drift.last_write else None
    return max(earliest, written_at - SKEW) if written_at else earliest


def _index(records: Records) -> defaultdict[IdKey, list[RecordedChange]]:
    """Sort changes by resource, each with the newest first."""
    by_id: defaultdict[IdKey, list[RecordedChange]] = defaultdict(list)
    newest_first = sorted(
        records.changes, key=lambda change: (change.at, change.correlation_id, change.said.operation), reverse=True
    )
    for change in newest_first:
        by_id[change.arm_id].append(change)
    return by_id


def _choose_delete(family: Iterable[Iterable[RecordedChange]]) -> list[RecordedChange]:
    """Choose the newest delete of a resource; without one, that of the nearest resource above it."""
    deletes = ([change for change in changes if change.verb is Verb.DELETE] for changes in family)
    return next((found[:1] for found in deletes if found), [])


def _choose_by_fields(changes: Iterable[RecordedChange], drift: Drift, answer: _Answer) -> list[RecordedChange]:
    """Choose the newest change of each path that differs, and note the operations that changed other fields."""
    chosen, left = [], set(drift.paths)
    for change in changes:
        if not left:
            break
        touched = tuple(resource_graph.select_touched(change.fields or (), drift.paths))
        # The activity log has the same operation without its fields, and would name it as an author of this drift.
        if change.fields and not touched:
            answer.others.add(change.correlation_id)
        # A change that does not name its fields may have changed all.
        if change.fields is None and change.verb is not Verb.DELETE:
            chosen.append(change)
        elif newest_of := tuple(path for path in touched if path in left):
            chosen.append(replace(change, said=replace(change.said, paths=newest_of)))
            left.difference_update(newest_of)
        # Before a create there was another resource.
        if change.verb is Verb.CREATE:
            break
    return chosen


def _conclude(drift: Drift, answer: _Answer, now: datetime) -> tuple[Attribution, ...]:
    """Return what is reported of one resource."""
    if answer.changes:
        return tuple(answer.changes)
    gaps = " ".join(dict.fromkeys(filter(None, answer.gaps)))
    written_at = read_time(drift.last_write.at) if drift.last_write else None
    if drift.arm_id.subscription is None:
        doubt = NO_SUBSCRIPTION
    elif gaps:
        doubt = INCOMPLETE.format(gaps)
    elif answer.others:
        doubt = OTHER_FIELDS
    elif written_at and written_at < now - activity_log.RETENTION:
        doubt = FORGOTTEN
    else:
        doubt = NOTHING_YET
    # An empty entry would read as "no one changed it", so each drift gets its changes or the reason why none is known.
    return (Attribution(doubt=doubt),)
