"""One run over many workers: together they do what one worker does, in whatever order, with some killed or missing."""

from __future__ import annotations

import asyncio
import itertools
import json
import shutil
import textwrap
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from gitsync.agent.run.gathering import NOT_ENDED, gather
from gitsync.agent.run.run import execute
from gitsync.agent.run.run_input import RunInput
from gitsync.agent.run.workers import drop_bodies
from gitsync.emulator.faults import FaultRule
from gitsync.emulator.http.handler import LoggedRequest
from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import EmulatorSettings
from gitsync.emulator.state.store import MemoryStore
from gitsync.errors import ConfigError
from gitsync.model.manifests import Manifests
from gitsync.model.record import Durations, Record, State
from gitsync.model.report import Report
from gitsync.model.shard import Shard
from gitsync.providers.arm.real_clock import SystemClock
from gitsync.repository.git.git_access import GitAccess, open_remote
from gitsync.repository.git.source.location import Url
from gitsync.repository.git.state.branch import StatusBranch
from gitsync.repository.git.state.worker_branches import name_workers
from gitsync.settings.config.config import Config
from gitsync.settings.redaction import Redactions
from tests.support.branch_files import list_branches
from tests.support.builders import group_id, prepared, rg
from tests.support.exports import tree
from tests.support.fault_rules import rules
from tests.support.git_repositories import add_remote, commit_all, init_bare, init_repository, push_main
from tests.support.hypothesis_profile import scale
from tests.support.parts import change
from tests.support.world import SUBSCRIPTION

STATUS = "gitsync/status"
WRITES = frozenset({"PUT", "DELETE"})
Writes = list[tuple[str, str, int]]
"""The method, the path and the status of requests."""


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


def make_network(name: str, group: str, octet: int, nsg: str = "", takes: str = "") -> str:
    """A network with a subnet, which may refer to a security group of another resource group, and perhaps with a tag of
    an expression.
    """
    sets = f"annotations: {{gitsync/set: 'spec.tags.taken: {takes}'}}"
    refers = (
        f"networkSecurityGroup: {{reference: {{group: network.azure.com, kind: NetworkSecurityGroup, name: {nsg}}}}}"
    )
    return textwrap.dedent(f"""\
        apiVersion: network.azure.com/v1api20201101
        kind: VirtualNetwork
        metadata: {{name: {name}, {sets if takes else ""}}}
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


def make_account(name: str, group: str) -> str:
    """A storage account that exports a key to a Secret, and its endpoint to a config map."""
    return textwrap.dedent(f"""\
        apiVersion: storage.azure.com/v1api20230101
        kind: StorageAccount
        metadata: {{name: {name}}}
        spec:
          location: westeurope
          owner: {{name: {group}}}
          kind: StorageV2
          sku: {{name: Standard_LRS}}
          operatorSpec:
            secrets: {{key1: {{name: {name}, key: first}}}}
            configMaps: {{blobEndpoint: {{name: {name}, key: blob}}}}
        """)


def make_server(name: str, group: str, secret: str) -> str:
    """A server whose password is the key of a storage account, of its own resource group or of another."""
    return textwrap.dedent(f"""\
        apiVersion: dbforpostgresql.azure.com/v1api20221201
        kind: FlexibleServer
        metadata: {{name: {name}}}
        spec:
          location: westeurope
          owner: {{name: {group}}}
          administratorLogin: boss
          administratorLoginPassword: {{name: {secret}, key: first}}
        """)


def make_flow(name: str, group: str, nsg: str, secret: str) -> str:
    """An AzureResource that may have the id of a security group, and the key of a storage account, of other groups."""
    body: dict[str, Any] = {"location": "westeurope", "properties": {"parameters": {}}}
    if nsg:
        reference = {"group": "network.azure.com", "kind": "NetworkSecurityGroup", "name": nsg}
        body["properties"]["parameters"]["guard"] = {"value": {"$reference": reference}}
    if secret:
        body["properties"]["parameters"]["key"] = {"value": {"$secret": {"name": secret, "key": "first"}}}
    return textwrap.dedent(f"""\
        apiVersion: azure.gitsync/v1
        kind: AzureResource
        metadata: {{name: {name}}}
        spec:
          type: Microsoft.Logic/workflows@2019-05-01
          owner: {{group: resources.azure.com, kind: ResourceGroup, name: {group}}}
          body: {json.dumps(body)}
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
        (folder / "exports").mkdir(mode=0o700)
        init_repository(folder / "work")
        add_remote(folder / "work", folder / "remote.git")
        return cls(folder, MemoryStore())

    def says(self, documents: Mapping[str, str]) -> Site:
        """Commit these files in place of all others, and push them."""
        work = self.folder / "work"
        for old in work.glob("*.yaml"):
            old.unlink()
        for name, text in documents.items():
            (work / f"{name}.yaml").write_text(text)
        commit = commit_all(work)
        push_main(work, self.folder / "remote.git")
        known = work / ".git" / "refs" / "remotes" / "origin" / "main"
        known.parent.mkdir(parents=True, exist_ok=True)
        known.write_text(f"{commit}\n")
        return self

    def copy(self, folder: Path) -> Site:
        shutil.copytree(self.folder, folder)
        config = folder / "work" / ".git" / "config"
        config.write_text(config.read_text().replace(str(self.folder), str(folder)))
        store = MemoryStore()
        for key, resource in self.store.below("/"):
            store.put_resource(key, resource)
        return Site(folder, store)

    def config(self, azure: Emulator | None, **settings: Any) -> Config:
        plain = Config(
            source=str(self.folder / "work"),
            subscription=SUBSCRIPTION,
            endpoint=azure.url if azure else None,
            credential="anonymous",
            prune=True,
            max_deletes=50,
            checks=("none",),
            who="off",
            export_to=("status", "folder"),
            export_folder=str(self.folder / "exports"),
        )
        return replace(plain, **settings)

    def load_state(self) -> State:
        remote = open_remote(Url(f"file://{self.folder}/remote.git", "file"), GitAccess())
        with StatusBranch(remote, STATUS, clock=SystemClock()) as store:
            return store.load()

    def load(self) -> dict[str, Record]:
        """What is recorded, without times and what differs from run to run."""
        return {str(key): drop_times(record) for key, record in self.load_state().records.items()}

    def list_exports(self) -> dict[str, Any]:
        """What was exported, to the status and to a folder."""
        kept = {str(address): export.data for address, export in self.load_state().config_maps.items()}
        return {**kept, **tree(self.folder / "exports")}

    def list_worker_branches(self) -> list[str]:
        folder = name_workers(STATUS)
        branches = list_branches(self.folder / "remote.git")
        return [name.removeprefix(folder) for name in branches if name.startswith(folder)]

    def list_bodies(self) -> dict[str, Any]:
        return {key: (stored.id, stored.body, stored.state) for key, stored in self.store.below("/")}


def drop_times(record: Record) -> Record:
    condition = replace(record.condition, time="", request_id="") if record.condition else None
    return change(record, condition=condition, last=None, durations=Durations(), count=0)


async def sync(site: Site, **settings: Any) -> tuple[Report, Writes]:
    (report,), sent = await sync_together(site, [settings])
    return report, sent


async def sync_together(
    site: Site, runs: Iterable[Mapping[str, Any]], rules: tuple[FaultRule, ...] = ()
) -> tuple[list[Report], Writes]:
    """Run several times at once; return the reports, and the writes that Azure got."""
    async with Emulator(EmulatorSettings(limits=None, rules=rules), site.store) as azure:
        reports = await asyncio.gather(*(execute(site.config(azure, **run), writes=True) for run in runs))
        return reports, list_writes(azure)


def list_writes(azure: Emulator) -> Writes:
    return [(request.method, request.path, request.status) for request in azure.requests if request.method in WRITES]


def list_workers(number: int, run_id: str = "1") -> list[dict[str, Any]]:
    return [{"shard": f"{index}/{number}", "run_id": run_id} for index in range(1, number + 1)]


TAKEN = ["id", "spec.addressSpace.addressPrefixes[0]", "status.addressSpace.addressPrefixes[0]"]
"""What a network takes of another: its id, which any worker has, or what may change in the run."""


def make_estate(octets: str = "10.2.0.0/16") -> dict[str, str]:
    """Three groups that refer to each other. The last takes a value of the second, so these two have one worker, and a
    password of the first.
    """
    own_id, prefix = 'resource("VirtualNetwork/a-net").id', f'resource("VirtualNetwork/b-net").{TAKEN[2]}'
    network = make_network("b-net", "b", 2, "c-nsg", takes=own_id).replace("10.2.0.0/16", octets)
    parts = {
        "a": [make_nsg("a-nsg", "a"), make_network("a-net", "a", 1, "b-nsg"), make_account("alake", "a")],
        "b": [make_nsg("b-nsg", "b"), network],
        "c": [
            make_nsg("c-nsg", "c"),
            make_network("c-net", "c", 3, takes=prefix),
            make_server("c-books", "c", "alake"),
        ],
    }
    return {name: "---\n".join([make_group(name), *documents]) for name, documents in parts.items()}


ESTATE = make_estate()
SHARDS = [5, 9]
"""The resources of its parts."""
PAIR = {
    "a": "---\n".join([make_group("a"), make_network("a-net", "a", 1, "b-nsg")]),
    "b": "---\n".join([make_group("b"), make_nsg("b-nsg", "b")]),
}
"""The subnet of the first worker refers to a security group of the second."""


@pytest.fixture(scope="module")
def synced(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The estate after a run of one worker."""
    site = Site.begin(tmp_path_factory.mktemp("synced") / "site").says(ESTATE)
    report, _ = asyncio.run(sync(site))
    assert report.exit_code == 0
    return site


@pytest.fixture(scope="module")
def recorded(synced: Site) -> dict[str, Record]:
    return synced.load()


async def test_workers_create_together_what_one_creates(
    synced: Site, recorded: dict[str, Record], tmp_path: Path
) -> None:
    """And change it: a change of a source is in what takes it after one run. Of more workers than parts, one has
    nothing. What another worker exports is read from its resource.
    """
    site = Site.begin(tmp_path / "site").says(ESTATE)
    reports, sent = await sync_together(site, list_workers(2))
    assert [report.exit_code for report in reports] == [0, 0]
    assert sorted(len(report.results) for report in reports) == SHARDS
    assert set(Counter((method, path) for method, path, _ in sent).values()) == {1}
    assert site.list_bodies() == synced.list_bodies()
    assert site.list_worker_branches() == ["1/1", "1/2"]
    assert site.load() == recorded
    bodies = {arm_id.rpartition("/")[2]: body for arm_id, (_, body, _) in site.list_bodies().items()}
    assert bodies["b-net"]["tags"]["taken"].endswith("/a-net")
    password = bodies["c-books"]["properties"]["administratorLoginPassword"]
    assert site.list_exports()["secrets/default/alake/first"] == password.encode()
    reports, sent = await sync_together(site.says(make_estate("10.2.0.0/15")), list_workers(3, "2"))
    assert [report.exit_code for report in reports] == [0] * 3
    assert sorted(len(report.results) for report in reports) == [0, *SHARDS]
    assert sorted(path.rpartition("/")[2] for _, path, _ in sent) == ["b-net", "c-net"]
    networks = {arm_id.rpartition("/")[2]: body for arm_id, (_, body, _) in site.list_bodies().items()}
    assert networks["c-net"]["tags"] == {"taken": "10.2.0.0/15"}
    assert site.list_worker_branches() == ["2/1", "2/2", "2/3"]
    report, sent = await sync(site)
    assert (report.summary, sent) == ({"in-sync": 14}, [])
    assert site.list_worker_branches() == []


async def test_guards_judge_the_whole_estate_in_each_worker(synced: Site, tmp_path: Path) -> None:
    site = synced.copy(tmp_path / "site").says({"a": make_group("a")})
    async with Emulator(EmulatorSettings(limits=None), site.store) as azure:
        for worker in list_workers(2):
            with pytest.raises(Exception, match="TooManyDeletes: This run would delete 13"):
                await execute(site.config(azure, **{**worker, "max_deletes": 12}), writes=True)
    assert len(site.store.below("/")) == len(synced.store.below("/"))


async def test_a_worker_that_comes_late_reads_the_pinned_revision(
    synced: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is one of a Job, whose index is the number of the worker."""
    site = synced.copy(tmp_path / "site")
    changed = {**ESTATE, "a": ESTATE["a"].replace("10.1.0.0/16", "10.1.0.0/15")}
    pinned, _ = await sync(site.says(changed), shard="1/2", run_id="job")
    site.says({"a": make_group("a")})
    monkeypatch.setenv("JOB_COMPLETION_INDEX", "1")
    late, sent = await sync(site, shards=2, run_id="job")
    assert site.list_worker_branches() == ["job/1", "job/2"]
    assert late.revision == pinned.revision
    assert not [request for request in sent if request[0] == "DELETE"]
    assert len(pinned.results) + len(late.results) == sum(SHARDS)


@pytest.mark.parametrize(
    ("spec", "is_left"),
    [({"location": "westeurope"}, {}), (EXPORTS := {"operatorSpec": {"configMaps": {"id": {}}}}, EXPORTS)],
    ids=["its body", "what it exports"],
)
def test_a_worker_keeps_of_the_resources_of_others_what_they_export_alone(spec: Any, is_left: Any) -> None:
    own, other = prepared(rg("own"), group_id("own")), prepared(rg("other"), group_id("other"))
    other = replace(other, resource=replace(other.resource, spec=spec))
    both = (own, other)
    manifests = Manifests(resources=tuple(entry.resource for entry in both))
    complete = RunInput(manifests=manifests, references={}, prepared=both, lookup=Any, credentials=Any)
    left = drop_bodies(complete, Shard(number=1, keys=frozenset({own.key})))
    assert left.prepared[0] is own
    assert (left.prepared[1].arm_id, left.prepared[1].template) == (other.arm_id, None)
    assert [refusal.spec for refusal in left.manifests.resources] == [own.resource.spec, is_left]
    assert left.manifests.resources[1] is left.prepared[1].resource


REFUSED = [
    ({"shard": "3/2", "run_id": "1"}, "is not one of 2 workers"),
    ({"shard": "1/2"}, "--shard requires --run-id"),
    ({"shard": "1/2", "run_id": "a/b"}, "cannot name a run"),
    ({"shard": "1/2", "run_id": "1", "only": ("ResourceGroup/a",)}, "--shard cannot be used with --only"),
    ({"shards": 2, "run_id": "1"}, "JOB_COMPLETION_INDEX is not the number"),
    ({"shard": "1/2", "run_id": "1", "status_dir": "state"}, "Workers share a status branch"),
]


@pytest.mark.parametrize(("settings", "message"), REFUSED, ids=[row[1] for row in REFUSED])
def test_settings_that_make_no_worker(synced: Site, settings: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        asyncio.run(sync(synced, **settings))


@pytest.fixture(scope="module")
def without_sinks(tmp_path_factory: pytest.TempPathFactory) -> tuple[Site, list[Report]]:
    """Two workers after a run without sinks, in which Azure refuses a resource of the second."""
    more = {"a": make_account("alake", "a"), "b": make_server("b-books", "b", "alake")}
    documents = {name: f"{text}---\n{more[name]}" for name, text in PAIR.items()}
    site = Site.begin(tmp_path_factory.mktemp("without-sinks") / "site").says(documents)
    refused = rules("{match: {path: '*/b-nsg', method: PUT}, answer: {status: 400, code: InvalidParameter}}")
    runs = [{**worker, "export_to": ()} for worker in list_workers(2)]
    reports, _ = asyncio.run(sync_together(site, runs, rules=refused))
    return site, reports


async def test_a_failure_of_another_worker_ends_the_wait_for_its_resource(
    without_sinks: tuple[Site, list[Report]], tmp_path: Path
) -> None:
    reasons = {
        result.key.name: result.condition.reason
        for report in without_sinks[1]
        for result in report.results
        if not result.is_fine
    }
    assert reasons == {"a-net-a": "ReferenceNotFound", "b-nsg": "InvalidParameter"}
    site = without_sinks[0].copy(tmp_path / "site")
    report, _ = await sync(site)
    assert report.exit_code == 0
    assert len(site.load()) == 7


def test_what_another_worker_exports_is_read_from_its_resource(without_sinks: tuple[Site, list[Report]]) -> None:
    """A sink may have the value of a former run, and the other worker may not have written it yet. Here is none."""
    site, _ = without_sinks
    (server,) = [stored for key, stored in site.store.below("/") if key.endswith("/b-books")]
    assert server.body["properties"]["administratorLoginPassword"]
    assert "secrets/default/alake/first" not in site.list_exports()


async def test_a_worker_that_was_stopped_has_not_failed(tmp_path: Path) -> None:
    """It may be started again, as the pod of a Job is whose node is drained: the others still wait."""
    site = Site.begin(tmp_path / "site").says(PAIR)
    first, second = list_workers(2)  # the second one has group b
    stop = asyncio.Event()

    def stop_now(request: LoggedRequest) -> bool:
        if request.path.endswith("/b-nsg") and request.method == "PUT":
            stop.set()
        return False

    slow = rules("{match: {path: '*/b-nsg', method: PUT}, operation: {style: async, polls: 1}}")
    async with Emulator(EmulatorSettings(limits=None, rules=slow), site.store, is_last=stop_now) as azure:
        await execute(site.config(azure, **second), writes=True, stop=stop)
        assert site.load()["NetworkSecurityGroup.network.azure.com/default/b-nsg"].condition.reason == "Interrupted"
        report = await execute(site.config(azure, **first), writes=True)
    assert report.exit_code == 0


async def test_what_a_missing_worker_does_not_create_is_left_to_the_next_run(tmp_path: Path) -> None:
    site = Site.begin(tmp_path / "site").says(PAIR)
    first, _ = list_workers(2)  # the second one has group b
    report, _ = await sync(site, **first, resource_timeout=2.0)
    left = {result.key.name: result.condition.reason for result in report.results if not result.is_fine}
    assert left == {"a-net-a": "ReferenceNotFound"}
    report, sent = await sync(site)
    assert report.exit_code == 0
    assert sorted(path.rpartition("/")[2] for _, path, _ in sent) == ["a-net-a", "b", "b-nsg"]


@st.composite
def estates(draw: st.DrawFn) -> dict[str, str]:
    """Up to four groups: some with a security group or with a storage account that exports its key, and each with a
    network, and perhaps a server and an AzureResource, that may refer to those of another, or take a value of them.
    """
    named = draw(st.lists(st.sampled_from("abcd"), min_size=1, unique=True))
    guarded, exporting = ([name for name in named if draw(st.booleans())] for _ in range(2))
    said = {}
    for number, name in enumerate(named):
        source = draw(st.sampled_from(["", *named[:number]]))
        takes = source and f'resource("VirtualNetwork/{source}-net").{draw(st.sampled_from(TAKEN))}'
        parts = [make_group(name)]
        parts += [make_nsg(f"{name}-nsg", name)] if name in guarded else []
        parts += [make_account(f"{name}lake", name)] if name in exporting else []
        other = draw(st.sampled_from(["", *guarded]))
        parts.append(make_network(f"{name}-net", name, draw(st.integers(1, 3)), other and f"{other}-nsg", takes))
        if keeper := draw(st.sampled_from(["", *exporting])):
            parts.append(make_server(f"{name}-books", name, f"{keeper}lake"))
        if draw(st.booleans()):
            parts.append(make_flow(f"{name}-flow", name, other and f"{other}-nsg", keeper and f"{keeper}lake"))
        said[name] = "---\n".join(parts)
    return said


async def kill(site: Site, run: Mapping[str, Any], at: int, methods: Collection[str] = WRITES) -> Writes:
    """Start a run that dies when Azure has got so many of its requests, by default of its writes; return the writes
    that it had got by then. A run that makes fewer ends.
    """
    requests = itertools.count(1)

    def is_last(request: LoggedRequest) -> bool:
        return request.method in methods and next(requests) == at

    async with Emulator(EmulatorSettings(limits=None), site.store, is_last=is_last) as azure:
        running = asyncio.create_task(execute(site.config(azure, **run), writes=True))
        death = asyncio.create_task(azure.is_over.wait())
        await asyncio.wait({running, death}, return_when=asyncio.FIRST_COMPLETED)
        for task in (running, death):
            task.cancel()
        await asyncio.gather(running, death, return_exceptions=True)
        return list_writes(azure)


class History(NamedTuple):
    """What happens to the workers of a run."""

    workers: int
    rounds: tuple[tuple[int, ...], ...]  # the workers of each round, by their numbers, run at once
    deaths: Mapping[int, int]  # a worker that is killed with so many of its writes, and started again in a later round
    absent: int  # never started: 0 for none

    @property
    def is_together(self) -> bool:
        """Return whether what a worker waits for comes."""
        return not (self.absent or self.deaths) and len(list(filter(None, self.rounds))) == 1


@st.composite
def histories(draw: st.DrawFn) -> History:
    workers = draw(st.integers(1, 5))  # an estate has at most four groups
    numbers = draw(st.permutations(range(1, workers + 1)))
    absent = numbers.pop() if workers > 1 and draw(st.booleans()) else 0
    cut = draw(st.integers(0, len(numbers)))
    deaths = {number: draw(st.integers(1, 5)) for number in numbers if draw(st.booleans())}
    again = tuple(draw(st.permutations(sorted(deaths))))
    return History(workers, (tuple(numbers[:cut]), tuple(numbers[cut:]), again), deaths, absent)


async def play(site: Site, history: History) -> Writes:
    """Run the workers of a history; return what all of them have sent."""
    sent: Writes = []
    patience = {} if history.is_together else {"resource_timeout": 3.0}
    runs = {number: {**worker, **patience} for number, worker in enumerate(list_workers(history.workers), 1)}
    last = len(history.rounds) - 1
    for number, together in enumerate(history.rounds):
        deaths = history.deaths if number < last else {}
        parts = (
            kill(site, runs[number], deaths[number]) if number in deaths else sync_alone(site, runs[number])
            for number in together
        )
        for part in await asyncio.gather(*parts):
            sent += part
    return sent


async def sync_alone(site: Site, run: Mapping[str, Any]) -> Writes:
    _, sent = await sync(site, **run)
    return sent


@given(estates(), histories(), st.booleans(), st.booleans())
@settings(
    max_examples=scale(6), phases=[Phase.reuse, Phase.generate]
)  # an example takes a second, and shrinking some hundred
def test_law_workers_do_together_what_one_worker_does(
    tmp_path_factory: pytest.TempPathFactory,
    synced: Site,
    said: dict[str, str],
    history: History,
    is_first: bool,
    is_started_late: bool,
) -> None:
    """From the same records and the same Azure, or from none, in any order of the workers.

    What a worker that was never started owns stays as it was; it, or the next run, does the rest. A run may leave a
    delete to the next one, so both sites have a second run, and a third if a worker was never started.
    """
    folder = tmp_path_factory.mktemp("law")
    if is_first:
        alone, shared = (Site.begin(folder / name).says(said) for name in ("alone", "shared"))
    else:
        alone, shared = (synced.copy(folder / name).says(said) for name in ("alone", "shared"))
    asyncio.run(sync(alone))
    sent = asyncio.run(play(shared, history))
    assert list_absent(gather_run(shared)) == [history.absent] * bool(history.absent)
    if is_first:
        check = check_same if history.is_together else check_part
        check(shared, alone)
    if history.absent and is_started_late:
        sent += asyncio.run(sync_alone(shared, list_workers(history.workers)[history.absent - 1]))
        assert list_absent(gather_run(shared)) == []
    for site in (alone, *([shared] * (1 + bool(history.absent)))):
        _, writes = asyncio.run(sync(site))
        sent += writes if site is shared else []
    check_same(shared, alone)
    created = Counter(path for _, path, status in sent if status == 201)
    assert set(created.values()) <= {1}, "no create is sent twice"
    assert asyncio.run(sync(shared))[1] == []


def gather_run(site: Site) -> Report:
    return gather(site.config(None, run_id="1"), Redactions())


def list_absent(report: Report) -> list[int]:
    """The numbers of the shards that have not ended."""
    told = (problem.message for problem in report.problems if problem.code == NOT_ENDED)
    return [int(message.removeprefix("Shard ").partition("/")[0]) for message in told]


def check_same(shared: Site, alone: Site) -> None:
    assert shared.list_bodies() == alone.list_bodies()
    assert shared.load() == alone.load()
    assert shared.list_exports() == alone.list_exports()


def check_part(shared: Site, alone: Site) -> None:
    """Ready resources are as one worker leaves them, and nothing but what waits is missing."""
    ours, theirs = shared.load(), alone.load()
    ready = {key: result for key, result in ours.items() if result.condition and result.condition.is_ready}
    assert ready == {key: theirs[key] for key in ready}
    assert shared.list_bodies().items() <= alone.list_bodies().items()
    assert shared.list_exports().items() <= alone.list_exports().items()
