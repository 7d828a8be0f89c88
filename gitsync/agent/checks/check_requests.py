"""Requests to Azure, each sent once, and responses that are not an answer.

A check never fails a run: what Azure does not answer is a value here, with its reason.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, TypeVar

from gitsync.agent.checks.allowance import LIMIT_REACHED, MOST, Allowance
from gitsync.errors import ArmError, ConfigError
from gitsync.model.arm_id import ArmId, IdKey
from gitsync.model.check import CheckFinding, CheckName, CheckVerdict, PlannedChange
from gitsync.model.limits import Bucket, RequestKind
from gitsync.model.report import RequestCounts
from gitsync.model.secret import truncate
from gitsync.providers.arm.auth.principal import Principal
from gitsync.providers.arm.client import Arm, Reader
from gitsync.providers.arm.http.response_bodies import Entries
from gitsync.providers.arm.session import Session

if TYPE_CHECKING:
    from gitsync.providers.entra.deleted_applications import DeletedApplication

UNUSABLE_ANSWER = "UnusableAnswer"
"""The code of a finding that has no verdict, since Azure's answer does not have the shape that it should have."""

UNKNOWN_VALUE = "ValueNotKnownYet"
"""The code of a finding that has no verdict, since only the run itself will know a value."""

_LONGEST = 300  # characters
_ACTION = re.compile(r"perform action '([^']{1,200})'")

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unanswered:
    """Why Azure gave no answer."""

    status: int  # of HTTP, 0 if nothing came
    code: str  # Azure's, or gitsync's if nothing was sent
    reason: str  # in words
    right: str = ""  # the action that the identity is not allowed, if Azure named one
    error: ArmError  # Azure's refusal, which some requests have as their answer

    def as_finding(self, check: CheckName) -> CheckFinding:
        """The finding of a check that got no answer."""
        return CheckFinding(
            check=check,
            verdict=CheckVerdict.NOT_CHECKED,
            code=self.code,
            message=self.reason,
            advice=f"Grant {self.right} to gitsync's identity." if self.right else "",
            missing_right=self.right,
        )


def find_missing_right(message: str) -> str:
    """Return the action that the identity is not allowed, from Azure's sentence; "" if it names none."""
    found = _ACTION.search(message)
    return found[1] if found else ""


@dataclass(slots=True, kw_only=True)
class _SentRequest:
    """A request on its way, or answered."""

    task: asyncio.Task[Any]
    session: Session
    is_read: bool  # it is a GET, which counts as a read
    checks: set[CheckName | None] = field(default_factory=set)  # those that sent it


class CheckRequests:
    """The requests of one identity. Equal ones are sent once, whichever check is first."""

    def __init__(
        self,
        arm: Arm,
        open_session: Callable[[], Session],
        *,
        check: CheckName | None = None,
        sent: dict[tuple[str, ...], _SentRequest] | None = None,
        allowance: Allowance | None = None,
        lowered: dict[IdKey, str] | None = None,
    ) -> None:
        self._arm = arm
        self._open_session = open_session
        self._check = check
        self._sent = {} if sent is None else sent
        self.allowance = allowance or Allowance({})
        self.lowered: dict[IdKey, str] = {} if lowered is None else lowered
        """The locks that the run deletes or weakens before it changes what they hold for, with the level that is left
        in lower case; "" for none.
        """

    def of_check(self, name: CheckName, allowance: Allowance) -> CheckRequests:
        """Return the same requests, noted as those of one check, within an allowance."""
        return CheckRequests(
            self._arm, self._open_session, check=name, sent=self._sent, allowance=allowance, lowered=self.lowered
        )

    async def claim(self, requests: Iterable[Sequence[PlannedChange]]) -> list[bool]:
        """Claim a request for each of some groups of changes, and return which may be sent."""
        return await self.allowance.claim(self._check, requests)

    @property
    def count(self) -> int:
        """How many different requests were made."""
        return len(self._sent)

    def count_requests(self, without: Collection[CheckName]) -> RequestCounts:
        """Count the requests for what none of some checks has asked."""
        sent = [entry for entry in self._sent.values() if entry.checks.isdisjoint(without)]
        reads, checks = (
            sum(entry.session.requests for entry in sent if entry.is_read is want) for want in (True, False)
        )
        return RequestCounts(reads=reads, checks=checks)

    def count_by_bucket(self, names: Collection[CheckName]) -> Counter[Bucket]:
        """Count the requests of some checks by subscription and kind: a POST counts as a write."""
        counts: Counter[Bucket] = Counter()
        for key, entry in self._sent.items():
            if not entry.checks.isdisjoint(names):
                kind = RequestKind.READS if entry.is_read else RequestKind.WRITES
                counts[ArmId(key[1]).subscription or "", kind] += entry.session.requests
        return counts

    @property
    def now(self) -> datetime:
        """The time of day, in UTC."""
        return self._arm.now

    async def list(
        self, path: str, api_version: str, query: Mapping[str, str] | None = None, *, most: int | None = None
    ) -> Entries | Unanswered:
        """Return all entries of a list. No page is read after `most` entries."""

        async def read(reader: Reader) -> Entries:
            entries: Entries = []
            async with aclosing(reader.pages(path, api_version, query, is_optional=True)) as pages:
                async for page in pages:
                    entries += page
                    if most is not None and len(entries) >= most:
                        break
            return entries

        return await self._once(("list", path, api_version, json.dumps(query or {})), read)

    async def read(
        self, path: str, api_version: str, query: Mapping[str, str] | None = None
    ) -> Mapping[str, Any] | Unanswered:
        """Return a JSON object that is not a resource."""
        key = ("read", path, api_version, json.dumps(query or {}))
        return await self._once(key, lambda reader: reader.read_document(path, api_version, query))

    async def exists(self, path: str, api_version: str) -> bool | Unanswered:
        """Tell by a HEAD whether something is there."""
        return await self._once(("head", path, api_version), lambda reader: reader.exists(path, api_version))

    async def has_resource(self, arm_id: ArmId, api_version: str) -> bool | Unanswered:
        """Return whether a resource exists."""

        async def find(reader: Reader) -> bool:
            return await reader.get(arm_id, api_version) is not None

        return await self._once(("get", arm_id, api_version), find)

    async def list_deleted_applications(self) -> Sequence[DeletedApplication] | Unanswered:
        """Return the deleted applications of the tenant."""
        from gitsync.providers.entra.deleted_applications import (  # noqa: PLC0415 - most runs have none
            list_deleted_applications,
        )

        async def read(reader: Reader) -> Sequence[DeletedApplication]:
            return await list_deleted_applications(self._arm, reader.session)

        return await self._once(("deleted-applications", ""), read)

    async def find_principal(self) -> Principal | None:
        """Return the principal in the token; None if that is not known. No request is sent to ARM."""
        try:
            return await self._arm.sign_in(self._open_session().deadline)
        except ConfigError:
            return None

    async def send(self, path: str, api_version: str, body: Mapping[str, Any]) -> Mapping[str, Any] | Unanswered:
        """Send a POST of the table `CHECK_PATHS`. The body must be plain JSON without secrets.

        Raises TypeError for a body with a `HiddenValue`.
        """
        key = ("ask", path, api_version, json.dumps(body, sort_keys=True))
        return await self._once(key, lambda reader: reader.check(path, api_version, body))

    async def _once(self, key: tuple[str, ...], send: Callable[[Reader], Awaitable[T]]) -> T | Unanswered:
        # The path is compared without case, as Azure does. A query or a body may have values that differ in case.
        key = tuple(part.casefold() if index == 1 else part for index, part in enumerate(key))
        if key not in self._sent:
            if self.allowance.is_used_up:
                return _LIMIT
            session = self._open_session()
            # The task is kept, not its answer: a second check that comes while the request is on its way waits for the
            # same one.
            task = asyncio.ensure_future(_catch(send, self._arm.reader(session)))
            self._sent[key] = _SentRequest(task=task, session=session, is_read=key[0] != "ask")
        self._sent[key].checks.add(self._check)
        answer: T | Unanswered = await self._sent[key].task
        return answer


_LIMIT: Final = Unanswered(
    status=0,
    code=LIMIT_REACHED,
    reason=f"The limit of {MOST} requests for checks is reached.",
    error=ArmError("The limit of requests for checks is reached.", code=LIMIT_REACHED),
)


async def _catch(send: Callable[[Reader], Awaitable[T]], reader: Reader) -> T | Unanswered:
    try:
        return await send(reader)
    except ArmError as error:
        return _explain(error)


def _explain(error: ArmError) -> Unanswered:
    right = find_missing_right(error.message) if error.status in {401, 403} else ""
    if right:
        reason = f"The identity lacks the right {right}."
    elif error.status:
        reason = f"Azure returned {error.status} {error.code}."
    else:
        reason = f"Azure did not respond: {error.code}."
    return Unanswered(status=error.status, code=error.code, reason=reason, right=right, error=error)


def shorten_text(value: object) -> str:
    """Return Azure's text as one short line; "" for anything that is not a text."""
    return truncate(" ".join(value.split()), _LONGEST) if isinstance(value, str) else ""
