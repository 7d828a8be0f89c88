"""Open the connections of a run from the settings: git, the recorded state, Azure (or the emulator), the clock.

Separate from the run, which receives them: a test passes others. Once it has its identities, the run makes contact: it
signs in, and finds out what it reads and writes to, for reports, logs and the prompt before a first sync.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path

from gitsync.agent.reconcile.context import AzureConnection, Connections
from gitsync.agent.reconcile.identities import Identities, OpenAs, uses_global
from gitsync.agent.run.git_settings import make_git_access, make_seals
from gitsync.agent.run.prepared_manifests import PLACEHOLDER_SUBSCRIPTION
from gitsync.agent.run.secret_stores import open_secret_stores
from gitsync.agent.run.workers import find_worker, open_worker
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.catalog.releases import read_catalog_release
from gitsync.errors import ConfigError
from gitsync.extensions.registry import Registry
from gitsync.model.clock import Clock
from gitsync.model.identity import IdentityIds
from gitsync.model.report import BUILT_IN_EMULATOR, RunTarget
from gitsync.model.signin import Identity, Method, SignIn
from gitsync.providers.arm.arms import Arms, open_arms
from gitsync.providers.arm.auth.arm_access import ArmAccess, Network
from gitsync.providers.arm.auth.principal import describe_principal
from gitsync.providers.arm.client import Arm
from gitsync.providers.arm.cloud import Cloud, make_cloud
from gitsync.providers.arm.real_clock import SystemClock
from gitsync.report.progress import Progress, Silent
from gitsync.repository.git.source.checkout import Checkout, open_checkout
from gitsync.repository.git.source.commit_signatures import read_trusted_keys
from gitsync.repository.git.state.state_folder import StatusFolder
from gitsync.repository.git.state.store import StateStore
from gitsync.repository.git.state.store_choice import open_store
from gitsync.settings.backoff import Backoff
from gitsync.settings.config.config import Config
from gitsync.settings.config.config_file import join_source_settings
from gitsync.settings.processes.programs import Grace
from gitsync.settings.redaction import Redactions

_LOCAL_INTERVAL = Backoff(first=0.02)
"""An emulator on this machine can be polled often, and most of its operations have ended at the first poll."""


class StoppableClock(SystemClock):
    """The real clock, whose sleeps end when the run is stopped."""

    def __init__(self, stop: asyncio.Event) -> None:
        self._stop = stop

    async def sleep(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._stop.wait(), seconds)
        except TimeoutError:
            return
        # The stop may have been set before: the loop still gets its turn.
        await asyncio.sleep(0)


@asynccontextmanager
async def open_connections(
    config: Config,
    stop: asyncio.Event,
    progress: Progress | None = None,
    redactions: Redactions | None = None,
    grace: Grace | None = None,
    *,
    writes: bool,
) -> AsyncIterator[Connections]:
    """Open what a run of these settings works with, and close it afterwards. A plan (not `writes`) opens less.

    Programs that the run starts end with `grace`.

    Raises ConfigError, SourceError or StateError if one of them cannot be opened.
    """
    clock, redactions, grace = StoppableClock(stop), redactions or Redactions(), grace or Grace()
    with _open_revision(config, clock, grace, writes=writes) as (source, store):
        settings = join_source_settings(config, source.contents.settings)
        config = replace(config, namespace=settings.namespace, unknown_fields=settings.unknown_fields)
        async with (
            open_access(config, redactions) as access,
            open_arms(access, clock) as arms,
            open_secret_stores(config, access, clock, grace, writes=writes) as secret_stores,
        ):
            for secret in source.remote.secrets if source.remote else ():
                redactions.add(secret)
            azure, progress = await _connect_to_azure(config, access, arms), progress or Silent()
            progress.watch(azure.arm.list_limits)
            yield Connections(
                source=source,
                settings=settings,
                store=store,
                azure=azure,
                clock=clock,
                stop=stop,
                catalog=open_catalog(),
                registry=Registry.load(),
                progress=progress,
                redactions=redactions,
                secret_stores=secret_stores,
            )


async def _connect_to_azure(config: Config, access: ArmAccess, arms: Arms) -> AzureConnection:
    return AzureConnection(
        arm=await arms.open(access.sign_in),
        subscription=find_global_subscription(config),
        ids=IdentityIds(access.sign_in.client_id, access.sign_in.tenant_id),
        open_as=make_opener(config, access, arms),
        endpoint=BUILT_IN_EMULATOR if config.emulator is not None else access.cloud.endpoint,
        is_local=access.cloud.is_loopback,
    )


@contextmanager
def _open_revision(
    config: Config, clock: Clock, grace: Grace, *, writes: bool
) -> Iterator[tuple[Checkout, StateStore]]:
    """Open the source and the state of a run; of a worker the pinned revision, and a state of its own."""
    with ExitStack() as opened:
        source = opened.enter_context(open_source(config, grace))
        store = opened.enter_context(open_state(config, source, clock, writes=writes))
        worker = find_worker(config, os.environ)
        if worker is not None:
            pin, store = open_worker(config, worker, source, store, clock)
            opened.enter_context(store)
            # The branch has moved on since the run was pinned, and all workers must read the same revision.
            if pin.revision != source.revision:
                source = opened.enter_context(open_source(replace(config, ref=pin.revision), grace))
        yield source, store


@asynccontextmanager
async def open_azure(config: Config, redactions: Redactions) -> AsyncIterator[tuple[Arm, Clock]]:
    """Open Azure alone, for a command that reads no source and no state. Raises ConfigError if it cannot be reached."""
    clock = SystemClock()
    async with open_access(config, redactions) as access, open_arms(access, clock) as arms:
        yield await arms.open(access.sign_in), clock


def find_global_subscription(config: Config) -> str:
    """Return the subscription of the global credential; "" if there is none."""
    return config.subscription or (PLACEHOLDER_SUBSCRIPTION if config.emulator is not None else "")


def make_opener(config: Config, access: ArmAccess, arms: Arms) -> OpenAs | None:
    """Make the function that signs in with the credential of a Secret.

    Tokens go to the cloud of the run, unless a setting allows Secrets to name another cloud. Returns None if the run
    does not sign in: then the values of Secrets are not sent either.
    """
    # An emulator needs no sign-in, and the values of Secrets must not be sent to it.
    if access.sign_in.method is Method.ANONYMOUS:
        return None

    async def open_as(identity: Identity) -> Arm:
        other = identity.cloud
        cloud = make_cloud(other.endpoint, other.audience, other.authority) if other else None
        machine = access.sign_in
        sign_in = replace(
            identity.sign_in,
            federated_token_file=machine.federated_token_file,
            environment=machine.environment,
            identity_folder=config.identity_folder or "",
        )
        return await arms.open(sign_in, cloud)

    return open_as


def open_source(config: Config, grace: Grace) -> Checkout:
    """Open the source of the settings. Raises ConfigError or SourceError if it cannot be read."""
    status = Path(config.status_dir) if config.status_dir else None
    return open_checkout(
        config.source,
        ref=config.ref,
        path=config.path,
        access=make_git_access(config, grace),
        status_dir=status,
        config_file=config.config_file,
        trusted=read_trusted_keys(config.trusted_keys) if config.trusted_keys else None,
        units=config.units,
        variables=config.variables,
    )


def open_state(config: Config, source: Checkout, clock: Clock, *, writes: bool = True) -> StateStore:
    """Open the store of the recorded state. Raises ConfigError or StateError if the settings name no store that can be
    opened, and ConfigError for a heartbeat without a branch in a run that writes.
    """
    status_dir = Path(config.status_dir) if config.status_dir else None
    store = open_store(
        source,
        status_branch=config.status_branch,
        status_dir=status_dir,
        clock=clock,
        seals=make_seals(config, os.environ),
    )
    if writes and config.heartbeat and isinstance(store, StatusFolder):
        raise ConfigError(
            f"--heartbeat needs a status branch, and the status is in the {store.name}.",
            hint="Use --status-branch, or --metrics for the time of the last success.",
        )
    return store


@asynccontextmanager
async def open_access(config: Config, redactions: Redactions) -> AsyncIterator[ArmAccess]:
    """Find how to reach Azure; with --emulator, an emulator that runs as long as the run."""
    if config.emulator is None:
        yield _make_access(config, make_cloud(config.endpoint, config.audience, config.authority), redactions)
        return
    from gitsync.agent.run.emulator_settings import load_emulator_settings  # noqa: PLC0415 - as above
    from gitsync.emulator.http.server import Emulator  # noqa: PLC0415 - most runs connect to Azure
    from gitsync.emulator.state.store import MemoryStore, SqliteStore  # noqa: PLC0415 - as above

    settings = load_emulator_settings(config.emulator_script)
    store = SqliteStore(Path(config.emulator), config.source) if config.emulator else MemoryStore()
    async with Emulator(settings, store) as emulator:
        yield _make_access(replace(config, credential="anonymous"), make_cloud(emulator.url), redactions)


def _make_access(config: Config, cloud: Cloud, redactions: Redactions) -> ArmAccess:
    return ArmAccess(
        cloud=cloud,
        sign_in=_make_sign_in(config),
        network=Network(
            ca_bundle=Path(config.ca_bundle) if config.ca_bundle else None,
            environment=os.environ,
            concurrency=config.concurrency,
        ),
        request_share=config.request_share,
        poll_interval=_LOCAL_INTERVAL if cloud.is_loopback else Backoff(),
        user_agent_suffix=config.user_agent_suffix or "",
        redactions=redactions,
    )


def _make_sign_in(config: Config) -> SignIn:
    """Make the identity of the settings; without a global credential, an anonymous one that is never used."""
    machine = SignIn(federated_token_file=config.federated_token_file or "", environment=os.environ)
    if not config.subscription and config.emulator is None and config.credential != Method.ANONYMOUS:
        return machine
    return replace(
        machine,
        method=Method(config.credential),
        tenant_id=config.tenant_id or "",
        client_id=config.client_id or "",
        client_secret=config.client_secret,
        client_certificate=config.client_certificate,
        client_certificate_path=config.client_certificate_path or "",
        client_certificate_password=config.client_certificate_password,
        identity_file=config.identity_file or "",
        additional_tenants=config.additional_tenants,
    )


async def make_contact(
    config: Config, connections: Connections, identities: Identities, agent: str, deadline: float
) -> RunTarget:
    """Connect to Azure and sign in, if the run uses the global credential, and return what the run works on.

    Raises ConfigError if Azure cannot be reached or there is no token: nothing was touched.
    """
    subscriptions = {identity.subscription for identity in identities.values()} - {connections.azure.subscription, ""}
    target = RunTarget(
        repository=name_source(connections.source),
        revision=connections.source.revision,
        ref=connections.source.ref or "",
        # A plan may not have all.
        other_subscriptions=tuple(sorted(name for name in subscriptions if "<" not in name)),
        endpoint=connections.azure.endpoint,
        agent=agent,
        catalog=str(read_catalog_release()),
    )
    if not uses_global(identities):
        return target
    # First, so that a wrong endpoint is reported as such, and not as a failed sign-in.
    await connections.azure.arm.reach(deadline)
    principal = await connections.azure.arm.sign_in(deadline)
    anonymous = config.emulator is not None or config.credential == Method.ANONYMOUS
    method = Method.ANONYMOUS if anonymous else Method(config.credential)
    return replace(
        target,
        subscription=connections.azure.subscription,
        subscription_name=await _read_name(connections, deadline),
        identity=describe_principal(principal, method.value),
    )


def name_source(source: Checkout) -> str:
    """Return the URL of the remote, which holds no password, or the folder."""
    return source.remote.name if source.remote else source.name


async def _read_name(connections: Connections, deadline: float) -> str:
    """An emulator makes up its names, so it gets no request."""
    if connections.azure.is_local or not connections.azure.subscription:
        return ""
    return await connections.azure.arm.read_subscription_name(connections.azure.subscription, deadline)
