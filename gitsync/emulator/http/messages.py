"""One parsed request and its answer, with ARM's error envelope and list pages (resource-provider contract,
common-api-details).

A request has its target, its caller, and the script's settings for its operation or list. `gitsync.emulator.codes` has
the texts of the errors.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar
from urllib.parse import quote

from gitsync.emulator.codes import CODES
from gitsync.emulator.http.target import Target
from gitsync.emulator.types.behaviour import Style


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The caller, by the claims of the token; all empty for a request without one."""

    client: str = ""
    object: str = ""
    tenant: str = ""
    user: str = ""  # the name of a person, "" for an application
    app: str = ""  # what the person or the application used
    identity: str = ""  # the id of the managed identity, if it is one
    actions: tuple[str, ...] = ("*",)  # those that are allowed
    scopes: tuple[str, ...] = ()  # where they are allowed, with everything below; none means everywhere
    lacks_mfa: bool = False  # its writes are challenged

    @property
    def actor(self) -> str:
        return self.object or self.client or "anonymous"


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How the operation of a request runs; None and "" leave it to the settings and the type."""

    style: Style | None = None  # how the response and the polls look
    polls: int | None = None  # how many until it ends
    seconds: float | None = None  # how long until it ends
    retry_after: int | None = None  # seconds
    result: str = "Succeeded"  # the final status
    error: Mapping[str, Any] | None = None  # the final error, if it fails
    host: str = ""  # of the URLs, instead of the emulator's
    hide: int = 0  # the number of reads after a create that return "not found"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFault:
    """How a list differs from the state. Patterns of ids have * and ?, in lower case."""

    trim: tuple[str, ...] = ()  # the JSON pointers that its entries lack; the step `*` is every entry of a list
    stale: float = 0.0  # resources that were changed or deleted in these last seconds show as they were before
    missing: tuple[str, ...] = ()  # patterns of ids that it lacks
    duplicate: tuple[str, ...] = ()  # patterns of ids that it has again at its end
    reorder: bool = False  # its entries are in another order


READ_POSTS = frozenset(
    {
        "microsoft.apimanagement/checknameavailability",
        "microsoft.appconfiguration/checknameavailability",
        "microsoft.appconfiguration/locations/checknameavailability",
        "microsoft.containerregistry/checknameavailability",
        "microsoft.keyvault/checkmhsmnameavailability",
        "microsoft.keyvault/checknameavailability",
        "microsoft.policyinsights/checkpolicyrestrictions",
        "microsoft.resourcegraph/resources",
        "microsoft.resources/validateresources",
        "microsoft.storage/checknameavailability",
        "microsoft.web/checknameavailability",
    }
)
"""The POSTs, by the type of their path in lower case, for which a read permission is enough: they change nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerRequest:
    """One request, as the emulator's parts get it."""

    method: str
    target: Target
    api_version: str
    base: str  # the scheme and host that the client called, and the beginning of URLs in answers
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)  # their names ignore case
    body: Any = None
    caller: Caller = Caller()
    correlation: str = ""  # the id in ARM's logs: the caller's, or one of ARM's own
    course: Course = Course()  # how a rule has its operation run
    list_fault: ListFault = ListFault()  # how a rule has its list differ
    keep: tuple[str, ...] = ()  # JSON pointers of the members in which a PUT keeps values that its body omits

    @property
    def verb(self) -> str:
        """The method's name in ARM's actions and messages."""
        if self.method == "POST" and self.target.type.casefold() in READ_POSTS:
            return "read"
        return {"GET": "read", "HEAD": "read", "DELETE": "delete", "POST": "action"}.get(self.method, "write")


@dataclass(frozen=True, slots=True)
class ServerResponse:
    """One HTTP answer."""

    status: int
    body: Any = None  # JSON, or None
    headers: Mapping[str, str] = field(default_factory=dict)

    def add_headers(self, headers: Mapping[str, str]) -> ServerResponse:
        """Return the same answer with further headers."""
        return ServerResponse(self.status, self.body, {**self.headers, **headers})


class _Blank(dict[str, Any]):
    """Shows the name of each missing value."""

    def __missing__(self, word: str) -> str:
        return word


def make_refusal(
    code: str,
    *,
    status: int = 0,
    message: str = "",
    details: Sequence[Mapping[str, Any]] = (),
    **words: Any,
) -> ServerResponse:
    """Make the answer for an ARM code; a code that is not in the table needs a status, which defaults to 400."""
    usual, text = CODES.get(code, (400, code))
    error: dict[str, Any] = {"code": code, "message": message or text.format_map(_Blank(words))}
    if details:
        error["details"] = list(details)
    return ServerResponse(status or usual, {"error": error}, {"x-ms-failure-cause": "gateway"})


class Refused(Exception):  # noqa: N818 - it is an answer, not a fault
    """ARM refuses the request, with this answer. Earlier changes stay stored."""

    def __init__(self, answer: ServerResponse) -> None:
        super().__init__(answer.body)
        self.answer = answer


def refuse(code: str, *, headers: Mapping[str, str] | None = None, **words: Any) -> Refused:
    """Return the exception for an answer with an ARM code."""
    return Refused(make_refusal(code, **words).add_headers(headers or {}))


def refuse_method(method: str) -> Refused:
    """Return the exception for a method that a provider does not have: providers answer without a code, unlike ARM."""
    return Refused(ServerResponse(405, {"Message": f"The requested resource does not support http method '{method}'."}))


_Entry = TypeVar("_Entry")


def make_page(
    request: ServerRequest,
    rows: Iterable[tuple[str, _Entry]],
    show: Callable[[_Entry], Mapping[str, Any] | None],
    max_entries: int,
    *,
    ends_empty: bool = False,
) -> ServerResponse:
    """Make one page of rows sorted by key: at most `max_entries`, or `$top` if that is less, after the key in the
    $skiptoken.

    A row for which `show` returns None is not in the list. `show` is called only for the rows of the page, and one
    more. A list that `ends_empty` has a last page without entries, unless that would be its only one.
    """
    after = _decode_position(request.query.get("$skiptoken") or request.query.get("$skipToken") or "")
    top = request.query.get("$top", "")
    # A `$top` of 0 is ignored: its page would have no entry that a next page could continue from.
    size = min(int(top), max_entries) if top.isdigit() and int(top) else max_entries
    shown = ((key, show(entry)) for key, entry in rows if key > after)
    # One more entry than fits shows whether there is a next page.
    page = list(islice((row for row in shown if row[1] is not None), size + 1))
    body: dict[str, Any] = {"value": [entry for _, entry in page[:size]]}
    if len(page) > size or (page and ends_empty):
        body["nextLink"] = _make_next_link(request, page[:size][-1][0])
    return ServerResponse(200, body)


def is_further_page(request: ServerRequest) -> bool:
    """Return whether a request follows the link of a page."""
    return any(name.casefold() == "$skiptoken" for name in request.query)


def _make_next_link(request: ServerRequest, key: str) -> str:
    token = base64.urlsafe_b64encode(key.encode()).decode()
    query_members = {name: value for name, value in request.query.items() if name.casefold() != "$skiptoken"}
    query = "&".join(f"{quote(name)}={quote(value)}" for name, value in query_members.items())
    return f"{request.base}{quote(request.target.path)}?{query}&%24skiptoken={quote(token)}"


def _decode_position(token: str) -> str:
    try:
        return base64.b64decode(token, altchars=b"-_", validate=True).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise refuse("InvalidRequestContent", reason="The $skiptoken is not one that was given out.") from error
