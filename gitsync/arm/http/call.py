"""One request as a value: what is asked, of what, and which answers are no failure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gitsync.arm.http.answer import Response
from gitsync.arm.http.payload import Payload

UNKNOWN_CODE = "UnknownError"
"""The code of a failure whose answer gives none."""

_READS = frozenset({"GET", "HEAD"})
_SHOW_A_RESOURCE = frozenset({"GET", "PUT", "PATCH"})
_WITH_RESOURCE = frozenset({200, 201, 404})
_NOT_ABSENT = frozenset({"invalidresourcetype", "invalidresourcenamespace", "subscriptionnotfound"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmRequest:
    """`path` is the ARM path as it is meant, `target` path and query as they are sent (relative to the endpoint).

    `target` is not shown: that of a poll may be signed. `resource_id` is what messages name. Where it `is_private`, the
    answer may hold keys: of a failure, only the code and the message that ARM gives are taken. `most` is the largest
    answer that is read, in bytes.
    """

    method: str
    path: str
    target: str = field(repr=False)
    resource_id: str
    accepts: frozenset[int]
    headers: Mapping[str, str] = field(default_factory=dict)
    payload: Payload | None = None
    is_poll: bool = False
    is_private: bool = False
    most: int = 16 << 20

    @property
    def is_write(self) -> bool:
        return self.method not in _READS

    def takes(self, answer: Response, code: str) -> bool:
        """Whether an answer is one that was asked for.

        A 404 that speaks of the type, the provider or the subscription does not say that the resource is absent: it
        could not be looked for, and whoever prunes must not take it for gone. What is not JSON was not said by Azure
        Resource Manager, but by something in between; nor was a 404 that gives no code, or a success whose body is an
        error. A provider that the subscription is not registered with says so with 409 where it is asked for a
        resource; there can be none then, so that is as good as a 404.
        """
        if self._is_unregistered(answer, code):
            return True
        if answer.status not in self.accepts or self._is_error_in_disguise(answer):
            return False
        if answer.status == 404 and not self._says_absent(answer, code):
            return False
        is_resource = self.method in _SHOW_A_RESOURCE and answer.status in _WITH_RESOURCE
        return not (is_resource and answer.content) or isinstance(answer.body, dict)

    def _says_absent(self, answer: Response, code: str) -> bool:
        """Tell whether a 404 speaks of the resource: by its code, or where it has no body, as an answer of Azure's.

        What is polled is gone for a reason that is known, so a 404 alone says enough.
        """
        if self.is_poll or (self.method != "GET" and not answer.content):
            return code.casefold() not in _NOT_ABSENT
        if not answer.content:
            return bool(answer.request_id)
        return code != UNKNOWN_CODE and code.casefold() not in _NOT_ABSENT

    def _is_error_in_disguise(self, answer: Response) -> bool:
        """Tell whether an error came with a status of success. The status of an operation may well have one."""
        return answer.status < 300 and not self.is_poll and bool(answer.mapping().get("error"))

    def _is_unregistered(self, answer: Response, code: str) -> bool:
        return (
            not (self.is_write or self.is_poll)
            and 404 in self.accepts
            and answer.status == 409
            and code.casefold() == "missingsubscriptionregistration"
        )
