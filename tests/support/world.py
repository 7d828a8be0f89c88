"""One Azure and one repository, for whole runs: a real repository, the real SDK client, a real socket, and a clock that
jumps.
"""

from __future__ import annotations

import asyncio
import atexit
import copy
import math
import os
import shutil
import subprocess
import tempfile
import textwrap
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

from gitsync.agent.reconcile.context import AzureConnection, Connections
from gitsync.agent.reconcile.rules import OutsideUse
from gitsync.agent.run.connections import make_opener
from gitsync.agent.run.git_settings import make_seals
from gitsync.agent.run.guards import Confirm
from gitsync.agent.run.run import sync_revision
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.emulator.faults import Move
from gitsync.emulator.http.server import Emulator
from gitsync.emulator.http.target import parse
from gitsync.emulator.settings import EmulatorSettings, Timing
from gitsync.emulator.state.store import MemoryStore
from gitsync.extensions.registry import BUILT_IN, Registry
from gitsync.model.check import NO_CHECKS
from gitsync.model.gvk import Key
from gitsync.model.identity import IdentityIds
from gitsync.model.limits import ARM_LIMITS
from gitsync.model.record import Trust
from gitsync.model.report import Report
from gitsync.model.result import Result
from gitsync.model.secret import Secret
from gitsync.model.signin import Method, SignIn
from gitsync.model.unit import Unit
from gitsync.planning.run_problems import DEFAULT_AGENT
from gitsync.providers.arm.arms import open_arms
from gitsync.providers.arm.auth.arm_access import ArmAccess
from gitsync.providers.arm.client import is_check
from gitsync.providers.arm.cloud import make_cloud
from gitsync.report.progress import Silent
from gitsync.repository.git.source.checkout import Checkout, open_checkout
from gitsync.repository.git.source.contents import SourcePart
from gitsync.repository.git.source.location import check_path
from gitsync.repository.git.state.seal import RecordSeals
from gitsync.repository.git.state.state_folder import StatusFolder
from gitsync.repository.git.state.store import Update
from gitsync.repository.secrets.stores import SecretStores
from gitsync.repository.units.all_units import FollowContext
from gitsync.repository.units.declarations import ThisRepository
from gitsync.settings.config.config import Config
from gitsync.settings.config.config_file import join_source_settings
from gitsync.settings.redaction import Redactions
from tests.support.fake_clock import FakeClock
from tests.support.git_repositories import commit_all
from tests.support.kept_builds import KeptBuilds
from tests.support.loose_git import LooseAccess
from tests.support.memory_source import MemorySource, has_files_of_git
from tests.support.parts import change

SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"
CATALOG = open_catalog()
REGISTRY = Registry(BUILT_IN)
BUILDS = KeptBuilds(seconds=math.inf)
"""Of all worlds of a process: a build of the same files has the same result."""

T = TypeVar("T")
_WRITES = frozenset({"PUT", "PATCH", "DELETE", "POST"})


class World:
    """What outlives a run. `settings` are the emulator's; `requests` has the log of the last run. `units` are those of
    files, in addition to those that the source itself has. Its runs have no checks unless a test names them
    (`world.plan(checks=tuple(CheckName))`), and do not look up who changed a resource (`world.plan(who="auto")`): that
    is a subject of its own, and costs requests. The
    correlation ids of its writes follow from the number of the run, so that worlds that do the same have equal records.
    """

    def __init__(self, folder: Path, **settings: Any) -> None:
        self._folder = folder / "repository"
        self._source: MemorySource | None = MemorySource()  # None once the repository is in the folder
        self.state = folder / "state"
        self.settings = EmulatorSettings(limits=None, **settings)
        self.store = MemoryStore()
        self.clock = FakeClock()
        self.stop = asyncio.Event()
        self.requests: list[Any] = []
        self.runs = 0
        self.redactions = Redactions()
        self.extensions = BUILT_IN
        self.secret_stores = SecretStores()
        self.confirm: Confirm | None = None
        self.is_local = True
        self.kill_after: int | None = None  # requests that the next runs get to send
        self.stop_after: int | None = None  # requests after which the next runs are stopped in order
        self._is_new = True
        self._usual_secret_stores = self.secret_stores
        self.units: dict[str, Unit] = {}

    @property
    def folder(self) -> Path:
        """The repository. It is in memory until a test needs its folder: that test may change it, or start git."""
        if self._source is not None:
            self._source.write(self._folder)
            self._source = None
        return self._folder

    @folder.setter
    def folder(self, folder: Path) -> None:
        self._folder, self._source = folder, None

    def git(self, *arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=self.folder, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def copy(self, folder: Path) -> World:
        """A world of its own that is just like this one: repository, status folder and Azure."""
        other = copy.copy(self)
        other._folder, other.state = folder / "repository", folder / "state"
        other.take(self)
        return other

    def take(self, other: World) -> None:
        """Become like another world, in the own folders."""
        self._source = other._source
        if self._source is None:
            shutil.copytree(other.folder, self._folder, dirs_exist_ok=True)
        if other.state.exists():
            shutil.copytree(other.state, self.state)
        self.store, self.clock = other.store.copy(), copy.deepcopy(other.clock)
        self.requests, self.runs = list(other.requests), other.runs
        self._is_new = False

    def synced(self, **documents: str) -> None:
        """Make git have exactly this, and sync it. Many tests begin so: a new world gets a copy of one that did."""
        if self._is_ordinary():
            self.take(_sync_once(tuple(documents.items())))
        else:
            self.says(**documents).sync()

    def _is_ordinary(self) -> bool:
        """Return whether nothing was done in this world yet, and nothing in it is special."""
        usual = (EmulatorSettings(limits=None), BUILT_IN, self._usual_secret_stores, None, True)
        own = (self.settings, self.extensions, self.secret_stores, self.confirm, self.is_local)
        is_configured = any(name.startswith("GITSYNC_") for name in os.environ)
        return self._is_new and own == usual and not is_configured and not self.store.below("/")

    def says(self, **documents: str) -> World:
        """Make git have exactly this at the top of the folder: a document a name, in a new commit."""
        files = {f"{name}.yaml": text for name, text in documents.items()}
        return self._commit(files, instead_of=lambda path: "/" not in path and path.endswith(".yaml"))

    def says_files(self, files: Mapping[str, str]) -> World:
        """Make git have exactly this in the whole folder: texts by path, in a new commit."""
        return self._commit(files, instead_of=lambda path: path.endswith((".yaml", ".gitsyncignore")))

    def _commit(self, files: Mapping[str, str], *, instead_of: Callable[[str], bool]) -> World:
        self._is_new = False
        texts = {path: textwrap.dedent(text) for path, text in files.items()}
        if self._source is not None and not has_files_of_git(texts):
            self._source = self._source.change(texts, instead_of=instead_of)
            return self
        for old in [*self.folder.rglob("*.yaml"), *self.folder.rglob(".gitsyncignore")]:
            if instead_of(old.relative_to(self.folder).as_posix()):
                old.unlink()
        for path, text in texts.items():
            file = self.folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        commit_all(self.folder)
        return self

    def sync(self, **settings: Any) -> Report:
        return run_to_end(self._run(writes=True, **settings))

    def plan(self, **settings: Any) -> Report:
        return run_to_end(self._run(writes=False, **settings))

    def sign(self, key: Secret) -> World:
        """Sign what is recorded, as `gitsync status --sign` does."""
        with StatusFolder(self.state, RecordSeals(DEFAULT_AGENT, key)) as store:
            state = store.load()
            signed = {key: replace(record, trust=Trust.SIGNED) for key, record in state.records.items()}
            store.save(Update(records=signed, revision=state.revision, summary=None, report=None, headline="Sign"))
        return self

    def azure(self) -> Emulator:
        """An emulator of what is in Azure: it serves while it is entered, and what it holds can be seen without."""
        return Emulator(self.settings, self.store, self.clock)

    def access(self, url: str) -> ArmAccess:
        return ArmAccess(
            cloud=make_cloud(url),
            sign_in=SignIn(method=Method.ANONYMOUS),
            limits=ARM_LIMITS,
            run_id=UUID(int=self.runs),
        )

    async def _run(self, *, writes: bool, outside_use: OutsideUse = OutsideUse.REPORT, **settings: Any) -> Report:
        self._is_new = False
        self.stop = asyncio.Event()
        self.runs += 1
        config = replace(
            Config(source=str(self._folder), subscription=SUBSCRIPTION, checks=(NO_CHECKS,), who="off"), **settings
        )
        seals = make_seals(config, os.environ)
        with self._open_source(config) as source, StatusFolder(self.state, seals) as store:
            async with self.azure() as azure:
                access = self.access(azure.url)
                async with open_arms(access, self.clock) as arms:
                    edges = Connections(
                        source=replace(
                            source, contents=replace(source.contents, units={**source.contents.units, **self.units})
                        ),
                        settings=join_source_settings(config, source.contents.settings),
                        store=store,
                        azure=AzureConnection(
                            arm=await arms.open(access.sign_in),
                            subscription=config.subscription or "",
                            ids=IdentityIds(access.sign_in.client_id, access.sign_in.tenant_id),
                            open_as=make_opener(config, access, arms),
                            endpoint=azure.url,
                            is_local=self.is_local,
                        ),
                        clock=self.clock,
                        stop=self.stop,
                        catalog=CATALOG,
                        registry=REGISTRY if self.extensions is BUILT_IN else Registry(self.extensions),
                        progress=Silent(),
                        redactions=self.redactions,
                        secret_stores=self.secret_stores,
                    )
                    try:
                        run = sync_revision(config, edges, self.confirm, writes=writes, outside_use=outside_use)
                        if self.stop_after is not None:
                            run = stop(run, azure, self.stop_after, self.stop)
                        return await (run if self.kill_after is None else kill(run, azure, self.kill_after))
                    finally:
                        self.requests = list(azure.requests)

    def _open_source(self, config: Config) -> Checkout:
        if self._source is None:
            return open_checkout(
                str(self.folder), path=config.path, access=LooseAccess(), builds=BUILDS, variables=config.variables
            )
        follow = FollowContext(ThisRepository(lambda: "", lambda: "main"), config.variables)
        return self._source.open(self._folder, SourcePart(path=check_path(config.path), builds=BUILDS, follow=follow))

    def sent(self, method: str) -> list[str]:
        """Paths of the last run's requests of one method, in order."""
        return [request.path for request in self.requests if request.method == method]

    @property
    def writes(self) -> list[str]:
        """What the last run sent that may change something: all but reads and checks."""
        return [f"{r.method} {r.path}" for r in self.requests if r.method in _WRITES and not is_check(r.path)]

    def outside(
        self, method: str, path: str, body: Any = None, api_version: str = "2020-06-01", **settings: Any
    ) -> Any:
        """Do something behind git's back. `settings` are the emulator's; operations are done at once without."""
        settings.setdefault("operations", Timing(polls=0))

        async def act() -> Any:
            import aiohttp

            async with (
                Emulator(EmulatorSettings(limits=None, **settings), self.store, self.clock) as azure,
                aiohttp.ClientSession() as session,
            ):
                url = f"{azure.url}{path}?api-version={api_version}"
                async with session.request(method, url, json=body) as answer:
                    return await answer.json() if answer.content_type == "application/json" else None

        return asyncio.run(act())

    def somebody_changes(
        self,
        resource: Key | str,
        values: Mapping[str, Any],
        *,
        remove: Iterable[str] = (),
        by: str = "rob@contoso.com",
        client: str = "Azure Portal",
    ) -> str:
        """Change values of a resource, by JSON pointers, as somebody in the portal; returns the correlation id.

        `by` is the name of a person, the id of an application, or `System`. Then time goes by until Azure's logs have
        it.
        """
        return self.somebody_moves(resource, Move(set=values, remove=tuple(remove), by=by, client=client))

    def somebody_deletes(
        self, resource: Key | str, *, by: str = "rob@contoso.com", client: str = "Azure Portal"
    ) -> str:
        """As `somebody_changes`: delete a resource with all below it."""
        return self.somebody_moves(resource, Move(delete=True, by=by, client=client))

    def somebody_creates(
        self, arm_id: str, body: Mapping[str, Any], *, by: str = "rob@contoso.com", client: str = "Azure Portal"
    ) -> str:
        """As `somebody_changes`: create a resource."""
        return self.somebody_moves(arm_id, Move(create=body, by=by, client=client))

    def somebody_moves(self, resource: Key | str, move: Move, *, ago: float = 600) -> str:
        """Play a move on a resource, and let `ago` seconds go by."""
        correlation = self.azure().move(resource if isinstance(resource, str) else self.id_of(resource), move)
        self.clock.elapsed += ago
        return correlation

    def id_of(self, resource: Key) -> str:
        """Find the ARM id of a resource in Azure by its key: by type and name."""
        arm_type = CATALOG.arm_type(resource.group, resource.kind)
        ids = [arm_id for arm_id in self.azure().ids() if arm_id.casefold().endswith(f"/{resource.name}".casefold())]
        found = [arm_id for arm_id in ids if parse(arm_id).type.casefold() == str(arm_type).casefold()]
        assert len(found) == 1, f"{resource} is {arm_type}; Azure has {found or ids}"
        return found[0]

    def read(self, path: str, api_version: str = "2020-06-01") -> Any:
        return self.outside("GET", path, api_version=api_version)


def run_to_end(work: Coroutine[Any, Any, T]) -> T:
    """Do as `asyncio.run`, which would write out the result as text, twice: a twentieth of what a run takes. It reads
    the handler from `signal`, whose enum shows the handler, and so the task and its result, in an error.
    """
    results: list[T] = []

    async def keep() -> None:
        results.append(await work)

    asyncio.run(keep())
    return results[0]


class KilledError(Exception):
    """The run was killed: it has written nothing at its end."""


async def kill(run: Coroutine[Any, Any, Report], azure: Emulator, requests: int) -> Report:
    """Let a run send so many requests, and cut it off. Raises KilledError if it did not end before."""
    task = asyncio.ensure_future(run)
    while not task.done() and len(azure.requests) < requests:  # noqa: ASYNC110 - the emulator has no event for it
        await asyncio.sleep(0)
    if task.done():
        return task.result()
    task.cancel()
    await asyncio.wait([task])
    raise KilledError


async def stop(run: Coroutine[Any, Any, Report], azure: Emulator, requests: int, event: asyncio.Event) -> Report:
    """Let a run send so many requests, and stop it as a person does."""
    task = asyncio.ensure_future(run)
    while not task.done() and len(azure.requests) < requests:  # noqa: ASYNC110 - the emulator has no event for it
        await asyncio.sleep(0)
    event.set()
    return await task


@cache
def _sync_once(documents: tuple[tuple[str, str], ...]) -> World:
    """A world after a first run of these documents, to copy."""
    folder = Path(tempfile.mkdtemp(prefix="gitsync-tests-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    world = World(folder)
    world.says(**dict(documents)).sync()
    return world


def of(report: Report, kind: str, name: str | None = None) -> Result:
    """The result of one resource."""
    found = [r for r in report.results if r.key.kind == kind and name in {None, r.key.name}]
    assert len(found) == 1, [str(r.key) for r in report.results]
    return found[0]


def results(report: Report) -> list[Result]:
    """All of the results that does not follow from how they were read, and when."""
    return [change(result, requests=0, condition=replace(result.condition, time="")) for result in report.results]


def _list_documents(world: World) -> list[Path]:
    return [path for path in world.state.rglob("*.json") if path.name != "report.json"]


def read_status(world: World) -> dict[str, bytes]:
    """The records and their index by their paths in the status folder."""
    return {str(path.relative_to(world.state)): path.read_bytes() for path in _list_documents(world)}


def key(kind: str, group: str, name: str, namespace: str = "default") -> Key:
    return Key(group, kind, namespace, name)


GROUP_ID = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/core"
VNET_ID = f"{GROUP_ID}/providers/Microsoft.Network/virtualNetworks/hub"
SUBNET_ID = f"{VNET_ID}/subnets/one"

GROUP = """\
    apiVersion: resources.azure.com/v1api20200601
    kind: ResourceGroup
    metadata:
      name: core
    spec:
      location: westeurope
    """
ACCOUNT = """\
    apiVersion: storage.azure.com/v1api20230101
    kind: StorageAccount
    metadata:
      name: data
    spec:
      location: westeurope
      owner: {name: core}
      kind: StorageV2
      sku: {name: Standard_LRS}
    """
VNET = """\
    apiVersion: network.azure.com/v1api20240301
    kind: VirtualNetwork
    metadata:
      name: hub
    spec:
      location: westeurope
      owner:
        name: core
      addressSpace:
        addressPrefixes: [10.0.0.0/16]
    """
SUBNET = """\
    apiVersion: network.azure.com/v1api20240301
    kind: VirtualNetworksSubnet
    metadata:
      name: one
    spec:
      owner:
        name: hub
      addressPrefix: 10.0.0.0/24
    """


def annotated(document: str, **annotations: str) -> str:
    """The document with annotations, whose names are given with `__` for `/` and `_` for `-`."""
    lines = "".join(f'        {_annotation(name)}: "{value}"\n' for name, value in annotations.items())
    return document.replace("    metadata:\n", "    metadata:\n      annotations:\n" + lines, 1)


def _annotation(name: str) -> str:
    return name if "/" in name else f"serviceoperator.azure.com/{name.replace('_', '-')}"
