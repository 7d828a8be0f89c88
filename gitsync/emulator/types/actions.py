"""POST actions of resources.

The tables of `keys`, `messaging_rules` and `kubeconfigs` list them by type and action, both case-insensitive; this
module has those that take time. Lists in an answer are paged, as all lists are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from gitsync.emulator.http import pages
from gitsync.emulator.http.answers import Refused, ServerResponse, refuse
from gitsync.emulator.http.call import ServerRequest
from gitsync.emulator.http.target import Target
from gitsync.emulator.lro import operations
from gitsync.emulator.lro import start as begin
from gitsync.emulator.patch import find_value
from gitsync.emulator.state import providers, subscriptions
from gitsync.emulator.state.cloud import EmulatedCloud, make_not_found
from gitsync.emulator.state.stored import StoredResource
from gitsync.emulator.types import implicit_resources as implied
from gitsync.emulator.types import keys, kubeconfigs
from gitsync.emulator.types import messaging_rules as buses
from gitsync.emulator.types.behaviour import Style
from gitsync.emulator.types.keys import KeyListing

ACTIONS: Mapping[tuple[str, str], KeyListing] = {**keys.KEYS, **buses.RULE_KEYS, **kubeconfigs.CLUSTER_KEYS}
"""Those that answer at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slow:
    """An action that answers 202: its style, the result of its Location, and the resources that refuse it.

    Its effect is in `gitsync.emulator.lro.action_results`.
    """

    style: Style
    result: Callable[[StoredResource], Any] = lambda _resource: None
    refuses: Callable[[StoredResource], Refused | None] = lambda _resource: None


def _refuse_protected_purge(vault: StoredResource) -> Refused | None:
    if not find_value(vault.body, ("properties", "purgeProtectionEnabled")):
        return None
    return refuse("MethodNotAllowed", message="Operation 'DeletedVaultPurge' is not allowed.")


SLOW: Mapping[tuple[str, str], Slow] = {
    ("microsoft.dataprotection/backupvaults/backupinstances", "sync"): Slow(style=Style.ACCEPTED_ASYNC),
    ("microsoft.keyvault/locations/deletedvaults", "purge"): Slow(
        style=Style.ACCEPTED, refuses=_refuse_protected_purge
    ),
    ("microsoft.redhatopenshift/hcpopenshiftclusters", "requestadmincredential"): Slow(
        style=Style.ACCEPTED_ASYNC, result=kubeconfigs.requested
    ),
}


def run(cloud: EmulatedCloud, call: ServerRequest) -> ServerResponse:
    """Answer a POST; an action without a row in a table is unknown to ARM."""
    target = call.target
    if not target.names and len(target.types) == 1:
        handler = subscriptions.act if target.namespace.casefold() == subscriptions.NAMESPACE else providers.register
        return handler(cloud, call)
    resource = _find_owner(cloud, call)
    name = _make_action_key(target)
    if name in SLOW:
        return _start(cloud, call, resource, SLOW[name])
    if name not in ACTIONS:
        words: dict[str, Any] = {"type": "/".join(target.types), "namespace": target.namespace, "versions": ""}
        raise refuse("InvalidResourceType", version=call.api_version, **words)
    return _list_entries(cloud, call, ACTIONS[name](resource))


def is_further_page(call: ServerRequest) -> bool:
    """Tell whether a GET follows the link of an action's page; clients follow these with a GET."""
    return pages.is_further(call) and _make_action_key(call.target) in ACTIONS


def _make_action_key(target: Target) -> tuple[str, str]:
    return target.owner.type.casefold(), target.types[-1].casefold()


def _find_owner(cloud: EmulatedCloud, call: ServerRequest) -> StoredResource:
    owner = call.target.owner
    cloud.demand_place(replace(call, target=owner))
    resource = implied.find(cloud, owner)
    if resource is None:
        raise make_not_found(owner)
    return resource


def _list_entries(cloud: EmulatedCloud, call: ServerRequest, answer: dict[str, Any]) -> ServerResponse:
    """The answer of an action: its entries page by page if it has a list of them."""
    if "value" not in answer:
        return ServerResponse(200, answer)
    rows = [(f"{index:06}", entry) for index, entry in enumerate(answer["value"], 1)]
    page = pages.make_page(call, rows, lambda entry: entry, cloud.settings.page_size)
    return replace(page, body={**answer, **page.body})


def _start(cloud: EmulatedCloud, call: ServerRequest, resource: StoredResource, action: Slow) -> ServerResponse:
    refusal = action.refuses(resource)
    if refusal is not None:
        raise refusal
    owner_call = replace(call, target=call.target.owner)
    operation = begin.start_action(cloud, owner_call, action.style, call.target.types[-1], action.result(resource))
    return ServerResponse(202, None, operations.make_headers(operation, call.base))
