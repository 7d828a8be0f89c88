"""What the sources of tokens answered: the CI system, the machine's identity endpoint, the authority.

azure-identity raises one error for every answer without a token, so its errors do not distinguish an outage from a
refusal. Each answer is noted as it comes, and the last one decides: a temporary failure is retried for as long as a
read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from azure.core.pipeline.transport import AsyncHttpTransport

from gitsync.desired.formats.json_members import read_text
from gitsync.model.secret import truncate
from gitsync.providers.arm.auth.job_identity import JobIdentity, read_job_identity
from gitsync.providers.arm.http.failures import scrub
from gitsync.providers.arm.http.messages import Response

_LONGEST = 500
_PASSING = frozenset({408, 425, 429})
"""In addition to 5xx: RFC 9110 §15.5.9, RFC 8470 §5.2, RFC 6585 §4."""

_PENDING = re.compile(r"\bpending\b|\bnot (?:yet )?(?:running|started)\b", re.IGNORECASE)
"""In a 403 from a CI system: the job has begun, and the token service has not noticed it yet."""

_PASSING_CODES = frozenset({"temporarily_unavailable", "server_error"})
"""RFC 6749 §4.1.2.1; Entra ID sends them with other statuses too."""

CI_SYSTEM = "the CI system"
MACHINE = "the identity endpoint of this machine"
MACHINE_IS_UPDATED = frozenset({404, 410})
"""Statuses of a machine's endpoint while it is updated ("How to use managed identities for Azure resources on an Azure
VM to acquire an access token", error handling). Machines outside Azure, which have no such endpoint, return them too.
"""


@dataclass(frozen=True, slots=True)
class TokenAnswer:
    """One answer of a source, the source's name, and which other statuses of it are temporary."""

    source: str
    response: Response
    passing: frozenset[int] = frozenset()
    """Statuses of the source that are temporary, in addition to those of every source."""

    presented: JobIdentity | None = None
    """What the token in the request claims, if the source is an authority that exchanges one."""

    @property
    def is_passing(self) -> bool:
        """Return whether the same request may get a token later."""
        status = self.response.status
        if status == 200:
            return self.is_empty  # an empty body is a fault in between; any other stays without a token
        if status in _PASSING or status in self.passing or status >= 500:
            return True
        if read_text(self.response.body, "error") in _PASSING_CODES:
            return True
        return status == 403 and self.source == CI_SYSTEM and bool(_PENDING.search(self.text))

    @property
    def is_empty(self) -> bool:
        return not self.response.content.strip()

    @property
    def text(self) -> str:
        """The body in one line, short and without tokens."""
        # Nothing of a 200 is shown: it may have a token under any name.
        if self.response.status == 200:
            return ""
        return truncate(scrub(" ".join(self.response.content.decode(errors="replace").split())), _LONGEST)

    def __str__(self) -> str:
        if self.response.status == 200:
            return "HTTP 200 without a body" if self.is_empty else "HTTP 200 without a token"
        return f"HTTP {self.response.status}: {self.text}" if self.text else f"HTTP {self.response.status}"


_noted: ContextVar[list[TokenAnswer] | None] = ContextVar("noted", default=None)


@contextmanager
def note_answers() -> Iterator[list[TokenAnswer]]:
    """The answers that come while the context lasts, to this task and those that it starts."""
    answers: list[TokenAnswer] = []
    token = _noted.set(answers)
    try:
        yield answers
    finally:
        _noted.reset(token)


def note_answer(answer: TokenAnswer) -> None:
    answers = _noted.get()
    if answers is not None:
        answers.append(answer)


class NotingTransport(AsyncHttpTransport[Any, Any]):
    """Sends by another transport, which it does not own, and notes the answers. `source` names where they come from,
    else the host does; `passing` as in `TokenAnswer`.
    """

    def __init__(
        self, transport: AsyncHttpTransport[Any, Any], source: str = "", passing: frozenset[int] = frozenset()
    ) -> None:
        self._transport = transport
        self._source = source
        self._passing = passing

    async def send(self, request: Any, **options: Any) -> Any:
        response = await self._transport.send(request, **options)
        source = self._source or urlsplit(request.url).netloc
        answer = read_answer(response.status_code, response.headers, response.content)
        presented = read_job_identity(read_text(getattr(request, "data", None), "client_assertion"))
        note_answer(TokenAnswer(source, answer, self._passing, presented))
        return response

    async def open(self) -> None:
        """Do nothing: the other transport is open."""

    async def close(self) -> None:
        """Do nothing: the other transport is not owned."""

    async def __aexit__(self, *_error: object) -> None:
        await self.close()


def read_answer(status: int, headers: Mapping[str, str], content: bytes) -> Response:
    """Make a response from what a library returned, whose header names have any case."""
    return Response(status=status, headers={name.lower(): value for name, value in headers.items()}, content=content)
