"""What a run cost: its requests, the share of Azure's limits, the time; and what the sync of a plan would need."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from gitsync.model.report import Report, RequestCounts
from gitsync.model.verdict import Action
from gitsync.report.headline import format_plural

_LEAST_SHARE = 0.01
_WRITES = frozenset({Action.CREATE, Action.UPDATE})


def format_cost(report: Report) -> str:
    """Requests by kind, the time from start to end, and the largest share of an hour's limits that they are."""
    r = report.requests
    throttled = f" ({r.throttled} throttled)" if r.throttled else ""
    counts = f"{_format_counts(r)}, {format_plural(r.polls, 'poll')}{throttled}"
    return f"{counts} in {_format_elapsed(report)}{_format_share(report)}"


def format_need(report: Report) -> str:
    """What the sync of a plan would need; "" for any other run, and for a plan that did not read Azure."""
    need = estimate_sync(report)
    return f"a sync would need about {_format_counts(need)}, and polls while Azure works" if need is not None else ""


def estimate_sync(report: Report) -> RequestCounts | None:
    """The requests of the sync that a plan foresees, without polls; None for any other run.

    A sync reads what the plan has read, and once more what it has written.
    """
    if report.command != "plan" or report.base is not None:
        return None
    times = Counter(result.action for result in report.results)
    writes = sum(times[action] for action in _WRITES)
    return RequestCounts(reads=report.requests.reads + writes, writes=writes, deletes=times[Action.DELETE])


def list_by_type(report: Report) -> list[tuple[str, str]]:
    """Each ARM type with its requests by kind (`2 list, 1 get`), those with the most requests first."""
    rows = sorted(report.use.by_type.items(), key=lambda row: (-sum(row[1].values()), row[0]))
    return [(arm_type, ", ".join(f"{times} {kind}" for kind, times in kinds.items())) for arm_type, kinds in rows]


def _format_counts(requests: RequestCounts) -> str:
    kinds = ((requests.reads, "read"), (requests.writes, "write"), (requests.deletes, "delete"))
    return ", ".join(format_plural(count, kind) for count, kind in kinds)


def _format_share(report: Report) -> str:
    """The kind of request of which the largest share is used up, and that share."""
    if not report.use.hour_shares:
        return ""
    share, kind = max((share, kind) for kind, share in report.use.hour_shares.items())
    amount = f"{share:.0%}" if share >= _LEAST_SHARE else f"under {_LEAST_SHARE:.0%}"
    return f", {amount} of an hour's {kind}"


def _format_elapsed(report: Report) -> str:
    """Seconds, or minutes and seconds, from RFC 3339 times."""
    span = datetime.fromisoformat(report.finished) - datetime.fromisoformat(report.started)
    minutes, seconds = divmod(round(span.total_seconds()), 60)
    return f"{minutes}m{seconds:02}s" if minutes else f"{seconds}s"
