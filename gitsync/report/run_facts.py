"""States the facts of a run that every form of a report has: what it reads and writes to, what it read of the source,
and what it cost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from gitsync.model.manifests import Coverage, UnreadDocument, format_title
from gitsync.model.problem import is_refused
from gitsync.model.report import Report, RequestCounts, RunTarget
from gitsync.model.schedule import Estimate, Schedule
from gitsync.model.unit_kind import CONTROLLER_NAMES
from gitsync.model.verdict import Action
from gitsync.planning.record_counts import round_duration
from gitsync.report.wording import format_duration, format_plural, format_seconds, shorten_revision
from gitsync.settings.logging import escape_controls

MOST_KINDS = 10  # in a sentence
_LEAST_SHARE = 0.01
_WRITES = frozenset({Action.CREATE, Action.UPDATE})
_BASES = {
    Estimate.TYPE: "estimated from recordings",
    Estimate.PUBLISHED: "estimated from published figures",
    Estimate.DEFAULT: "guessed",
}


class Fact(NamedTuple):
    """A name and its value, both plain text."""

    name: str
    value: str


def list_target(target: RunTarget) -> list[Fact]:
    """List what is known, without empty values."""
    # A report that was made without a target has an empty one.
    if target == RunTarget():
        return []
    source = f"{target.repository} at {shorten_revision(target.revision)}" + (f" ({target.ref})" if target.ref else "")
    facts = (
        Fact("Source", source if target.repository else ""),
        Fact("Subscription", _format_subscription(target)),
        Fact("Endpoint", target.endpoint),
        Fact("Identity", target.identity),
        Fact("Agent", target.agent),
        Fact("Catalog", target.catalog),
    )
    return [fact for fact in facts if fact.value]


def _format_subscription(target: RunTarget) -> str:
    """Format the subscription as `Name (id)`, and those of credential Secrets."""
    ours = f"{target.subscription_name} ({target.subscription})" if target.subscription_name else target.subscription
    others = f"by credential Secrets: {', '.join(target.other_subscriptions)}" if target.other_subscriptions else ""
    return "; ".join(part for part in (ours, others) if part)


def build_target(target: RunTarget) -> dict[str, Any]:
    """Build the target of plain JSON values."""
    return {
        "repository": target.repository,
        "revision": target.revision,
        "ref": target.ref,
        "subscription": target.subscription,
        "subscriptionName": target.subscription_name,
        "otherSubscriptions": list(target.other_subscriptions),
        "endpoint": target.endpoint,
        "identity": target.identity,
        "agent": target.agent,
        **({"catalog": target.catalog} if target.catalog else {}),
    }


def format_coverage(coverage: Coverage) -> str:
    """Format what was read and what was not: `20 resources in 8 files; followed 1 Argo CD Application; skipped: 12
    Deployment.apps; 2 files ignored`.
    """
    counts = f"{format_plural(coverage.resources, 'resource')} in {format_plural(coverage.files, 'file')}"
    return "; ".join([counts, *format_left_out(coverage)])


def format_left_out(coverage: Coverage) -> list[str]:
    """Format the parts of the sentence about documents that did not become resources; empty if all did."""
    parts = (
        _format_kinds("followed", {_name_followed(kind, times): times for kind, times in coverage.followed.items()}),
        _format_kinds("skipped:", coverage.skipped_documents),
        f"{format_plural(coverage.rejected, 'document')} rejected" if coverage.rejected else "",
        f"{format_plural(len(coverage.ignored), 'file')} ignored" if coverage.ignored else "",
        f"{format_plural(len(coverage.skipped), 'kustomization')} skipped" if coverage.skipped else "",
        f"{format_plural(len(coverage.notes), 'problem')} in what is not used" if coverage.notes else "",
        _format_unnamed(coverage),
    )
    return [part for part in parts if part]


def _format_unnamed(coverage: Coverage) -> str:
    objects = format_plural(sum(coverage.unnamed.values()), "ASO object")
    files = format_plural(len(coverage.unnamed), "file")
    return f"{objects} in {files} that no kustomization names" if coverage.unnamed else ""


def _name_followed(kind: str, count: int) -> str:
    """Name a kind of another tool as its users do: `Flux Kustomizations`."""
    name, _, group = kind.partition(".")
    tool = next((tool for suffix, tool in CONTROLLER_NAMES.items() if group.endswith(suffix)), "")
    return f"{tool} {name}{'s' if count > 1 else ''}" if tool else kind


def _format_kinds(word: str, times: Mapping[str, int]) -> str:
    kinds = [f"{count} {kind}" for kind, count in times.items()]
    if len(kinds) > MOST_KINDS:
        kinds = [*kinds[:MOST_KINDS], f"{format_plural(len(kinds) - MOST_KINDS, 'more kind')}"]
    return f"{word} {', '.join(kinds)}" if kinds else ""


def list_left_out(coverage: Coverage) -> Iterator[str]:
    """List a line for each document and file that was left out, in the order of the files."""
    documents = [(document.source.path, document.source.line, _describe(document)) for document in coverage.unread]
    files = [(path, 0, "ignored") for path in coverage.ignored]
    skipped = [(path, 0, "skipped: its files have nothing for gitsync") for path in coverage.skipped]
    notes = [
        (note.path, note.line, f"not used: {note.code}: {escape_controls(note.message)}") for note in coverage.notes
    ]
    unnamed = [
        (path, 0, f"no kustomization names it: {format_plural(count, 'ASO object')}")
        for path, count in coverage.unnamed.items()
    ]
    for path, line, description in sorted([*documents, *files, *skipped, *notes, *unnamed]):
        yield f"{escape_controls(path)}:{line}: {description}" if line else f"{escape_controls(path)}: {description}"


def _describe(document: UnreadDocument) -> str:
    if document.is_rejected and not (document.kind or document.name):
        return "rejected"
    title = f"{format_title(document)} {escape_controls(document.name)}".rstrip()
    word = "rejected" if document.is_rejected else "followed" if document.is_followed else "skipped"
    return f"{word}: {title}"


def build_coverage(coverage: Coverage) -> Mapping[str, Any]:
    """Build the counts of plain JSON values."""
    return {
        "files": coverage.files,
        "resources": coverage.resources,
        "followed": dict(coverage.followed),
        "passedOver": dict(coverage.skipped_documents),
        "rejected": coverage.rejected,
        "ignoredFiles": len(coverage.ignored),
        "skippedKustomizations": len(coverage.skipped),
        "notes": len(coverage.notes),
        **({"unnamed": sum(coverage.unnamed.values())} if coverage.unnamed else {}),
    }


def format_cost(report: Report) -> str:
    """Format what a run cost: requests by kind, the time from start to end, and the largest share of an hour's limits
    that they use: `6 reads, 3 checks, 3 writes, 4 polls in 1s (under 1% of the hourly limit)`.
    """
    r = report.requests
    throttled = f" ({r.throttled} throttled)" if r.throttled else ""
    elapsed = datetime.fromisoformat(report.finished) - datetime.fromisoformat(report.started)
    seconds = format_seconds(round(elapsed.total_seconds()))
    return f"{_format_counts(r)}{throttled} in {seconds}{_format_share(report)}"


def format_costs(report: Report) -> list[str]:
    """Format what the run has cost, and what the sync of a plan would: a sentence each, and apart from its effect."""
    need = None if is_refused(report.problems) else estimate_sync(report)
    cost = format_cost(report)
    run = "" if report.source.base is not None else f"{cost[:1].upper()}{cost[1:]}."
    is_unknown = need is not None and need.writes + need.deletes and not report.plan.schedule.bars
    polls = ", and polls while Azure works" if is_unknown else ""
    sync = "" if need is None or need == RequestCounts() else f"A sync would send about {_format_counts(need)}{polls}"
    sync += f"{_format_expected_time(report.plan.schedule)}." if sync else ""
    return [sentence for sentence in (run, sync) if sentence]


def _format_expected_time(schedule: Schedule) -> str:
    """Format how long the writes of a sync are expected to take, and for how many of them that is an estimate."""
    if not schedule.bars:
        return ""
    total = len(schedule.bars)
    counts = {basis: times for basis, times in schedule.count_estimates().items() if times and basis in _BASES}
    if list(counts.values()) == [total]:
        basis = _BASES[next(iter(counts))]
    else:
        parts = [f"{times} {_BASES[estimate]}" for estimate, times in counts.items()]
        basis = ", ".join(parts).replace(" ", f" of {total} durations ", 1)  # after the first number
    return f", and take {format_about(schedule)}{f' ({basis})' if basis else ''}"


def format_about(schedule: Schedule) -> str:
    """Format how long writes are expected to take together: `about 3m50s`, or `at least 3m50s` with guesses in it."""
    word = "at least" if schedule.has_guesses else "about"
    return f"{word} {format_duration(round_duration(schedule.seconds))}"


def estimate_sync(report: Report) -> RequestCounts | None:
    """Estimate the requests of the sync that a plan foresees; None for any other run. Polls are those of its schedule,
    0 without one.

    A sync reads what the plan has read, and once more what it has written or deleted. It repeats the checks that it has
    too.
    """
    # A plan of two revisions did not read Azure, so what a sync would do is not known.
    if report.command != "plan" or report.source.base is not None:
        return None
    times = Counter(result.action for result in report.results)
    writes = sum(times[action] for action in _WRITES)
    replaced = [result.change.replacement for result in report.results if result.action is Action.REPLACE]
    again = len(replaced) + sum(len(replacement.below) for replacement in replaced if replacement)
    sent, unrepeated = report.requests, report.plan.unrepeated
    # A replacement is a delete and a write, with one more read after each.
    return RequestCounts(
        reads=sent.reads - unrepeated.reads + writes + 2 * again,
        writes=writes + again,
        # What the delete of another resource includes needs no request.
        deletes=sum(result.action is Action.DELETE and result.change.deleted_with is None for result in report.results)
        + again,
        checks=sent.checks - unrepeated.checks,
        polls=report.plan.schedule.polls,
    )


def list_by_type(report: Report) -> list[tuple[str, str]]:
    """List each ARM type with its requests by kind (`2 list, 1 get`), those with the most requests first."""
    rows = sorted(report.use.by_type.items(), key=lambda row: (-sum(row[1].values()), row[0]))
    return [(arm_type, ", ".join(f"{times} {kind}" for kind, times in kinds.items())) for arm_type, kinds in rows]


def _format_counts(requests: RequestCounts) -> str:
    kinds = (
        (requests.reads, "read"),
        (requests.checks, "check"),
        (requests.writes, "write"),
        (requests.deletes, "delete"),
        (requests.polls, "poll"),
    )
    return ", ".join(format_plural(count, kind) for count, kind in kinds if count) or "no requests"


def _format_share(report: Report) -> str:
    """Format the share of an hour's limit that is used up: the largest, with the kind of request where it counts."""
    if not report.use.hour_shares:
        return ""
    share, kind = max((share, kind) for kind, share in report.use.hour_shares.items())
    if share < _LEAST_SHARE:
        return f" (under {_LEAST_SHARE:.0%} of the hourly limit)"
    return f" ({share:.0%} of the hourly {kind.removesuffix('s')} limit)"
