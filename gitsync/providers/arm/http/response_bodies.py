"""Validates answers: each must be the requested resource, or a page of a list.

An answer to a GET that is not the resource is an error: it does not mean that the resource is absent, and nothing is
compared with it, sent because of it, or deleted because of it. A list decides what may be deleted, so a malformed page
raises an error too: a malformed list is not an empty list. Messages name the type of a value and never the value,
because the list of an action may contain keys.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gitsync.errors import ArmError
from gitsync.model.arm_id import ArmId
from gitsync.model.live import Live
from gitsync.providers.arm.cloud import Cloud, parse_origin
from gitsync.providers.arm.http.messages import ANSWER_TOO_LARGE, Response

Entries = list[Mapping[str, Any]]
"""The entries of a list, of all its pages."""

MALFORMED_LIST: Final = "MalformedList"
FOREIGN_LINK: Final = "ForeignNextLink"
MOST_PAGES: Final = 1000
"""Pages of one list. ARM shows up to 1,000 entries a page, and no resource group fills that many pages."""

LARGEST_LIST: Final = 100 << 20
"""Bytes of one list, all its pages together. The list of all VM sizes has some 60 MB, in one page."""

_REFUSALS = frozenset({400, 403, 404, 405})
_HINT = "Check the endpoint, and any proxy between gitsync and Azure. gitsync ignores this list."
_KINDS = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list", dict: "an object"}
MALFORMED_RESOURCE = "MalformedResource"
_PROVIDERS = "/providers/"


def read_shown_resource(answer: Response, arm_id: str) -> Live:
    """Read the resource that an answer to a GET shows. Raises ArmError (code MalformedResource) if it shows another
    one, or none.
    """
    if fault := find_fault(answer.body, arm_id):
        raise ArmError(
            f"The response to GET {arm_id} is not that resource: {fault}.",
            status=answer.status,
            code=MALFORMED_RESOURCE,
            request_id=answer.request_id,
            resource_id=arm_id,
            method="GET",
            hint="Check the endpoint, and any proxy between gitsync and Azure. gitsync does not change the resource.",
        )
    return read_live(answer)


def is_shown(answer: Response, arm_id: str) -> bool:
    """Return whether an answer shows the resource."""
    return not find_fault(answer.body, arm_id)


def read_object(answer: Response, path: str, method: str) -> Mapping[str, Any]:
    """Return the JSON object of an answer. Raises ArmError (code UnusableAnswer) for anything else."""
    if isinstance(answer.body, dict):
        return answer.body
    raise ArmError(
        f"{path} returned a response that is not a JSON object (a proxy?).",
        status=answer.status,
        code="UnusableAnswer",
        request_id=answer.request_id,
        resource_id=path,
        method=method,
    )


def find_fault(body: Any, arm_id: str) -> str:
    """Find what is wrong with a body that should show the resource; "" if nothing is."""
    if not isinstance(body, dict):
        return "it is not a JSON object"
    shown_id = body.get("id")
    if not isinstance(shown_id, str):
        return "it has no id"
    if not _is_id_of(shown_id, arm_id):
        return "it has the id of another resource"
    if not isinstance(body.get("type"), str | None):
        return "its type is not a string"
    return _find_fault_of_properties(body.get("properties"))


def _find_fault_of_properties(properties: Any) -> str:
    if properties is None:
        return ""
    if not isinstance(properties, Mapping):
        return "its properties are not an object"
    # This member decides whether a resource is still changing, so a malformed one makes the answer invalid.
    if not isinstance(properties.get("provisioningState"), str | None):
        return "its provisioningState is not a string"
    return ""


def _is_id_of(shown: str, requested: str) -> bool:
    """Return whether an id names the requested resource.

    Azure shows some resources at a higher scope: a role definition of a resource group has an id of the subscription.
    """
    if shown == requested:
        return True  # as most
    # Azure writes the name of a region with and without blanks.
    left, right = (ArmId(text.replace(" ", "")).key for text in (shown, requested))
    if left == right:
        return True
    # A role definition of a resource group has the id of its subscription.
    (scope, _, name), (requested_scope, _, requested_name) = left.rpartition(_PROVIDERS), right.rpartition(_PROVIDERS)
    return bool(requested_name) and name == requested_name and f"{requested_scope}/".startswith(f"{scope}/")


@dataclass(frozen=True, slots=True)
class ListSource:
    """The source of a list: path and method of the request, and the member that links to the next page."""

    path: str
    method: str = "GET"
    next_link: str = "nextLink"

    def make_error(self, how: str, *, code: str = MALFORMED_LIST, request_id: str = "") -> ArmError:
        """Return the error for a list that is not valid. `how` completes the sentence "The list of … "."""
        return ArmError(
            f"The list of {self.path} {how}.",
            status=200,
            code=code,
            request_id=request_id,
            resource_id=self.path,
            method=self.method,
            hint=_HINT,
        )


class PagesRead:
    """The pages of one list that were read so far, and how many bytes may still be read."""

    def __init__(self, source: ListSource) -> None:
        self._source = source
        self._targets: set[str] = set()
        self._bytes = 0

    async def read(self, target: str, send: Callable[[int], Awaitable[Response]]) -> Response:
        """Read the page at a path and query. `send` takes the maximum bytes of the answer.

        Raises ArmError for a page that was already read, for too many pages, and for too many bytes.
        """
        # A list with a cycle would never end, and a truncated list is not the complete list.
        if target in self._targets:
            raise self._source.make_error(f"has a `{self._source.next_link}` to a page that was already read")
        if len(self._targets) >= MOST_PAGES:
            raise self._source.make_error(f"does not end after {MOST_PAGES} pages")
        try:
            answer = await send(LARGEST_LIST - self._bytes)
        except ArmError as error:
            # The limit of one answer is not that of all pages: the message must name the one that was reached.
            if error.code != ANSWER_TOO_LARGE or not self._targets:
                raise
            how = f"exceeds {LARGEST_LIST >> 20} MB after {len(self._targets)} pages and was not read to its end"
            raise self._source.make_error(how, code=ANSWER_TOO_LARGE, request_id=error.request_id) from error
        self._targets.add(target)
        self._bytes += len(answer.content)
        return answer


@dataclass(frozen=True, slots=True)
class Page:
    """A valid page."""

    entries: Entries
    next_page: str | None  # path and query of the next page; None on the last one


def read_page(answer: Response, source: ListSource, cloud: Cloud) -> Page:
    """Read an answer as a page. Raises ArmError if it is not a valid one: see the module."""
    return parse_page(answer.body, source, cloud, request_id=answer.request_id)


def parse_page(body: object, source: ListSource, cloud: Cloud, *, request_id: str = "") -> Page:
    """Read the JSON of an answer as a page. Raises ArmError (code MalformedList or ForeignNextLink)."""
    try:
        page = _check_object(body, source)
        return Page(_read_entries(page, source), _read_next_page(page.get(source.next_link), source, cloud))
    except ArmError as error:
        error.request_id = request_id
        raise


def is_refusal(error: ArmError) -> bool:
    """Return whether the error of a list means that the server does not offer it: a retry would not help, and the
    resources can still be read one by one.
    """
    return error.status in _REFUSALS or error.code == FOREIGN_LINK


def list_ids(entries: Iterable[Mapping[str, Any]], path: str) -> list[ArmId]:
    """List the ids of the resources of a list. Raises ArmError (code MalformedList) if an entry has none."""
    ids = [entry.get("id") for entry in entries]
    for index, arm_id in enumerate(ids):
        if not (isinstance(arm_id, str) and arm_id.startswith("/")):
            raise ListSource(path).make_error(f"has an entry without an id (entry {index + 1})")
    return [ArmId(arm_id) for arm_id in ids]


def _check_object(body: object, source: ListSource) -> Mapping[str, Any]:
    if not isinstance(body, dict):
        raise source.make_error(f"is {_describe_kind(body)}, not an object")
    if body.get("error"):  # an empty list with an error is not an empty list
        raise source.make_error("is an error with a success status")
    return body


def _read_entries(page: Mapping[str, Any], source: ListSource) -> Entries:
    if "value" not in page:
        raise source.make_error("has no `value`")
    entries = page["value"]
    if not isinstance(entries, list):
        raise source.make_error(f"has {_describe_kind(entries)} as its `value`, not a list")
    for index, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise source.make_error(f"has {_describe_kind(entry)} as entry {index + 1}, not an object")
    return entries


def _read_next_page(link: object, source: ListSource, cloud: Cloud) -> str | None:
    """Find path and query of the next page."""
    if link is None or link == "":
        return None
    if not isinstance(link, str):
        raise source.make_error(f"has {_describe_kind(link)} as its `{source.next_link}`, not a URL")
    # The two cases differ: a list that continues elsewhere is a refusal, a broken link a fault.
    if parse_origin(link) is None:
        raise source.make_error(f"has a `{source.next_link}` that is not a URL")
    # The token goes with the request, so the link must lead to the same endpoint.
    next_page = cloud.find_target(link)
    if next_page is None:
        raise source.make_error("continues on another host; gitsync sends no token there", code=FOREIGN_LINK)
    return next_page


def _describe_kind(value: object) -> str:
    return "nothing" if value is None else _KINDS.get(type(value), "something else")


def read_live(answer: Response) -> Live:
    """Read the resource that a GET or PUT shows; its ETag comes from the header, else from the body."""
    body = answer.mapping()
    # Some providers have the ETag in the body only.
    body_etag = body.get("etag")
    return Live(
        body=body,
        etag=answer.headers.get("etag") or (body_etag if isinstance(body_etag, str) and body_etag else None),
        bytes_read=len(answer.content),
    )
