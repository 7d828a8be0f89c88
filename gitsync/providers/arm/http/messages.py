"""One request to Azure and its response, as values: what is requested, and which responses are not failures.

Ids come from manifests, which are not trusted: a `?` or `#` in one would cut the path and drop the api-version, and a
`..` would reach another resource. So `format_target` checks and quotes every id before anything is sent.

Bodies become bytes here, and only here are the secrets in them revealed. The revealed values are kept with the bytes:
Azure's error may quote them, and they must be masked before anyone reads it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any
from urllib.parse import quote, urlencode

from gitsync.desired.formats.strict_json import read_json
from gitsync.errors import ArmError
from gitsync.model.secret import Placeholder, Secret
from gitsync.providers.arm.auth.principal import Principal

_SAFE = "/:@!$'()*,;-._~"
_FORBIDDEN = re.compile(r"[?#\\\x00-\x1f\x7f]")


def format_target(path: str, api_version: str, query: Mapping[str, str] | None = None) -> str:
    """Format path and query of a request, quoted: `/a b` becomes `/a%20b?api-version=…`.

    Raises ArmError (code InvalidResourceId) for a path that is not absolute, has an empty, `.` or `..` segment, or a
    character that means something else in a URL.
    """
    _check_path(path)
    parameters = {"api-version": api_version, **(query or {})}
    return f"{quote(path, safe=_SAFE)}?{_format_query(tuple(parameters.items()))}"


@lru_cache(maxsize=256)  # most requests have no query but the version
def _format_query(parameters: tuple[tuple[str, str], ...]) -> str:
    return urlencode(parameters, quote_via=quote, safe=_SAFE)


def _check_path(path: str) -> None:
    segments = path.split("/")[1:]
    if path.startswith("/") and not _FORBIDDEN.search(path) and not {"", ".", ".."} & set(segments):
        return
    raise ArmError(
        f"{path!r} is not a valid ARM id.",
        code="InvalidResourceId",
        resource_id=path,
        hint="Start the id with '/'. Remove empty, '.' and '..' segments, and the characters ? # \\.",
    )


MASK = "<secret>"


@dataclass(frozen=True, slots=True)
class Payload:
    """The bytes of a body, and the secrets in it, longest first."""

    content: bytes = field(repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)


def encode_payload(body: Mapping[str, Any]) -> Payload:
    """Encode JSON with the secrets revealed. Raises TypeError for what is not JSON, such as a value that is not known
    yet, and ValueError for NaN and infinities.
    """
    revealed: set[str] = set()

    def reveal(value: object) -> Any:
        if isinstance(value, Secret) and not isinstance(value, Placeholder):  # nothing is sent for an unknown value
            revealed.add(value.reveal())
            return value.reveal()
        if isinstance(value, Mapping):
            return dict(value)
        raise TypeError(f"a body cannot contain a {type(value).__name__}")

    content = json.dumps(dict(body), default=reveal, allow_nan=False).encode()
    return Payload(content, tuple(sorted(revealed - {""}, key=lambda secret: (-len(secret), secret))))


def mask_payload(value: Any, secrets: Iterable[str]) -> Any:
    """Mask the given secrets in a text, or in the texts of JSON, both plain and escaped as in JSON."""
    if isinstance(value, str):
        for secret in secrets:
            # A provider may quote the body as text, in which quotes and newlines are escaped.
            for spelling in (secret, json.dumps(secret)[1:-1]):
                value = value.replace(spelling, MASK)
        return value
    if isinstance(value, Mapping):
        return {key: mask_payload(item, secrets) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [mask_payload(item, secrets) for item in value]
    return value


UNKNOWN_CODE = "UnknownError"
"""The code of a failure whose answer has none."""

_READS = frozenset({"GET", "HEAD"})
_SHOW_A_RESOURCE = frozenset({"GET", "PUT", "PATCH"})
_WITH_RESOURCE = frozenset({200, 201, 404})
_NOT_ABSENT = frozenset({"invalidresourcetype", "invalidresourcenamespace", "subscriptionnotfound"})
_ABSENT = frozenset({"notfound", "parentresourcenotfound", "resourcegroupnotfound", "resourcenotfound"})
"""Codes of a 404, in lower case, that are about the path of the request. A provider's own code may be about
anything.
"""

_MISSING = re.compile(r"(.{4,})(notfound|does(no|n)texist)")
_SHORTEST_WORD = 4  # letters of a type that a code may end in; DNS records have types such as `A`


LARGEST_ANSWER = 16 << 20
"""Bytes of an answer that is not a page of a list."""

ANSWER_TOO_LARGE = "AnswerTooLarge"
"""The code of the error for an answer that exceeds the size limit of its request."""


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class ArmRequest:
    """One request to ARM, before it is sent."""

    method: str
    path: str  # the plain ARM path
    target: str = field(repr=False)
    """The encoded path and query, relative to the endpoint; not shown, since the target of a poll may be signed."""

    resource_id: str  # the id that messages name
    accepts: frozenset[int]  # the statuses that are not an error
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)  # one of them may be a policy token
    payload: Payload | None = None  # None for a request without a body
    is_poll: bool = False  # it reads the state of an operation
    is_list: bool = False  # its answer is one page of a list
    is_private: bool = False  # the answer may contain keys: only the code and the message of a failure are read
    is_optional: bool = False  # it has a substitute, so it is only repeated after a 429
    is_check: bool = False  # it changes nothing, though it is a POST
    max_bytes: int = LARGEST_ANSWER  # limits the answer
    advice: Mapping[str, str] = field(default_factory=dict)
    """Hints for refusals that no Azure role fixes, by code in lower case or status; `{identity}` in a hint is the
    refused identity.
    """

    @property
    def is_write(self) -> bool:
        return self.method not in _READS and not self.is_check

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no text about the request may show: its policy token, and the secrets of its body."""
        token = self.headers.get(EXTERNAL_EVALUATIONS, "")
        return (*((token,) if token else ()), *(self.payload.secrets if self.payload else ()))

    def takes(self, answer: Response, code: str, message: str = "") -> bool:
        """Return whether the response is one that the request expects. `code` and `message` are those of an error.

        A response that is not JSON comes from something in between (a proxy), not from ARM; so does a 404 without a
        code, or a success with an error as its body.
        """
        # A GET returns 409 if the provider is not registered with the subscription; no resource can exist then, so that
        # counts as a 404.
        if self._is_unregistered(answer, code):
            return True
        if answer.status not in self.accepts or self._is_error_in_disguise(answer):
            return False
        # A 404 about the type, the provider, the subscription or another resource does not mean that the resource is
        # absent, and a prune must not treat it as deleted.
        if answer.status == 404 and not self.says_absent(answer, code.casefold(), message):
            return False
        is_resource = self.method in _SHOW_A_RESOURCE and answer.status in _WITH_RESOURCE
        return not (is_resource and answer.content) or isinstance(answer.body, dict)

    def says_absent(self, answer: Response, code: str, message: str) -> bool:
        """Return whether a 404 is about the resource: by its code (in lower case), or if it has no body, by Azure's
        request id. A provider's code is, if it names the type of the resource or of a parent (`ContainerNotFound`), or
        if Azure's message names the resource.

        A polled resource is missing for a known reason, so a 404 alone is enough.
        """
        # A list or a prune would treat a wrong "absent" as a deleted resource, so the default is False.
        if code in _NOT_ABSENT:
            return False
        # Polls know why the resource may be missing, and a HEAD or DELETE has no body to read.
        if self.is_poll or (self.method != "GET" and not answer.content):
            return True
        if not answer.content:
            # A 404 without a body and without ARM's id may come from a proxy.
            return bool(answer.arm_request_id)
        # A provider's 404 may be about something else that the resource uses, such as its key vault.
        *words, name = self.path.casefold().strip("/").split("/")
        types = [word.removesuffix("s") for word in words[::2] if len(word) > _SHORTEST_WORD]
        missing = _MISSING.fullmatch(code)
        if code in _ABSENT or (
            missing and any(missing[1].endswith(word) or word.endswith(missing[1]) for word in types)
        ):
            return True
        # A provider's code may be about what the resource uses, but a message with its name is about the resource.
        is_named = re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", message.casefold())
        return code != UNKNOWN_CODE.casefold() and bool(answer.arm_request_id) and is_named is not None

    def _is_error_in_disguise(self, answer: Response) -> bool:
        """Return whether an error came with a success status."""
        # The status of an operation may contain an error.
        return answer.status < 300 and not self.is_poll and bool(answer.mapping().get("error"))

    def _is_unregistered(self, answer: Response, code: str) -> bool:
        return (
            not (self.is_write or self.is_poll)
            and 404 in self.accepts
            and answer.status == 409
            and code.casefold() == "missingsubscriptionregistration"
        )


CORRELATION_ID = "x-ms-correlation-request-id"
"""The header with the id of an operation in Azure's logs: a client may choose it, and Azure returns it."""

EXTERNAL_EVALUATIONS = "x-ms-policy-external-evaluations"
"""The header with the policy token of a write (gitsync.providers.arm.policy_tokens)."""

_GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SECONDS = re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?")
_LONGEST_WAIT = 86400.0  # seconds; more is a mistake, and longer than any deadline
_LONGEST_DATE = 64  # characters; dates of RFC 9110 have 29
_MILLISECONDS = ("retry-after-ms", "x-ms-retry-after-ms")


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class Response:
    """One HTTP response. Headers and content may contain secrets and are not shown."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)  # names in lower case
    content: bytes = field(default=b"", repr=False)
    principal: Principal | None = None  # the identity of the refused token; only read if the status is 401 or 403
    is_token_dropped: bool = False  # Azure did not accept the token, and the next request gets a new one
    body: Any = field(init=False, repr=False)
    """The content as JSON, None if there is none or it is malformed; parsed once, since some bodies have megabytes."""

    def __post_init__(self) -> None:
        self.body = _parse_json(self.content)

    def mapping(self) -> Mapping[str, Any]:
        """Return the body if it is a JSON object, else an empty one."""
        return self.body if isinstance(self.body, dict) else {}

    @property
    def request_id(self) -> str:
        """The id that Azure support needs, of ARM or of Microsoft Graph."""
        return self.arm_request_id or self.headers.get("request-id") or ""

    @property
    def arm_request_id(self) -> str:
        """ARM's id for the request, which answers of something in between (a proxy) do not have."""
        return self.headers.get("x-ms-request-id") or self.headers.get(CORRELATION_ID) or ""

    @property
    def correlation_id(self) -> str:
        """The id of the operation in Azure's logs, in lower case; "" if the answer has no valid one."""
        text = self.headers.get(CORRELATION_ID, "").strip().lower()
        return text if _GUID.fullmatch(text) else ""

    def read_retry_after(self, now: datetime) -> float | None:
        """Return seconds to wait, from `Retry-After` (RFC 9110 §10.2.3: seconds or a date) or Azure's in milliseconds.

        None if it is missing, malformed or zero: then the caller's own back-off applies. At most a day.
        """
        # Some Azure services send milliseconds too, which are more precise.
        for name in _MILLISECONDS:
            if _SECONDS.fullmatch(self.headers.get(name, "")):
                return _limit_wait(float(self.headers[name]) / 1000)
        value = self.headers.get("retry-after", "").strip()
        return _limit_wait(float(value) if _SECONDS.fullmatch(value) else _count_seconds_until(value, now))


def _parse_json(content: bytes) -> Any:
    try:
        return read_json(content) if content else None
    except ValueError:
        return None


def _limit_wait(seconds: float) -> float | None:
    return min(seconds, _LONGEST_WAIT) if seconds > 0 else None


def _count_seconds_until(date: str, now: datetime) -> float:
    """Count seconds until an HTTP date; 0 if it is not a date."""
    if len(date) > _LONGEST_DATE:
        return 0.0
    try:
        moment = parsedate_to_datetime(date)
        return (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds()
    # Python's parser raises several errors for malformed dates.
    except (ValueError, TypeError, OverflowError, IndexError):
        return 0.0
