"""What a stage may reach of the run: four narrow views, all of which `RunContext` satisfies.

A stage that observes is given nothing that writes to Azure, and each can be read and tested without a whole run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from gitsync.arm.client import Reader, Writer
from gitsync.arm.write_locks import WriteLocks
from gitsync.catalog.catalog import Catalog
from gitsync.extensions.registry import Registry
from gitsync.model.check import CheckFinding, PlannedChange
from gitsync.model.clock import Clock
from gitsync.model.export import Address
from gitsync.model.gvk import Key
from gitsync.model.result import Stage
from gitsync.planning.secret_digest import Digests
from gitsync.reconcile.attempt import ApplyAttempt, PruneAttempt
from gitsync.reconcile.lists import Lists
from gitsync.reconcile.rules import RunRules
from gitsync.reconcile.run_cache import RunCache
from gitsync.redaction import Redactions
from gitsync.secrets.exports import ExportSinks
from gitsync.secrets.values import RunValues


class Others(Protocol):
    """The other workers of a run, each of which syncs another part of the estate."""

    async def find_failure(self, key: Key) -> str:
        """Return why a resource of another worker will not come in this run; "" if it may."""
        ...


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
    def has_checks(self) -> bool: ...

    async def check(self, changes: Iterable[PlannedChange]) -> Mapping[Key, tuple[CheckFinding, ...]]:
        """Return what the checks say of each change, the most urgent first."""
        ...

    def reader(self, attempt: ApplyAttempt | PruneAttempt) -> Reader:
        """Return what reads Azure for a resource. Raises ArmError if its credential cannot be used."""
        ...

    def find_kept_value(self, address: Address, key: str, owner: Key) -> str | None:
        """Return a value that a resource has exported to a config map of the status before."""
        ...


class Acting(Observing, Protocol):
    """For the stages that send a write, and look at what came of it."""

    @property
    def locks(self) -> WriteLocks: ...

    def writer(self, attempt: ApplyAttempt | PruneAttempt) -> Writer:
        """Return what writes to Azure for a resource. Raises ArmError if its credential cannot be used."""
        ...


class Exporting(Acting, Protocol):
    """For the stage that reads what a resource exports, which may take an action in Azure, and writes it to sinks."""

    @property
    def export_sinks(self) -> ExportSinks: ...
    @property
    def redactions(self) -> Redactions: ...


class Pruning(Acting, Protocol):
    """For the stage that deletes."""

    def enter(self, attempt: PruneAttempt, stage: Stage) -> None:
        """Note that a stage begins: the poll of a delete."""
        ...
