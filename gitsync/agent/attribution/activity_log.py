"""Reads the activity log of a subscription: what Resource Graph does not have, such as children, and longer ago.

Bodies of requests and responses are in the rows, and may have secrets: they are not read.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from gitsync.agent.attribution.change import (
    NO_CORRELATION,
    RecordedChange,
    Records,
    Verb,
    classify_caller,
    format_time,
    name_client,
    read_guid,
)
from gitsync.agent.checks.check_requests import CheckRequests, Unanswered, shorten_text
from gitsync.desired.formats.json_members import read_mapping, read_text
from gitsync.model.arm_id import ArmId, IdKey
from gitsync.model.attribution import Attribution, AuthorKind, ChangeSource
from gitsync.model.clock import format_rfc3339, read_time

API_VERSION: Final = "2015-04-01"
RETENTION: Final = timedelta(days=90)
MOST_ROWS: Final = 2000
"""Rows of one subscription that are read: ten pages. A write has two or three."""

_CATEGORIES = frozenset({"administrative", "policy"})
_TAGS = "/providers/microsoft.resources/tags/default"
_GROUP_NAME = re.compile(r"[\w.()-]+")
_POLICY_EFFECT = re.compile(r"microsoft\.authorization/policies/(modify|append|deployifnotexists)/action")
_HARMLESS = re.compile(r".*/(list[a-z]*|check[a-z]*|validate[a-z]*|read|join|[a-z]*keys)/action", re.DOTALL)
"""Actions that change nothing that a manifest sets; actions on policies have their own pattern."""

_KEYS = re.compile(
    r".*/(list|get|show|reveal)?[a-z]*(keys?|secrets?|credentials?|connectionstrings?|sas|passwords?|tokens?"
    r"|publishxml|callbackurl)(value)?/action",
    re.DOTALL,
)
"""Actions that return what opens a resource. Some providers have a word of their own for it."""

_EVALUATION = "microsoft.authorization/acquirepolicytoken/action"  # its token opens nothing

_RENEWS = re.compile(r".*/(re|ro|create|generate|update|delete|set)[a-z]*/action", re.DOTALL)
"""Actions that change what opens it: regenerate, renew, reset, rotate."""

_CLAIMS = "http://schemas.microsoft.com/identity/claims/"
_UPN = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/upn"
_ALMOST_A_SECOND = timedelta(microseconds=999_999)


def make_path(subscription: str) -> str:
    """Return the path of the activity log of a subscription."""
    return f"/subscriptions/{subscription}/providers/Microsoft.Insights/eventtypes/management/values"


async def read_log(
    arm_ids: Sequence[ArmId], since: datetime, until: datetime, requests: CheckRequests, *, most: int = MOST_ROWS
) -> Records:
    """Return the operations that changed something between two times, in the one subscription of some resources; in
    their resource group alone if they have one in common. Not more rows are read than `most` and the rest of a page.
    """
    end = until + _ALMOST_A_SECOND  # the filter has no fractions, and what happened in this second counts too
    terms = [f"eventTimestamp ge '{format_time(since)}'", f"eventTimestamp le '{format_time(end)}'"]
    groups = {(arm_id.resource_group or "").casefold(): arm_id.resource_group for arm_id in arm_ids}
    # The group comes from a manifest: a quote in it would end the literal of the filter, so the subscription is read
    # then.
    if len(groups) == 1 and (group := next(iter(groups.values()))) and _GROUP_NAME.fullmatch(group):
        terms.append(f"resourceGroupName eq '{group}'")
    query = {"$filter": " and ".join(terms)}
    path = make_path(arm_ids[0].subscription or "")
    rows = await requests.list(path, API_VERSION, query, most=most)
    if isinstance(rows, Unanswered):
        return Records(gap=rows.reason)
    gap = f"The activity log has more than {most} rows for this time." if len(rows) >= most else ""
    return Records(tuple(read_operations(rows)), gap)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """One row of an operation: it has one when it begins, and others when it ends."""

    arm_id: IdKey
    operation: str  # the permission, as Azure spells it
    at: datetime
    status: str  # "started", "succeeded" and others, in lower case
    category: str  # "administrative" or "policy"
    correlation_id: str
    cells: Mapping[str, Any]  # all of the row


def read_operations(rows: Iterable[Mapping[str, Any]]) -> Iterator[RecordedChange]:
    """Yield the operations that were accepted or have succeeded, each of all its rows."""
    operations: defaultdict[tuple[object, ...], list[_Row]] = defaultdict(list)
    for row in filter(None, map(_read_row, rows)):
        operation_id = row.cells.get("operationId")
        identity = row.correlation_id, str(operation_id), row.arm_id, row.operation.casefold()
        # What Azure did by itself has one correlation id for all.
        operations[
            (*identity, row.at) if row.correlation_id in {"", NO_CORRELATION} and not operation_id else identity
        ].append(row)
    for same in operations.values():
        # An operation may be accepted and fail later. The failure counts, since the resource did not change by it.
        states = {row.status for row in same}
        if states & {"succeeded", "accepted"} and "failed" not in states:
            yield from filter(None, [_make_change(same)])


def _read_row(cells: Mapping[str, Any]) -> _Row | None:
    """Read one row; None if it is none of an operation on a resource at some time."""
    arm_id, at = cells.get("resourceId"), read_time(cells.get("eventTimestamp"))
    operation = shorten_text(_read_value(cells, "operationName"))
    category = str(_read_value(cells, "category")).casefold()
    if not isinstance(arm_id, str) or not arm_id.startswith("/") or at is None or category not in _CATEGORIES:
        return None
    return _Row(
        arm_id=IdKey(ArmId(arm_id).key.removesuffix(_TAGS)),
        operation=operation,
        at=at,
        status=str(_read_value(cells, "status")).casefold(),
        category=category,
        correlation_id=read_guid(cells.get("correlationId")),
        cells=cells,
    )


def _read_value(cells: Mapping[str, Any], name: str) -> object:
    """Return the word of a member that also has it in the language of the reader."""
    member = cells.get(name)
    return member.get("value") if isinstance(member, Mapping) else member


def _make_change(rows: Sequence[_Row]) -> RecordedChange | None:
    """Make the change of an operation from its rows; None if it changes no resource."""
    first = min(rows, key=lambda row: row.at)
    operation = first.operation.casefold()
    is_effect = _POLICY_EFFECT.fullmatch(operation) is not None
    verb = Verb.WRITE if is_effect else _find_verb(operation)
    # The log has a row for each evaluation of a policy too, such as an audit, which changes nothing.
    if verb is None or (first.category == "policy" and not is_effect):
        return None
    said = Attribution(
        at=format_rfc3339(first.at),
        operation=first.operation,
        correlation_id=first.correlation_id,
        source=ChangeSource.ACTIVITY_LOG,
    )
    creates = any(str(_read_value(row.cells, "subStatus")).casefold() == "created" for row in rows)  # HTTP 201
    change = RecordedChange(arm_id=first.arm_id, at=first.at, verb=verb, creates=creates, said=said)
    if is_effect:
        return replace(change, said=replace(said, author=AuthorKind.POLICY, name=_find_assignment(rows)))
    return _add_caller(change, rows)


def is_key_action(operation: str) -> bool:
    """Return whether an operation returns or renews keys, passwords or the like."""
    return operation.casefold() != _EVALUATION and _KEYS.fullmatch(operation.casefold()) is not None


def _find_verb(operation: str) -> Verb | None:
    verb = operation.rpartition("/")[2]
    if is_key_action(operation):
        return Verb.ACTION if _RENEWS.fullmatch(operation) else Verb.KEYS
    if verb == "action":
        return None if operation == _EVALUATION or _HARMLESS.fullmatch(operation) else Verb.ACTION
    return {"write": Verb.WRITE, "delete": Verb.DELETE}.get(verb)


def _find_assignment(rows: Iterable[_Row]) -> str:
    """Find the id of the assignment whose policy changed something; "" if Azure does not name it."""
    for row in rows:
        text = read_mapping(row.cells, "properties").get("policies")
        try:
            policies = json.loads(text) if isinstance(text, str) else None
        # The member is JSON in a text that anybody's policy may have shaped. Another row may still name the assignment.
        except (ValueError, RecursionError):
            continue
        for policy in policies if isinstance(policies, list) else ():
            if assignment := shorten_text(read_text(policy, "policyAssignmentId")):
                return assignment
    return ""


def _add_caller(change: RecordedChange, rows: Sequence[_Row]) -> RecordedChange:
    """Add who made a change: by the claims of the token, else by the form of the caller's name."""
    cells = next((row.cells for row in rows if row.cells.get("claims")), rows[0].cells)
    claims = read_mapping(cells, "claims")
    caller, upn = shorten_text(cells.get("caller")), shorten_text(claims.get(_UPN))
    application = shorten_text(claims.get("appid"))
    host = shorten_text(claims.get("xms_mirid"))
    author = classify_caller(caller, change.correlation_id)
    if author is AuthorKind.UNKNOWN:
        # The name of the caller comes first, since a name with @ must never be shown as that of an application.
        is_application = claims.get("idtyp") == "app"
        author = AuthorKind.PERSON if upn else AuthorKind.APPLICATION if is_application else author
    said = replace(change.said, author=author)
    if author is AuthorKind.PERSON:
        return replace(change, said=replace(said, name=upn or caller, client=name_client(application)))
    if author is not AuthorKind.APPLICATION:
        return replace(change, said=said)
    # A remediation signs in as the managed identity of its policy assignment, and this claim has the id of that
    # assignment.
    if "/providers/microsoft.authorization/policyassignments/" in host.casefold():
        return replace(change, said=replace(said, author=AuthorKind.POLICY, name=host))
    ids = frozenset(map(read_guid, (caller, application, claims.get(f"{_CLAIMS}objectidentifier")))) - {""}
    said = replace(said, name=application or caller, label=host.rpartition("/")[2])
    return replace(change, callers=ids, said=said)
