"""Sends traces of a run by OpenTelemetry: a span for the run, one for each resource, one for each stage
(docs/watching.md).

All spans are made at the end of a run, from its timeline: while it works, nothing is imported and nothing can fail. The
package is an extra, and the settings are the variables that OpenTelemetry specifies. Spans have names, ids, codes and
figures of the run; a message may quote a value of a manifest, so none of them has one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from gitsync import __version__
from gitsync.errors import PublishError
from gitsync.model.gvk import Key
from gitsync.model.result import Outcome, Result
from gitsync.report.progress import RunEnd
from gitsync.report.wording import count_outside

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span, Tracer

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_EXPORTERS = {"http/protobuf": "otlp_proto_http", "grpc": "otlp_proto_grpc"}
_MOST_IN_A_REQUEST = 512
_NANOSECONDS = 1_000_000_000

_HURRIED = {"timeout": 2}
"""Of an exporter, in seconds: the process is killed soon after the signal."""

_Attributes = Mapping[str, str | int]


def is_traced(environment: Mapping[str, str]) -> bool:
    """Return whether there is an endpoint for traces, and the extra is installed."""
    # As OpenTelemetry specifies, any other value leaves it on.
    if environment.get("OTEL_SDK_DISABLED", "").casefold() == "true":
        return False
    if (environment.get("OTEL_TRACES_EXPORTER") or "otlp") != "otlp" or not _find_first(environment, ENDPOINTS):
        return False
    # `find_spec` of a submodule raises an error without its parent, so that is looked for first.
    return find_spec("opentelemetry") is not None and find_spec("opentelemetry.sdk") is not None


def export_traces(end: RunEnd, environment: Mapping[str, str]) -> None:
    """Send the spans of a run to the endpoint of the environment. Raises PublishError if that fails."""
    is_hurried = end.report is not None and end.report.interrupted
    exporter = _open_exporter(environment, _HURRIED if is_hurried else {})
    try:
        sender = _Sender(exporter)
        _make_spans(end, environment, sender)
        sender.flush()
    finally:
        exporter.shutdown()


def _open_exporter(environment: Mapping[str, str], options: Mapping[str, Any]) -> SpanExporter:
    from importlib.metadata import entry_points  # noqa: PLC0415 - as below

    protocol = _find_first(environment, _PROTOCOLS) or "http/protobuf"
    found = entry_points(group="opentelemetry_traces_exporter", name=_EXPORTERS.get(protocol, protocol))
    if not found:
        raise PublishError(
            f"No trace exporter for the protocol {protocol} is installed.",
            hint="Set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf, or install the exporter.",
        )
    exporter: SpanExporter = next(iter(found)).load()(**options)
    return exporter


def _find_first(environment: Mapping[str, str], names: Sequence[str]) -> str:
    # An empty variable counts as one that is not set, as OpenTelemetry specifies.
    return next((environment[name] for name in names if environment.get(name)), "")


class _Sender:
    """Sends spans as they end, some hundreds in a request, so that those of a large run are never in memory at once."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self._ended: list[ReadableSpan] = []

    def add(self, span: ReadableSpan) -> None:
        if span.context is not None and span.context.trace_flags.sampled:
            self._ended.append(span)
        if len(self._ended) >= _MOST_IN_A_REQUEST:
            self.flush()

    def flush(self) -> None:
        """Send the spans that have ended. Raises PublishError if the endpoint does not take them."""
        from opentelemetry.sdk.trace.export import SpanExportResult  # noqa: PLC0415 - imported where traces are wanted

        spans, self._ended = self._ended, []
        if spans and self._exporter.export(spans) is not SpanExportResult.SUCCESS:
            raise PublishError("The traces cannot be sent.", hint="Check OTEL_EXPORTER_OTLP_ENDPOINT and its headers.")


class _Moments(NamedTuple):
    """Makes times of spans, in nanoseconds since 1970, of the clock's monotonic seconds."""

    epoch: int
    started: float

    def at(self, monotonic: float) -> int:
        return self.epoch + int((monotonic - self.started) * _NANOSECONDS)


def _make_spans(end: RunEnd, environment: Mapping[str, str], sender: _Sender) -> None:
    from opentelemetry.trace import set_span_in_context  # noqa: PLC0415 - as above

    tracer = _make_tracer(sender)
    epoch = int(end.started_at.timestamp() * _NANOSECONDS)
    moments = _Moments(epoch, end.started)
    run = tracer.start_span(
        f"gitsync {end.command}", _find_parent(environment), attributes=_describe_run(end), start_time=epoch
    )
    results = {result.key: result for result in end.report.results} if end.report else {}
    for key in sorted(end.visits):
        _make_resource_span(tracer, set_span_in_context(run), end, key, results.get(key), moments)
    if not end.is_success:
        _fail(run, f"exit code {end.exit_code}")
    run.end(int(end.ended_at.timestamp() * _NANOSECONDS))


def _make_tracer(sender: _Sender) -> Tracer:
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource  # noqa: PLC0415 - as above
    from opentelemetry.sdk.trace import SpanProcessor, TracerProvider  # noqa: PLC0415 - as above

    class Ends(SpanProcessor):
        def on_end(self, span: ReadableSpan) -> None:
            sender.add(span)

    ours = Resource({"service.name": "gitsync", "service.version": __version__})
    # Closed by export_traces, which also reports what fails then.
    provider = TracerProvider(resource=ours.merge(OTELResourceDetector().detect()), shutdown_on_exit=False)
    provider.add_span_processor(Ends())
    return provider.get_tracer("gitsync", __version__)


def _find_parent(environment: Mapping[str, str]) -> Context:
    """Find the span that a pipeline has put into the environment, as OpenTelemetry specifies for processes."""
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator  # noqa: PLC0415 - as above

    carrier = {name: environment.get(name.upper(), "") for name in ("traceparent", "tracestate")}
    return TraceContextTextMapPropagator().extract(carrier)


def _make_resource_span(
    tracer: Tracer, parent: Context, end: RunEnd, key: Key, result: Result | None, moments: _Moments
) -> None:
    from opentelemetry.trace import set_span_in_context  # noqa: PLC0415 - as above

    visits = end.visits[key]
    attributes = _describe_resource(key, result)
    span = tracer.start_span(str(key), parent, attributes=attributes, start_time=moments.at(visits[0].start))
    for visit in visits:
        stage = tracer.start_span(
            visit.stage.value,
            set_span_in_context(span),
            attributes={"gitsync.stage": visit.stage.value},
            start_time=moments.at(visit.start),
        )
        stage.end(moments.at(visit.end))
    if result and result.outcome is Outcome.FAILED:
        _fail(span, result.condition.reason)
    span.end(moments.at(visits[-1].end))


def _fail(span: Span, reason: str) -> None:
    from opentelemetry.trace import Status, StatusCode  # noqa: PLC0415 - as above

    span.set_status(Status(StatusCode.ERROR, reason))


def _describe_run(end: RunEnd) -> _Attributes:
    report = end.report
    known: dict[str, str | int] = {
        "gitsync.command": end.command,
        "gitsync.agent": end.agent,
        "gitsync.source": end.source,
        "gitsync.exit_code": end.exit_code,
    }
    if report:
        known |= {"gitsync.revision": report.revision or ""}
        known |= {f"gitsync.results.{outcome.value}": count for outcome, count in report.outcomes.items()}
        known["gitsync.outside_changes"] = count_outside(report)
        counts = report.requests
        known |= {f"gitsync.requests.{kind}": getattr(counts, kind) for kind in ("reads", "writes", "deletes", "polls")}
        known["gitsync.requests.questions"] = counts.checks
    return _leave_out_unknown(known)


def _describe_resource(key: Key, result: Result | None) -> _Attributes:
    known: dict[str, str | int] = {
        "gitsync.resource.group": key.group,
        "gitsync.resource.kind": key.kind,
        "gitsync.resource.namespace": key.namespace,
        "gitsync.resource.name": key.name,
    }
    if result:
        known |= {
            "gitsync.resource.arm_id": result.arm_id or "",
            "gitsync.verdict": result.verdict.value,
            "gitsync.outcome": result.outcome.value,
            "gitsync.action": result.action.value,
            "gitsync.reason": result.condition.reason,
            "gitsync.outside_changes": len(result.comparison.outside),
            "gitsync.requests": result.ending.requests,
        }
    return _leave_out_unknown(known)


def _leave_out_unknown(attributes: _Attributes) -> _Attributes:
    return {name: value for name, value in attributes.items() if value != ""}
