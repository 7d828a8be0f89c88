"""Rows as Azure has them of changes: Resource Graph's and the activity log's (their forms are those of its docs)."""

from __future__ import annotations

from typing import Any
from uuid import NAMESPACE_URL, uuid5

from tests.support.arm_rig import GROUP, SUBSCRIPTION

VAULT = f"{GROUP}/providers/Microsoft.KeyVault/vaults/keys"
VNET = f"{GROUP}/providers/Microsoft.Network/virtualNetworks/hub"
SUBNET = f"{VNET}/subnets/one"
ROB, AMY, SAM = "rob@contoso.com", "amy@contoso.com", "sam@contoso.com"
TERRAFORM, OURS, OUR_OBJECT = (f"{digit * 8}-0000-4000-8000-000000000000" for digit in "456")
PORTAL = "c44b4083-3bb0-49c1-b47d-974e53cbdf3c"
NOBODY = "00000000-0000-0000-0000-000000000000"
GRAPH = "/providers/Microsoft.ResourceGraph/resources"
LOG = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Insights/eventtypes/management/values"
UPN = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/upn"


def correlate(name: str) -> str:
    """The correlation id that stands for a name."""
    return str(uuid5(NAMESPACE_URL, name))


def at(minute: int) -> str:
    """A time of the day on which the clock of the tests starts, at noon."""
    return f"2026-03-01T11:{minute:02}:30.1234567Z"


def graph_row(
    arm_id: str, minute: int, by: str = ROB, *fields: str, kind: str = "Update", operation: str = "", **attributes: Any
) -> dict[str, Any]:
    """A row of a table of changes; `operation` names its correlation id."""
    caller = {"changedBy": by, "changedByType": "User" if "@" in by else "Application", "clientType": "Azure Portal"}
    return {
        "id": f"{arm_id}/providers/Microsoft.Resources/changes/{minute}",
        "t": at(minute),
        "rid": arm_id.lower(),
        "changeType": kind,
        "attrs": {
            "timestamp": at(minute),
            "correlationId": correlate(operation or f"{by} {minute}"),
            "operation": "microsoft.keyvault/vaults/write",
            **caller,
            **attributes,
        },
        "changes": {field: {"previousValue": "a", "newValue": "b"} for field in fields},
    }


def log_rows(
    arm_id: str,
    minute: int,
    by: str = ROB,
    *states: str,
    action: str = "Microsoft.KeyVault/vaults/write",
    operation: str = "",
    **more: Any,
) -> list[dict[str, Any]]:
    """The rows of an operation: it begins, and ends in `states`; as Azure, with bodies."""
    who = correlate(operation or f"{by} {minute}")
    claims: dict[str, str] = {"appid": PORTAL, UPN: by} if "@" in by else {"idtyp": "app", "appid": by}
    row = {
        "caller": by,
        "correlationId": who,
        "operationId": who,
        "claims": claims,
        "category": {"value": "Administrative"},
        "operationName": {"value": action, "localizedValue": "Something"},
        "resourceId": arm_id,
        "eventTimestamp": at(minute),
        "properties": {"requestbody": '{"password": "hunter2"}', "responseBody": '{"password": "hunter2"}'},
        **more,
    }
    return [row | {"status": {"value": state}} for state in (*reversed(states or ("Succeeded",)), "Started")]
