"""Traces: the tree of spans that a collector gets, by the variables that OpenTelemetry specifies."""

from dataclasses import replace

import pytest

from gitsync import __version__
from gitsync.errors import PublishError
from gitsync.model.report import Report, RequestCounts
from gitsync.model.result import Stage
from gitsync.report.progress import StageVisit
from gitsync.report.traces import export_traces, is_traced
from tests.report.report_builders import DRIFTED, IN_SYNC, REFUSED, RUN_END
from tests.support.parts import build
from tests.support.trace_collector import attributes, collecting

BEGAN = 1777629600 * 10**9
SECOND = 10**9
REPORT = build(
    Report,
    command="sync",
    revision="a" * 40,
    started="",
    finished="",
    exit_code=1,
    requests=RequestCounts(reads=4, writes=1),
    problems=(),
    results=(IN_SYNC, DRIFTED, REFUSED),
)
END = replace(
    RUN_END,
    agent="blue",
    exit_code=1,
    is_success=False,
    report=REPORT,
    visits={
        IN_SYNC.key: [StageVisit(Stage.POLICY, 1000.0, 1000.5), StageVisit(Stage.OBSERVE, 1000.5, 1002.0)],
        REFUSED.key: [StageVisit(Stage.ACT, 1010.0, 1060.0)],
    },
)
ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def collector(monkeypatch):
    """A collector that the exporter, which reads its variables itself, is led to."""
    with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "10")
        yield collector


WANTED = [
    ({}, False, "no endpoint"),
    (ENDPOINT, True, "an endpoint for all signals"),
    ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:1/x"}, True, "one for traces"),
    ({"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://127.0.0.1:1/x"}, False, "one for metrics alone"),
    (ENDPOINT | {"OTEL_SDK_DISABLED": "true"}, False, "it is switched off"),
    (ENDPOINT | {"OTEL_TRACES_EXPORTER": "none"}, False, "it is switched off for traces"),
    (ENDPOINT | {"OTEL_TRACES_EXPORTER": "otlp"}, True, "the default by name"),
    ({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, False, "an empty variable is as none"),
]


@pytest.mark.parametrize(("environment", "expected", "why"), WANTED, ids=[row[-1] for row in WANTED])
def test_traces_are_made_for_an_endpoint_alone(environment, expected, why):
    assert is_traced(environment) is expected, why


def test_the_tree_of_a_run(collector):
    export_traces(END, {"TRACEPARENT": PARENT})
    spans = collector.spans
    names = {span.span_id: span.name for span in spans}
    assert sorted((names.get(span.parent_span_id, "pipeline"), span.name) for span in spans) == [
        ("ResourceGroup.resources.azure.com/default/core", "observe"),
        ("ResourceGroup.resources.azure.com/default/core", "policy"),
        ("StorageAccount.storage.azure.com/default/logs", "act"),
        ("gitsync sync", "ResourceGroup.resources.azure.com/default/core"),
        ("gitsync sync", "StorageAccount.storage.azure.com/default/logs"),
        ("pipeline", "gitsync sync"),
    ]
    assert {span.trace_id.hex() for span in spans} == {PARENT.split("-")[1]}
    times = {span.name: (span.start_time_unix_nano - BEGAN, span.end_time_unix_nano - BEGAN) for span in spans}
    assert times["gitsync sync"] == (0, 90 * SECOND)
    assert times["observe"] == (SECOND // 2, 2 * SECOND)
    assert times["StorageAccount.storage.azure.com/default/logs"] == times["act"] == (10 * SECOND, 60 * SECOND)


def test_spans_have_figures_and_codes_and_no_message(collector):
    export_traces(END, {})
    by_name = {span.name: span for span in collector.spans}
    run = by_name["gitsync sync"]
    assert attributes(run).items() >= {
        "gitsync.agent": "blue",
        "gitsync.exit_code": 1,
        "gitsync.revision": "a" * 40,
        "gitsync.results.failed": 1,
        "gitsync.outside_changes": 0,
        "gitsync.requests.reads": 4,
    }.items()  # fmt: skip
    assert (run.status.code, run.status.message) == (2, "exit code 1")
    failed = by_name["StorageAccount.storage.azure.com/default/logs"]
    assert (failed.status.code, failed.status.message) == (2, "AccountNameInvalid")
    assert attributes(failed)["gitsync.reason"] == "AccountNameInvalid"
    assert REFUSED.condition.message.encode() not in collector.sent[0][2]
    assert by_name["policy"].status.code == 0


def test_a_refused_run_is_one_span(collector):
    export_traces(replace(END, report=None, visits={}, exit_code=2), {})
    [span] = collector.spans
    assert (span.name, attributes(span)["gitsync.exit_code"]) == ("gitsync sync", 2)


def test_the_service_is_gitsync_unless_a_variable_sets_otherwise(collector, monkeypatch):
    export_traces(END, {})
    assert collector.resource.items() >= {"service.name": "gitsync", "service.version": __version__}.items()
    collector.sent.clear()
    monkeypatch.setenv("OTEL_SERVICE_NAME", "landing-zone")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=prod")
    export_traces(END, {})
    assert collector.resource.items() >= {"service.name": "landing-zone", "deployment.environment": "prod"}.items()


def test_a_large_run_is_sent_in_parts(collector):
    visits = {IN_SYNC.key._replace(name=f"rg{n}"): END.visits[IN_SYNC.key] for n in range(400)}
    export_traces(replace(END, visits=visits), {})
    assert [len(r.resource_spans[0].scope_spans[0].spans) for r in collector.requests] == [512, 512, 177]


def test_a_sampler_may_leave_all_out(collector, monkeypatch):
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
    export_traces(END, {})
    assert collector.sent == []


def test_a_collector_that_refuses(collector):
    collector.status = 403
    with pytest.raises(PublishError, match="The traces cannot be sent"):
        export_traces(END, {})


def test_a_protocol_without_an_exporter_is_named(collector):
    with pytest.raises(PublishError, match="protocol smoke-signals is installed"):
        export_traces(END, {"OTEL_EXPORTER_OTLP_PROTOCOL": "smoke-signals"})
