"""A cluster that runs pods, and in it a namespace for each case of tools/try_jobs.py.

Each namespace has the CronJob of deploy/kubernetes, and a repository and an emulated Azure of its own.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import dedent
from typing import Any

import yaml
from api_server import Server, end, make_flags, make_kubeconfig, running, start
from emulated_azure import GITSYNC, SUBSCRIPTION, EmulatedAzure, serve_azure
from pod_runner import INDEX, Pod, PodRunner, Variables, running_pods
from program_environment import make_environment

from gitsync.model.record import Durations, Record
from gitsync.providers.arm.real_clock import SystemClock
from gitsync.repository.git.git_access import GitAccess, open_remote
from gitsync.repository.git.source.location import Url
from gitsync.repository.git.state.branch import StatusBranch

BASE = Path(__file__).resolve().parent.parent / "deploy/kubernetes"
CLUSTER_PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager")
CONTROLLERS = "job-controller,cronjob-controller,garbage-collector-controller"
WORKERS = 4
STATUS = "gitsync/status"
PATIENCE = 240  # seconds for a Job to end


@dataclass
class Bench:
    """A cluster that runs pods."""

    server: Server
    runner: PodRunner
    folder: Path
    alone: dict[str, Record] = field(default_factory=dict)  # what one worker without a cluster records
    bodies: dict[str, Any] = field(default_factory=dict)  # what that worker makes in Azure
    number: int = 0  # counts the sites


@contextmanager
def running_cluster(folder: Path) -> Iterator[Bench]:
    programs = {name: str(shutil.which(name)) for name in CLUSTER_PROGRAMS}
    with running(programs["kube-apiserver"], programs["etcd"], folder) as server:
        (folder / "kubeconfig").write_text(make_kubeconfig(server))
        settings = {
            "kubeconfig": str(folder / "kubeconfig"),
            "controllers": CONTROLLERS,
            "leader-elect": "false",
            "secure-port": "0",
        }
        manager = start([programs["kube-controller-manager"], *make_flags(settings)], folder)
        runner = PodRunner(server, [str(GITSYNC)], folder / "pods")
        try:
            with running_pods(runner):
                yield open_bench(server, runner, folder)
        finally:
            end(manager)


def open_bench(server: Server, runner: PodRunner, folder: Path) -> Bench:
    bench = Bench(server, runner, folder)
    with opening_location(bench, Trial()) as site:
        site.gitsync("sync")
        bench.alone, bench.bodies = site.read_records(), site.read_bodies()
    return bench


@dataclass(frozen=True)
class Trial:
    """What differs from case to case."""

    rules: tuple[dict[str, Any], ...] = ()  # faults that Azure has
    trouble: Variables = lambda _: {}  # nodes out of order: variables that a pod gets in place of its own
    deadline: int = 600  # of the Job, in seconds
    schedule: str = ""  # of the CronJob, "" for one that is started by hand


@dataclass
class Site:
    """A namespace with the CronJob, a repository, and an Azure."""

    bench: Bench
    azure: EmulatedAzure
    folder: Path
    said: list[str] = field(default_factory=list)  # what a case prints

    @property
    def namespace(self) -> str:
        return self.folder.name

    @property
    def settings(self) -> dict[str, str]:
        return {
            "AZURE_RESOURCE_MANAGER_ENDPOINT": self.azure.url,
            "AZURE_SUBSCRIPTION_ID": SUBSCRIPTION,
            "GITSYNC_CREDENTIAL": "anonymous",
            "GITSYNC_HEARTBEAT": "false",
            "GITSYNC_SOURCE": f"file://{self.folder}/remote.git",
        }

    def kubectl(self, *arguments: str) -> str:
        """Run kubectl as a person does. RuntimeError if it fails."""
        environment = {**os.environ, "KUBECONFIG": str(self.bench.folder / "kubeconfig")}
        return run(["kubectl", "--namespace", self.namespace, *arguments], self.folder, environment)

    def gitsync(self, *arguments: str, code: int = 0) -> str:
        """Run gitsync on this machine with the settings of the pods. RuntimeError if it ends with another code."""
        environment = make_environment(self.settings, person="Ops", drop=("AZURE_", "GITSYNC_", "GIT_"))
        return run([str(GITSYNC), *arguments], self.folder, environment, code)

    def install(self, trial: Trial) -> None:
        """Apply the base with the component for many workers, as docs/kubernetes.md describes."""
        shutil.copytree(BASE, self.folder / "base")
        component = self.folder / "base/shards/kustomization.yaml"
        component.write_text(set_completions(component.read_text()))
        (self.folder / "kustomization.yaml").write_text(make_overlay(self, trial))
        self.kubectl("create", "namespace", self.namespace)
        self.kubectl("label", "namespace", self.namespace, "pod-security.kubernetes.io/enforce=restricted")
        self.kubectl("apply", "--kustomize", ".")

    def start_job(self) -> Job:
        self.kubectl("create", "job", "--from=cronjob/gitsync", "gitsync-now")
        return Job(self, "gitsync-now")

    def list_pods(self, index: int) -> list[Pod]:
        """The pods of an index, in the order of their creation."""
        listed = self.bench.server.send_request("GET", f"/api/v1/namespaces/{self.namespace}/pods")["items"]
        pods = [pod for pod in listed if pod["metadata"]["labels"][INDEX] == str(index)]
        return sorted(pods, key=lambda pod: str(pod["metadata"]["creationTimestamp"]))

    def await_write(self, suffix: str) -> None:
        """Wait until Azure was sent the write of a resource."""
        wait_until(
            lambda: any(write["path"].endswith(suffix) for write in self.azure.list_writes()), f"Azure got no {suffix}"
        )

    def await_next_pod(self, index: int, old: Pod) -> Pod:
        """Wait until the controller has replaced a pod, and return the pod that runs instead."""

        def is_replaced() -> bool:
            pods = self.list_pods(index)
            return bool(pods) and pods[-1]["metadata"]["uid"] != old["metadata"]["uid"] and is_running(pods[-1])

        wait_until(is_replaced, f"no other pod of index {index} was started")
        return self.list_pods(index)[-1]

    def await_scheduled_job(self, number: int) -> Job:
        """Wait until the CronJob has made so many Jobs, and return the last."""
        path = f"/apis/batch/v1/namespaces/{self.namespace}/jobs"
        wait_until(
            lambda: len(self.bench.server.send_request("GET", path)["items"]) >= number, "the CronJob made no Job", 130
        )
        jobs = self.bench.server.send_request("GET", path)["items"]
        return Job(self, max(jobs, key=lambda job: str(job["metadata"]["creationTimestamp"]))["metadata"]["name"])

    def list_codes(self) -> dict[int, list[int]]:
        """The exit codes of the pods of each index, in order."""
        codes: dict[int, list[int]] = {}
        for pod, code in self.bench.runner.ended:
            if pod["metadata"]["namespace"] == self.namespace:
                codes.setdefault(int(pod["metadata"]["labels"][INDEX]), []).append(code)
        return dict(sorted(codes.items()))

    def list_ends(self) -> str:
        return "exit codes by index: " + "; ".join(f"{index}: {codes}" for index, codes in self.list_codes().items())

    def read_bodies(self) -> dict[str, Any]:
        """What Azure has, without what it makes up."""
        listed = self.azure.send_request("GET", "/_emulator/resources")["value"]
        return {resource["id"]: drop_made_up(resource) for resource in listed}

    def read_records(self) -> dict[str, Record]:
        """What the status branch and the branches of workers say, without times."""
        remote = open_remote(Url(f"file://{self.folder}/remote.git", "file"), GitAccess())
        with StatusBranch(remote, STATUS, clock=SystemClock()) as store:
            return {str(key): drop_times(record) for key, record in store.load().records.items()}

    def list_branches(self) -> str:
        return run(["git", "for-each-ref", "--format=%(refname:short)"], self.folder / "remote.git", dict(os.environ))

    def read_logs(self) -> str:
        """The end of the log of each pod, for a case that ended in another way."""
        logs = sorted((self.bench.folder / "pods" / self.namespace).glob("*/log"))
        return "\n".join(f"--- {log.parent.name}\n{log.read_text()[-3000:]}" for log in logs)


class Job:
    """A Job of the cluster."""

    def __init__(self, site: Site, name: str) -> None:
        self.site = site
        self.path = f"/apis/batch/v1/namespaces/{site.namespace}/jobs/{name}"

    def read(self) -> dict[str, Any]:
        document: dict[str, Any] = self.site.bench.server.send_request("GET", self.path)
        return document

    @property
    def uid(self) -> str:
        return str(self.read()["metadata"]["uid"])

    def await_end(self) -> tuple[str, str, dict[str, Any]]:
        """Wait for the end, and return its kind, its reason and the status."""
        wait_until(lambda: find_end(self.read()) is not None, "the Job did not end", PATIENCE)
        job = self.read()
        kind, reason = find_end(job) or ("", "")
        return kind, reason, job["status"]


def find_end(job: Mapping[str, Any]) -> tuple[str, str] | None:
    """How and why a Job is over; None if it is not."""
    held = {
        condition["type"]: condition.get("reason", "")
        for condition in job["status"].get("conditions", ())
        if condition["status"] == "True"
    }
    return next(((kind, held[kind]) for kind in ("Complete", "Failed") if kind in held), None)


def is_running(pod: Pod) -> bool:
    return bool(pod["status"]["phase"] == "Running" and "deletionTimestamp" not in pod["metadata"])


def drop_made_up(body: Any) -> Any:
    """A body without etags and GUIDs."""
    if isinstance(body, dict):
        return {name: drop_made_up(child) for name, child in body.items() if name not in {"etag", "resourceGuid"}}
    return [drop_made_up(child) for child in body] if isinstance(body, list) else body


def drop_times(record: Record) -> Record:
    condition = replace(record.condition, time="", request_id="") if record.condition else None
    return replace(record, condition=condition, last_write=None, durations=Durations(), writes=0)


@contextmanager
def opening_site(bench: Bench, trial: Trial) -> Iterator[Site]:
    """A site whose objects are in the cluster."""
    with opening_location(bench, trial) as site:
        bench.runner.trouble = trial.trouble
        site.install(trial)
        try:
            yield site
        finally:
            site.kubectl("delete", "cronjob", "gitsync")


@contextmanager
def opening_location(bench: Bench, trial: Trial) -> Iterator[Site]:
    """A repository and an Azure for each case."""
    bench.number += 1
    folder = bench.folder / f"site-{bench.number}"
    folder.mkdir()
    make_repository(folder)
    with serve_azure(folder, {"settings": {"throttle": "off"}, "rules": list(trial.rules)}, dict(os.environ)) as azure:
        yield Site(bench, azure, folder)


def make_repository(folder: Path) -> None:
    """A bare repository of four resource groups, a shard each. A subnet of each but the last refers to the next
    group.
    """
    environment = make_environment({}, person="Ops", drop=("GIT_",))
    work = folder / "work"
    work.mkdir()
    for group, following in zip("abcd", ("b", "c", "d", ""), strict=True):
        (work / f"{group}.yaml").write_text(make_manifests(group, following))
    for command in (
        "git init --quiet --initial-branch=main",
        "git add .",
        "git commit --quiet --message=Describe",
        "git clone --quiet --bare . ../remote.git",
    ):
        run(command.split(), work, environment)


def make_manifests(group: str, following: str) -> str:
    version = "network.azure.com/v1api20201101"
    reference = f"{{group: network.azure.com, kind: NetworkSecurityGroup, name: {following}-nsg}}"
    refers = f", networkSecurityGroup: {{reference: {reference}}}" if following else ""
    return dedent(f"""\
        apiVersion: resources.azure.com/v1api20200601
        kind: ResourceGroup
        metadata: {{name: {group}}}
        spec: {{location: westeurope}}
        ---
        apiVersion: {version}
        kind: NetworkSecurityGroup
        metadata: {{name: {group}-nsg}}
        spec: {{location: westeurope, owner: {{name: {group}}}}}
        ---
        apiVersion: {version}
        kind: VirtualNetwork
        metadata: {{name: {group}-net}}
        spec: {{location: westeurope, owner: {{name: {group}}}, addressSpace: {{addressPrefixes: [10.0.0.0/16]}}}}
        ---
        apiVersion: {version}
        kind: VirtualNetworksSubnet
        metadata: {{name: {group}-a}}
        spec: {{owner: {{name: {group}-net}}, addressPrefix: 10.0.1.0/24{refers}}}
        """)


def set_completions(component: str) -> str:
    """The number of workers, where docs/kubernetes.md changes it."""
    return re.sub(r"(/completions\n +value:) 8\n", rf"\1 {WORKERS}\n", component)


def make_overlay(site: Site, trial: Trial) -> str:
    changes = [
        {"op": "add", "path": "/spec/suspend", "value": not trial.schedule},
        {"op": "replace", "path": "/spec/schedule", "value": trial.schedule or "7,37 * * * *"},
        {"op": "replace", "path": "/spec/jobTemplate/spec/activeDeadlineSeconds", "value": trial.deadline},
    ]
    merged = {
        "name": "gitsync-settings",
        "namespace": "gitsync",
        "behavior": "merge",
        "literals": [f"{name}={value}" for name, value in site.settings.items()],
    }
    return yaml.safe_dump(
        {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "namespace": site.namespace,
            "resources": ["base"],
            "components": ["base/shards"],
            "configMapGenerator": [merged],
            "patches": [{"target": {"kind": "CronJob", "name": "gitsync"}, "patch": yaml.safe_dump(changes)}],
        }
    )


def run(command: list[str], folder: Path, environment: Mapping[str, str], code: int = 0) -> str:
    """What a command prints. RuntimeError if it ends with another code."""
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != code:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def wait_until(holds: Callable[[], bool], otherwise: str, seconds: float = 60) -> None:
    latest = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > latest:
            raise TimeoutError(f"{otherwise} in {seconds:g} seconds")
        time.sleep(0.2)  # noqa: TID251 - programs of others take real time
