"""What happened to one estate, commit by commit of its status branch: histories, runs, drift and figures of days.

It begins empty, or with what an earlier site has, and takes the commits that follow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from gitsync.desired.formats.people import hide_people
from gitsync.model.secret import truncate
from gitsync.model.verdict import OUTSIDE_WORD
from gitsync.report.site.events import LONGEST_TEXT, Event, RecordFacts, format_paths, list_events
from gitsync.report.site.shapes import MOST_CHANGES, DriftShape, EventKind, History, RunShape
from gitsync.repository.git.state.commits import SKIP_CI
from gitsync.repository.git.state.status_log import StatusCommit
from gitsync.workflows.site.run_reports import Found, RunReport


@dataclass(slots=True)
class Chronicle:
    """What happened to one estate so far."""

    target: str  # its id
    histories: dict[str, list[History]] = field(default_factory=dict)  # by key, oldest first
    runs: list[RunShape] = field(default_factory=list)  # oldest first
    open: dict[tuple[str, bool], DriftShape] = field(default_factory=dict)  # by key, and whether outside of git
    past: list[DriftShape] = field(default_factory=list)  # oldest first
    resources: int = 0  # those that have a record now
    failed: int = 0  # those of them that failed
    days: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    """Resources, open drift and failures at the end of each day with a commit."""

    def take(
        self,
        commit: StatusCommit,
        changes: Iterable[tuple[str, RecordFacts | None, RecordFacts | None]],
        report: RunReport | None,
    ) -> None:
        """Take the next commit: the records that it changed, each by key with its facts before and afterwards, and the
        report that came with it, None for none.
        """
        events: list[tuple[str, Event]] = []
        for key, before, after in changes:
            events += ((key, event) for event in list_events(before, after))
            self.resources += (after is not None) - (before is not None)
            # Counted by differences: a commit names only the records that it changed.
            self.failed += is_failed(after) - is_failed(before)
            # Without its record, no later run reports on the resource, and its drift would stay open.
            if after is None:
                self._close((key, False), commit, "removed")
                self._close((key, True), commit, "removed")
        for found in report.found if report else ():
            events += self._follow_drift(found, commit)
        # Old commits may have names that today's reports leave out, and a site has more readers than a branch.
        events = [(key, event._replace(text=truncate(hide_people(event.text), LONGEST_TEXT))) for key, event in events]
        for key, event in events:
            self._add(key, commit, event.kind, event.text)
        self.runs.append(_make_run(self.target, commit, events, report))
        self.days[commit.time[:10]] = (self.resources, len(self.open), self.failed)

    def add_unreadable(self, commit: StatusCommit, key: str, why: str) -> None:
        """Note that a record cannot be read at a commit."""
        self._add(key, commit, "unreadable", why)

    def _add(self, key: str, commit: StatusCommit, kind: EventKind, text: str) -> None:
        self.histories.setdefault(key, []).append((commit.time, commit.id, kind, text))

    def _follow_drift(self, found: Found, commit: StatusCommit) -> Iterator[tuple[str, Event]]:
        """Open and close drift by how a run found a resource."""
        key = str(found.key)
        if found.is_repaired:
            self._open(key, found.verdict, found, commit)
            self._close((key, False), commit, "repaired")
        elif found.verdict:
            if self._open(key, found.verdict, found, commit):
                yield key, Event("drifted", f"{found.verdict}: {format_paths(found.fields)}", {})
        elif self._close((key, False), commit, "settled"):
            yield key, Event("settled", "", {})
        # The records themselves have events for changes outside of git.
        if found.outside:
            self._open(key, OUTSIDE_WORD, found, commit)
        else:
            self._close((key, True), commit, "settled")

    def _open(self, key: str, verdict: str, found: Found, commit: StatusCommit) -> bool:
        """Begin a drift; False for one that is known."""
        is_outside = verdict == OUTSIDE_WORD
        known = self.open.get((key, is_outside))
        fields = list(found.outside if is_outside else found.fields)
        if known is not None:
            self.open[key, is_outside] = {**known, "verdict": verdict, "fields": fields}
            return False
        # A time after the commit is that of another change, or of a clock that is wrong.
        since = found.since if found.since and found.since <= commit.time else commit.time
        self.open[key, is_outside] = {
            "target": self.target,
            "key": key,
            "verdict": verdict,
            "since": since,
            "until": "",
            "how": "",
            "fields": fields,
        }
        return True

    def _close(self, drift: tuple[str, bool], commit: StatusCommit, how: str) -> bool:
        """End a drift; False if there is none."""
        known = self.open.pop(drift, None)
        if known is not None:
            self.past.append({**known, "until": commit.time, "how": how})
        return known is not None


def _make_run(target: str, commit: StatusCommit, events: list[tuple[str, Event]], report: RunReport | None) -> RunShape:
    """Make the entry of a commit. Without a report of its own it only records what a run is about to create."""
    counts: Counter[EventKind] = Counter()
    changed: list[tuple[str, EventKind, str]] = []
    for key, event in events:
        counts[event.kind] += 1
        if counts[event.kind] <= MOST_CHANGES:
            changed.append((key, event.kind, event.text))
    # The mark is for pipelines, and not for readers of a site.
    subject = commit.subject.removesuffix(SKIP_CI).rstrip()
    return {
        "at": commit.time,
        "commit": commit.id,
        "target": target,
        "revision": (report.read_text("revision") if report else "") or commit.revision,
        "command": report.read_text("command") if report else "",
        "agent": report.agent if report else "",
        "headline": hide_people((report.read_text("headline") if report else "") or subject),
        "exitCode": report.exit_code if report else None,
        "outcomes": report.outcomes if report else [],
        "events": list(counts.items()),
        "changed": changed,
    }


def is_failed(facts: RecordFacts | None) -> bool:
    return facts is not None and facts.condition is not None and facts.condition[0] == "failed"
