"""One run over many workers: together they do what one worker does, in whatever order, with some killed or missing."""

from __future__ import annotations

import asyncio
import itertools
import random
import shutil
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitsync.arm.clock import SystemClock
from gitsync.config.config import Config
from gitsync.emulator.faults import FaultRule
from gitsync.emulator.http.handler import LoggedRequest
from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import EmulatorSettings
from gitsync.emulator.state.store import MemoryStore
from gitsync.errors import ConfigError
from gitsync.git.access import GitAccess, open_remote
from gitsync.git.source.location import Url
from gitsync.git.state.branch import StatusBranch
from gitsync.git.state.pins import Pin
from gitsync.git.state.store import Update
from gitsync.git.state.worker_branches import name_workers
from gitsync.model.manifests import Manifests
from gitsync.model.record import Durations, Record
from gitsync.model.report import Report
from gitsync.model.shard import Shard
from gitsync.run.load import RunInput
from gitsync.run.run import execute
from gitsync.run.workers import drop_bodies
from tests.support.builders import group_id, prepared, rg
from tests.support.fault_rules import rules
from tests.support.git_repositories import commit_all, init_bare, init_repository
from tests.support.world import SUBSCRIPTION

STATUS = "gitsync/status"
NOTHING = Update(records={}, revision=None, summary=None, report=None, headline="", agent="gitsync")


def make_group(name: str) -> str:
    return textwrap.dedent(f"""\
        apiVersion: resources.azure.com/v1api20200601
        kind: ResourceGroup
        metadata: {{name: {name}}}
        spec: {{location: westeurope}}
        """)


def make_nsg(name: str, group: str) -> str:
    return textwrap.dedent(f"""\
        apiVersion: network.azure.com/v1api20201101
        kind: NetworkSecurityGroup
        metadata: {{name: {name}}}
        spec: {{location: westeurope, owner: {{name: {group}}}}}
        """)


def make_network(name: str, group: str, octet: int, nsg: str = "") -> str:
    """A network with a subnet, which may refer to a security group of another resource group."""
    refers = (
        f"networkSecurityGroup: {{reference: {{group: network.azure.com, kind: NetworkSecurityGroup, name: {nsg}}}}}"
    )
    return textwrap.dedent(f"""\
        apiVersion: network.azure.com/v1api20201101
        kind: VirtualNetwork
        metadata: {{name: {name}}}
        spec: {{location: westeurope, owner: {{name: {group}}}, addressSpace: {{addressPrefixes: [10.{octet}.0.0/16]}}}}
        ---
        apiVersion: network.azure.com/v1api20201101
        kind: VirtualNetworksSubnet
        metadata: {{name: {name}-a}}
        spec:
          owner: {{name: {name}}}
          addressPrefix: 10.{octet}.1.0/24
          {refers if nsg else ""}
        """)


@dataclass(frozen=True)
class Site:
    """A repository with its remote, and an Azure."""

    folder: Path
    store: MemoryStore

    @classmethod
    def begin(cls, folder: Path) -> Site:
        (folder / "remote.git").mkdir(parents=True)
        init_bare(folder / "remote.git")
        (folder / "work").mkdir()
        init_repository(folder / "work")
        with (folder / "work" / ".git" / "config").open("a") as settings:
            settings.write(
                f'[remote "origin"]\n\turl = {folder}/remote.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n'
            )
        return cls(folder, MemoryStore())

    def says(self, documents: Mapping[str, str]) -> Site:
        """Commit these files in place of all others, and push them."""
        work = self.folder / "work"
        for old in work.glob("*.yaml"):
            old.unlink()
        for name, text in documents.items():
            (work / f"{name}.yaml").write_text(text)
        commit = commit_all(work)
        shutil.copytree(work / ".git" / "objects", self.folder / "remote.git" / "objects", dirs_exist_ok=True)
        (self.folder / "remote.git" / "refs" / "heads" / "main").write_text(f"{commit}\n")
        return self

    def copy(self, folder: Path) -> Site:
        shutil.copytree(self.folder, folder)
        config = folder / "work" / ".git" / "config"
        config.write_text(config.read_text().replace(str(self.folder), str(folder)))
        store = MemoryStore()
        for key, resource in self.store.below("/"):
            store.put_resource(key, resource)
        return Site(folder, store)

    def config(self, azure: Emulator, **settings: Any) -> Config:
        plain = Config(
            source=str(self.folder / "work"),
            subscription=SUBSCRIPTION,
            endpoint=azure.url,
            credential="anonymous",
            prune=True,
            max_deletes=50,
            checks=("none",),
        )
        return replace(plain, **settings)

    def load(self) -> dict[str, Record]:
        """What is recorded, without times and what differs from run to run."""
        remote = open_remote(Url(f"file://{self.folder}/remote.git", "file"), GitAccess())
        with StatusBranch(remote, STATUS, clock=SystemClock()) as store:
            return {str(key): drop_times(record) for key, record in store.load().records.items()}

    def list_worker_branches(self) -> list[str]:
        below = self.folder / "remote.git" / "refs" / "heads" / name_workers(STATUS)
        return sorted(str(path.relative_to(below)) for path in below.rglob("*") if path.is_file())

    def list_bodies(self) -> dict[str, Any]:
        return {key: (one.id, one.body, one.state) for key, one in self.store.below("/")}


def drop_times(record: Record) -> Record:
    condition = replace(record.condition, time="", request_id="") if record.condition else None
    return replace(record, condition=condition, last_write=None, durations=Durations(), writes=0)


async def sync(site: Site, **settings: Any) -> tuple[Report, list[tuple[str, str, int]]]:
    (report,), sent = await sync_together(site, [settings])
    return report, sent


async def sync_together(
    site: Site, runs: Iterable[Mapping[str, Any]], rules: tuple[FaultRule, ...] = ()
) -> tuple[list[Report], list[tuple[str, str, int]]]:
    """Run several times at once; return the reports, and the writes that Azure got."""
    async with Emulator(EmulatorSettings(limits=None, rules=rules), site.store) as azure:
        reports = await asyncio.gather(*(execute(site.config(azure, **one), writes=True) for one in runs))
        return reports, [
            (one.method, one.path, one.status) for one in azure.requests if one.method in {"PUT", "DELETE"}
        ]


def list_workers(number: int, run_id: str = "1") -> list[dict[str, Any]]:
    return [{"shard": f"{one}/{number}", "run_id": run_id} for one in range(1, number + 1)]


ESTATE = {
    "a": "---\n".join([make_group("a"), make_nsg("a-nsg", "a"), make_network("a-net", "a", 1, "b-nsg")]),
    "b": "---\n".join([make_group("b"), make_nsg("b-nsg", "b"), make_network("b-net", "b", 2, "c-nsg")]),
    "c": "---\n".join([make_group("c"), make_nsg("c-nsg", "c"), make_network("c-net", "c", 3)]),
}


@pytest.fixture(scope="module")
def synced(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The estate after a run of one worker."""
    site = Site.begin(tmp_path_factory.mktemp("synced") / "site").says(ESTATE)
    report, _ = asyncio.run(sync(site))
    assert report.exit_code == 0
    return site


async def test_workers_create_together_what_one_creates(synced: Site, tmp_path: Path) -> None:
    site = Site.begin(tmp_path / "site").says(ESTATE)
    reports, sent = await sync_together(site, list_workers(3))
    assert [report.exit_code for report in reports] == [0, 0, 0]
    assert [len(report.results) for report in reports] == [4, 4, 4]
    assert set(Counter((method, path) for method, path, _ in sent).values()) == {1}
    assert site.list_bodies() == synced.list_bodies()
    assert site.list_worker_branches() == ["1/1", "1/2", "1/3"]
    assert site.load() == synced.load()
    report, sent = await sync(site)
    assert (report.summary, sent) == ({"in-sync": 12}, [])
    assert site.list_worker_branches() == []
    assert site.load() == synced.load()


async def test_a_second_run_of_workers_is_silent(synced: Site, tmp_path: Path) -> None:
    site = synced.copy(tmp_path / "site")
    reports, sent = await sync_together(site, list_workers(2))
    assert [report.exit_code for report in reports] == [0, 0]
    assert sent == []
    assert site.load() == synced.load()


async def test_more_workers_than_parts_leave_some_with_nothing(synced: Site, tmp_path: Path) -> None:
    site = synced.copy(tmp_path / "site")
    reports, _ = await sync_together(site, list_workers(5))
    assert sorted(len(report.results) for report in reports) == [0, 0, 4, 4, 4]
    assert {report.exit_code for report in reports} == {0}


async def test_guards_judge_the_whole_estate_in_each_worker(synced: Site, tmp_path: Path) -> None:
    site = synced.copy(tmp_path / "site").says({"a": ESTATE["c"]})
    async with Emulator(EmulatorSettings(limits=None), site.store) as azure:
        for one in list_workers(3):
            with pytest.raises(Exception, match="TooManyDeletes: This run would delete 8"):
                await execute(site.config(azure, **{**one, "max_deletes": 7}), writes=True)
    assert len(site.store.below("/")) == len(synced.store.below("/"))


async def test_a_worker_that_comes_late_reads_the_pinned_revision(synced: Site, tmp_path: Path) -> None:
    site = synced.copy(tmp_path / "site")
    changed = {**ESTATE, "a": ESTATE["a"].replace("10.1.0.0/16", "10.1.0.0/15")}
    first, second = list_workers(2)
    pinned, _ = await sync(site.says(changed), **first)
    site.says({"c": ESTATE["c"]})
    late, sent = await sync(site, **second)
    assert late.revision == pinned.revision
    assert not [one for one in sent if one[0] == "DELETE"]
    assert len(pinned.results) + len(late.results) == 12


async def test_a_worker_reads_the_status_that_was_pushed_for_the_pin_since_it_looked(tmp_path: Path) -> None:
    """The first worker of a run takes in what the run before has recorded, between two looks of the second worker."""
    site = Site.begin(tmp_path / "site").says({"a": make_group("a")})
    await sync_together(site, list_workers(1, "before"))
    remote = open_remote(Url(f"file://{site.folder}/remote.git", "file"), GitAccess())
    with StatusBranch(remote, STATUS, clock=SystemClock()) as late:
        late.load()
        await sync(site, shard="1/2", run_id="now")
        wanted = Pin(revision="a" * 40, status="", branch=STATUS, agent="gitsync", workers=2, time=SystemClock().now())
        pin = late.settle_pin("now", wanted, NOTHING)
    assert (pin.workers, pin.revision != wanted.revision) == (2, True)


@pytest.mark.parametrize(
    ("spec", "is_left"),
    [({"location": "westeurope"}, {}), (EXPORTS := {"operatorSpec": {"configMaps": {"id": {}}}}, EXPORTS)],
    ids=["its body", "what it exports"],
)
def test_a_worker_keeps_of_the_resources_of_others_what_they_export_alone(spec: Any, is_left: Any) -> None:
    own, other = prepared(rg("own"), group_id("own")), prepared(rg("other"), group_id("other"))
    other = replace(other, resource=replace(other.resource, spec=spec))
    both = (own, other)
    manifests = Manifests(resources=tuple(one.resource for one in both))
    whole = RunInput(manifests=manifests, references={}, prepared=both, lookup=Any, credentials=Any)
    left = drop_bodies(whole, Shard(number=1, keys=frozenset({own.key})))
    assert left.prepared[0] is own
    assert (left.prepared[1].arm_id, left.prepared[1].template) == (other.arm_id, None)
    assert [one.spec for one in left.manifests.resources] == [own.resource.spec, is_left]
    assert left.manifests.resources[1] is left.prepared[1].resource


REFUSED = [
    ({"shard": "3/2", "run_id": "1"}, "is not one of 2 workers"),
    ({"shard": "1/2"}, "--shard needs --run-id"),
    ({"shard": "1/2", "run_id": "a/b"}, "cannot name a run"),
    ({"shard": "1/2", "run_id": "1", "only": ("ResourceGroup/a",)}, "--shard excludes --only"),
    ({"shards": 2, "run_id": "1"}, "JOB_COMPLETION_INDEX does not say"),
    ({"shard": "1/2", "run_id": "1", "status_dir": "state"}, "Workers share a status branch"),
]


@pytest.mark.parametrize(("settings", "message"), REFUSED, ids=[row[1] for row in REFUSED])
async def test_settings_that_make_no_worker(synced: Site, tmp_path: Path, settings: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        await sync(synced.copy(tmp_path / "site"), **settings)


async def test_the_index_of_a_job_is_the_number_of_the_worker(
    synced: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOB_COMPLETION_INDEX", "1")
    site = synced.copy(tmp_path / "site")
    await sync(site, shards=3, run_id="job")
    assert site.list_worker_branches() == ["job/2"]


async def test_a_failure_of_another_worker_ends_the_wait_for_its_resource(tmp_path: Path) -> None:
    """The subnet of one group refers to a security group of another, which Azure refuses."""
    site = Site.begin(tmp_path / "site").says(ESTATE)
    refused = rules("{match: {path: '*/b-nsg', method: PUT}, answer: {status: 400, code: InvalidParameter}}")
    reports, _ = await sync_together(site, list_workers(3), rules=refused)
    reasons = {one.key.name: one.condition.reason for report in reports for one in report.results if not one.is_fine}
    assert reasons == {"a-net-a": "ReferenceNotFound", "b-nsg": "InvalidParameter"}
    report, _ = await sync(site)
    assert report.exit_code == 0
    assert len(site.load()) == 12


async def test_a_worker_that_was_stopped_has_not_failed(tmp_path: Path) -> None:
    """It may be started again, as the pod of a Job is whose node is drained: the others still wait."""
    site = Site.begin(tmp_path / "site").says(ESTATE)
    first, second, _ = list_workers(3)
    stop = asyncio.Event()

    def stop_now(request: LoggedRequest) -> bool:
        if request.path.endswith("/b-nsg") and request.method == "PUT":
            stop.set()
        return False

    slow = rules("{match: {path: '*/b-nsg', method: PUT}, operation: {style: async, polls: 6}}")
    async with Emulator(EmulatorSettings(limits=None, rules=slow), site.store, is_last=stop_now) as azure:
        await execute(site.config(azure, **second), writes=True, stop=stop)
        assert site.load()["NetworkSecurityGroup.network.azure.com/default/b-nsg"].condition.reason == "Interrupted"
        report = await execute(site.config(azure, **first), writes=True)
    assert report.exit_code == 0


async def test_what_a_missing_worker_does_not_create_is_left_to_the_next_run(synced: Site, tmp_path: Path) -> None:
    site = Site.begin(tmp_path / "site").says(ESTATE)
    first, _, third = list_workers(3)  # the second one has group b
    reports, _ = await sync_together(site, [{**one, "resource_timeout": 2.0} for one in (first, third)])
    left = {one.key.name: one.condition.reason for report in reports for one in report.results if not one.is_fine}
    assert left == {"a-net-a": "ReferenceNotFound"}
    report, sent = await sync(site)
    assert report.exit_code == 0
    assert len(sent) == 5
    assert site.list_bodies() == synced.list_bodies()


@st.composite
def estates(draw: st.DrawFn) -> dict[str, str]:
    """Up to four groups: some with a security group, and each with a network that may refer to one of another."""
    named = draw(st.lists(st.sampled_from("abcd"), min_size=1, unique=True))
    guarded = [name for name in named if draw(st.booleans())]
    said = {}
    for name in named:
        parts = [make_group(name), *([make_nsg(f"{name}-nsg", name)] if name in guarded else [])]
        other = draw(st.sampled_from(["", *guarded]))
        parts.append(make_network(f"{name}-net", name, draw(st.integers(1, 3)), other and f"{other}-nsg"))
        said[name] = "---\n".join(parts)
    return said


async def kill(site: Site, run: Mapping[str, Any], write: int) -> int:
    """Start a run that dies when Azure has got so many of its writes; return how many it had got by then."""
    writes = itertools.count(1)

    def is_last(request: LoggedRequest) -> bool:
        return request.method in {"PUT", "DELETE"} and next(writes) == write

    async with Emulator(EmulatorSettings(limits=None), site.store, is_last=is_last) as azure:
        running = asyncio.create_task(execute(site.config(azure, **run), writes=True))
        death = asyncio.create_task(azure.is_over.wait())
        await asyncio.wait({running, death}, return_when=asyncio.FIRST_COMPLETED)
        for task in (running, death):
            task.cancel()
        await asyncio.gather(running, death, return_exceptions=True)
    return next(writes) - 1


@pytest.mark.parametrize("write", [1, 2, 3, 4])
async def test_a_worker_that_is_killed_and_started_again_creates_nothing_twice(
    synced: Site, tmp_path: Path, write: int
) -> None:
    """Killed after each of its writes, while the others have not begun; then all of them run."""
    site = Site.begin(tmp_path / "site").says(ESTATE)
    assert await kill(site, list_workers(3)[2], write) == write  # it waits for no other worker
    reports, sent = await sync_together(site, list_workers(3))
    assert [report.exit_code for report in reports] == [0, 0, 0]
    assert len([one for one in sent if one[2] == 201]) == 12 - write
    assert site.list_bodies() == synced.list_bodies()
    assert site.load() == synced.load()


@given(estates(), st.integers(1, 4), st.randoms(use_true_random=False), st.integers(1, 8))
@settings(max_examples=6)
def test_law_workers_do_together_what_one_worker_does(
    tmp_path_factory: pytest.TempPathFactory,
    synced: Site,
    said: dict[str, str],
    number: int,
    order: random.Random,
    write: int,
) -> None:
    """From the same records and the same Azure, in any order of the workers, one of which is killed and started again.

    A run may leave a delete to the next one, so a second run follows.
    """
    folder = tmp_path_factory.mktemp("law")
    alone, shared = (synced.copy(folder / name).says(said) for name in ("alone", "shared"))
    workers = list_workers(number)
    order.shuffle(workers)

    async def run() -> None:
        await sync(alone)
        await sync(alone)
        await kill(shared, {**workers[0], "resource_timeout": 1.0}, write)
        order.shuffle(workers)
        await sync_together(shared, workers)
        await sync(shared)

    asyncio.run(run())
    assert shared.list_bodies() == alone.list_bodies()
    assert shared.load() == alone.load()
    assert asyncio.run(sync(shared))[1] == []
