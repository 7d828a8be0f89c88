"""The card of a target on the overview: `data/site`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal

from gitsync.model.clock import format_rfc3339
from gitsync.model.gvk import Key
from gitsync.model.record import Record, Trust
from gitsync.model.secret import truncate
from gitsync.report.site.estate import SiteEstate
from gitsync.report.site.resources import build_hold
from gitsync.report.site.shapes import (
    MOST_DAYS,
    MOST_FAILURES,
    DriftShape,
    FailureShape,
    HoldShape,
    RunShape,
    TargetShape,
)
from gitsync.report.site.site_looks import STATES
from gitsync.report.summary import format_records
from gitsync.report.wording import format_plural

_LONGEST_MESSAGE: Final = 500
_URGENT: Final = ("untrusted", "failed", "blocked")
"""States that somebody has to look at, beside drift."""


def build_target(estate: SiteEstate, states: Mapping[Key, str]) -> TargetShape:
    """Build the card of an estate, with the state of each of its resources."""
    state, history, name = estate.state, estate.history, estate.name
    counts = Counter(states.values())
    return {
        "id": name.id,
        "title": name.title,
        "source": name.source,
        "branch": name.branch,
        "commit": estate.commit,
        "commitUrl": estate.forge.base + estate.forge.commit.removesuffix("{commit}") if estate.forge else "",
        "revision": estate.revision,
        "agents": sorted(state.agents),
        "headline": format_records(state.records.values()) if state.records else "No records yet",
        "run": _find_last_run(history.runs),
        "heartbeats": [
            (heartbeat.agent, format_rfc3339(heartbeat.time), heartbeat.revision or "")
            for heartbeat in estate.heartbeats
        ],
        "counts": [(word, counts[word]) for word in STATES if counts[word]],
        "failures": _list_failures(estate, states),
        "drift": sort_drift(history.open, "since")[:MOST_FAILURES],
        "holds": _list_holds(estate),
        "days": [(day, *figures) for day, figures in sorted(history.days.items())[-MOST_DAYS:]],
        "trust": _format_trust(list(state.records.values())),
        "notes": list(_list_notes(estate)),
        "begins": history.runs[0]["at"] if history.runs else "",
    }


def sort_drift(drift: Iterable[DriftShape], time: Literal["since", "until"]) -> list[DriftShape]:
    """Sort drift, the newest first."""
    return sorted(drift, key=lambda each: (each[time], each["target"], each["key"], each["verdict"]), reverse=True)


def _find_last_run(runs: Sequence[RunShape]) -> RunShape | None:
    # A commit without a command only records what a run is about to create.
    last = next((run for run in reversed(runs) if run["command"]), None)
    return {**last, "changed": []} if last else None


def _list_failures(estate: SiteEstate, states: Mapping[Key, str]) -> list[FailureShape]:
    urgent = [key for word in _URGENT for key, state in states.items() if state == word]
    return [_build_failure(estate.state.records[key], states[key]) for key in urgent[:MOST_FAILURES]]


def _build_failure(record: Record, state: str) -> FailureShape:
    condition = record.condition
    return {
        "key": str(record.key),
        "state": state,
        "reason": condition.reason if condition else "",
        "message": truncate(condition.message, _LONGEST_MESSAGE) if condition else "",
    }


def _list_holds(estate: SiteEstate) -> list[HoldShape]:
    holds = [build_hold(key, hold) for key, record in estate.state.records.items() if (hold := record.manifest.hold)]
    return sorted(holds, key=lambda hold: (hold["until"], hold["key"]))


def _format_trust(records: Sequence[Record]) -> str:
    refused = Counter(record.trust.value for record in records if record.trust.is_refused)
    if not refused:
        return ""
    kinds = ", ".join(f"{count} {word}" for word, count in sorted(refused.items()))
    return f"{format_plural(refused.total(), 'record')} not trusted: {kinds}."


def _list_notes(estate: SiteEstate) -> Iterator[str]:
    yield from filter(None, (estate.unread, *estate.history.notes))
    if any(record.trust is Trust.NO_KEY for record in estate.state.records.values()):
        yield "The seals of records were not checked: set GITSYNC_DIGEST_KEY."
    if estate.declarations.doubt:
        yield f"Manifests were not read: {estate.declarations.doubt}"
    yield from (f"The branch {branch} was not read: {why}" for branch, why in sorted(estate.state.strays.items()))
    if estate.state.leftovers:
        yield f"{format_plural(len(estate.state.leftovers), 'export')} of deleted resources not removed."
