"""The stage that names what the delete of an application takes along, in git or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from gitsync.agent.reconcile.attempt import PruneAttempt
from gitsync.agent.reconcile.run_views import Observing
from gitsync.desired.catalog.directory_relations import APPLICATION
from gitsync.desired.formats.name_list import name_first
from gitsync.errors import ProviderError
from gitsync.model.verdict import Action

_ROLES: Final = "Microsoft.Authorization/roleAssignments"
_VERSION: Final = "2022-04-01"
_MOST_NAMED: Final = 10


async def name_going_along(attempt: PruneAttempt, run: Observing) -> PruneAttempt:
    """Add to the delete of an application what goes along with it, and which role assignments lose their principal."""
    if attempt.decision.action is not Action.DELETE or attempt.key[:2] != APPLICATION:
        return attempt
    from gitsync.providers.entra.directory import ObjectReader  # noqa: PLC0415 - most runs delete no application

    try:
        reader = await run.live_reader(attempt)
        along = await reader.list_going_along() if isinstance(reader, ObjectReader) else None
        if along is None:
            return attempt
        roles = await _list_roles(attempt, along.principal_id, run) if along.principal_id else []
    except ProviderError as error:
        note = f"What goes along with it could not be read: {error.message.rstrip('.')}."
        return attempt.with_decision(replace(attempt.decision, note=note))
    parts = {
        "the service principal": [f"{along.principal} ({along.principal_id})"] if along.principal_id else [],
        "the federated credentials": sorted(along.credentials),
        "the app roles of the principal in": sorted(along.roles),
        "the app roles that it gave to": sorted(along.given),
    }
    texts = [*_describe("Goes along", parts), *_describe("Left without a principal", {"the role assignments": roles})]
    return attempt.with_decision(replace(attempt.decision, note=" ".join(texts))) if texts else attempt


async def _list_roles(attempt: PruneAttempt, principal_id: str, run: Observing) -> list[str]:
    """List the ids of the role assignments in the subscription that a principal has."""
    if not attempt.subscription:
        return []
    path = f"/subscriptions/{attempt.subscription}/providers/{_ROLES}"
    query = {"$filter": f"principalId eq '{principal_id}'"}
    entries = await run.reader(attempt).list(path, _VERSION, query)
    return sorted(str(entry.get("id")) for entry in entries if _read_principal(entry) == principal_id.casefold())


def _read_principal(entry: Mapping[str, Any]) -> str:
    properties = entry.get("properties")
    return str(properties.get("principalId")).casefold() if isinstance(properties, Mapping) else ""


def _describe(what: str, parts: Mapping[str, list[str]]) -> Iterator[str]:
    found = [f"{noun} {name_first(names, _MOST_NAMED)}" for noun, names in parts.items() if names]
    if found:
        yield f"{what}: {'; '.join(found)}."
