"""Runs the pods of a real API server as processes of this machine, as a scheduler and a kubelet do.

A pod is bound to a node that does not exist. Its one container becomes a process with the environment that a kubelet
gives it, and how it ends is reported as a kubelet reports it. A pod that is being deleted gets SIGTERM, and SIGKILL
after its grace period; it goes once its process has ended. All that follows is decided by Kubernetes' controllers.
"""

from __future__ import annotations

import base64
import os
import re
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from api_server import Refused, Server

NODE = "this-machine"
INDEX = "batch.kubernetes.io/job-completion-index"
FAILURES = "batch.kubernetes.io/job-index-failure-count"
OUT_OF_MEMORY = 9  # the signal that the system kills with
_SUBSCRIPTED = re.compile(r"metadata\.(labels|annotations)\['(.+)'\]")

Pod = dict[str, Any]
Variables = Callable[[Pod], Mapping[str, str]]


@dataclass
class Started:
    """The process of a pod."""

    process: subprocess.Popen[bytes]
    log: Path
    kill_at: float | None = None  # when it gets SIGKILL, once the pod is being deleted; in monotonic seconds


@dataclass
class PodRunner:
    """Runs the pods of all namespaces."""

    server: Server
    entry_point: list[str]  # of the image
    folder: Path
    trouble: Variables = lambda _: {}  # variables that a pod gets in place of its own, as if its node were out of order
    started: dict[str, Started] = field(default_factory=dict)  # by the uid of the pod
    ended: list[tuple[Pod, int]] = field(default_factory=list)  # with the exit code

    def look(self) -> None:
        """Take each pod a step further."""
        for pod in self.server.send_request("GET", "/api/v1/pods")["items"]:
            try:
                self.advance(pod)
            except Refused as error:
                if error.status not in {404, 409}:  # it is gone, or was changed since it was listed
                    raise

    def advance(self, pod: Pod) -> None:
        started = self.started.get(pod["metadata"]["uid"])
        is_over = pod["status"]["phase"] in {"Succeeded", "Failed"}
        is_deleted = "deletionTimestamp" in pod["metadata"]
        if started and not is_over and started.process.poll() is not None:
            self.report_end(pod, started.process.returncode)
        elif started and not is_over and is_deleted:
            end_in_time(started, pod["metadata"]["deletionGracePeriodSeconds"])
        elif is_deleted and pod["metadata"].get("deletionGracePeriodSeconds"):
            self.forget(pod)
        elif not started and not is_over and not is_deleted:
            self.start(pod)

    def start(self, pod: Pod) -> None:
        metadata = pod["metadata"]
        binding = {"metadata": {"name": metadata["name"]}, "target": {"kind": "Node", "name": NODE}}
        self.server.send_request("POST", f"{find_path(pod)}/binding", binding)
        folder = self.folder / metadata["namespace"] / metadata["name"]
        for name in ("home", "scratch"):
            (folder / name).mkdir(parents=True)
        variables = {**self.make_variables(pod), **make_image_variables(folder), **self.trouble(pod)}
        (container,) = pod["spec"]["containers"]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [*self.entry_point, *container["args"]], stdout=log, stderr=log, cwd=folder / "home", env=variables
            )
        self.started[metadata["uid"]] = Started(process, folder / "log")
        self.report(pod, {"phase": "Running", "startTime": now()}, {"running": {"startedAt": now()}})

    def make_variables(self, pod: Pod) -> dict[str, str]:
        """The variables of the container, in the order of a kubelet: later ones win."""
        (container,) = pod["spec"]["containers"]
        variables = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(self.server.port)}
        for source in container.get("envFrom", []):
            variables |= self.read_source(pod["metadata"]["namespace"], source)
        for variable in container.get("env", []):
            variables[variable["name"]] = (
                variable["value"] if "value" in variable else read_field(pod, variable["valueFrom"]["fieldRef"])
            )
        return variables

    def read_source(self, namespace: str, source: Mapping[str, Any]) -> dict[str, str]:
        """A ConfigMap or a Secret as variables; none if it is optional and absent."""
        kind, reference = next(iter(source.items()))
        path = f"/api/v1/namespaces/{namespace}/{'secrets' if kind == 'secretRef' else 'configmaps'}"
        listed = {manifest["metadata"]["name"]: manifest for manifest in self.server.send_request("GET", path)["items"]}
        if reference.get("optional") and reference["name"] not in listed:
            return {}
        data: dict[str, str] = listed[reference["name"]].get("data", {})
        return {name: base64.b64decode(text).decode() for name, text in data.items()} if kind == "secretRef" else data

    def report(self, pod: Pod, status: Mapping[str, Any], state: Mapping[str, Any]) -> None:
        (container,) = pod["spec"]["containers"]
        reported = {
            "name": container["name"],
            "image": container["image"],
            "imageID": "",
            "ready": "running" in state,
            "restartCount": 0,
            "state": state,
        }
        self.server.send_request(
            "PATCH", f"{find_path(pod)}/status", {"status": {**status, "containerStatuses": [reported]}}
        )

    def report_end(self, pod: Pod, code: int) -> None:
        """Report how the process ended: one that a signal ended has 128 more than its number."""
        reason = "Completed" if code == 0 else "OOMKilled" if code == -OUT_OF_MEMORY else "Error"
        exit_code = 128 - code if code < 0 else code
        self.ended.append((pod, exit_code))
        ended = {"exitCode": exit_code, "reason": reason, "finishedAt": now()}
        self.report(pod, {"phase": "Succeeded" if code == 0 else "Failed"}, {"terminated": ended})

    def forget(self, pod: Pod) -> None:
        """Remove a pod whose process has ended. It stays until the controller has counted it."""
        body = {"gracePeriodSeconds": 0, "preconditions": {"uid": pod["metadata"]["uid"]}}
        self.server.send_request("DELETE", find_path(pod), body)

    def kill(self, pod: Pod) -> None:
        """End the process of a pod as the system does if memory runs out."""
        self.started[pod["metadata"]["uid"]].process.kill()


@contextmanager
def running_pods(runner: PodRunner) -> Iterator[None]:
    """Run pods in a thread while the context lasts. What stopped the thread is raised at the end."""
    is_over, failures = threading.Event(), list[Exception]()

    def run() -> None:
        try:
            while not is_over.wait(0.2):
                runner.look()
        except Exception as error:  # noqa: BLE001 - it is raised in the thread that waits
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
        for started in runner.started.values():
            started.process.kill()
            started.process.wait()
    if failures:
        raise failures[0]


def end_in_time(started: Started, grace: int) -> None:
    """Send SIGTERM, and SIGKILL once the grace period is over."""
    if started.kill_at is None:
        started.kill_at = time.monotonic() + grace
        started.process.terminate()
    elif time.monotonic() > started.kill_at:
        started.process.kill()


def find_path(pod: Pod) -> str:
    return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"


def read_field(pod: Pod, reference: Mapping[str, str]) -> str:
    """The value of a field, by the downward API: "" for a label that is not there."""
    path = reference["fieldPath"]
    if found := _SUBSCRIPTED.fullmatch(path):
        return str(pod["metadata"].get(found[1], {}).get(found[2], ""))
    return str(pod["metadata"][path.removeprefix("metadata.")])


def make_image_variables(folder: Path) -> dict[str, str]:
    """The variables of the image, and where the scratch volume is: /tmp belongs to all processes of this machine."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder / "home"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "TMPDIR": str(folder / "scratch"),
    }


def now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"  # noqa: TID251 - of a server's object
