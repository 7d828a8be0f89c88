"""The lists of a run: which resources they may cover, and which credential reads them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Iterable, Iterator
from dataclasses import replace

from gitsync.arm.http.bodies import Entries
from gitsync.catalog.collections import find_collections
from gitsync.config.config import Config
from gitsync.model.export import Holder
from gitsync.model.gvk import Key
from gitsync.model.plan import Apply, Plan
from gitsync.model.verdict import Action
from gitsync.planning.list_cover import ListedResource, ResourceList, find_cover, may_be_listed
from gitsync.reconcile.context import RunContext
from gitsync.reconcile.lists import Lists
from gitsync.reconcile.rules import RunRules
from gitsync.request.exports import find_destinations, has_expressions, may_export

_SHARE_OF_TIMEOUT = 0.5
"""Of the timeout of a resource: how long it waits for a list. The rest is for its own read."""


def add_lists(config: Config, run: RunContext, plan: Plan) -> RunContext:
    """Add the lists that a plan needs; none if every resource is written or reviewed: that takes a read."""
    if config.reads == "each" or run.rules.always_put or run.rules.approval.is_reviewed:
        return run

    def read(key: Key, one: ResourceList) -> AsyncGenerator[Entries, None]:
        timeout = run.rules.resource_timeout * _SHARE_OF_TIMEOUT
        session = run.sessions.begin(min(run.clock.monotonic() + timeout, run.rules.deadline))
        reader = run.identities[key].azure().reader(session)
        return reader.pages(one.path, one.api_version, is_optional=True)

    reviewed_writes = _list_reviewed_writes(run.rules)
    applies = (apply for key, apply in plan.applies.items() if key not in reviewed_writes)
    return replace(run, lists=Lists(find_cover(_find_listed(applies, run)), read))


def _list_reviewed_writes(rules: RunRules) -> Collection[Key]:
    nodes = rules.approval.review.nodes if rules.approval.review else {}
    return {key for key, reviewed in nodes.items() if reviewed.action is not Action.NONE}


def _find_listed(applies: Iterable[Apply], run: RunContext) -> Iterator[ListedResource]:
    """The resources that lists may show: an expression, or an extension of the kind, may need more than a list has."""
    for apply in applies:
        resource, arm_id = apply.prepared.resource, apply.prepared.arm_id
        key = resource.key
        kind = run.catalog.kind(resource.gvk)
        if kind is None or not kind.can_get or not arm_id or not may_be_listed(apply):
            continue
        exports = may_export(resource)
        secrets = find_destinations(resource, Holder.SECRET) if exports else ()
        if (exports and has_expressions(resource)) or run.registry.needs_read(key.group, key.kind, secrets):
            continue
        yield ListedResource(
            key=key,
            arm_id=arm_id,
            api_version=kind.api_version,
            principal=run.identities[key].arm,
            collections=find_collections(kind, arm_id),
        )
