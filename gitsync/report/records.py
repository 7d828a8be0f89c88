"""Shows records as kubectl shows objects: a line for each (get), or everything of one (describe;
docs/reference/reconciliation.md#status-shape); and heartbeats, as `gitsync status` shows them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from gitsync.model.clock import format_rfc3339
from gitsync.model.condition import Condition
from gitsync.model.record import Claim, Heartbeat, LastRun, Record, WriteStreak
from gitsync.planning.status.advice import find_condition_advice
from gitsync.planning.status.conditions import is_waiting
from gitsync.report.ordering import has_namespaces, make_reading_order, shorten_names
from gitsync.report.outside_texts import count_recorded, list_recorded
from gitsync.report.terminal import Paint, format_table, indent
from gitsync.report.wording import format_duration, format_outside_count, format_plural, shorten_revision
from gitsync.settings.logging import escape_controls

_HEADER = ("READY", "SEVERITY", "REASON", "MESSAGE")
_MOST_NAMES = 10
_GAP = 2  # blanks after the longest label

_CLAIMS = {
    Claim.NONE: "none: read-only, written by another manifest, or never reached",
    Claim.EXPECTED: "expected: a create may have been sent",
    Claim.CREATED: "created",
    Claim.ADOPTED: "adopted",
}
_UNITS = ((86400, "d"), (3600, "h"), (60, "m"), (1, "s"))


def list_records(records: Sequence[Record], *, width: int | None = None, colour: bool = False) -> list[str]:
    """List one line for each record, namespace by namespace, below a header with ASO's columns."""
    paint = Paint(on=colour)
    header, *body = _tabulate(records, _HEADER, lambda record: _list_condition_cells(record.condition), width)
    return [paint.bold(header), *map(paint.colour_words, body)]


def list_wide(records: Sequence[Record], now: datetime, *, width: int | None = None, colour: bool = False) -> list[str]:
    """List records with the time since the condition changed and the ARM id as well."""
    paint = Paint(on=colour)

    def list_cells(record: Record) -> tuple[str, ...]:
        *condition, message = _list_condition_cells(record.condition)
        age = format_age(record.condition.time, now) if record.condition else ""
        return (*condition, age, escape_controls(record.arm_id), message)

    header, *body = _tabulate(records, (*_HEADER[:-1], "AGE", "AZURE ID", _HEADER[-1]), list_cells, width)
    return [paint.bold(header), *map(paint.colour_words, body)]


def list_claims(records: Sequence[Record], *, width: int | None = None) -> list[str]:
    """List one line for each record with what it lets a run delete: claim, policy, seal and ARM id."""
    return _tabulate(
        records,
        ("CLAIM", "POLICY", "SEAL", "ARM ID"),
        lambda record: (
            record.claim.value,
            record.manifest.policy.value,
            record.trust.value,
            escape_controls(record.arm_id),
        ),
        width,
    )


def _tabulate(
    records: Sequence[Record],
    header: tuple[str, ...],
    cells: Callable[[Record], tuple[str, ...]],
    width: int | None,
) -> list[str]:
    """Make a table with one line for each record: what failed first, then what waits, then what is Ready, each in
    reading order; with namespaces if there are several.
    """
    names = shorten_names(record.key for record in records)
    # The first column is the namespace.
    start = 0 if has_namespaces(record.key for record in records) else 1
    ordered = sorted(records, key=lambda record: (_rate(record.condition), make_reading_order(record.key)))
    rows = [(escape_controls(r.key.namespace), names[r.key], *cells(r))[start:] for r in ordered]
    return format_table(("NAMESPACE", "NAME", *header)[start:], rows, width=width)


def _rate(condition: Condition | None) -> int:
    """Find the sort key of a record, the most urgent first."""
    if condition is None or condition.is_ready:
        return 1 if condition is None else 2
    return 1 if is_waiting(condition) else 0


def _list_condition_cells(condition: Condition | None) -> tuple[str, str, str, str]:
    if condition is None:
        return ("Unknown", "", "", "")
    return (
        condition.status.value,
        condition.severity.value,
        escape_controls(condition.reason),
        escape_controls(condition.message),
    )


def describe_last_run(run: LastRun, agents: Collection[str], now: datetime) -> list[str]:
    """Describe the last run that recorded something: what it was, when, and what came of it; a second line names what
    it did not reach. `agents` are all that have records.
    """
    counts = [f"{count} {outcome}" for outcome, count in run.outcomes.items() if count and outcome != "unchanged"]
    reached = f"{len(run.not_reached)} not reached" if run.not_reached else ""
    outcome = ", ".join(filter(None, (*counts, reached))) or "nothing changed"
    # A run that finds a manifest in another file is recorded, too.
    name = "Last run that changed something" if run.has_changed else "Last run on record"
    by = f" by {run.agent}" if run.agent and len(agents) > 1 else ""
    lines = [
        (
            f"{name}: {run.command} of {shorten_revision(run.revision)}{by}, "
            f"{format_age(run.time, now)} ago ({run.time}): {outcome}; exit code {run.exit_code}."
        )
    ]
    names = [f"{key.kind}/{key.name}" for key in run.not_reached]
    more = [f"{len(names) - _MOST_NAMES} more"] if len(names) > _MOST_NAMES else []
    lines += [f"Not reached: {', '.join([*names[:_MOST_NAMES], *more])}."] if names else []
    return list(map(escape_controls, lines))


def list_operations(records: Sequence[Record], now: datetime) -> list[str]:
    """List a line for each operation that a run has begun and whose end is not on record; empty if there is none."""
    names = shorten_names(record.key for record in records)
    begun = [(record, record.writes.operation) for record in records if record.writes.operation]
    lines = [
        f"  {operation.kind} {names[record.key]}, begun {format_age(operation.started_at, now)} ago "
        f"({escape_controls(operation.started_at)})"
        for record, operation in sorted(begun, key=lambda pair: make_reading_order(pair[0].key))
    ]
    return [f"{format_plural(len(lines), 'operation')} without an end on record:", *lines] if lines else []


def list_outside_fields(records: Sequence[Record]) -> list[str]:
    """List a line for each resource with changes outside of git that the last sync found; empty if there is none."""
    names = shorten_names(record.key for record in records)
    lines = [f"  {row.format_names(names)}: {row.format_fields()}" for row in list_recorded(records)]
    found = format_outside_count(count_recorded(records))
    return [f"{found}, as the last sync found:", *lines] if lines else []


def count_failed(records: Iterable[Record]) -> int:
    return sum(_rate(record.condition) == 0 for record in records)


def count_waiting(records: Iterable[Record]) -> int:
    return sum(record.condition is not None and is_waiting(record.condition) for record in records)


def build_last_run(run: LastRun) -> Mapping[str, Any]:
    """Build the last run that changed something for JSON and YAML."""
    return {
        "command": run.command,
        "agent": run.agent,
        "finished": run.time,
        "revision": run.revision,
        "exitCode": run.exit_code,
        "outcomes": dict(run.outcomes),
        "notReached": [str(key) for key in run.not_reached],
    }


def list_heartbeats(heartbeats: Iterable[Heartbeat], now: datetime) -> list[str]:
    """List one line for each agent: the age, the time and the revision of its last success."""
    lines = []
    for heartbeat in heartbeats:
        at = f", at {shorten_revision(heartbeat.revision)}" if heartbeat.revision else ""
        age = _format_signed_age(_compute_age(heartbeat, now))
        agent, time = escape_controls(heartbeat.agent), format_rfc3339(heartbeat.time)
        lines.append(f"Last success of {agent}: {age} ({time}{at}).")
    return lines


def build_heartbeats(heartbeats: Iterable[Heartbeat], now: datetime) -> list[Mapping[str, Any]]:
    """Build the heartbeats for JSON and YAML."""
    return [
        {
            "agent": heartbeat.agent,
            "lastSuccess": format_rfc3339(heartbeat.time),
            "ageSeconds": _compute_age(heartbeat, now),
            "revision": heartbeat.revision,
        }
        for heartbeat in heartbeats
    ]


def _compute_age(heartbeat: Heartbeat, now: datetime) -> int:
    """Compute the age of a heartbeat in seconds; negative if the clock of the agent is ahead of this one."""
    return int((now.replace(microsecond=0) - heartbeat.time).total_seconds())


def _format_signed_age(seconds: int) -> str:
    """Format an age like kubectl: the two largest units."""
    left, words = abs(seconds), list[str]()
    for size, unit in _UNITS:
        number, left = divmod(left, size)
        if number or words:
            words.append(f"{number}{unit}")
    shown = "".join(words[:2]) or "0s"
    # A time to come is shown as one, since a clock is wrong then.
    return f"{shown} ahead of this clock" if seconds < 0 else f"{shown} ago"


def describe_record(record: Record, *, revision: str | None, width: int | None = None) -> list[str]:
    """Describe everything recorded about one resource, without empty fields."""
    key = record.key
    operation = record.writes.operation
    lines = _format_pairs(
        ("Name", key.name),
        ("Namespace", key.namespace),
        ("API Version", record.manifest.api_version),
        ("Kind", key.kind),
        ("Generation", str(record.spec.generation)),
        ("Revision", revision or ""),
        ("Azure id", record.arm_id),
        ("Azure API Version", record.arm_api_version),
        ("Id at its provider", record.kept.given_id),
        ("Managed by", record.kept.administrator),
        ("Owner", str(record.manifest.owner or "")),
        ("Depends on", ", ".join(map(str, record.manifest.depends_on))),
        ("Exports to", ", ".join(f"{address.object_kind}/{address.name}" for address in record.exports)),
        ("Credential", record.access.credential),
        ("Client id", record.access.ids.client_id),
        ("Tenant id", record.access.ids.tenant_id),
        ("Policy", record.manifest.policy.value),
        ("Hold", str(record.manifest.hold or "")),
        ("Claim", _CLAIMS[record.claim]),
        ("Agent", record.agent),
        ("Operation", f"{operation.kind}, under way since {operation.started_at}" if operation else ""),
        ("Runs that wrote it", str(record.writes.count or "")),
        ("Changed outside of git", ", ".join(row.format_fields() for row in list_recorded([record]))),
        ("Set back after", _format_streak(record.writes.streak) if record.writes.streak else ""),
    )
    return [*lines, *_format_condition(record, width), *_format_body(record.spec.applied), *_format_baseline(record)]


def _format_streak(row: WriteStreak) -> str:
    """Format how often the writes of gitsync were undone, and in which fields."""
    fields = ", ".join(filter(None, row.paths)) or "the complete resource"
    pause_note = "; writes are paused" if row.paused else ""
    return f"{format_plural(row.count, 'write')} in a row, last at {row.at}: {fields}{pause_note}"


def _format_pairs(*pairs: tuple[str, str]) -> list[str]:
    """Format pairs as `Label: value`, the values one below the other."""
    visible_pairs = [(label, text) for label, text in pairs if text]
    column = max(len(label) + 1 + _GAP for label, _ in visible_pairs)
    return [f"{label + ':':<{column}}{escape_controls(text)}" for label, text in visible_pairs]


def _format_condition(record: Record, width: int | None) -> list[str]:
    condition = record.condition
    if condition is None:
        return ["Condition:  none yet"]
    lines = _format_pairs(
        ("Type", condition.type),
        ("Status", condition.status.value),
        ("Severity", condition.severity.value),
        ("Reason", condition.reason),
        ("Observed Generation", str(condition.generation)),
        ("Last Transition Time", condition.time),
        ("Request id", condition.request_id),
        ("Message", condition.message),
        ("What to do", find_condition_advice(condition, record.arm_id)),
    )
    return ["Condition:", *(text for line in lines for text in indent(line, width, by=2))]


def _format_body(body: Any) -> list[str]:
    """Format the last body sent, without secrets."""
    if body is None:
        return []
    text = json.dumps(body, indent=2, sort_keys=True, ensure_ascii=False)
    return ["Last sent:", *(f"  {escape_controls(line)}" for line in text.splitlines())]


def _format_baseline(record: Record) -> Iterator[str]:
    """Format whether a baseline is recorded, as a line."""
    if record.spec.applied is not None:
        has_baseline = record.spec.baseline is not None
        yield f"Baseline:  {'recorded' if has_baseline else 'none: the next run compares with git only'}"


def format_age(since: str, now: datetime) -> str:
    """Format the time from an RFC 3339 moment until now, such as `5m30s`, `3h` or `12d`; `<unknown>` if it is not a
    time.
    """
    try:
        seconds = int((now - datetime.fromisoformat(since)) / timedelta(seconds=1))
    except (TypeError, ValueError):
        return "<unknown>"
    # The clock that wrote the time may be ahead of this one.
    return format_duration(max(seconds, 0))
