"""The alerts and the dashboard in deploy/monitoring: their expressions parse, and every metric and label is one that is
written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import promql_parser
import pytest
import yaml

from gitsync.cli.command_table import COMMANDS
from gitsync.model.result import Outcome
from gitsync.model.verdict import DRIFTED, Verdict
from gitsync.report.metrics import METRICS
from gitsync.workflows.audit.audit import Origin
from tests.deploy.cluster_tools import MONITORING, read_block, template
from tests.support.programs import needs_helm

COMMON = {"command", "agent", "source", "status"}
LABELS = {name: COMMON | set(metric.labels) for name, metric in METRICS.items()}
OF_KUBE_STATE_METRICS = {
    "kube_cronjob_spec_suspend": {"namespace", "cronjob"},
    "kube_cronjob_status_last_schedule_time": {"namespace", "cronjob"},
    "kube_cronjob_status_last_successful_time": {"namespace", "cronjob"},
}
VALUES = {
    "command": {"sync", "plan", "unmanaged", "audit", "$command"},
    "origin": {origin.value for origin in Origin},
    "outcome": {outcome.value for outcome in Outcome},
    "verdict": {verdict.value for verdict in Verdict},
    "severity": {"error", "warning"},
}
RULES = yaml.safe_load((MONITORING / "alerts.yaml").read_text())
ALERTS = {rule["alert"]: rule for group in RULES["groups"] for rule in group["rules"]}
DASHBOARD = json.loads((MONITORING / "dashboard.json").read_text())
TARGETS = {
    f"{panel['title']} {target['refId']}": target["expr"]
    for panel in DASHBOARD["panels"]
    for target in panel["targets"]
}
EXPRESSIONS = {**{name: rule["expr"] for name, rule in ALERTS.items()}, **TARGETS}


def selectors(text: str) -> Iterator[Any]:
    """Every selector of an expression."""
    yield from _walk(promql_parser.parse(text))


def _walk(node: Any) -> Iterator[Any]:
    if isinstance(node, promql_parser.VectorSelector):
        yield node
        return
    for part in (getattr(node, name, None) for name in ("expr", "lhs", "rhs", "args", "vector_selector")):
        for each in part if isinstance(part, list) else [part] if part is not None else []:
            yield from _walk(each)


def grouped_by(text: str) -> set[str]:
    return {name.strip() for names in re.findall(r"\b(?:by|on) \(([^)]*)\)", text) for name in names.split(",")}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_an_expression_names_what_is_written(name):
    found = list(selectors(EXPRESSIONS[name]))
    known = LABELS | OF_KUBE_STATE_METRICS
    assert found
    assert {sample.name for sample in found} <= set(known)
    for metric in found:
        matchers = metric.matchers.matchers
        assert {matcher.name for matcher in matchers} <= known[metric.name]
        assert grouped_by(EXPRESSIONS[name]) <= known[metric.name] | {"namespace", "cronjob"}
        for matcher in matchers:
            values = set(matcher.value.split("|"))
            assert values <= VALUES.get(matcher.name, values), f"{matcher.name} has no such value"


def test_what_the_parser_finds():
    """Without this the test above would prove nothing."""
    found = list(selectors('sum by (a) (time() - max(one{b="c"})) / two > 1 unless on (d) three'))
    assert [sample.name for sample in found] == ["one", "two", "three"]
    with pytest.raises(ValueError, match="unclosed left parenthesis"):
        promql_parser.parse("sum by (a) (")


@pytest.mark.parametrize("path", sorted(MONITORING.iterdir()), ids=lambda path: path.name)
def test_a_file_names_no_other_metric(path):
    """Also not where no expression is: in a variable of the dashboard, or in a text."""
    assert set(re.findall(r"\b(?:gitsync|kube)_\w+", path.read_text())) <= set(LABELS | OF_KUBE_STATE_METRICS)


def test_the_page_describes_every_metric_and_every_alert():
    page = (MONITORING.parent.parent / "docs" / "watching.md").read_text()
    rows = re.findall(r"^\| (`gitsync_\w+`[^|]*) \| (.*?) \|", page, flags=re.MULTILINE)
    described = {
        name: tuple(re.findall(r"`(\w+)`", labels)) for names, labels in rows for name in re.findall(r"`(\w+)`", names)
    }
    assert described == {name: metric.labels for name, metric in METRICS.items()}
    assert re.findall(r"^\| `(Gitsync\w+)` \|", page, flags=re.MULTILINE) == list(ALERTS)


def test_every_metric_is_shown():
    shown = {selector.name for text in TARGETS.values() for selector in selectors(text)}
    assert set(METRICS) - shown == {"gitsync_run_end_timestamp_seconds"}, "an alert has it"


def test_the_alert_on_drift_covers_every_verdict_that_is_drift():
    [selector] = selectors(ALERTS["GitsyncDrift"]["expr"])
    [matcher] = [matcher for matcher in selector.matchers.matchers if matcher.name == "verdict"]
    assert set(matcher.value.split("|")) == {verdict.value for verdict in DRIFTED}


def test_the_operator_gets_the_same_alerts():
    rule = yaml.safe_load((MONITORING / "prometheusrule.yaml").read_text())
    assert (rule["apiVersion"], rule["kind"]) == ("monitoring.coreos.com/v1", "PrometheusRule")
    assert rule["spec"] == RULES


@pytest.mark.parametrize("name", ALERTS)
def test_an_alert_reports_what_is_wrong_and_what_to_do(name):
    rule = ALERTS[name]
    assert set(rule) == {"alert", "expr", "for", "labels", "annotations"}
    assert rule["labels"]["severity"] in {"critical", "warning", "info"}
    texts = rule["annotations"]
    assert set(texts) == {"summary", "description"}
    kept = grouped_by(rule["expr"]) or COMMON
    assert set(re.findall(r"\$labels\.(\w+)", " ".join(texts.values()))) <= kept
    commands = re.findall(r"`gitsync (\w+)", " ".join(texts.values()))
    assert set(commands) <= set(COMMANDS)


@needs_helm
def test_the_alerts_on_the_cron_job_are_about_the_one_that_is_installed():
    [name] = [name for kind, _, name in template(read_block("values.yaml")) if kind == "CronJob"]
    alerts = [rule["expr"] for alert, rule in ALERTS.items() if alert.startswith("GitsyncCronJob")]
    assert all(f'cronjob="{name}"' in expression for expression in alerts)


def test_panels_do_not_overlap():
    boxes = [panel["gridPos"] for panel in DASHBOARD["panels"]]
    cells = [{(x, y) for x in range(b["x"], b["x"] + b["w"]) for y in range(b["y"], b["y"] + b["h"])} for b in boxes]
    assert [(a & b) for a, b in combinations(cells, 2) if a & b] == []
    assert max(x for cell in cells for x, _ in cell) < 24, "Grafana has 24 columns"


def test_panels_use_the_chosen_data_source_and_have_their_own_ids():
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(set(ids)) == len(ids)
    variables = {variable["name"] for variable in DASHBOARD["templating"]["list"]}
    sources = {t["datasource"]["uid"] for p in DASHBOARD["panels"] for t in [p, *p["targets"]]}
    assert sources == {"${datasource}"}
    named = set(re.findall(r"\$\{?(\w+)\}?", json.dumps(DASHBOARD)))
    assert named <= variables
