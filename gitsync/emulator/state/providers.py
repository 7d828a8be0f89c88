"""Resource providers of a subscription: which are registered, and registering them, which takes a few polls."""

from __future__ import annotations

from typing import Any

from gitsync.emulator.http.answers import ServerResponse, refuse
from gitsync.emulator.http.call import ServerRequest
from gitsync.emulator.http.target import Target, parse
from gitsync.emulator.identity.access import find_registration
from gitsync.emulator.state.cloud import EmulatedCloud

_COMMON = ("Microsoft.Authorization", "Microsoft.Resources")


def show(cloud: EmulatedCloud, call: ServerRequest) -> ServerResponse:
    """GET of one provider; while it is being registered, a poll."""
    note = _read_note(cloud, call.target)
    if note and note["state"] == "Registering":
        polls_left = int(note["polls"]) - 1
        _put_note(cloud, call.target, "Registering" if polls_left > 0 else "Registered", polls_left)
    return ServerResponse(200, _make_provider(cloud, call.target))


def list_providers(cloud: EmulatedCloud, call: ServerRequest) -> ServerResponse:
    """GET of all providers that the settings name."""
    namespaces = {kind.split("/")[0] for kind in cloud.settings.types} | {*cloud.settings.unregistered, *_COMMON}
    targets = [_make_target(call.target, name) for name in sorted(namespaces, key=str.casefold)]
    return ServerResponse(200, {"value": [_make_provider(cloud, target) for target in targets]})


def register(cloud: EmulatedCloud, call: ServerRequest) -> ServerResponse:
    """POST …/providers/{namespace}/register and /unregister."""
    word = call.target.types[-1].casefold()
    if word not in {"register", "unregister"} or not call.target.subscription:
        raise refuse("NotFound", path=call.target.path)
    if word == "unregister":
        _put_note(cloud, call.target, "NotRegistered", 0)
    elif find_registration(cloud, call.target) == "NotRegistered":
        polls = cloud.settings.registration_polls
        _put_note(cloud, call.target, "Registering" if polls > 0 else "Registered", polls)
    return ServerResponse(200, _make_provider(cloud, call.target))


def _make_provider(cloud: EmulatedCloud, target: Target) -> dict[str, Any]:
    subscription = f"/subscriptions/{target.subscription}" if target.subscription else ""
    kinds = sorted(cloud.settings.types.items(), key=lambda row: row[0].casefold())
    own_types = [row for row in kinds if row[0].split("/")[0].casefold() == target.namespace.casefold()]
    return {
        "id": f"{subscription}/providers/{target.namespace}",
        "namespace": target.namespace,
        "registrationPolicy": "RegistrationRequired",
        "registrationState": find_registration(cloud, target),
        "resourceTypes": [
            {"resourceType": kind.partition("/")[2], "locations": [], "apiVersions": list(versions)}
            for kind, versions in own_types
        ],
    }


def _make_target(target: Target, namespace: str) -> Target:
    return parse(f"{target.path}/{namespace}")


def _make_note_name(target: Target) -> str:
    return f"provider:{target.subscription}:{target.namespace}".casefold()


def _read_note(cloud: EmulatedCloud, target: Target) -> Any:
    return cloud.store.note(_make_note_name(target))


def _put_note(cloud: EmulatedCloud, target: Target, state: str, polls: int) -> None:
    cloud.store.put_note(_make_note_name(target), {"state": state, "polls": polls})
