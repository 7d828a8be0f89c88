"""The ARM ids of owners and references that other sources declare: from the own status, and those of --known-from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gitsync.agent.run.git_settings import make_git_access
from gitsync.desired.catalog.catalog import Catalog
from gitsync.errors import StateError
from gitsync.model.manifests import Manifests
from gitsync.model.problem import Problem
from gitsync.model.record import State
from gitsync.model.secret import Secret
from gitsync.planning.record_trust import KnownRecords, collect_known_ids, select_hidden
from gitsync.providers.arm.real_clock import SystemClock
from gitsync.repository.git.source.checkout import Checkout
from gitsync.repository.git.state.seal import RecordSeals
from gitsync.settings.config.config import Config

if TYPE_CHECKING:
    from gitsync.agent.reconcile.context import Connections
    from gitsync.repository.git.state.store_choice import ForeignStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignRecords:
    """The records of --known-from, and a problem for each source of it that could not be read."""

    sources: tuple[KnownRecords, ...] = ()
    problems: tuple[Problem, ...] = ()


def add_known_ids(
    manifests: Manifests, config: Config, connections: Connections, state: State, agent: str
) -> tuple[Manifests, tuple[Problem, ...]]:
    """Add the ids that a run may use. Also returns the problems of --known-from: they hide no manifest."""
    seals = RecordSeals(agent, config.digest_key, config.previous_digest_key, checks_all=True)
    foreign = read_known_from(config, connections.source, seals, connections.redact)
    own = _list_own_sources(manifests, config, connections, state, agent)
    return _add(manifests, (*own, *foreign.sources), connections.catalog), foreign.problems


def add_foreign_ids(manifests: Manifests, foreign: ForeignRecords, catalog: Catalog) -> Manifests:
    """Add the ids of --known-from alone, for a command that reads no own status."""
    return _add(manifests, foreign.sources, catalog)


def _add(manifests: Manifests, sources: Iterable[KnownRecords], catalog: Catalog) -> Manifests:
    declared = {resource.key for resource in (*manifests.resources, *manifests.elsewhere)}
    return replace(manifests, known=collect_known_ids(declared, sources, catalog))


def _list_own_sources(
    manifests: Manifests, config: Config, connections: Connections, state: State, agent: str
) -> tuple[KnownRecords, ...]:
    """List the records of the own status: records whose manifests may be hidden, and those of other agents."""
    own = state.list_own(agent)
    others = {key: record for key, record in state.records.items() if key not in own}
    built = {resource.unit.name for resource in manifests.resources if resource.unit}
    hidden = select_hidden(own, (*connections.source.contents.problems, *manifests.problems), built)
    location, needs_seal = f"the {connections.store.name}", config.digest_key is not None
    return tuple(
        KnownRecords(location=location, records=records, needs_seal=needs_seal, are_hidden=records is hidden)
        for records in (hidden, others)
    )


def read_known_from(
    config: Config, source: Checkout | None, seals: RecordSeals | None, redact: Callable[[Secret], None]
) -> ForeignRecords:
    """Read every source of --known-from. With `seals`, their records need a valid one; a command that writes nothing
    trusts them without.
    """
    if not config.known_from:
        return ForeignRecords()
    # Most runs set no --known-from, and reading one needs libraries that offline commands do without.
    from gitsync.repository.git.state.store_choice import StatusReader, read_foreign_status  # noqa: PLC0415 - as above

    reader = StatusReader(
        source=source,
        access=make_git_access(config, source.remote.grace if source and source.remote else None),
        seals=seals or RecordSeals(),
        clock=SystemClock(),
    )
    sources, problems = [], []
    for address in config.known_from:
        try:
            foreign = read_foreign_status(address, reader, redact)
        except StateError as error:
            problems.append(Problem(code="KnownFromNotRead", message=error.message, hint=error.hint))
        else:
            sources.append(_make_source(foreign, seals))
    return ForeignRecords(sources=tuple(sources), problems=tuple(problems))


def _make_source(foreign: ForeignStatus, seals: RecordSeals | None) -> KnownRecords:
    return KnownRecords(
        location=f"the {foreign.name}",
        records=foreign.state.records,
        needs_seal=seals is not None,
        has_key=seals is not None and seals.key is not None,
    )
