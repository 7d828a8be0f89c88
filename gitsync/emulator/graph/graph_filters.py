"""Lists of Microsoft Graph: their filters and their pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from gitsync.emulator.graph.answers import refuse_graph
from gitsync.emulator.http.messages import ServerRequest, ServerResponse, make_page
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.store import StoredResource

_TEXT = r"'(?:[^']|'')*'"
_CLAUSE = re.compile(rf"(\w+) eq ({_TEXT}|true|false)|(\w+)/any\((\w+):\4 eq ({_TEXT})\)")
_SEPARATOR = " and "

Clauses = Mapping[str, str | bool]


def refuse_other_methods(request: ServerRequest, *allowed: str) -> None:
    if request.method not in allowed:
        raise refuse_graph(405, "Request_BadRequest", "Specified HTTP method is not allowed for the request target.")


def read_filter(request: ServerRequest, filtered: Collection[str]) -> Clauses:
    """Read the names and values of a filter; refused if Graph does not support it."""
    return dict(_read_clauses(request.query.get("$filter", ""), filtered))


def make_list(
    cloud: EmulatedCloud,
    request: ServerRequest,
    rows: Iterable[tuple[str, StoredResource]],
    show: Callable[[StoredResource], dict[str, Any]],
    wanted: Clauses,
) -> ServerResponse:
    """Make a page of the rows, sorted by key, that have the values of a filter."""
    matching = [(key, stored) for key, stored in rows if _matches(show(stored), wanted)]
    answer = make_page(request, matching, show, cloud.settings.graph.page_size)
    next_link = answer.body.pop("nextLink", None)
    link = {"@odata.nextLink": next_link} if next_link else {}
    context = f"{request.base}/v1.0/$metadata#{request.target.path.removeprefix('/v1.0/')}"
    return ServerResponse(200, {"@odata.context": context, **link, **answer.body})


def _read_clauses(text: str, filtered: Collection[str]) -> Iterator[tuple[str, str | bool]]:
    position = 0
    while position < len(text):
        match = _CLAUSE.match(text, position)
        end = match.end() if match else position
        is_last = end == len(text)
        if match is None or not (is_last or text.startswith(_SEPARATOR, end)):
            raise refuse_graph(400, "BadRequest", f"Invalid filter clause: There is a syntax error in '{text}'.")
        name, literal = (match[1], match[2]) if match[1] else (match[3], match[5])
        if name not in filtered:
            raise refuse_graph(400, "Request_UnsupportedQuery", f"Unsupported property filter clause for '{name}'.")
        yield name, literal[1:-1].replace("''", "'") if literal[0] == "'" else literal == "true"
        # The loop would end with the text, and a filter that ends with `and` would pass.
        if not is_last and end + len(_SEPARATOR) == len(text):
            raise refuse_graph(400, "BadRequest", f"Invalid filter clause: There is a syntax error in '{text}'.")
        position = end + len(_SEPARATOR)


def _matches(shown: Mapping[str, Any], wanted: Clauses) -> bool:
    """Return whether an object has the values of a filter; texts compare without case."""
    return all(
        _fold(value) in map(_fold, shown[name] if isinstance(shown[name], list) else [shown[name]])
        for name, value in wanted.items()
    )


def _fold(value: Any) -> Any:
    return value.casefold() if isinstance(value, str) else value
