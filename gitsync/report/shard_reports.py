"""One report of what the workers of a run have reported, each of its own shard."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, replace
from itertools import islice

from gitsync.model.arm_id import NO_ID
from gitsync.model.gvk import Key
from gitsync.model.report import Report, RequestCounts, RequestUse, RunTarget
from gitsync.model.result import Result


def join_reports(reports: Sequence[Report]) -> Report:
    """Join the reports of shards, at least one."""
    first = reports[0]
    # A worker that was started again reports its shard once more, and its last report counts.
    results = {result.key: result for report in reports for result in report.results}
    # Each worker has read the whole source, so its problems are in all reports.
    problems = dict.fromkeys(problem for report in reports for problem in report.problems)
    return replace(
        first,
        started=min(report.started for report in reports),
        finished=max(report.finished for report in reports),
        interrupted=any(report.interrupted for report in reports),
        target=_join_targets([report.target for report in reports]),
        requests=RequestCounts(*map(sum, zip(*(astuple(report.requests) for report in reports), strict=True))),
        use=RequestUse(by_type=_add_types(reports), hour_shares=_add_shares(reports)),
        problems=tuple(sorted(problems, key=lambda problem: problem.order)),
        results=_add_owners([results[key] for key in sorted(results)]),
    )


def _add_owners(results: Sequence[Result]) -> tuple[Result, ...]:
    """Add the owners that follow from ARM ids, for the order of a report: JSON has none."""
    keys = {result.arm_id.key: result.key for result in results if result.arm_id}

    def find_owner(result: Result) -> Key | None:
        # The first of the lineage is the resource itself.
        above = islice((result.arm_id or NO_ID).lineage, 1, None)
        return next((keys[path] for path in above if path in keys), None)

    return tuple(replace(result, manifest=replace(result.manifest, owner=find_owner(result))) for result in results)


def _join_targets(targets: Sequence[RunTarget]) -> RunTarget:
    """Join what is known: a worker without a resource of the global credential does not know its subscription, and one
    that was started later names the pinned commit in place of the branch.
    """

    def find(name: str) -> str:
        values = (getattr(target, name) for target in targets)
        return next((value for value in values if value and not (name == "ref" and value == targets[0].revision)), "")

    names = ("repository", "ref", "subscription", "subscription_name", "endpoint", "identity", "agent", "catalog")
    others = {subscription for target in targets for subscription in target.other_subscriptions}
    return RunTarget(
        **{name: find(name) for name in names},
        revision=targets[0].revision,
        other_subscriptions=tuple(sorted(others)),
    )


def _add_types(reports: Iterable[Report]) -> Mapping[str, Mapping[str, int]]:
    times: Mapping[str, Counter[str]] = defaultdict(Counter)
    for report in reports:
        for arm_type, kinds in report.use.by_type.items():
            times[arm_type].update(kinds)
    return {arm_type: dict(sorted(kinds.items())) for arm_type, kinds in sorted(times.items())}


def _add_shares(reports: Sequence[Report]) -> Mapping[str, float]:
    """Add the shares of the hour: workers may have used up the same limits, so this is the most that it can be."""
    kinds = sorted({kind for report in reports for kind in report.use.hour_shares})
    return {kind: sum(report.use.hour_shares.get(kind, 0.0) for report in reports) for kind in kinds}
