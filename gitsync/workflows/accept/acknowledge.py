"""Acknowledges outside changes: the values that Azure shows become the recorded ones, and no later run reports them.

A plan has read them, and made the new records. Here they go to the status, with one commit for all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple

from gitsync.model.gvk import Key
from gitsync.model.record import Record, State
from gitsync.model.report import Report
from gitsync.model.result import Result
from gitsync.model.verdict import Verdict
from gitsync.report import summary
from gitsync.report.author_texts import list_authors
from gitsync.report.differences import name_path
from gitsync.report.escape import format_value
from gitsync.report.hidden_people import leave_out_people
from gitsync.report.json import build_change
from gitsync.report.outside_texts import list_outside
from gitsync.report.wording import format_plural
from gitsync.repository.git.state.store import StateStore, Update
from gitsync.settings.logging import escape_controls

_NOT_COMPARED: Final = frozenset({Verdict.UNKNOWN, Verdict.BLOCKED, Verdict.INVALID})


class LeftChange(NamedTuple):
    """A resource that was skipped."""

    key: Key
    reason: str  # in full sentences


def list_changed(report: Report) -> list[Result]:
    """List the resources of a plan whose outside changes can be acknowledged."""
    return [result for result in report.results if result.comparison.outside and result.record]


def list_uncompared(report: Report) -> list[LeftChange]:
    """List the resources of which a plan does not show whether they changed."""
    results = (result for result in report.results if result.verdict in _NOT_COMPARED or result.ending.fault)
    return [
        LeftChange(result.key, f"It was not compared with Azure: {result.message}")
        for result in results
        if not result.comparison.outside
    ]


def record_changes(results: Sequence[Result], report: Report, store: StateStore) -> list[LeftChange]:
    """Record the new values, and return the resources that were skipped, since a run has written their records after
    the plan read them. StateError or PublishError if the status cannot be read or written.
    """
    state, left, recorded = store.load(), [], []
    records = {}
    for result in results:
        current = state.records.get(result.key)
        # The values of the plan would be recorded as those of a later write, which may have changed them.
        if current is None or result.record is None or not _is_same(current, result.record):
            left.append(LeftChange(result.key, "A run has recorded it since it was read. Run this command again."))
        else:
            spec = replace(current.spec, outside=result.record.spec.outside)
            records[result.key] = replace(current, spec=spec)
            recorded.append(result)
    if records:
        headline = f"Acknowledge {format_plural(_count_changes(recorded), 'change')} outside of git"
        store.save(_make_update(records, state, report, headline))
    return left


def _count_changes(results: Iterable[Result]) -> int:
    return sum(len(result.comparison.outside) for result in results)


def _is_same(current: Record, planned: Record) -> bool:
    """Return whether two records are of the same write."""
    # The values outside are what is acknowledged, so they may differ.
    specs = [replace(record.spec, outside=None) for record in (current, planned)]
    return specs[0] == specs[1] and current.arm_api_version == planned.arm_api_version


def _make_update(records: Mapping[Key, Record], state: State, report: Report, headline: str) -> Update:
    shown = leave_out_people(report)  # anyone who can read the repository reads the status
    remaining = {**state.records, **records}.values()
    return Update(
        records=records,
        revision=state.revision,
        summary=partial(
            summary.render, remaining, revision=state.revision, problems=shown.problems, target=report.target
        ),
        # The report on the branch stays that of the last run.
        report=None,
        headline=headline,
    )


# What it prints.


def format_changes(results: Sequence[Result], *, names: bool) -> Iterator[str]:
    """Format the changes of each resource, with who made them; with the names of people only if `names`."""
    for result in results:
        source = result.manifest.source
        yield f"{result.key.kind}/{result.key.name}{f'  {source}' if source else ''}"
        for shown in list_outside(result):
            for change in shown.parts:
                yield f"  {_format_change(escape_controls(change.name), change.live, change.desired)}"
            if shown.weakens:
                yield f"    {shown.weakens}"
        yield from (f"    {author}" for author in list_authors(result, names=names))
        yield ""


def _format_change(name: str, before: Any, now: Any) -> str:
    if before is None:
        return f"+ {name}: {format_value(now)}"
    return (
        f"- {name}: {format_value(before)}"
        if now is None
        else f"~ {name}: {format_value(before)} → {format_value(now)}"
    )


def format_end(results: Sequence[Result], left: Sequence[LeftChange]) -> Iterator[str]:
    """Format what was recorded, and what was skipped."""
    keys = {each.key for each in left}
    recorded = [result for result in results if result.key not in keys]
    if recorded:
        resources = format_plural(len(recorded), "resource")
        changes = format_plural(_count_changes(recorded), "change")
        yield f"Acknowledged {changes} outside of git of {resources}."
    else:
        yield "Nothing was acknowledged." if left else "Nothing changed outside of git, so nothing was acknowledged."
    for each in left:
        yield f"Skipped {each.key.kind}/{each.key.name}: {escape_controls(each.reason)}"


def build(results: Sequence[Result], left: Sequence[LeftChange], *, names: bool) -> dict[str, Any]:
    """Build the JSON of what was recorded and skipped; with names of people if `names`."""
    keys = {each.key for each in left}
    return {
        "acknowledged": [
            {
                "resource": str(result.key),
                "armId": result.arm_id,
                "fields": [
                    {
                        "field": name_path(result, change.path),
                        "pointer": change.path,
                        "before": change.before,
                        "now": change.now,
                        "weakens": change.weakens,
                    }
                    for change in result.comparison.outside
                ],
                "changedBy": [build_change(change, names=names) for change in result.changed_by],
            }
            for result in results
            if result.key not in keys
        ],
        "left": [{"resource": str(each.key), "reason": each.reason} for each in left],
    }
