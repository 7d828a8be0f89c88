"""The Azure calls that an extension may make: actions, followed to their end, and deletes.

Separate from the writer, whose operations the driver polls itself. Responses of actions contain keys: only the caller
gets them. They never appear in an attempt, exception or log.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitsync.arm.client import Writer
from gitsync.arm.http.pages import Entries
from gitsync.arm.session import DEADLINE
from gitsync.errors import ArmError
from gitsync.model.live import Live


class Actor:
    """`ActsOnAzure` of the extensions, for one node. Every method raises ArmError if Azure refused, did not answer,
    or had not ended at the node's deadline. `has_acted` tells that something was called or deleted.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self.has_acted = False

    async def get(self, arm_id: str, api_version: str) -> Live | None:
        return await self._writer.get(arm_id, api_version)

    async def list(self, path: str, api_version: str) -> Entries:
        return await self._writer.list(path, api_version)

    async def call(
        self,
        path: str,
        api_version: str,
        body: Mapping[str, Any] | None = None,
        *,
        query: Mapping[str, str] | None = None,
    ) -> Mapping[str, Any]:
        """What an action answers at its end; empty for a 204."""
        self.has_acted = True
        answer = await self._writer.result(await self._writer.post(path, api_version, body, query=query))
        if answer is None:
            raise self._make_deadline_error("POST", path)
        if answer.content and not isinstance(answer.body, dict):
            raise ArmError(
                f"{path} returned a response that is not a JSON object (a proxy?).",
                status=answer.status,
                code="UnusableAnswer",
                request_id=answer.request_id,
                resource_id=path,
                method="POST",
            )
        return answer.mapping()

    async def pages(self, path: str, api_version: str) -> Entries:
        return await self._writer.pages_from(await self.call(path, api_version), path)

    async def delete(
        self, arm_id: str, api_version: str, *, if_match: str | None = None, query: Mapping[str, str] | None = None
    ) -> None:
        self.has_acted = True
        reply = await self._writer.delete(arm_id, api_version, if_match=if_match, query=query)
        if not await self._writer.wait(reply):
            raise self._make_deadline_error("DELETE", arm_id)

    def _make_deadline_error(self, method: str, path: str) -> ArmError:
        text = f"Deadline exceeded before {method} {path} completed. {self._writer.last_error}"
        return ArmError(
            text.rstrip(),
            code=DEADLINE,
            resource_id=path,
            method=method,
            outcome_unknown=True,
            hint="Run again: the next run resumes polling. Or raise --resource-timeout.",
        )
