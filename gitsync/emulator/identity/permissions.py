"""The permissions of the caller at a scope, as one role that grants all but what the settings deny."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

from gitsync.emulator.http.answers import ServerResponse
from gitsync.emulator.http.call import Caller, ServerRequest
from gitsync.emulator.settings import Denial
from gitsync.emulator.state.cloud import EmulatedCloud

TYPE = "microsoft.authorization/permissions"


def list_permissions(cloud: EmulatedCloud, call: ServerRequest) -> ServerResponse:
    """GET …/providers/Microsoft.Authorization/permissions of a subscription, a group or a resource."""
    cloud.demand_place(call)
    denials = (one for one in cloud.settings.denied if _concerns(one, call))
    entry: dict[str, Any] = {
        "actions": ["*/read"] if call.caller.read_only else ["*"],
        "notActions": sorted({one.action for one in denials}),
        "dataActions": [],
        "notDataActions": [],
    }
    return ServerResponse(200, {"value": [entry]})


def _concerns(denial: Denial, call: ServerRequest) -> bool:
    """Tell whether a denial is of this caller, and holds in the whole scope."""
    scope, pattern = call.target.scope.casefold(), denial.scope.casefold()
    return _is_of(denial, call.caller) and (fnmatchcase(scope, pattern) or scope.startswith(f"{pattern}/"))


def _is_of(denial: Denial, caller: Caller) -> bool:
    return any(fnmatchcase(one.casefold(), denial.principal.casefold()) for one in (caller.client, caller.object))
