"""POST actions of resources.

The tables of `keys` list them by type and action, both case-insensitive; this module has those that take time. Lists in
an answer are paged like all lists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from gitsync.emulator.http.messages import Refused, ServerRequest, ServerResponse, is_further_page, make_page, refuse
from gitsync.emulator.http.target import Target, parse
from gitsync.emulator.lro.operations import PURGE, make_operation_headers
from gitsync.emulator.lro.start import start_action
from gitsync.emulator.patch import find_value
from gitsync.emulator.state.cloud import EmulatedCloud, make_not_found
from gitsync.emulator.state.deleted_resources import SOFT_DELETES
from gitsync.emulator.state.store import StoredResource
from gitsync.emulator.state.subscriptions import SUBSCRIPTION_NAMESPACE, change_subscription, register_provider
from gitsync.emulator.types.behaviour import Style
from gitsync.emulator.types.implicit_resources import find_resource
from gitsync.emulator.types.keys import CLUSTER_KEYS, KEYS, RULE_KEYS, KeyListing, answer_requested_kubeconfig
from gitsync.emulator.types.names import answer_name_check, is_name_check

ACTIONS: Mapping[tuple[str, str], KeyListing] = {**KEYS, **RULE_KEYS, **CLUSTER_KEYS}
"""The actions that answer at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowAction:
    """An action that answers 202: its style, the result of its Location, and the resources that refuse it.

    Its effect is in `gitsync.emulator.lro.operations`.
    """

    style: Style
    result: Callable[[StoredResource], Any] = lambda _resource: None
    refuses: Callable[[StoredResource], Refused | None] = lambda _resource: None


def _refuse_protected_purge(deleted: StoredResource) -> Refused | None:
    if not find_value(deleted.body, ("properties", "purgeProtectionEnabled")):
        return None
    # Azure names the operation after one deleted resource: DeletedVaultPurge.
    word = parse(deleted.id).types[-1].removesuffix("s")
    return refuse("MethodNotAllowed", message=f"Operation '{word[0].upper()}{word[1:]}Purge' is not allowed.")


SLOW_ACTIONS: Mapping[tuple[str, str], SlowAction] = {
    ("microsoft.dataprotection/backupvaults/backupinstances", "sync"): SlowAction(style=Style.ACCEPTED_ASYNC),
    **{
        (soft.deleted_type, PURGE): SlowAction(style=soft.purge_style, refuses=_refuse_protected_purge)
        for soft in SOFT_DELETES.values()
        if soft.purge == "POST"
    },
    ("microsoft.redhatopenshift/hcpopenshiftclusters", "requestadmincredential"): SlowAction(
        style=Style.ACCEPTED_ASYNC, result=answer_requested_kubeconfig
    ),
}


def run_action(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse:
    """Answer a POST; an action without a row in a table does not exist."""
    target = request.target
    # First, since the path of most checks looks like an action of a namespace, such as `register`.
    if is_name_check(target):
        return answer_name_check(cloud, request)
    if not target.names and len(target.types) == 1:  # an action of a namespace, not of a resource
        handler = change_subscription if target.namespace.casefold() == SUBSCRIPTION_NAMESPACE else register_provider
        return handler(cloud, request)
    resource = _find_owner(cloud, request)
    name = _make_action_key(target)
    if name in SLOW_ACTIONS:
        return _start(cloud, request, resource, SLOW_ACTIONS[name])
    if name not in ACTIONS:  # the same answer as for an unknown type: ARM does not distinguish them
        words: dict[str, Any] = {"type": "/".join(target.types), "namespace": target.namespace, "versions": ""}
        raise refuse("InvalidResourceType", version=request.api_version, **words)
    return _list_entries(cloud, request, ACTIONS[name](resource))


def is_action_page(request: ServerRequest) -> bool:
    """Return whether a GET follows the link of an action's page; clients follow these with a GET."""
    return is_further_page(request) and _make_action_key(request.target) in ACTIONS


def _make_action_key(target: Target) -> tuple[str, str]:
    return target.owner.type.casefold(), target.types[-1].casefold()


def _find_owner(cloud: EmulatedCloud, request: ServerRequest) -> StoredResource:
    owner = request.target.owner
    cloud.require_scope(replace(request, target=owner))
    resource = find_resource(cloud, owner)
    if resource is None:
        raise make_not_found(owner)
    return resource


def _list_entries(cloud: EmulatedCloud, request: ServerRequest, answer: dict[str, Any]) -> ServerResponse:
    """Answer an action: page by page if it has a list of entries."""
    if "value" not in answer:
        return ServerResponse(200, answer)
    # Pages continue after a key, and keys compare as texts: without the zeros, 10 would come before 2.
    rows = [(f"{index:06}", entry) for index, entry in enumerate(answer["value"], 1)]
    page = make_page(request, rows, lambda entry: entry, cloud.settings.page_size)
    # An answer may have more than its list, and each page repeats it.
    return replace(page, body={**answer, **page.body})


def _start(
    cloud: EmulatedCloud, request: ServerRequest, resource: StoredResource, action: SlowAction
) -> ServerResponse:
    refusal = action.refuses(resource)
    if refusal is not None:
        raise refusal
    # An action has no state, so its operation is one of the resource.
    owner_request = replace(request, target=request.target.owner)
    operation = start_action(cloud, owner_request, action.style, request.target.types[-1], action.result(resource))
    return ServerResponse(202, None, make_operation_headers(operation, request.base))
