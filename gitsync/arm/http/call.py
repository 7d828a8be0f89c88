"""One request as a value: what is asked, of what, and which answers are no failure."""

from __future__ import annotations

import re
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
_ABSENT = frozenset({"notfound", "parentresourcenotfound", "resourcegroupnotfound", "resourcenotfound"})
"""Codes of a 404, in lower case, that are about the path of the request. A provider's own may be about anything."""

_MISSING = re.compile(r"(.{4,})(notfound|does(no|n)texist)")
_SHORTEST_WORD = 4  # letters of a type that a code may end in; records of DNS have types such as `A`


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmRequest:
    """`path` is the ARM path as it is meant, `target` path and query as they are sent (relative to the endpoint).

    `target` is not shown: that of a poll may be signed. `resource_id` is what messages name. If it `is_private`, the
    answer may hold keys: only the code and the message of a failure are read. `max_bytes` is the size of the largest
    answer that is read. One that `is_optional` has a substitute, so it is only repeated after a 429.
    """

    method: str
    path: str
    target: str = field(repr=False)
    resource_id: str
    accepts: frozenset[int]
    headers: Mapping[str, str] = field(default_factory=dict)
    payload: Payload | None = None
    is_poll: bool = False
    is_list: bool = False
    is_private: bool = False
    is_optional: bool = False
    max_bytes: int = 16 << 20

    @property
    def is_write(self) -> bool:
        return self.method not in _READS

    def takes(self, answer: Response, code: str, message: str = "") -> bool:
        """Tell whether the response is one that the call expects. `code` and `message` are those of an error.

        A 404 about the type, the provider, the subscription or another resource does not mean that the resource is
        absent, and a prune must not treat it as deleted. A response that is not JSON comes from something in between
        (a proxy), not from Azure Resource Manager; so does a 404 without a code, or a success with an error as its
        body. A GET returns 409 if the provider is not registered with the subscription; no resource can exist then, so
        that counts as a 404.
        """
        if self._is_unregistered(answer, code):
            return True
        if answer.status not in self.accepts or self._is_error_in_disguise(answer):
            return False
        if answer.status == 404 and not self._says_absent(answer, code.casefold(), message):
            return False
        is_resource = self.method in _SHOW_A_RESOURCE and answer.status in _WITH_RESOURCE
        return not (is_resource and answer.content) or isinstance(answer.body, dict)

    def _says_absent(self, answer: Response, code: str, message: str) -> bool:
        """Tell whether a 404 is about the resource: by its code, or if it has no body, by Azure's request id. A code of
        a provider is if it names the type of the resource or one above it (`ContainerNotFound`), or if Azure's message
        names the resource.

        A polled resource is gone for a known reason, so a 404 alone is enough.
        """
        if code in _NOT_ABSENT:
            return False
        if self.is_poll or (self.method != "GET" and not answer.content):
            return True
        if not answer.content:
            return bool(answer.request_id)
        *words, name = self.path.casefold().strip("/").split("/")
        types = [word.removesuffix("s") for word in words[::2] if len(word) > _SHORTEST_WORD]
        missing = _MISSING.fullmatch(code)
        if code in _ABSENT or (
            missing and any(missing[1].endswith(word) or word.endswith(missing[1]) for word in types)
        ):
            return True
        is_named = re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", message.casefold())
        return code != UNKNOWN_CODE.casefold() and bool(answer.request_id) and is_named is not None

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
