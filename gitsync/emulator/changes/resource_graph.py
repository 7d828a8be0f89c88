"""Resource Graph: its tables of changes in the last two weeks with their authors, and its table of resources.

Only two queries are supported: the changes of some resources, and the resources in some groups. Any other is refused,
as Azure refuses a malformed query.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from gitsync.emulator.changes.log import SYSTEM, cut, is_in_graph, list_happened
from gitsync.emulator.http.messages import Refused, ServerRequest, ServerResponse, make_refusal, refuse
from gitsync.emulator.http.target import PathShape, Target, parse
from gitsync.emulator.identity.access import grants, is_denied, name_needed_action
from gitsync.emulator.lists import apply_lag
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.store import LoggedChange
from gitsync.emulator.types.provider_fields import make_uuid

_RETENTION_SECONDS = 14 * 86_400
_MOST_IDS = 300
_MOST_ROWS = 1000
_USUAL_ROWS = 100
_QUOTA, _WINDOW_SECONDS = 15, 5
"""Queries of one principal in a window."""

_LITERAL = r"'(?:[^'\\]|\\.)*'"
_QUERY = re.compile(
    r"(resourcechanges|resourcecontainerchanges)"
    r" \| extend t = todatetime\(properties\.changeAttributes\.timestamp\),"
    r" rid = tolower\(tostring\(properties\.targetResourceId\)\)"
    rf" \| where t > datetime\(([^()]+)\) and rid in \(({_LITERAL}(?:, ?{_LITERAL})*)\)"
    r" \| project id, t, rid, changeType = tostring\(properties\.changeType\),"
    r" attrs = properties\.changeAttributes, changes = properties\.changes"
    r" \| order by t desc, id asc"
)
_RESOURCES = re.compile(
    rf"Resources \| where resourceGroup in~ \(({_LITERAL}(?:, ?{_LITERAL})*)\) \| project id \| order by id asc"
)
_COLUMNS = {"id": "string", "t": "datetime", "rid": "string", "changeType": "string"} | {
    "attrs": "object",
    "changes": "object",
}
_EPOCH_TICKS = 621_355_968_000_000_000
_LAST_TICKS = 0x7FFFFFFFFFFFFFFF


def answer_query(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse:
    """Answer a query, page by page."""
    # A malformed query uses the quota too.
    headers = _take_from_quota(cloud, request)
    try:
        body = _read_page(cloud, request)
    except Refused as refused:
        raise Refused(refused.answer.add_headers(headers)) from refused
    return ServerResponse(200, body, headers)


def _read_page(cloud: EmulatedCloud, request: ServerRequest) -> dict[str, Any]:
    query = request.body if isinstance(request.body, Mapping) else {}
    options = query.get("options") or {}
    subscriptions = _find_readable(cloud, request, query.get("subscriptions") or [])
    text = " ".join(str(query.get("query", "")).split())
    if of_groups := _RESOURCES.fullmatch(text):
        rows = _list_resources(cloud, request, _read_literals(of_groups[1]))
    else:
        rows = _list_rows(cloud, request, _parse_query(cloud, request, text))
    if subscriptions is not None:
        rows = [row for row in rows if parse(row["id"]).subscription.casefold() in subscriptions]
    size = options.get("$top", _USUAL_ROWS)
    if not isinstance(size, int) or not 1 <= size <= _MOST_ROWS:
        raise _make_bad_query(cloud, request, "InvalidTop", f"$top must be from 1 to {_MOST_ROWS}.")
    scope = json.dumps([query.get("query"), query.get("subscriptions")], sort_keys=True)
    # A token of another query would skip rows without a word.
    digest = hashlib.sha256(scope.encode()).hexdigest()[:16]
    start = int(options.get("$skip") or 0)
    if "$skipToken" in options:
        start = _read_token(str(options["$skipToken"]), digest)
        if start < 0:
            raise _make_bad_query(cloud, request, "InvalidSkipToken", "The $skipToken is one of another query.")
    page = rows[start : start + size]
    answer: dict[str, Any] = {"totalRecords": len(rows), "count": len(page), "resultTruncated": "false", "facets": []}
    if start + size < len(rows):
        answer["$skipToken"] = base64.b64encode(f"{start + size}:{digest}".encode()).decode()
    if options.get("resultFormat", "objectArray") == "table":
        columns = [{"name": name, "type": kind} for name, kind in _COLUMNS.items() if not of_groups or name == "id"]
        return answer | {"data": {"columns": columns, "rows": [list(row.values()) for row in page]}}
    return answer | {"data": page}


@dataclass(frozen=True, slots=True)
class _Query:
    """A query: for changes of the ids, which are in lower case, after a time in seconds since 1970."""

    ids: frozenset[str]
    since: float
    of_groups: bool


def _parse_query(cloud: EmulatedCloud, request: ServerRequest, query: str) -> _Query:
    match = _QUERY.fullmatch(query)
    if match is None:
        raise _make_bad_query(cloud, request, "InvalidQuery", _UNREADABLE)
    table, text, literals = match.groups()
    ids = _read_literals(literals)
    if len(ids) > _MOST_IDS:
        raise _make_bad_query(cloud, request, "InvalidQuery", f"The query has more than {_MOST_IDS} ids.")
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise _make_bad_query(cloud, request, "InvalidQuery", f"{text} is not a time.") from error
    since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return _Query(ids, since, table == "resourcecontainerchanges")


def _read_literals(text: str) -> frozenset[str]:
    return frozenset(re.sub(r"\\(.)", r"\1", literal[1:-1]) for literal in re.findall(_LITERAL, text))


def _list_resources(cloud: EmulatedCloud, request: ServerRequest, groups: frozenset[str]) -> list[dict[str, Any]]:
    """List the resources of groups that the caller may read. A script can make the table stale, as Azure's is for
    hours.
    """
    wanted = {name.casefold() for name in groups}
    targets = [parse(resource.id) for _, resource in apply_lag(cloud, request).store.below("/subscriptions/")]
    paths = [
        target.path
        for target in targets
        if target.shape is not PathShape.GROUP
        and target.group.casefold() in wanted
        and is_in_graph(target)
        and _may_read(cloud, request, target)
    ]
    return [{"id": path} for path in sorted(paths, key=str.casefold)]


def _list_rows(cloud: EmulatedCloud, request: ServerRequest, query: _Query) -> list[dict[str, Any]]:
    """List the rows of a query that the caller may read, the newest first."""
    now = cloud.clock.now().timestamp()
    first, last = max(query.since, now - _RETENTION_SECONDS), now - cloud.settings.change_log.resource_graph_delay
    rows = []
    for logged in cloud.store.changes():
        targets = [parse(path) for path in (logged.id, *logged.deleted) if path.casefold() in query.ids]
        rows += [
            _make_row(cloud, target, entry, time)
            for entry, time in (list_happened(cloud, logged) if targets else ())
            for target in targets
            if first < time <= last
            and is_in_graph(target)
            and (target.shape is PathShape.GROUP) == query.of_groups
            and _may_read(cloud, request, target)
            and _has_right(cloud, request, target, "Microsoft.Resources/changes/read")
        ]
    # Two sorts, since the time is descending and the id ascending; the second one keeps the order of equal times.
    rows.sort(key=lambda row: row["id"])
    return sorted(rows, key=lambda row: row["t"], reverse=True)


def _make_row(cloud: EmulatedCloud, target: Target, entry: LoggedChange, time: float) -> dict[str, Any]:
    kind = entry.change
    changes = {} if kind != "Update" else {path: _show_values(*values) for path, values in entry.values.items()}
    moment = f"{datetime.fromtimestamp(time, UTC):%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z"
    # Inverted ticks of .NET, so that the ids of newer changes sort first.
    stamp = f"{_LAST_TICKS - int(time * 10_000_000) - _EPOCH_TICKS:020d}"
    guid = make_uuid(f"{target.key}:{entry.correlation}:{time}", "change")
    attributes = {
        "timestamp": moment,
        "changesCount": len(changes),
        "correlationId": entry.correlation,
        **_show_author(cloud, entry, time),
        **({"previousResourceSnapshotId": f"{stamp}_{guid}_0_1"} if kind != "Create" else {}),
        **({"newResourceSnapshotId": f"{stamp}_{guid}_1_2"} if kind != "Delete" else {}),
    }
    return {
        "id": f"{target.path}/providers/Microsoft.Resources/changes/{stamp}_{guid}",
        "t": moment,
        "rid": target.key,
        "changeType": kind,
        "attrs": attributes,
        "changes": changes,
    }


def _show_author(cloud: EmulatedCloud, entry: LoggedChange, time: float) -> dict[str, str]:
    """Return the members of a row with the author and the tool of the change, which appear later than the row."""
    delays, unknown = cloud.settings.change_log, "Unspecified"
    caller = entry.caller
    user, client = caller.get("user", ""), caller.get("client", "")
    # Azure shows a change first and its author later, so a reader must not take the first for unknown for good.
    is_late = cloud.clock.now().timestamp() < time + delays.resource_graph_delay + delays.actor_delay
    if is_late or not (user or client):
        return dict.fromkeys(("changedBy", "changedByType", "clientType", "operation"), unknown)
    if user == SYSTEM:
        return {"changedBy": SYSTEM, "changedByType": SYSTEM, "clientType": unknown, "operation": unknown}
    return {
        "changedBy": user or client,
        "changedByType": "User" if user else "Application",
        "clientType": caller.get("app") or (client if user else unknown) or unknown,
        "operation": entry.action.casefold(),
    }


def _show_values(previous: str, new: str) -> dict[str, str]:
    left, right = cut(previous), cut(new)
    shown = {"previousValue": left[0], "newValue": right[0]}
    return shown | {"isTruncated": "true"} if left[1] or right[1] else shown


def _find_readable(cloud: EmulatedCloud, request: ServerRequest, subscriptions: list[str]) -> set[str] | None:
    """Find the subscriptions in which the caller may read something; None for all. Refused if there is none."""
    if not subscriptions:
        return None
    scopes = {parse(scope).subscription.casefold() for scope in request.caller.scopes}
    readable = {
        name.casefold()
        for name in subscriptions
        if cloud.has_subscription(name) and (not scopes or name.casefold() in scopes)
    }
    if not readable:
        words: dict[str, Any] = {"client": request.caller.client, "object": request.caller.object}
        scope = f"/subscriptions/{subscriptions[0]}"
        raise refuse("AuthorizationFailed", action="Microsoft.ResourceGraph/resources/read", scope=scope, **words)
    return readable


def _may_read(cloud: EmulatedCloud, request: ServerRequest, target: Target) -> bool:
    """Return whether the caller may read a resource: rows of others are omitted silently."""
    return _has_right(cloud, request, target, name_needed_action(replace(request, method="GET", target=target)))


def _has_right(cloud: EmulatedCloud, request: ServerRequest, target: Target, action: str) -> bool:
    return grants(request.caller, action, target) and not any(
        is_denied(denial, request.caller, target.key, action) for denial in cloud.settings.denied
    )


def _read_token(token: str, digest: str) -> int:
    """Read the beginning of a page from its token; -1 for a token of another query."""
    try:
        start, _, query = base64.b64decode(token, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return -1
    return int(start) if start.isdigit() and query == digest else -1


_UNREADABLE = (
    "Query is invalid. Please refer to the documentation for the Azure Resource Graph service and fix the error before "
    "retrying."
)


def _make_bad_query(cloud: EmulatedCloud, request: ServerRequest, code: str, message: str) -> Refused:
    details = [{"code": code, "message": message}]
    return Refused(make_refusal("BadRequest", message=_make_support_text(cloud, request), details=details))


def _make_support_text(cloud: EmulatedCloud, request: ServerRequest) -> str:
    info = f"timestamp = {cloud.format_now()}, correlationId = {request.correlation}"
    return f"Please provide below info when asking for support: {info}."


def _take_from_quota(cloud: EmulatedCloud, request: ServerRequest) -> dict[str, str]:
    """Count a query, and return the headers with the rest of the principal's quota. Refused if it is used up."""
    if cloud.settings.limits is None:
        return _make_quota_headers(_QUOTA - 1, _WINDOW_SECONDS)
    name, now = f"graph-quota:{request.caller.actor}", cloud.clock.now().timestamp()
    # In the store: processes that share one Azure share its quota.
    began, used = cloud.store.note(name) or (now, 0)
    if now >= began + _WINDOW_SECONDS:
        began, used = now, 0
    resets_after = math.ceil(began + _WINDOW_SECONDS - now)
    if used >= _QUOTA:
        headers = {"Retry-After": str(resets_after), **_make_quota_headers(0, resets_after)}
        raise refuse("RateLimiting", headers=headers, message=_make_support_text(cloud, request))
    cloud.store.put_note(name, [began, used + 1])
    return _make_quota_headers(_QUOTA - used - 1, resets_after)


def _make_quota_headers(remaining: int, seconds: int) -> dict[str, str]:
    return {"x-ms-user-quota-remaining": str(remaining), "x-ms-user-quota-resets-after": f"00:00:{seconds:02}"}
