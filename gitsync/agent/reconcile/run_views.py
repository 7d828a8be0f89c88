"""What a stage may reach of the run: four narrow views, all of which `RunContext` satisfies.

A stage that observes is given nothing that writes to Azure, and each can be read and tested without a whole run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

from gitsync.agent.reconcile.attempt import ApplyAttempt, Attempt, PruneAttempt
from gitsync.agent.reconcile.lists import Lists
from gitsync.agent.reconcile.rules import RunRules
from gitsync.agent.reconcile.run_cache import RunCache
from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.request.secret_digest import Digests
from gitsync.extensions.registry import Registry
from gitsync.model.arm_id import ArmId
from gitsync.model.check import CheckFinding, CheckName, PlannedChange
from gitsync.model.clock import Clock
from gitsync.model.export import Address
from gitsync.model.gvk import Key
from gitsync.model.live import Absence, Live
from gitsync.model.plan import Node
from gitsync.model.provider import ProvidedResource
from gitsync.model.record import Record
from gitsync.model.result import Stage
from gitsync.providers.arm.auth.principal import Principal
from gitsync.providers.arm.client import Arm, Reader, Writer
from gitsync.providers.arm.lro.poll import AcceptedWrite
from gitsync.providers.arm.session import Session
from gitsync.providers.arm.write_locks import WriteLocks
from gitsync.repository.secrets.export_sinks import ExportSinks
from gitsync.repository.secrets.reference_values import RunValues
from gitsync.settings.redaction import Redactions


class Others(Protocol):
    """The other workers of a run, each of which syncs another part of the estate."""

    async def find_failure(self, key: Key) -> str:
        """Return why a resource of another worker will not come in this run; "" if it may."""
        ...


class LiveReader(Protocol):
    """Reads one resource: ARM's `Reader`, or that of another provider, which shows what it finds with the fields of the
    manifest. Every method raises ProviderError if there is no usable response.
    """

    async def find(self, arm_id: ArmId, api_version: str) -> Live | Absence:
        """Return the resource, or the response that shows that it does not exist."""
        ...

    async def settle(self, arm_id: ArmId, api_version: str, live: Live) -> Live | None:
        """Wait until a resource no longer changes, or for the deadline. Returns it as last seen; None if it is gone."""
        ...


class LiveWriter(LiveReader, Protocol):
    """Writes and deletes one resource where it is. A reply of None says that all is done."""

    async def put(
        self, arm_id: ArmId, api_version: str, body: Mapping[str, Any], *, if_match: str | None = None
    ) -> AcceptedWrite | None:
        """Bring the resource to its body, or begin to."""
        ...

    async def delete(self, arm_id: ArmId, api_version: str, *, if_match: str | None = None) -> AcceptedWrite | None:
        """Delete the resource, or begin to; what is not there is deleted already."""
        ...

    async def wait(self, reply: AcceptedWrite) -> bool:
        """Follow what was begun to its end. Returns False if the deadline came first."""
        ...


class ResourceProvider(Protocol):
    """Opens the resources of another provider than ARM. `session` is that of the resource, and `arm` reads and signs in
    with its credential.
    """

    def reader(self, resource: ProvidedResource, arm: Arm, session: Session) -> LiveReader: ...

    def writer(self, resource: ProvidedResource, arm: Arm, session: Session) -> LiveWriter: ...

    def find_given_id(self, arm_id: ArmId) -> str:
        """Return the id that the provider gave a resource in this run, although it may not show it yet; "" for none."""
        ...


async def read_live(reader: LiveReader, arm_id: ArmId, api_version: str) -> Live | None:
    """Return a resource; None if it does not exist."""
    answer = await reader.find(arm_id, api_version)
    return answer if isinstance(answer, Live) else None


class Observing(Protocol):
    """For the stages that read, compare and decide."""

    @property
    def rules(self) -> RunRules: ...
    @property
    def catalog(self) -> Catalog: ...
    @property
    def registry(self) -> Registry: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def values(self) -> RunValues: ...
    @property
    def digests(self) -> Digests: ...
    @property
    def cache(self) -> RunCache: ...
    @property
    def lists(self) -> Lists: ...
    @property
    def others(self) -> Others | None: ...
    @property
    def children(self) -> Mapping[Key, Sequence[Node]]: ...

    @property
    def has_checks(self) -> bool: ...

    async def check(
        self, changes: Iterable[PlannedChange], names: Collection[CheckName] = ...
    ) -> Mapping[Key, tuple[CheckFinding, ...]]:
        """Return the findings of the checks for each change, the most urgent first; `names` restricts the checks."""
        ...

    def reader(self, attempt: Attempt) -> Reader:
        """Return what reads ARM for a resource. Raises ProviderError if its credential cannot be used."""
        ...

    async def live_reader(self, attempt: Attempt, record: Record | None = None) -> LiveReader:
        """Return what reads the resource itself, or that of a record that the attempt names. Raises ProviderError if
        its credential cannot be used.
        """
        ...

    async def find_principal(self, attempt: Attempt) -> Principal | None:
        """Return the principal that the resource is reconciled as; None if it is not known."""
        ...

    def find_kept_value(self, address: Address, key: str, owner: Key) -> str | None:
        """Return a value that a resource has exported to a config map of the status before."""
        ...


class Acting(Observing, Protocol):
    """For the stages that send a write, and look at what came of it."""

    @property
    def locks(self) -> WriteLocks: ...

    def writer(self, attempt: Attempt) -> Writer:
        """Return what writes to ARM for a resource. Raises ProviderError if its credential cannot be used."""
        ...

    def find_given_id(self, attempt: ApplyAttempt) -> str:
        """Return the id that another provider than ARM gave the resource in this run; "" for none."""
        ...

    async def live_writer(self, attempt: Attempt) -> LiveWriter:
        """Return what writes the resource itself. Raises ProviderError if its credential cannot be used."""
        ...


class Exporting(Acting, Protocol):
    """For the stages that read what a resource exports, which may take an action in Azure, and write it to sinks."""

    @property
    def export_sinks(self) -> ExportSinks: ...
    @property
    def redactions(self) -> Redactions: ...


class Pruning(Acting, Protocol):
    """For the stage that deletes."""

    def enter(self, attempt: PruneAttempt, stage: Stage) -> None:
        """Note that a stage begins: the poll of a delete."""
        ...
