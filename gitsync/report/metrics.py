"""Writes the metrics of a run in OpenMetrics, for a textfile collector (docs/watching.md#metrics).

Every metric is a gauge: a file has the figures of one run, which do not grow. Collectors that read only the older text
format of Prometheus read this too, since a gauge is written alike in both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from gitsync.model.report import Report
from gitsync.model.result import Outcome
from gitsync.report.progress import Figures, RunEnd, collect_stage_seconds

if TYPE_CHECKING:
    from prometheus_client.registry import Collector

LAST_SUCCESS = "gitsync_last_success_timestamp_seconds"
MANAGED = "gitsync_managed_resources"
UNMANAGED = "gitsync_unmanaged_resources"
AUDITED = "gitsync_audited_operations"


class Metric(NamedTuple):
    """A row of the metrics."""

    help: str
    labels: tuple[str, ...] = ()  # those that tell its samples apart, in addition to those that every sample has


METRICS: Mapping[str, Metric] = {
    "gitsync_run_end_timestamp_seconds": Metric("When the last run ended, in seconds since 1970."),
    LAST_SUCCESS: Metric("When the last complete run that succeeded ended, in seconds since 1970."),
    "gitsync_run_duration_seconds": Metric("How long the last run took."),
    "gitsync_run_success": Metric("1 if the last run succeeded, 0 if not."),
    "gitsync_run_exit_code": Metric("The exit code of the last run."),
    "gitsync_run_results": Metric("Resources by verdict and outcome.", ("verdict", "outcome")),
    "gitsync_run_outside_changes": Metric(
        "Changes in Azure of values that git does not set, by whether they weaken the estate.", ("weakens",)
    ),
    "gitsync_run_failures": Metric("Resources that failed or are blocked, by reason.", ("outcome", "reason")),
    "gitsync_run_problems": Metric("Problems in the manifests and of the run.", ("severity", "code")),
    "gitsync_run_requests": Metric("Requests to Azure Resource Manager by kind.", ("kind",)),
    "gitsync_run_request_limit_ratio": Metric("Used share of Azure's hourly limit, by kind.", ("kind",)),
    "gitsync_run_throttled_requests": Metric("Requests that Azure answered with 429."),
    "gitsync_run_throttled_seconds": Metric("How long at least one request was held back by Azure's limits."),
    "gitsync_run_stage_seconds": Metric("Time of all resources at a stage, waits included.", ("stage",)),
    "gitsync_run_stage_longest_seconds": Metric("Time of the slowest resource at a stage.", ("stage",)),
    MANAGED: Metric("Resources in git in the searched groups, by kind.", ("kind",)),
    UNMANAGED: Metric("Resources in the same groups that are not in git, by kind.", ("kind",)),
    AUDITED: Metric("Writes, deletes and key actions on resources in git, by origin.", ("origin",)),
}
"""Every metric by name, in the order of the file. A refused run has those up to the exit code; the last three are those
of `unmanaged` and `audit`."""


def render(end: RunEnd, before: str = "") -> str:
    """Render the file of a run. `before` is the text of the last one: a run that fails keeps the last success that it
    has.
    """
    from prometheus_client import CollectorRegistry  # noqa: PLC0415 - imported only if metrics are set
    from prometheus_client.openmetrics.exposition import generate_latest  # noqa: PLC0415 - as above

    registry = CollectorRegistry()
    for collector in _collect(end, _read_last_success(before, _list_labels(end))):
        registry.register(collector)
    written: bytes = generate_latest(registry)
    return written.decode()


def _collect(end: RunEnd, last_success: float | None) -> Iterator[Collector]:
    from prometheus_client.core import GaugeMetricFamily  # noqa: PLC0415 - as above
    from prometheus_client.registry import Collector  # noqa: PLC0415 - as above

    class Collected(Collector):
        def __init__(self, family: GaugeMetricFamily) -> None:
            self._family = family

        def collect(self) -> Iterable[GaugeMetricFamily]:
            return (self._family,)

    labels = _list_labels(end)
    samples = _list_samples(end, last_success)
    for name, metric in METRICS.items():
        family = GaugeMetricFamily(name, metric.help, labels=[*labels, *metric.labels])
        for values, number in samples.get(name, ()):
            family.add_metric([*labels.values(), *map(_clean, values)], number)
        if family.samples:
            yield Collected(family)


def _list_labels(end: RunEnd) -> dict[str, str]:
    """List what every sample has."""
    # The labels are known from the settings alone, so that a refused run has the same.
    labels = {"command": end.command, "agent": end.agent, "source": end.source, "status": end.status}
    return {name: _clean(value) for name, value in labels.items() if value}


def _clean(text: str) -> str:
    """Make a text valid in UTF-8: a path, and a code in Azure's response, can have halves of characters."""
    return text.encode("utf-8", "backslashreplace").decode()


def _list_samples(end: RunEnd, last_success: float | None) -> Figures:
    ended = end.ended_at.timestamp()
    # A run of some resources proves nothing for the others.
    if end.is_success and end.is_complete:
        last_success = ended
    run: Figures = {
        "gitsync_run_end_timestamp_seconds": [((), ended)],
        LAST_SUCCESS: [] if last_success is None else [((), last_success)],
        "gitsync_run_duration_seconds": [((), round((end.ended_at - end.started_at).total_seconds(), 3))],
        "gitsync_run_success": [((), float(end.is_success))],
        "gitsync_run_exit_code": [((), end.exit_code)],
    }
    of_report = {**_list_report_samples(end.report), **_list_stage_samples(end)} if end.report else {}
    return {**run, **of_report, **end.figures}


def _list_report_samples(report: Report) -> Figures:
    requests, use = report.requests, report.use
    kinds = {
        "read": requests.reads,
        "write": requests.writes,
        "delete": requests.deletes,
        "poll": requests.polls,
        "question": requests.checks,
    }
    weakening = [change.weakens for result in report.results for change in result.comparison.outside]
    return {
        "gitsync_run_results": _count((r.verdict.value, r.outcome.value) for r in report.results),
        "gitsync_run_outside_changes": [
            # Zeros too: to an alert, a missing sample is not a 0.
            (("true",), sum(map(bool, weakening))),
            (("false",), sum(not weakens for weakens in weakening)),
        ],
        "gitsync_run_failures": _count(
            (r.outcome.value, r.condition.reason)
            for r in report.results
            if r.outcome in {Outcome.FAILED, Outcome.BLOCKED}
        ),
        "gitsync_run_problems": _count((p.level.value, p.code) for p in report.problems),
        "gitsync_run_requests": [((kind,), number) for kind, number in kinds.items()],
        # "reads" is "read" here, as in the other metrics.
        "gitsync_run_request_limit_ratio": [((k.rstrip("s"),), round(v, 6)) for k, v in use.hour_shares.items()],
        "gitsync_run_throttled_requests": [((), requests.throttled)],
        "gitsync_run_throttled_seconds": [((), round(use.throttled_seconds, 3))],
    }


def _list_stage_samples(end: RunEnd) -> Figures:
    seconds = collect_stage_seconds(end.visits)
    return {
        "gitsync_run_stage_seconds": [((stage.value,), round(sum(times), 3)) for stage, times in seconds.items()],
        "gitsync_run_stage_longest_seconds": [
            ((stage.value,), round(max(times), 3)) for stage, times in seconds.items()
        ],
    }


def _count(labels: Iterable[tuple[str, ...]]) -> list[tuple[tuple[str, ...], float]]:
    return sorted(Counter(labels).items())


def _read_last_success(text: str, labels: Mapping[str, str]) -> float | None:
    """Read the last success in an earlier file, for these labels. None if it has none, or is no such file."""
    from prometheus_client.openmetrics.parser import text_string_to_metric_families  # noqa: PLC0415 - as above

    try:
        samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    except Exception:  # noqa: BLE001 - whatever the parser raises for a file that somebody else has written
        return None
    found = (sample.value for sample in samples if sample.name == LAST_SUCCESS and sample.labels == dict(labels))
    return next(found, None)
