"""Adds to the results of a run which resources another identity than before writes, and where it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gitsync.agent.reconcile.identities import Identities, ResourceIdentity
from gitsync.agent.run.run_input import RunInput
from gitsync.desired.manifests.credential_secret import CLIENT
from gitsync.desired.request.credential_choice import GLOBAL
from gitsync.model.export import Address, ObjectKind
from gitsync.model.gvk import Key
from gitsync.model.identity import WritingIdentity
from gitsync.model.plan import Node, Plan
from gitsync.model.result import Result
from gitsync.planning.identity_changes import describe_recorded, find_identity_change, was_written
from gitsync.repository.secrets.stores import MANIFESTS


def add_identity_changes(
    results: Mapping[Key, Result], plan: Plan, identities: Identities, run_input: RunInput
) -> dict[Key, Result]:
    """Return the results with the changes of identity of the resources that gitsync has written before."""
    changed = dict(results)
    nodes: tuple[Node, ...] = (*plan.applies.values(), *plan.prunes.values())
    for node in nodes:
        key, record = node.key, node.record
        identity, result = identities[key], results.get(key)
        if record is None or result is None or _is_as_recorded(identity, record.access.credential):
            continue
        now = _describe(key, identity, run_input)
        if now and was_written(node) and (change := find_identity_change(describe_recorded(record), now)):
            changed[key] = replace(result, change=replace(result.change, identity=change))
    return changed


def _is_as_recorded(identity: ResourceIdentity, credential: str) -> bool:
    """Return whether both are the global credential, as for most resources."""
    return identity.credential == credential == GLOBAL


def _describe(key: Key, identity: ResourceIdentity, run_input: RunInput) -> WritingIdentity | None:
    """Describe the identity of a resource; None if it has no usable credential, as its result shows."""
    if identity.credential == GLOBAL:
        is_usable = identity.refusal is None
        return WritingIdentity(ids=identity.ids, subscription=identity.subscription) if is_usable else None
    address = Address(ObjectKind.SECRET, key.namespace, identity.credential)
    store = run_input.lookup.get_state(address).origins.get(CLIENT, "")
    declared = run_input.manifests.objects.declared.get(address) if store == MANIFESTS else None
    return WritingIdentity(
        credential=identity.credential,
        ids=identity.ids,
        subscription="" if "<" in identity.subscription else identity.subscription,
        source=declared.source if declared else None,
        store="" if declared else store,
        is_unread=not identity.ids.is_known,
    )
