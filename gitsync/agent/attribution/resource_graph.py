"""Reads Resource Graph: its tables of changes, of groups and of most resources but children, for the last 14 days; and
its table of what exists.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from gitsync.agent.attribution.change import (
    UNUSABLE_ANSWER,
    RecordedChange,
    Records,
    Verb,
    classify_caller,
    format_time,
    name_client,
    read_guid,
)
from gitsync.agent.checks.check_requests import CheckRequests, Unanswered, shorten_text
from gitsync.desired.formats.json_members import as_mapping, read_mapping
from gitsync.model.arm_id import ArmId
from gitsync.model.attribution import Attribution, AuthorKind, ChangeSource
from gitsync.model.clock import format_rfc3339, read_time

PATH: Final = "/providers/Microsoft.ResourceGraph/resources"
API_VERSION: Final = "2022-10-01"
RETENTION: Final = timedelta(days=14)

_MOST_IDS = 300  # of one query, as Microsoft advises
_MOST_PAGES = 5  # of 1,000 rows
_QUERY = """\
{table}
| extend t = todatetime(properties.changeAttributes.timestamp), rid = tolower(tostring(properties.targetResourceId))
| where t > datetime({since}) and rid in ({ids})
| project id, t, rid, changeType = tostring(properties.changeType), attrs = properties.changeAttributes, \
changes = properties.changes
| order by t desc, id asc"""
_RESOURCES, _GROUPS = "resourcechanges", "resourcecontainerchanges"
_GROUP = re.compile(r"/subscriptions/[^/]+/resourcegroups/[^/]+")
_UNQUOTABLE = re.compile(r"['\"\\\x00-\x1f\x7f]")
_VERBS = {"create": Verb.CREATE, "update": Verb.WRITE, "delete": Verb.DELETE}
_TYPES = {"user": AuthorKind.PERSON, "application": AuthorKind.APPLICATION, "system": AuthorKind.AZURE}


async def read_graph(arm_ids: Iterable[ArmId], since: datetime, requests: CheckRequests) -> Records:
    """Return the changes of resources since a time. One query has at most 300 ids, of any subscriptions."""
    # An id comes from a manifest: a quote in it could end the literal, so the activity log is read instead.
    is_quotable = {arm_id: arm_id.subscription and not _UNQUOTABLE.search(arm_id) for arm_id in arm_ids}
    ids = sorted({arm_id.key for arm_id, quotable in is_quotable.items() if quotable})
    tables = {
        _RESOURCES: [arm_id for arm_id in ids if not _GROUP.fullmatch(arm_id)],
        _GROUPS: list(filter(_GROUP.fullmatch, ids)),
    }
    queried = [
        (table, some[start : start + _MOST_IDS])
        for table, some in tables.items()
        for start in range(0, len(some), _MOST_IDS)
    ]
    answers = await asyncio.gather(*(_read_table(table, batch, since, requests) for table, batch in queried))
    gaps = sorted({answer.gap for answer in answers} - {""})
    return Records(tuple(change for answer in answers for change in answer.changes), " ".join(gaps))


async def _read_table(table: str, ids: Sequence[str], since: datetime, requests: CheckRequests) -> Records:
    query = _QUERY.format(table=table, since=format_time(since), ids=",".join(f"'{arm_id}'" for arm_id in ids))
    subscriptions = sorted({ArmId(arm_id).subscription or "" for arm_id in ids} - {""})
    rows, gap = await query_rows(query, subscriptions, requests, most_pages=_MOST_PAGES)
    return Records(tuple(filter(None, map(_read_row, rows))), gap)


class Rows(NamedTuple):
    """The rows of a query, and why they may not be all of them: a sentence, "" if they are."""

    rows: list[object]
    gap: str = ""


async def query_rows(query: str, subscriptions: Sequence[str], requests: CheckRequests, *, most_pages: int) -> Rows:
    """Return the rows of a query, from as many pages of 1,000 rows as Azure has, or at most `most_pages`. The query
    must project the column `id` and be sorted by it: else Azure gives one page without a sign of the others.
    """
    body = {"subscriptions": list(subscriptions), "query": query}
    options: dict[str, Any] = {"$top": 1000, "resultFormat": "objectArray"}
    rows: list[object] = []
    for _ in range(most_pages):
        answer = await requests.send(PATH, API_VERSION, {**body, "options": options})
        if isinstance(answer, Unanswered):
            return Rows(rows, answer.reason)
        page, token = answer.get("data"), answer.get("$skipToken")
        if not isinstance(page, list) or not isinstance(token, str | None):
            return Rows(rows, UNUSABLE_ANSWER)
        rows += page
        if not token:
            return Rows(rows)
        options = {**options, "$skipToken": token}
    return Rows(rows, f"Resource Graph has more than {1000 * most_pages} rows.")


def _read_row(row: object) -> RecordedChange | None:
    """Read one row; None if it is not a change of something at some time."""
    cells, said = as_mapping(row), read_mapping(row, "attrs")
    arm_id, at = cells.get("rid"), read_time(cells.get("t"))
    verb = _VERBS.get(str(cells.get("changeType")).casefold())
    if not isinstance(arm_id, str) or at is None or verb is None:
        return None
    caller, correlation_id = shorten_text(said.get("changedBy")), read_guid(said.get("correlationId"))
    kind = classify_caller(caller, correlation_id)
    # The name of a person is left out of most reports, so a name that looks like one counts as one.
    is_certain = kind in {AuthorKind.AZURE, AuthorKind.PERSON}
    author = kind if is_certain else _TYPES.get(str(said.get("changedByType")).casefold(), kind)
    is_named = author in {AuthorKind.PERSON, AuthorKind.APPLICATION}
    return RecordedChange(
        arm_id=ArmId(arm_id).key,
        at=at,
        verb=verb,
        creates=verb is Verb.CREATE,
        fields=_list_fields(cells.get("changes")),
        callers=frozenset({read_guid(caller)}) - {""},
        said=Attribution(
            author=author if caller or not is_named else AuthorKind.UNKNOWN,
            name=caller if is_named else "",
            client=name_client(said.get("clientType")),
            at=format_rfc3339(at),
            operation=shorten_text(said.get("operation")),
            correlation_id=correlation_id,
            source=ChangeSource.RESOURCE_GRAPH,
        ),
    )


_NOISE = re.compile(
    r"(?:properties\.)?(?:provisioningstate|etag|resourceguid|extended|systemdata)(?:[.\[].*)?"
    r"|.*\.(?:provisioningstate|etag)"
)
"""Fields that change by themselves."""


def _list_fields(changes: object) -> tuple[str, ...] | None:
    """List the fields that a row names as changed, without those that change by themselves; None if it names none, as
    that of a create.
    """
    if not isinstance(changes, Mapping) or not changes:
        return None
    return tuple(sorted(path.casefold() for path in changes if not _NOISE.fullmatch(path.casefold())))


_INDEX = re.compile(r"\[(\d+)\]")


def select_touched(fields: Iterable[str], pointers: Iterable[str]) -> Iterator[str]:
    """Yield the JSON pointers of differences that a change of fields touches: one is the other, or is above it."""
    touched = {_cut_at_index(_INDEX.sub(r".\1", field)) for field in fields}
    for pointer in pointers:
        dotted = ".".join(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]).casefold()
        # Resource Graph may compare another api-version and count the items of a list in another way, so from the first
        # item on any field of the list matches.
        path = _cut_at_index(dotted)
        if any(
            path == changed_path or path.startswith(f"{changed_path}.") or changed_path.startswith(f"{path}.")
            for changed_path in touched
        ):
            yield pointer


def _cut_at_index(dotted: str) -> str:
    """Cut a path before the first index of a list."""
    steps = dotted.split(".")
    end = next((number for number, step in enumerate(steps) if step.isdigit() and number), len(steps))
    return ".".join(steps[:end])
