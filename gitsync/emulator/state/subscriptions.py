"""Subscriptions and their resource providers: their lists, canceling a subscription, and registering a provider, which
takes a few polls.

A canceled subscription can still be read and emptied; `gitsync.emulator.identity.access` refuses the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitsync.emulator.http.messages import ServerRequest, ServerResponse, refuse
from gitsync.emulator.http.target import PathShape, Target, parse
from gitsync.emulator.identity.access import read_registration
from gitsync.emulator.settings import EmulatorSettings
from gitsync.emulator.state.cloud import (
    EmulatedCloud,
    is_subscription_canceled,
    list_alias_subscriptions,
    put_subscription_canceled,
)
from gitsync.emulator.state.deleted_resources import normalize_region
from gitsync.emulator.types.rewrite import REGIONS

SUBSCRIPTION_NAMESPACE = "microsoft.subscription"
_CANCELED: Mapping[str, bool] = {"cancel": True, "enable": False}


def show_subscription(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse:
    """Answer the GET of one subscription. Every subscription exists, unless the settings name them."""
    cloud.require_scope(request)
    return ServerResponse(200, _make_subscription(cloud, request.target.subscription))


def list_subscriptions(cloud: EmulatedCloud, _request: ServerRequest) -> ServerResponse:
    """Answer the GET of the subscriptions: those that the settings and aliases name, and those with resources."""
    used = {parse(resource.id).subscription for _, resource in cloud.store.below("/subscriptions/")}
    names = sorted({*cloud.settings.subscriptions, *list_alias_subscriptions(cloud.store), *used} - {""})
    return ServerResponse(200, {"value": [_make_subscription(cloud, name) for name in names]})


def change_subscription(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse:
    """Answer POST …/providers/Microsoft.Subscription/cancel and /enable."""
    cloud.require_scope(request)
    target, action = request.target, request.target.types[-1].casefold()
    if action not in _CANCELED or not target.subscription:
        raise refuse("NotFound", path=target.path)
    if action == "cancel" and request.query.get("IgnoreResourceCheck", "").casefold() != "true":
        _require_empty(cloud, target.subscription)
    put_subscription_canceled(cloud.store, target.subscription, canceled=_CANCELED[action])
    return ServerResponse(200, {"subscriptionId": target.subscription})


def _require_empty(cloud: EmulatedCloud, subscription: str) -> None:
    """Refuse to cancel a subscription with resources in a group; empty groups and role assignments are allowed."""
    for _, resource in cloud.store.below(f"/subscriptions/{subscription}/resourcegroups/".casefold()):
        if parse(resource.id).shape is PathShape.RESOURCE:
            raise refuse("ResourcesExistingOnSubscription")


def _make_subscription(cloud: EmulatedCloud, name: str) -> dict[str, Any]:
    return {
        "id": f"/subscriptions/{name}",
        "authorizationSource": "RoleBased",
        "displayName": f"Emulated subscription {name}",
        "managedByTenants": [],
        "state": "Disabled" if is_subscription_canceled(cloud.store, name) else "Enabled",
        "subscriptionId": name,
        "subscriptionPolicies": {"locationPlacementId": "Public_2014-09-01", "spendingLimit": "Off"},
        "tenantId": cloud.settings.tenant,
    }


_COMMON = ("Microsoft.Authorization", "Microsoft.Resources")


def show_provider(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse:
    """Answer the GET of one provider; while it is being registered, a poll."""
    # Each read is a poll, so a test needs no clock.
    note = cloud.store.note(_make_note_name(request.target))
    if note and note["state"] == "Registering":
        polls_left = int(note["polls"]) - 1
        _put_note(cloud, request.target, "Registering" if polls_left > 0 else "Registered", polls_left)
    return ServerResponse(200, _make_provider(cloud, request.target))


def list_providers(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse:
    """Answer the GET of all providers that have types."""
    known = _list_types(cloud.settings)
    listed = (*known, *(listed.type for listed in cloud.settings.versions))
    namespaces = {kind.split("/")[0] for kind in listed} | {*cloud.settings.unregistered, *_COMMON}
    targets = [parse(f"{request.target.path}/{name}") for name in sorted(namespaces, key=str.casefold)]
    return ServerResponse(200, {"value": [_make_provider(cloud, target, known) for target in targets]})


def register_provider(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse:
    """Answer POST …/providers/{namespace}/register and /unregister."""
    action = request.target.types[-1].casefold()
    if action not in {"register", "unregister"} or not request.target.subscription:
        raise refuse("NotFound", path=request.target.path)
    if action == "unregister":
        _put_note(cloud, request.target, "NotRegistered", 0)
    # A provider that is being registered keeps its count: a second POST must not start it again.
    elif read_registration(cloud, request.target) == "NotRegistered":
        polls = cloud.settings.registration_polls
        _put_note(cloud, request.target, "Registering" if polls > 0 else "Registered", polls)
    return ServerResponse(200, _make_provider(cloud, request.target))


def _list_types(settings: EmulatorSettings, namespace: str = "") -> Mapping[str, tuple[str, ...]]:
    """List the types with their api-versions: those of the settings, else Azure's known ones. The facts do not include
    where Azure offers a type, and a PUT may name any location, so these have no locations.
    """
    return settings.types or settings.list_known_types(namespace.casefold())


def _make_provider(
    cloud: EmulatedCloud, target: Target, known: Mapping[str, tuple[str, ...]] | None = None
) -> dict[str, Any]:
    known = _list_types(cloud.settings, target.namespace) if known is None else known
    subscription = f"/subscriptions/{target.subscription}" if target.subscription else ""
    settings = cloud.settings
    rows: dict[str, dict[str, Any]] = {
        kind.casefold(): {"resourceType": kind.partition("/")[2], "locations": [], "apiVersions": list(versions)}
        for kind, versions in known.items()
    }
    # Rows of the settings have locations and capabilities, so they replace those of the facts.
    for listed in settings.versions:
        rows[listed.type.casefold()] = {
            "resourceType": listed.type.partition("/")[2],
            "locations": [REGIONS.get(normalize_region(name), name) for name in listed.locations],
            "apiVersions": list(listed.api_versions),
            "capabilities": ", ".join(listed.capabilities) or "None",
        }
    return {
        "id": f"{subscription}/providers/{target.namespace}",
        "namespace": target.namespace,
        "registrationPolicy": "RegistrationRequired",
        "registrationState": read_registration(cloud, target),
        "resourceTypes": [
            row for kind, row in sorted(rows.items()) if kind.split("/")[0] == target.namespace.casefold()
        ],
    }


def _make_note_name(target: Target) -> str:
    return f"provider:{target.subscription}:{target.namespace}".casefold()


def _put_note(cloud: EmulatedCloud, target: Target, state: str, polls: int) -> None:
    cloud.store.put_note(_make_note_name(target), {"state": state, "polls": polls})
