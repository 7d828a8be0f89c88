"""Adds to the results of a run which resources another identity than before writes, and where it comes from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from gitsync.agent.reconcile.identities import Identities, ResourceIdentity
from gitsync.agent.run.run_input import RunInput
from gitsync.desired.manifests.credential_secret import CLIENT, OF_NAMESPACE, CredentialRefusal
from gitsync.desired.request.allow_list import NOT_ALLOWED, make_problem
from gitsync.desired.request.credential_choice import GLOBAL
from gitsync.model.export import Address, ObjectKind
from gitsync.model.gvk import Key
from gitsync.model.identity import WritingIdentity
from gitsync.model.plan import Node, Plan
from gitsync.model.problem import Level, Problem
from gitsync.model.result import Result
from gitsync.planning.identity_changes import describe_recorded, find_identity_change, was_written
from gitsync.repository.secrets.stores import MANIFESTS


def add_identity_changes(
    results: Iterable[Result], plan: Plan, identities: Identities, run_input: RunInput
) -> Iterator[Result]:
    """Yield the results, with the changes of identity of the resources that gitsync has written before."""
    for result in results:
        key = result.key
        node: Node | None = plan.applies.get(key) or plan.prunes.get(key)
        if node is None or node.record is None or _is_as_recorded(identities[key], node.record.access.credential):
            yield result
            continue
        now = _describe(key, identities[key], run_input)
        before = describe_recorded(node.record)
        is_comparable = now and was_written(node) and not _are_both_unknown(before, now)
        change = find_identity_change(before, now) if now and is_comparable else None
        yield replace(result, change=replace(result.change, identity=change)) if change else result


def list_refused_deletes(results: Iterable[Result], plan: Plan, run_input: RunInput) -> Iterator[Problem]:
    """List the problems of deletes whose identity is not allowed: no manifest has them."""
    declared = run_input.manifests.objects.declared
    for result in results:
        prune = plan.prunes.get(result.key)
        if prune is None or result.condition.reason != NOT_ALLOWED:
            continue
        name = prune.record.access.credential or OF_NAMESPACE
        secret = declared.get(Address(ObjectKind.SECRET, result.key.namespace, name))
        condition = result.condition
        refusal = CredentialRefusal(condition.message, condition.advice, code=NOT_ALLOWED)
        yield make_problem(refusal, secret.source if secret else None, Level.ERROR)


def _is_as_recorded(identity: ResourceIdentity, credential: str) -> bool:
    """Return whether both are the global credential, as for most resources."""
    return identity.credential == credential == GLOBAL


def _are_both_unknown(before: WritingIdentity, now: WritingIdentity) -> bool:
    """Return whether no ids of one Secret are known, neither on record nor now, as of an identity file elsewhere."""
    return before.credential == now.credential and not (before.ids.is_known or now.ids.is_known)


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
