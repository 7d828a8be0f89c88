"""The Azure requests of an extension that has to act."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitsync.errors import ArmError
from gitsync.model.live import Live
from gitsync.providers.arm.client import Writer
from gitsync.providers.arm.http.response_bodies import Entries, read_object


class ExtensionClient:
    """The Azure requests of an extension for one node (`ActsOnAzure`): reads, and actions and deletes to their end.

    Every method raises ArmError if Azure refused, did not respond, or had not finished by the node's deadline.
    `has_acted` is True once something was called or deleted. Responses of actions contain keys: only the caller gets
    them, and they never appear in an attempt, exception or log.
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
        """Return the response of an action at its end; empty for a 204."""
        # Set before the call: an action that fails or is not answered may have changed the ETag too.
        self.has_acted = True
        answer = await self._writer.result(await self._writer.post(path, api_version, body, query=query))
        if answer is None:
            raise self._make_deadline_error("POST", path)
        # An empty answer is fine, a proxy's page is not.
        return read_object(answer, path, "POST") if answer.content else {}

    async def pages(self, path: str, api_version: str) -> Entries:
        return await self._writer.pages_from(await self.call(path, api_version), path)

    async def delete(
        self, arm_id: str, api_version: str, *, if_match: str | None = None, query: Mapping[str, str] | None = None
    ) -> None:
        self.has_acted = True
        reply = await self._writer.delete(arm_id, api_version, if_match=if_match, query=query)
        if not await self._writer.wait(reply):  # it continues in Azure, however the run ends
            raise self._make_deadline_error("DELETE", arm_id)

    def _make_deadline_error(self, method: str, path: str) -> ArmError:
        session = self._writer.session
        text = f"{session.end_reason} before {method} {path} completed. {session.last_error()}"
        return ArmError(
            text.rstrip(),
            code=session.end_code,
            resource_id=path,
            method=method,
            outcome_unknown=True,
            hint="Run again: the next run resumes polling. Or raise --resource-timeout.",
        )
