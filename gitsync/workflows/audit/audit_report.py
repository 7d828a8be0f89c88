"""An audit as text and JSON, and the words that the page shares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gitsync.agent.attribution.change import Verb
from gitsync.desired.formats.arm_path import name_resource
from gitsync.errors import ExitCode
from gitsync.model.attribution import Who
from gitsync.model.clock import format_rfc3339
from gitsync.report.author_texts import Quote, clean, format_author
from gitsync.report.json import build_change
from gitsync.report.metrics import AUDITED
from gitsync.report.progress import Figures
from gitsync.report.wording import format_plural, shorten_revision
from gitsync.workflows.audit.audit import LATE, Audit, AuditedOperation, Origin, Run

TITLES: Final[Mapping[Origin, str]] = {
    Origin.OTHER: "By others",
    Origin.UNKNOWN: "Not known: neither the correlation id nor the caller identifies the author",
    Origin.OURS: "By gitsync's identity, without a recorded run",
    Origin.RUN: "By gitsync runs",
}
"""How a report describes each origin, in its order."""

_VERBS: Final[Mapping[Verb, str]] = {
    Verb.CREATE: "created",
    Verb.WRITE: "written",
    Verb.DELETE: "deleted",
    Verb.KEYS: "keys read",
    Verb.ACTION: "keys renewed",
}
_MOST_RUNS: Final = 20  # lines of runs in a text: they are as expected


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """An audit, and what it looked at."""

    audit: Audit
    who: Who  # decides where names of people may be shown
    resources: int  # the number of resources that git has
    runs: int  # the number of runs on the status branch since the beginning
    has_all_runs: bool = True  # False if there may be more
    requests: int  # the number of those that were sent

    @property
    def exit_code(self) -> ExitCode:
        """FAILED if a log could not be read: there may be more than was found."""
        if self.audit.gaps:
            return ExitCode.FAILED
        return ExitCode.DRIFT if self.audit.count(Origin.OTHER) else ExitCode.FINE


def format_moment(operation: AuditedOperation) -> str:
    """Format the time of an operation, to the minute."""
    return f"{operation.change.at:%Y-%m-%d %H:%M} UTC"


def format_verb(operation: AuditedOperation) -> str:
    """Describe what an operation did."""
    return "created" if operation.change.creates else _VERBS[operation.change.verb]


def format_operation_author(operation: AuditedOperation, *, names: bool, quote: Quote = str) -> str:
    """Name who did it, or which run."""
    if operation.origin is Origin.RUN and operation.run:
        return format_run(operation.run, quote=quote)
    return format_author(operation.change.said, names=names, quote=quote)


def format_run(run: Run, *, quote: Quote = str) -> str:
    """Name a run by the commit that it synced and its commit of the status branch, as far as they are known."""
    synced = f" of {quote(shorten_revision(run.revision))}" if run.revision else ""
    status = f" (status {quote(run.commit[:12])})" if run.commit else ""
    return f"a run{synced}{status}"


def list_marks(operation: AuditedOperation, *, quote: Quote = str) -> list[str]:
    """List what else there is to say of an operation."""
    undone = [f"undone since by {format_run(operation.undone, quote=quote)}"] if operation.undone else []
    return [*undone, *(["open"] if operation.is_open else [])]


def format_lines(report: AuditReport, *, names: bool) -> Iterator[str]:
    """Format the report as text; with names of people if `names`."""
    for origin, title in TITLES.items():
        operations = [operation for operation in report.audit.operations if operation.origin is origin]
        if not operations:
            continue
        yield f"{title}:"
        shown = operations[:_MOST_RUNS] if origin is Origin.RUN else operations
        for operation in shown:
            yield f"  {format_moment(operation)}  {format_verb(operation)}  {clean(format_resource(operation))}"
            author = format_operation_author(operation, names=names)
            yield f"    {'; '.join([f'by {author}', *list_marks(operation)])}"
        if len(operations) > len(shown):
            yield f"  … and {len(operations) - len(shown)} more; JSON and the page list all"
        yield ""
    for note in list_notes(report):
        yield clean(note, 400)
    yield format_headline(report)


def format_resource(operation: AuditedOperation) -> str:
    """Name the resource of an operation with its ARM type."""
    return f"{operation.arm_id.arm_type} {name_resource(operation.arm_id)}"


def list_notes(report: AuditReport) -> list[str]:
    """List what limits the findings, as sentences."""
    minutes = int(LATE.total_seconds() // 60)
    notes = [f"Not read in full: {gap}" for gap in report.audit.gaps]
    if not report.has_all_runs:
        notes.append(
            f"Only the last {report.runs} runs were compared. Older writes count as writes without a recorded run."
        )
    end = f"{report.audit.until:%Y-%m-%d %H:%M} UTC"
    notes.append(f"Azure's log is up to 20 minutes late: the last {minutes} minutes before {end} may be incomplete.")
    return notes


def format_headline(report: AuditReport) -> str:
    """Summarize the audit in one line."""
    found = report.audit
    parts = [
        f"{format_plural(found.count(Origin.OTHER), 'operation')} by others",
        f"{found.count(Origin.UNKNOWN)} not known",
        f"{found.count(Origin.OURS)} without a run",
        f"{found.count(Origin.RUN)} by runs",
    ]
    since = f"{found.since:%Y-%m-%d %H:%M} UTC"
    resources = format_plural(report.resources, "resource")
    return f"{', '.join(parts)}, on {resources} since {since}; {format_plural(report.requests, 'request')}."


def list_figures(report: AuditReport) -> Figures:
    """List what is counted for metrics."""
    return {AUDITED: [((origin.value,), report.audit.count(origin)) for origin in TITLES]}


def build_document(report: AuditReport, *, names: bool) -> dict[str, Any]:
    """Build the report as plain JSON; with names of people if `names`."""
    found = report.audit
    return {
        "since": format_rfc3339(found.since),
        "until": format_rfc3339(found.until),
        "openSince": format_rfc3339(found.until - LATE),
        "counts": {origin.value: found.count(origin) for origin in TITLES},
        "operations": [_build_operation(operation, names=names) for operation in found.operations],
        "otherResources": found.others,
        "resources": report.resources,
        "runs": report.runs,
        "hasAllRuns": report.has_all_runs,
        "gaps": list(found.gaps),
        "requests": report.requests,
        "exitCode": report.exit_code,
    }


def _build_operation(operation: AuditedOperation, *, names: bool) -> dict[str, Any]:
    return {
        "armId": operation.arm_id,
        "verb": format_verb(operation),
        "origin": operation.origin.value,
        "author": build_change(operation.change.said, names=names),
        "run": _build_run(operation.run),
        "undone": _build_run(operation.undone),
        "open": operation.is_open,
    }


def _build_run(run: Run | None) -> dict[str, str] | None:
    return {"commit": run.commit, "revision": run.revision, "time": run.time} if run else None


def split_operations(report: AuditReport) -> list[tuple[Origin, str, Sequence[AuditedOperation]]]:
    """Split the operations by their origin, in the order of a report; those without any are left out."""
    rows = [
        (origin, title, [operation for operation in report.audit.operations if operation.origin is origin])
        for origin, title in TITLES.items()
    ]
    return [row for row in rows if row[2]]
