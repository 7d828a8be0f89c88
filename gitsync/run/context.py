"""Makes the context that all nodes of a run share, once: from the settings, the edges and the manifests."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from gitsync.config.config import Config
from gitsync.model.export import Address
from gitsync.model.record import State
from gitsync.model.resource import Prepared, Resource
from gitsync.model.review import Review
from gitsync.planning.secret_digest import Digests
from gitsync.planning.unused_exports import find_needed_secrets
from gitsync.reconcile.context import RunContext, RunRules
from gitsync.reconcile.identities import Identities
from gitsync.reconcile.run_cache import RunCache
from gitsync.request.exports import assign_exporters, find_addresses
from gitsync.run.connections import Connections
from gitsync.run.load import RunInput
from gitsync.secrets.exporter import Outlets
from gitsync.secrets.sinks.status import KeptConfigMaps
from gitsync.secrets.values import RunValues


def make_rules(config: Config, edges: Connections, review: Review | None, *, writes: bool) -> RunRules:
    """What the settings allow the run to do; its deadline counts from now."""
    return RunRules(
        writes=writes,
        is_reviewed=config.plan_out is not None and not writes,
        review=review,
        prune=config.prune,
        adopts=config.adopt == "write",
        always_put=config.always_put,
        flap_limit=config.flap_limit,
        registers=config.register_providers,
        node_timeout=config.resource_timeout,
        deadline=edges.clock.monotonic() + config.run_timeout,
        agent=config.agent,
    )


def make_context(
    config: Config, edges: Connections, given: RunInput, state: State, rules: RunRules, accounts: Identities
) -> RunContext:
    """All that a node needs in addition to its own turn."""
    resources = [one.resource for one in given.prepared]
    values = RunValues(
        given.lookup,
        {one.key: one.arm_id for one in given.prepared if one.arm_id},
        _promised(resources),
        foresees=not rules.writes,
    )
    return RunContext(
        arm=edges.arm,
        accounts=accounts,
        registry=edges.registry,
        catalog=edges.catalog,
        clock=edges.clock,
        values=values,
        outlets=_outlets(edges, given.prepared, state),
        redactions=edges.redactions,
        rules=rules,
        memory=RunCache(),
        digests=Digests(config.digest_key),
        progress=edges.progress,
    )


def _promised(resources: Iterable[Resource]) -> Mapping[Address, frozenset[str | None]]:
    promised: dict[Address, set[str | None]] = defaultdict(set)
    for resource in resources:
        for address, key in find_addresses(resource):
            promised[address].add(key)
    return {address: frozenset(keys) for address, keys in promised.items()}


def _outlets(edges: Connections, prepared: Sequence[Prepared], state: State) -> Outlets:
    owners = {address: key for key, record in state.records.items() for address in record.exports}
    kept = KeptConfigMaps(state.config_maps)
    sinks = (kept, *edges.places.sinks) if edges.places.keeps_config_maps else edges.places.sinks
    return Outlets(
        sinks, assign_exporters((one.resource for one in prepared), owners), kept, find_needed_secrets(prepared)
    )
