"""SUMMARY.md of the status branch: the records, for a person who opens the branch in a browser.

It is rendered from the records, so that a run over a part of the resources still shows all of them; it has no times, so
that equal records are equal bytes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from gitsync.model.gvk import Key
from gitsync.model.problem import Problem
from gitsync.model.record import Record
from gitsync.model.report import RunTarget
from gitsync.planning.status.conditions import READY, is_waiting
from gitsync.report.escape import format_advice, format_code, format_prose, shorten
from gitsync.report.markdown import format_problem
from gitsync.report.ordering import make_reading_order, shorten_names
from gitsync.report.outside_texts import OUTSIDE_TITLE, count_recorded, list_recorded
from gitsync.report.run_facts import list_target
from gitsync.report.wording import (
    format_holds,
    format_outside_count,
    format_plural,
    format_replacing,
    shorten_problems,
    shorten_revision,
)

_FAILED, _WAITING, _READY = "Failed", "Waiting", "Ready"
_LONGEST_MESSAGE = 500  # characters; the file of the resource has the whole


def render(
    records: Iterable[Record],
    *,
    revision: str | None,
    problems: Sequence[Problem] = (),
    target: RunTarget | None = None,
) -> str:
    """Render the summary as Markdown, in the order of every report: the headline, what failed and what to do, what
    waits, then the rest, each namespace by namespace; the target is last.

    `target` is that of the run which wrote it.
    """
    ordered = sorted(records, key=lambda record: make_reading_order(record.key))
    states: Mapping[str, list[Record]] = defaultdict(list)
    for record in ordered:
        states[_choose_state(record)].append(record)
    failed, waiting, ready = (states[title] for title in (_FAILED, _WAITING, _READY))
    errors, warnings = ([problem for problem in problems if problem.is_error is is_error] for is_error in (True, False))
    # A pipeline and a person take turns, so who signed in is left out. The newest report has the releases of the
    # catalog.
    facts = list_target(replace(target or RunTarget(), identity="", catalog=""))
    claims = Counter(record.claim.value for record in ordered)  # they decide whether a later prune may delete
    names = shorten_names(record.key for record in ordered)
    parts = [
        f"# {_format_headline(len(failed), len(errors), len(ready), ordered)}",
        *([f"At {format_code(shorten_revision(revision))}."] if revision else []),
        *_format_table(_FAILED, failed, names),
        *_format_advice([*failed, *waiting], names),
        *_format_problems("Errors in manifests", errors),
        *_format_outside(ordered, names),
        *_format_table(_WAITING, waiting, names),
        *_format_problems("Warnings in manifests", warnings),
        *_format_table(_READY, ready, names),
        *([f"Claims: {', '.join(f'{count} {claim}' for claim, count in sorted(claims.items()))}."] if claims else []),
        *(["\n".join(f"- {name}: {format_code(value)}" for name, value in facts)] if facts else []),
    ]
    return "\n\n".join(parts) + "\n"


def format_records(records: Iterable[Record]) -> str:
    """Format the state of all records as one line: what failed, and how much is Ready."""
    known = list(records)
    titles = Counter(map(_choose_state, known))
    return _format_headline(titles[_FAILED], 0, titles[_READY], known)


def _choose_state(record: Record) -> str:
    """Choose the title of the section that a record is in."""
    if record.condition is None:
        return _WAITING
    if record.condition.is_ready:
        return _READY
    return _WAITING if is_waiting(record.condition) else _FAILED


def _format_headline(failed: int, errors: int, ready: int, records: Sequence[Record]) -> str:
    wrong = ", ".join([f"{failed} failed"] * bool(failed) + [format_plural(errors, "error")] * bool(errors))
    counts = f"{ready} of {format_plural(len(records), 'resource')} Ready"
    outside = format_outside_count(count_recorded(records))
    others = format_replacing(records), outside, format_holds(record.manifest.hold for record in records)
    return "; ".join(filter(None, (wrong, counts, *others)))


def _format_problems(title: str, problems: Sequence[Problem]) -> list[str]:
    items = [format_problem(problem) for problem in shorten_problems(problems)]
    return [f"## {title} ({len(problems)})", "\n".join(items)] if items else []


def _format_outside(records: Sequence[Record], names: Mapping[Key, str]) -> list[str]:
    """Format which fields changed outside of git, as an item for each resource, or for many alike."""
    items = [
        f"- {row.format_names(names, format_code)}: {row.format_fields(format_code)}" for row in list_recorded(records)
    ]
    return [f"## {OUTSIDE_TITLE} ({count_recorded(records)})", "\n".join(items)] if items else []


def _format_table(title: str, records: Sequence[Record], names: Mapping[Key, str]) -> list[str]:
    """Format a table without the columns that are empty."""
    if not records:
        return []
    rows = [_list_cells(record, names[record.key]) for record in records]
    columns = [column for column in rows[0] if any(row[column] for row in rows)]
    lines = [f"| {' | '.join(row[column] for column in columns)} |" for row in rows]
    head = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    return [f"## {title} ({len(records)})", "\n".join([*head, *lines])]


def _list_cells(record: Record, name: str) -> Mapping[str, str]:
    condition = record.condition
    is_plain = condition is None or condition.reason == READY.reason
    return {
        "Resource": format_code(name),
        "Namespace": format_code(record.key.namespace),
        "Reason": "" if is_plain or condition is None else format_code(condition.reason),
        "Message": format_prose(shorten(condition.message, _LONGEST_MESSAGE)) if condition else "no condition yet",
    }


def _format_advice(records: Sequence[Record], names: Mapping[Key, str]) -> list[str]:
    """Format advice for resources that are not Ready, each piece once."""
    names_by_advice: dict[str, list[str]] = {}
    for record in records:
        if advice := format_advice(record.condition, record.arm_id, _LONGEST_MESSAGE):
            names_by_advice.setdefault(advice, []).append(format_code(names[record.key]))
    items = [f"- {', '.join(affected_names)}: {advice}" for advice, affected_names in names_by_advice.items()]
    return ["## What to do", "\n".join(items)] if items else []
