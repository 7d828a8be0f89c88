"""Subscriptions: their list, their bodies, and canceling one.

A canceled subscription can still be read and emptied; `gitsync.emulator.identity.access` refuses the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitsync.emulator.http.answers import ServerResponse, refuse
from gitsync.emulator.http.call import ServerRequest
from gitsync.emulator.http.target import PathShape, parse
from gitsync.emulator.state import aliases
from gitsync.emulator.state.cloud import EmulatedCloud

NAMESPACE = "microsoft.subscription"
_CANCELED: Mapping[str, bool] = {"cancel": True, "enable": False}


def show(cloud: EmulatedCloud, call: ServerRequest) -> ServerResponse:
    """GET of one subscription. Every subscription exists, unless the settings name them."""
    cloud.demand_place(call)
    return ServerResponse(200, _make_subscription(cloud, call.target.subscription))


def list_subscriptions(cloud: EmulatedCloud, _call: ServerRequest) -> ServerResponse:
    """GET of the subscriptions: those that the settings and aliases name, and those with resources."""
    used = {parse(resource.id).subscription for _, resource in cloud.store.below("/subscriptions/")}
    names = sorted({*cloud.settings.subscriptions, *aliases.list_alias_subscriptions(cloud.store), *used} - {""})
    return ServerResponse(200, {"value": [_make_subscription(cloud, name) for name in names]})


def act(cloud: EmulatedCloud, call: ServerRequest) -> ServerResponse:
    """POST …/providers/Microsoft.Subscription/cancel and /enable."""
    cloud.demand_place(call)
    target, word = call.target, call.target.types[-1].casefold()
    if word not in _CANCELED or not target.subscription:
        raise refuse("NotFound", path=target.path)
    if word == "cancel" and call.query.get("IgnoreResourceCheck", "").casefold() != "true":
        _demand_empty(cloud, target.subscription)
    aliases.put_canceled(cloud.store, target.subscription, canceled=_CANCELED[word])
    return ServerResponse(200, {"subscriptionId": target.subscription})


def _demand_empty(cloud: EmulatedCloud, subscription: str) -> None:
    """Resources in a group prevent canceling a subscription; empty groups and role assignments do not."""
    for _, resource in cloud.store.below(f"/subscriptions/{subscription}/resourcegroups/".casefold()):
        if parse(resource.id).shape is PathShape.RESOURCE:
            raise refuse("ResourcesExistingOnSubscription")


def _make_subscription(cloud: EmulatedCloud, name: str) -> dict[str, Any]:
    return {
        "id": f"/subscriptions/{name}",
        "authorizationSource": "RoleBased",
        "displayName": f"Emulated subscription {name}",
        "managedByTenants": [],
        "state": "Disabled" if aliases.is_canceled(cloud.store, name) else "Enabled",
        "subscriptionId": name,
        "subscriptionPolicies": {"locationPlacementId": "Public_2014-09-01", "spendingLimit": "Off"},
        "tenantId": cloud.settings.tenant,
    }
