"""The context that all nodes of a run share, made once from the settings, the connections and the manifests."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from gitsync.config.config import Config
from gitsync.git.source.checkout import find_repository
from gitsync.model.export import NAMELESS, Address
from gitsync.model.manifests import DeclaredObject
from gitsync.model.plan import Review
from gitsync.model.record import State
from gitsync.model.resource import Resource
from gitsync.planning.secret_digest import Digests
from gitsync.planning.unused_exports import find_needed_secrets
from gitsync.reconcile.context import Connections, RunContext
from gitsync.reconcile.identities import Identities
from gitsync.reconcile.rules import Approval, RunRules
from gitsync.request.exports import assign_exporters, iterate_own_addresses
from gitsync.run.load import RunInput
from gitsync.secrets.exports import ExportSinks
from gitsync.secrets.protocols import SecretSource
from gitsync.secrets.sinks.status import KeptConfigMaps
from gitsync.secrets.sources.manifests import ManifestSource
from gitsync.secrets.values import RunValues


def make_rules(
    config: Config, connections: Connections, review: Review | None, agent: str, *, writes: bool
) -> RunRules:
    """What the settings allow the run to do; its deadline counts from now."""
    return RunRules(
        writes=writes,
        approval=Approval(is_reviewed=config.plan_out is not None and not writes, review=review),
        prune=config.prune,
        adopts=config.adopt == "write",
        always_put=config.always_put,
        flap_limit=config.flap_limit,
        registers=config.register_providers,
        resource_timeout=config.resource_timeout,
        deadline=connections.clock.monotonic() + config.run_timeout,
        agent=agent,
        repository=find_repository(connections.source) if agent == NAMELESS else "",
    )


def make_context(
    config: Config, connections: Connections, run_input: RunInput, state: State, rules: RunRules, identities: Identities
) -> RunContext:
    """The parts of a run, made once."""
    resources = [one.resource for one in run_input.prepared]
    values = RunValues(
        run_input.lookup,
        {one.key: one.arm_id for one in run_input.prepared if one.arm_id},
        _list_promised_keys(resources, run_input.manifests.declared),
        foresees=not rules.writes,
    )
    return RunContext(
        connections=connections,
        identities=identities,
        values=values,
        export_sinks=_make_export_sinks(connections, run_input, state),
        rules=rules,
        digests=Digests(config.digest_key),
    )


def _list_promised_keys(
    resources: Iterable[Resource], declared: Mapping[Address, DeclaredObject]
) -> Mapping[Address, frozenset[str | None]]:
    keys_by_address: dict[Address, set[str | None]] = defaultdict(set)
    for resource in resources:
        for address, key in iterate_own_addresses(resource, declared):
            keys_by_address[address].add(key)
    return {address: frozenset(keys) for address, keys in keys_by_address.items()}


def _make_export_sinks(connections: Connections, run_input: RunInput, state: State) -> ExportSinks:
    prepared = run_input.prepared
    owners = {address: key for key, record in state.records.items() for address in record.exports}
    config_maps = KeptConfigMaps(state.config_maps)
    stores = connections.secret_stores
    sinks = (config_maps, *stores.sinks) if stores.keeps_config_maps else stores.sinks
    return ExportSinks(
        sinks,
        assign_exporters((one.resource for one in prepared), owners),
        config_maps,
        find_needed_secrets(prepared),
        _list_asked_sources(run_input),
    )


def _list_asked_sources(run_input: RunInput) -> tuple[SecretSource, ...]:
    """The sources that may have an object already. Those of git count even if the settings do not name them."""
    others = (one for one in run_input.lookup.list_asked() if one.name != ManifestSource.name)
    return (ManifestSource(run_input.manifests), *others)
