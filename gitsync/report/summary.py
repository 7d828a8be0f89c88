"""SUMMARY.md of the status branch: the records, for a person who opens the branch in a browser.

It is rendered from the records, so that a run over a part of the resources still shows all of them; it has no times, so
that equal records are equal bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from gitsync.model.problem import Problem
from gitsync.model.record import Record
from gitsync.model.report import RunTarget
from gitsync.report.escape import format_advice, format_code, shorten
from gitsync.report.markdown import format_problem
from gitsync.report.ordering import find_reading_order, shorten_names
from gitsync.report.run_facts import list_target
from gitsync.report.wording import format_plural, shorten_problems, shorten_revision

_LONGEST_MESSAGE = 500  # characters; the file of the resource has the whole


def render(
    records: Iterable[Record],
    *,
    revision: str | None,
    problems: Sequence[Problem] = (),
    target: RunTarget | None = None,
) -> str:
    """Render the summary as Markdown: what is not Ready first, then the rest, each namespace by
    namespace.

    `target` is that of the run which wrote it. Who signed in is left out: a pipeline and a person
    take turns.
    """
    ordered = sorted(records, key=lambda record: (_is_ready(record), find_reading_order(record.key)))
    ready = sum(map(_is_ready, ordered))
    revision_note = f" at {format_code(shorten_revision(revision))}" if revision else ""
    facts = list_target(replace(target or RunTarget(), identity=""))
    items = [format_problem(problem) for problem in shorten_problems(problems)]
    claims = Counter(one.claim.value for one in ordered)  # they decide whether a later prune may delete
    parts = [
        "# Status",
        f"{ready} of {format_plural(len(ordered), 'resource')} Ready{revision_note}.",
        *(["\n".join(f"- {name}: {format_code(value)}" for name, value in facts)] if facts else []),
        *(["## Problems", "\n".join(items)] if items else []),
        *_format_table(ordered),
        *_format_advice(ordered),
        *([f"Claims: {', '.join(f'{count} {claim}' for claim, count in sorted(claims.items()))}."] if claims else []),
    ]
    return "\n\n".join(parts) + "\n"


def _is_ready(record: Record) -> bool:
    return record.condition is not None and record.condition.is_ready


def _format_table(records: Sequence[Record]) -> list[str]:
    if not records:
        return []
    names = shorten_names(record.key for record in records)
    head = ["| Resource | Namespace | Ready | Severity | Reason | Message |", "|---|---|---|---|---|---|"]
    return ["\n".join([*head, *(_format_row(record, names[record.key]) for record in records)])]


def _format_row(record: Record, name: str) -> str:
    condition = record.condition
    cells = [format_code(name), format_code(record.key.namespace)]
    if condition is None:
        cells += ["Unknown", "", "", ""]
    else:
        message = format_code(shorten(condition.message, _LONGEST_MESSAGE))
        cells += [condition.status.value, condition.severity.value, format_code(condition.reason), message]
    return f"| {' | '.join(cells)} |"


def _format_advice(records: Sequence[Record]) -> list[str]:
    """Format advice for resources that are not Ready, each piece once."""
    names = shorten_names(record.key for record in records)
    names_by_advice: dict[str, list[str]] = {}
    for record in records:
        if advice := format_advice(record.condition, record.key, _LONGEST_MESSAGE):
            names_by_advice.setdefault(advice, []).append(format_code(names[record.key]))
    items = [f"- {', '.join(affected_names)}: {advice}" for advice, affected_names in names_by_advice.items()]
    return ["## What to do", "\n".join(items)] if items else []
