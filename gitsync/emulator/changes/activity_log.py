"""The Activity Log of a subscription: two or three rows for each write, delete and action of the last 90 days.

As in recordings, errors have no `error` member around them, which ARM's errors have.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from gitsync.emulator.changes.log import SYSTEM
from gitsync.emulator.clock import format_time
from gitsync.emulator.http.messages import Refused, ServerRequest, ServerResponse, refuse
from gitsync.emulator.http.target import parse
from gitsync.emulator.lro.operations import SUCCEEDED
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.store import LoggedChange
from gitsync.emulator.types.bodies import hide_secrets
from gitsync.emulator.types.provider_fields import make_uuid

Row = dict[str, Any]
_VERSION = "2015-04-01"
_RETENTION_SECONDS = 90 * 86_400
_MOMENT = 0.001
"""Seconds from the beginning of a request to its answer: the rows of one request have an order."""

_SOAP = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims"
_IDENTITY = "http://schemas.microsoft.com/identity/claims"
_ADDRESS = "203.0.113.7"


def list_events(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse:
    """Answer a GET of the log, page by page: the newest rows first."""
    if not request.target.subscription:
        raise refuse("NotFound", path=request.target.path)
    if request.api_version != _VERSION:
        raise _refuse(f"The api-version '{request.api_version}' is not supported. Use '{_VERSION}'.")
    now = cloud.clock.now().timestamp()
    query = _parse_filter(request.query.get("$filter", ""), now)
    position = _read_position(request, now)
    rows = [
        row
        for entry in reversed(cloud.store.changes())
        if parse(entry.id).subscription.casefold() == request.target.subscription.casefold() and query.may_select(entry)
        for row in _list_rows(cloud, entry)
        # Later pages use the time of the first, or a new row would move all others.
        if query.selects(row) and row.at + cloud.settings.change_log.activity_log_delay <= position.seen
    ]
    rows.sort(key=lambda row: row.at, reverse=True)
    size = cloud.settings.change_log.page_size
    # Azure may return an empty page before the last one, so the second page is empty.
    page = [] if position.is_empty else rows[position.start : position.start + size]
    end = position.start + len(page)
    body: dict[str, Any] = {"value": [_select(request, row.body) for row in page]}
    if end < len(rows):
        follows_empty = position.start == 0 and not position.is_empty
        body["nextLink"] = _make_next_link(request, _Position(end, position.seen, is_empty=follows_empty))
    return ServerResponse(200, body)


@dataclass(frozen=True, slots=True)
class _Position:
    """The beginning of a page."""

    start: int  # the number of its first row, among those that were visible then
    seen: float  # the time at which they were visible
    is_empty: bool = False  # the page has no rows


def _read_position(request: ServerRequest, now: float) -> _Position:
    token = request.query.get("$skipToken")
    if token is None:
        return _Position(0, now)
    try:
        start, seen, is_empty = json.loads(base64.b64decode(token, altchars=b"-_", validate=True))
    except (ValueError, binascii.Error, TypeError) as error:
        raise _refuse("The $skipToken is not valid.") from error
    return _Position(start, seen, is_empty)


def _make_next_link(request: ServerRequest, position: _Position) -> str:
    text = json.dumps([position.start, position.seen, position.is_empty])
    members = {name: value for name, value in request.query.items() if name != "$skipToken"}
    members["$skipToken"] = base64.urlsafe_b64encode(text.encode()).decode()
    query = "&".join(f"{quote(name)}={quote(value, safe='')}" for name, value in members.items())
    return f"{request.base}{quote(request.target.path)}?{query}"


def _refuse(message: str) -> Refused:
    return Refused(ServerResponse(400, {"code": "BadRequest", "message": message}))


# The filter: a span of time, and at most one more condition. Azure promises no other syntax.


@dataclass(frozen=True, slots=True)
class _Event:
    """A row, and when it happened, in seconds since 1970."""

    at: float
    body: Row


_CLAUSE = re.compile(r"(eventTimestamp) (ge|le) (.+)|(\w+) (eq) (.+)")
_CONDITIONS: Mapping[str, Callable[[Row, str], bool]] = {
    "resourceGroupName": lambda row, value: row["resourceGroupName"].casefold() == value,
    "resourceUri": lambda row, value: row["resourceId"].casefold() == value,
    "resourceProvider": lambda row, value: row["resourceProviderName"]["value"].casefold() == value,
    "correlationId": lambda row, value: row["correlationId"].casefold() == value,
}
"""A filter has at most one of these."""

_FURTHER: Mapping[str, Callable[[Row, str], bool]] = {
    "eventChannels": lambda row, value: row["channels"].casefold() in value.split(", "),
    "caller": lambda row, value: row.get("caller", "").casefold() == value,
    "status": lambda row, value: row["status"]["value"].casefold() == value,
}
"""Not documented; the Azure CLI sends them."""

_ALL_CONDITIONS = {**_CONDITIONS, **_FURTHER}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Filter:
    first: float
    last: float
    values: Mapping[str, str] = field(default_factory=dict)

    def may_select(self, entry: LoggedChange) -> bool:
        """Return whether any row of a request may be selected. Most are not, and making their rows is slow."""
        return (
            entry.at <= self.last
            and (bool(entry.operation) or entry.at + 2 * _MOMENT >= self.first)
            and self.values.get("correlationId") in {None, entry.correlation.casefold()}
            and self.values.get("resourceGroupName") in {None, parse(entry.id).group.casefold()}
        )

    def selects(self, event: _Event) -> bool:
        return self.first <= event.at <= self.last and all(
            _ALL_CONDITIONS[name](event.body, value) for name, value in self.values.items()
        )


def _parse_filter(text: str, now: float) -> _Filter:
    values: dict[str, str] = {}
    # A value may contain `and`; only one before a name and an operator separates conditions.
    for clause in re.split(r" and (?=\w+ (?:ge|le|eq) )", text.strip()):
        match = _CLAUSE.fullmatch(clause)
        if match is None:
            raise _refuse(f"The filter '{text}' is not valid.")
        name, operator, value = match.groups()[:3] if match[1] else match.groups()[3:]
        key = f"{name} {operator}" if match[1] else name
        if key in values or (not match[1] and name not in _ALL_CONDITIONS):
            raise _refuse(f"The filter '{text}' is not valid.")
        # Quotes are documented; the Azure CLI leaves them out.
        values[key] = value[1:-1].replace("''", "'") if re.fullmatch("'.*'", value) else value
    first, last = (_parse_time(values.pop(f"eventTimestamp {word}", "")) for word in ("ge", "le"))
    if first is None:
        raise _refuse("The start time is missing: eventTimestamp ge '…'.")
    if len(values.keys() & _CONDITIONS.keys()) > 1:
        raise _refuse(f"The filter '{text}' has more than one condition in addition to the times.")
    if first < now - _RETENTION_SECONDS:
        raise _refuse("The start time cannot be more than 90 days in the past.")
    folded = {name: value.casefold() for name, value in values.items()}
    return _Filter(first=first, last=now if last is None else last, values=folded)


def _parse_time(text: str) -> float | None:
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise _refuse(f"'{text}' is not a time.") from error
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


_MEMBERS = frozenset(
    [
        "authorization",
        "caller",
        "claims",
        "correlationId",
        "description",
        "eventDataId",
        "eventName",
        "eventTimestamp",
        "httpRequest",
        "level",
        "operationId",
        "operationName",
        "properties",
        "resourceGroupName",
        "resourceProviderName",
        "resourceId",
        "status",
        "submissionTimestamp",
        "subStatus",
        "subscriptionId",
    ]
)


def _select(request: ServerRequest, row: Row) -> Row:
    """Return the members of a row that `$select` names; all without it."""
    names = [name.strip() for name in request.query.get("$select", "").split(",") if name.strip()]
    unknown = sorted(set(names) - _MEMBERS)
    if unknown:
        raise _refuse(f"$select cannot have {', '.join(unknown)}.")
    return {name: row[name] for name in names if name in row} if names else row


# The rows of one request.


def _list_rows(cloud: EmulatedCloud, entry: LoggedChange) -> Iterator[_Event]:
    if entry.caller.get("user") == SYSTEM or not entry.in_activity_log:  # not a request
        return
    common = _make_common(cloud, entry)
    begun = {"requestbody": json.dumps(hide_secrets(entry.body))} if entry.body else {}
    yield _make_event(cloud, common, entry.at, "Started", begun)
    for policy in entry.policies:
        yield _make_policy_event(cloud, common, entry, policy)
    reason = HTTPStatus(entry.status).phrase.replace(" ", "")
    answered = {"statusCode": reason, "serviceRequestId": None}
    at = entry.at + _MOMENT
    if entry.status >= 400:
        answered["statusMessage"] = json.dumps({"error": dict(entry.error or {})})
        yield _make_event(cloud, common, at, "Failed", answered, entry.status)
        return
    if not entry.operation:
        yield _make_event(cloud, common, at, SUCCEEDED, answered, entry.status)
        return
    yield _make_event(cloud, common, at, "Accepted", answered, entry.status)
    operation = cloud.store.operation(entry.operation)
    # Azure adds the last row when the operation ends, and a reader in between sees a request without a result.
    if operation is None or not operation.over:
        return
    ended, status = max(operation.ended, at + _MOMENT), SUCCEEDED if operation.result == SUCCEEDED else "Failed"
    failure = {} if status == SUCCEEDED else {"statusMessage": json.dumps({"error": dict(operation.error or {})})}
    yield _make_event(cloud, common, ended, status, {"statusCode": "", "serviceRequestId": None} | failure)


def _make_common(cloud: EmulatedCloud, entry: LoggedChange) -> Row:
    """Make the members that all rows of a request have."""
    target, caller = parse(entry.id), entry.caller
    user = caller.get("user", "")
    kind = entry.action.rpartition("/")[0] if entry.method != "POST" else target.type
    row: Row = {
        "authorization": {"action": entry.action, "scope": target.path},
        "channels": "Operation",
        "claims": _make_claims(caller),
        "correlationId": entry.correlation,
        "description": "",
        "operationId": entry.correlation,
        "operationName": _name(entry.action),
        "category": _name("Administrative"),
        "resourceGroupName": target.group,
        "resourceProviderName": _name(kind.partition("/")[0]),
        "resourceType": _name(kind),
        "resourceId": target.path,
        "subscriptionId": target.subscription,
        "tenantId": caller.get("tenant") or cloud.settings.tenant,
    }
    # Without a caller the row has no such member, as in recordings.
    if user or caller.get("object") or caller.get("client"):
        row["caller"] = user or caller.get("object") or caller["client"]
    if entry.client_request:  # not all rows have it
        row["httpRequest"] = {
            "clientRequestId": entry.client_request,
            "clientIpAddress": _ADDRESS,
            "method": entry.method,
        }
    return row


def _make_claims(caller: Mapping[str, str]) -> dict[str, str]:
    """Make the claims of a caller's token: a person has a name and an address, an application has neither."""
    claims = {
        "appid": caller.get("client", ""),
        "appidacr": "0" if caller.get("user") else "2",
        f"{_IDENTITY}/objectidentifier": caller.get("object", ""),
        f"{_IDENTITY}/tenantid": caller.get("tenant", ""),
    }
    user = caller.get("user", "")
    if user:
        claims |= {
            "ipaddr": _ADDRESS,
            "name": user.partition("@")[0].replace(".", " ").title(),
            f"{_IDENTITY}/scope": "user_impersonation",
            f"{_SOAP}/name": user,
            f"{_SOAP}/upn": user,
        }
    elif caller.get("client"):
        claims |= {
            "idtyp": "app",
            "http://schemas.microsoft.com/identity/claims/identityprovider": (
                f"https://sts.windows.net/{caller.get('tenant', '')}/"
            ),
            "xms_mirid": caller.get("identity", ""),
        }
    else:
        return {}
    return {name: value for name, value in claims.items() if value}


def _make_event(
    cloud: EmulatedCloud, common: Row, at: float, status: str, properties: Mapping[str, Any], http_status: int = 0
) -> _Event:
    event_name = ("BeginRequest", "Begin request") if status == "Started" else ("EndRequest", "End request")
    reason = HTTPStatus(http_status).phrase.replace(" ", "") if http_status else ""
    action, path = common["operationName"]["value"], common["resourceId"]
    number = make_uuid(f"{path}:{common['correlationId']}:{action}:{status}:{at}".casefold(), "event")
    moment = datetime.fromtimestamp(at, UTC)
    submitted = datetime.fromtimestamp(at + cloud.settings.change_log.activity_log_delay, UTC)
    row = common | {
        "id": f"{path}/events/{number}/ticks/{int(at * 10_000_000) + 621_355_968_000_000_000}",
        "eventDataId": number,
        "eventName": {"value": event_name[0], "localizedValue": event_name[1]},
        "eventTimestamp": format_time(moment),
        "submissionTimestamp": f"{submitted:%Y-%m-%dT%H:%M:%SZ}",
        "level": "Error" if status == "Failed" else "Informational",
        "status": _name(status),
        "subStatus": {
            "value": reason,
            "localizedValue": f"{reason} (HTTP Status Code: {http_status})" if reason else "",
        },
        "properties": {
            "entity": path,
            "eventCategory": common["category"]["value"],
            "hierarchy": f"{common['tenantId']}/{common['subscriptionId']}",
            "message": action,
            **properties,
        },
    }
    return _Event(at, row)


def _make_policy_event(cloud: EmulatedCloud, common: Row, entry: LoggedChange, policy: Mapping[str, str]) -> _Event:
    """Make the row for a policy's effect on a request, which has its own category."""
    effect = policy["policyDefinitionEffect"]
    of_policy = common | {
        "category": _name("Policy"),
        "operationName": _name(f"Microsoft.Authorization/policies/{effect}/action"),
        "authorization": {
            "action": f"Microsoft.Authorization/policies/{effect}/action",
            "scope": common["resourceId"],
        },
    }
    properties = {"isComplianceCheck": "False", "policies": json.dumps([dict(policy)])}
    status = "Failed" if effect == "deny" else SUCCEEDED
    event = _make_event(cloud, of_policy, entry.at + _MOMENT / 2, status, properties, 403 if effect == "deny" else 0)
    return _Event(event.at, event.body | {"level": "Error" if effect == "deny" else "Warning"})


def _name(value: str) -> dict[str, str]:
    return {"value": value, "localizedValue": value}
