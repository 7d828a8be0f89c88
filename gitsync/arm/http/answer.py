"""An HTTP response, before it is judged: status, headers, JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from gitsync.arm.auth.principal import Principal
from gitsync.formats.strict_json import read_json

_SECONDS = re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?")
_LONGEST_WAIT = 86400.0  # seconds; more is a mistake, and further than any deadline
_LONGEST_DATE = 64  # characters; those of RFC 9110 have 29
_MILLISECONDS = ("retry-after-ms", "x-ms-retry-after-ms")


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """One HTTP response. Header names are in lower case. Headers and content may contain secrets and are not shown.

    `principal` is the identity of the refused token; only read if the status is 401 or 403. `body` is the content as
    JSON, None if there is none or it is malformed; parsed once, since some bodies have megabytes. `is_token_dropped`:
    Azure did not accept the token, and the next request gets a new one.
    """

    status: int
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    content: bytes = field(default=b"", repr=False)
    principal: Principal | None = None
    is_token_dropped: bool = False
    body: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "body", _parse_json(self.content))

    def mapping(self) -> Mapping[str, Any]:
        """The body if it is a JSON object, else an empty one."""
        return self.body if isinstance(self.body, dict) else {}

    @property
    def request_id(self) -> str:
        """The id that Azure's support asks for."""
        return self.headers.get("x-ms-request-id") or self.headers.get("x-ms-correlation-request-id") or ""

    def retry_after(self, now: datetime) -> float | None:
        """Seconds to wait, from `Retry-After` (RFC 9110 §10.2.3: seconds or a date) or Azure's in milliseconds.

        None if nothing, nonsense, or no time at all is asked for: then the caller's own back-off applies. At most a
        day.
        """
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
    """Seconds until an HTTP date; 0 if it is not a date. Python's parser fails in several ways on odd ones."""
    if len(date) > _LONGEST_DATE:
        return 0.0
    try:
        moment = parsedate_to_datetime(date)
        return (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds()
    except (ValueError, TypeError, OverflowError, IndexError):
        return 0.0
