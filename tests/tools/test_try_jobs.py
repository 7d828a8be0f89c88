"""How pods of a real API server become processes, and what the tool reports where its programs are missing."""

import base64
from pathlib import Path
from typing import Any

import job_site
import pod_runner
import pytest
import yaml
from pod_runner import PodRunner

from tests.tools.tool_runs import run_script

TOOL = Path(__file__).parents[2] / "tools" / "try_jobs.py"
POD = {
    "metadata": {
        "name": "worker-1",
        "namespace": "jobs",
        "uid": "1234",
        "labels": {"batch.kubernetes.io/job-completion-index": "1"},
        "annotations": {"a/b": "kept"},
    },
    "spec": {
        "containers": [
            {
                "name": "gitsync",
                "image": "gitsync:1",
                "args": ["sync"],
                "envFrom": [
                    {"configMapRef": {"name": "settings"}},
                    {"secretRef": {"name": "secrets", "optional": True}},
                    {"secretRef": {"name": "absent", "optional": True}},
                ],
                "env": [
                    {"name": "PLAIN", "value": "of the pod"},
                    {
                        "name": "INDEX",
                        "valueFrom": {"fieldRef": {"fieldPath": f"metadata.labels['{pod_runner.INDEX}']"}},
                    },
                ],
            }
        ]
    },
}


class Objects:
    """A server that has a ConfigMap and a Secret, and keeps what it is sent."""

    port = 6443

    def __init__(self) -> None:
        self.sent: list[Any] = []

    def send_request(self, method: str, path: str, body: Any = None) -> Any:
        if method != "GET":
            self.sent.append((method, path, body))
            return None
        data = {"TOKEN": base64.b64encode(b"hunter2").decode()} if path.endswith("/secrets") else {"PLAIN": "of all"}
        return {
            "items": [{"metadata": {"name": path.rpartition("/")[2].replace("configmaps", "settings")}, "data": data}]
        }


@pytest.fixture
def runner(tmp_path: Path) -> PodRunner:
    return PodRunner(Objects(), ["gitsync"], tmp_path)


def test_without_the_programs_it_reports_what_it_needs(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    ended = run_script(TOOL)
    assert (ended.returncode, ended.stderr) == (
        2,
        "Not on PATH: etcd, kube-apiserver, kube-controller-manager, kubectl, git. Run tools/build_kubernetes.py.\n",
    )


def test_a_pod_has_the_variables_that_a_kubelet_gives_it(runner):
    assert runner.make_variables(POD) == {
        "KUBERNETES_SERVICE_HOST": "127.0.0.1",
        "KUBERNETES_SERVICE_PORT": "6443",
        "TOKEN": "hunter2",
        "PLAIN": "of the pod",
        "INDEX": "1",
    }


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("metadata.uid", "1234"),
        ("metadata.annotations['a/b']", "kept"),
        ("metadata.labels['absent']", ""),
    ],
)
def test_a_field_of_the_pod(path, value):
    assert pod_runner.read_field(POD, {"fieldPath": path}) == value


@pytest.mark.parametrize(
    ("code", "phase", "reported", "reason"),
    [
        pytest.param(0, "Succeeded", 0, "Completed", id="success"),
        pytest.param(75, "Failed", 75, "Error", id="an outage"),
        pytest.param(-15, "Failed", 143, "Error", id="ended by a signal"),
        pytest.param(-9, "Failed", 137, "OOMKilled", id="out of memory"),
    ],
)
def test_the_end_of_a_process_is_reported_as_that_of_a_container(runner, code, phase, reported, reason):
    runner.report_end(POD, code)
    ((method, path, body),) = runner.server.sent
    ended = body["status"]["containerStatuses"][0]["state"]["terminated"]
    assert (method, path) == ("PATCH", "/api/v1/namespaces/jobs/pods/worker-1/status")
    assert (body["status"]["phase"], ended["exitCode"], ended["reason"]) == (phase, reported, reason)


def test_the_number_of_workers_is_changed_in_the_component():
    """The number of workers is written where docs/kubernetes.md describes, and only once."""
    text = (job_site.BASE / "shards/kustomization.yaml").read_text()
    changed = yaml.safe_load(yaml.safe_load(job_site.set_completions(text))["patches"][0]["patch"])
    values = {operation["path"].rpartition("/")[2]: operation.get("value") for operation in changed}
    assert (values["completions"], values["parallelism"]) == (job_site.WORKERS, 8)
