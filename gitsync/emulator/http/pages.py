"""Lists, page by page: how many entries a page has, and the link to the next one."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any, TypeVar
from urllib.parse import quote

from gitsync.emulator.http.answers import ServerResponse, refuse
from gitsync.emulator.http.call import ServerRequest

_Entry = TypeVar("_Entry")


def make_page(
    call: ServerRequest,
    rows: Iterable[tuple[str, _Entry]],
    show: Callable[[_Entry], Mapping[str, Any] | None],
    max_entries: int,
    *,
    ends_empty: bool = False,
) -> ServerResponse:
    """One page of rows that are sorted by key: after the key that the $skiptoken names, at most so many.

    A row that `show` makes None of is not in the list. Only the rows of the page are shown, and one more. A list that
    `ends_empty` has a last page without entries, unless that would be its only one.
    """
    after = _decode_position(call.query.get("$skiptoken") or call.query.get("$skipToken") or "")
    top = call.query.get("$top", "")
    size = min(int(top), max_entries) if top.isdigit() and int(top) else max_entries
    shown = ((key, show(entry)) for key, entry in rows if key > after)
    page = list(islice((row for row in shown if row[1] is not None), size + 1))
    body: dict[str, Any] = {"value": [entry for _, entry in page[:size]]}
    if len(page) > size or (page and ends_empty):
        body["nextLink"] = _next_link(call, page[:size][-1][0])
    return ServerResponse(200, body)


def is_further(call: ServerRequest) -> bool:
    """Tell whether a request follows the link of a page."""
    return any(name.casefold() == "$skiptoken" for name in call.query)


def _next_link(call: ServerRequest, key: str) -> str:
    token = base64.urlsafe_b64encode(key.encode()).decode()
    query_members = {name: value for name, value in call.query.items() if name.casefold() != "$skiptoken"}
    query = "&".join(f"{quote(name)}={quote(value)}" for name, value in query_members.items())
    return f"{call.base}{quote(call.target.path)}?{query}&%24skiptoken={quote(token)}"


def _decode_position(token: str) -> str:
    try:
        return base64.b64decode(token, altchars=b"-_", validate=True).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise refuse("InvalidRequestContent", reason="The $skiptoken is not one that was given out.") from error
