"""Make the context that all nodes of a run share, once, from the settings, the connections and the manifests.

Its lists are added once there is a plan, which decides what they may cover.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from dataclasses import replace

from gitsync.agent.checks.check_table import BEFORE_WRITES, Checks
from gitsync.agent.reconcile.context import Connections, RunContext, Sessions
from gitsync.agent.reconcile.identities import Identities
from gitsync.agent.reconcile.lists import Lists
from gitsync.agent.reconcile.rules import Approval, OutsideUse, RunRules
from gitsync.agent.reconcile.run_cache import RunCache
from gitsync.agent.run.change_reference import make_change_reference
from gitsync.agent.run.providers import make_provider_opener
from gitsync.agent.run.run_exports import list_needed_secrets
from gitsync.agent.run.run_input import RunInput
from gitsync.agent.run.workers import OtherShards
from gitsync.desired.catalog.collections import list_collections
from gitsync.desired.manifests.selection import list_named
from gitsync.desired.request.exports import (
    assign_exporters,
    collect_destinations,
    has_expressions,
    iterate_own_addresses,
    may_export,
)
from gitsync.desired.request.secret_digest import Digests
from gitsync.model.check import NO_CHECKS, CheckName
from gitsync.model.export import NAMELESS, Address, ObjectKind
from gitsync.model.gvk import Key
from gitsync.model.manifests import DeclaredObject
from gitsync.model.plan import Apply, Plan, Review
from gitsync.model.record import State
from gitsync.model.resource import Prepared, Resource
from gitsync.model.template import list_computed_values
from gitsync.model.verdict import Action
from gitsync.planning.list_cover import ListedResource, ResourceList, choose_cover, may_be_listed
from gitsync.providers.arm.http.response_bodies import Entries
from gitsync.repository.git.source.checkout import find_repository
from gitsync.repository.git.state.worker_store import WorkerStore
from gitsync.repository.secrets.export_sinks import ExportSinks
from gitsync.repository.secrets.reference_values import RunValues
from gitsync.repository.secrets.sinks.status import KeptConfigMaps
from gitsync.repository.secrets.sources.declared_objects import ManifestSource
from gitsync.settings.config.config import Config

CHECK_PATIENCE = 60.0
"""Seconds for one request of a check. Without a response by then, the change is not checked."""

_SHARE_OF_TIMEOUT = 0.5
"""Of the timeout of a resource: how long it waits for a list. The rest is for its own read."""


def make_rules(
    config: Config,
    connections: Connections,
    review: Review | None,
    agent: str,
    *,
    writes: bool,
    outside_use: OutsideUse = OutsideUse.REPORT,
) -> RunRules:
    """Return what the settings allow the run to do; its deadline counts from now."""
    return RunRules(
        writes=writes,
        approval=Approval(
            is_reviewed=config.plan_out is not None and not writes, review=review, named=list_named(config.only)
        ),
        prune=config.prune,
        adopts=config.adopt == "write",
        always_put=config.always_put,
        outside_use=outside_use,
        flap_limit=config.flap_limit,
        register_providers=config.register_providers,
        records_durations=not connections.azure.is_local,
        resource_timeout=config.resource_timeout,
        deadline=connections.clock.monotonic() + config.run_timeout,
        agent=agent,
        revision=connections.source.revision or "",
        repository=find_repository(connections.source) if agent == NAMELESS else "",
    )


def make_context(
    config: Config, connections: Connections, run_input: RunInput, state: State, rules: RunRules, identities: Identities
) -> RunContext:
    """Make the parts of a run, once."""
    resources = [entry.resource for entry in run_input.prepared]
    values = RunValues(
        run_input.lookup,
        {resource.key: resource.arm_id for resource in run_input.prepared if resource.arm_id},
        _list_promised_keys(resources, run_input.manifests.objects.declared),
        foresees=not rules.writes,
        sources=_list_value_sources(run_input.prepared),
        stand_ins=(
            connections.make_stand_ins(run_input.prepared, state.records) if connections.make_stand_ins else None
        ),
    )
    clock, sessions = connections.clock, Sessions(make_change_reference(connections.source, os.environ))
    names = {CheckName(name) for name in config.checks if name != NO_CHECKS}
    run_cache = RunCache()
    checks = Checks(
        names & BEFORE_WRITES if rules.writes else names,
        lambda: sessions.begin(min(clock.monotonic() + CHECK_PATIENCE, rules.deadline)),
    )
    return RunContext(
        connections=connections,
        identities=identities,
        values=values,
        export_sinks=_make_export_sinks(connections, run_input, state),
        rules=rules,
        digests=Digests(config.digest_key),
        checks=checks,
        sessions=sessions,
        cache=run_cache,
        open_provider=make_provider_opener(
            config,
            connections,
            run_cache,
            lambda: sessions.begin(min(clock.monotonic() + rules.resource_timeout, rules.deadline)),
        ),
        others=OtherShards(connections.store, clock) if isinstance(connections.store, WorkerStore) else None,
    )


def _list_value_sources(prepared: Iterable[Prepared]) -> frozenset[Key]:
    """List the resources whose values expressions of others need during the run."""
    values = (value for entry in prepared if entry.template for value in list_computed_values(entry.template))
    return frozenset(key for value in values for key in value.sources.values())


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
    # The sources that may have an object already. Those of git count even if the settings do not name them.
    requested = (source for source in run_input.lookup.list_requested() if source.name != ManifestSource.name)
    return ExportSinks(
        sinks,
        assign_exporters((entry.resource for entry in prepared), owners),
        config_maps,
        list_needed_secrets(prepared),
        (ManifestSource(run_input.manifests), *requested),
    )


def add_lists(config: Config, run: RunContext, plan: Plan) -> RunContext:
    """Add the lists that a plan needs; none if every resource is written or reviewed: that takes a read."""
    is_each_read = run.rules.always_put or run.rules.approval.is_reviewed
    # A revert and an acknowledgement use the values that Azure shows, and an entry of a list may lack some.
    if config.reads == "each" or is_each_read or run.rules.outside_use is not OutsideUse.REPORT:
        return run

    def read(key: Key, resource_list: ResourceList) -> AsyncGenerator[Entries, None]:
        timeout = run.rules.resource_timeout * _SHARE_OF_TIMEOUT
        session = run.sessions.begin(min(run.clock.monotonic() + timeout, run.rules.deadline))
        reader = run.identities[key].azure().reader(session)
        return reader.pages(resource_list.path, resource_list.api_version, is_optional=True)

    nodes = run.rules.approval.review.nodes if run.rules.approval.review else {}
    reviewed_writes = {key for key, reviewed in nodes.items() if reviewed.action is not Action.NONE}
    # A resource that the reviewed plan writes is read anyway, so no list is worth a request for it.
    applies = (apply for key, apply in plan.applies.items() if key not in reviewed_writes)
    today = run.clock.now().date()
    return replace(run, lists=Lists(choose_cover(_list_listed(applies, run)), read, today))


def _list_listed(applies: Iterable[Apply], run: RunContext) -> Iterator[ListedResource]:
    """List the resources that lists may show: an expression, or an extension of the kind, may need more than a list
    has.
    """
    for apply in applies:
        resource, arm_id = apply.prepared.resource, apply.prepared.arm_id
        key = resource.key
        kind = run.catalog.kind_of(resource)
        if kind is None or not kind.can_get or not arm_id or not may_be_listed(apply):
            continue
        exports = may_export(resource)
        secrets = collect_destinations(resource, ObjectKind.SECRET) if exports else ()
        if (exports and has_expressions(resource)) or run.registry.needs_read(*kind.rule_key, secrets):
            continue
        yield ListedResource(
            key=key,
            arm_id=arm_id,
            api_version=kind.api_version,
            principal=run.identities[key].arm,
            collections=list_collections(kind, arm_id),
        )
