"""Lists of Microsoft Graph, page by page."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace
from typing import Any, Final

from gitsync.errors import ArmError
from gitsync.providers.arm.cloud import Cloud
from gitsync.providers.arm.http.messages import Response
from gitsync.providers.arm.http.response_bodies import MALFORMED_LIST, ListSource, PagesRead, read_page
from gitsync.providers.entra.graph_requests import GraphRequest

_LINK: Final = "@odata.nextLink"

Entry = tuple[Any, Response, GraphRequest]
"""An entry of a list, with the answer that has it and the request of that."""


async def iterate_entries(
    path: str,
    make_request: Callable[[str | None], GraphRequest],
    send: Callable[[GraphRequest], Awaitable[Response]],
    cloud: Cloud,
) -> AsyncGenerator[Entry, None]:
    """Yield the entries of the list at a path. `make_request` makes the request for the page at a link, or for the
    first one. Raises ArmError for a malformed list.
    """
    source, next_page = ListSource(path, next_link=_LINK), None
    so_far = PagesRead(source)
    while True:
        request = make_request(next_page)

        async def send_bounded(max_bytes: int, request: GraphRequest = request) -> Response:
            return await send(replace(request, max_bytes=max_bytes))

        answer = await so_far.read(request.target, send_bounded)
        page = read_page(answer, source, cloud)
        for entry in page.entries:
            yield entry, answer, request
        if page.next_page is None:
            return
        next_page = page.next_page


def make_idless_error(answer: Response, request: GraphRequest) -> ArmError:
    """Make the error for an entry without an id: it must not count as absent."""
    return ArmError(
        f"The response to {request.method} {request.path} has an entry without an id.",
        status=answer.status,
        code=MALFORMED_LIST,
        request_id=answer.request_id,
        resource_id=request.resource_id,
        method=request.method,
        outcome_unknown=request.is_write,
        hint="Check the endpoint, and any proxy between gitsync and Microsoft Graph.",
    )
