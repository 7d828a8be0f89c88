"""Signs in with the identity token of a CI job.

These tokens live for minutes, a run for an hour: gitsync requests a new job token whenever it renews the Azure token.
azure-identity has a credential for Azure Pipelines, but it blocks the event loop and reads the environment of the
process.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from azure.core.exceptions import AzureError
from azure.identity.aio import ClientAssertionCredential

from gitsync.desired.formats.json_members import as_mapping, read_claims
from gitsync.model.clock import Clock
from gitsync.providers.arm.auth.job_tokens import JobTokens

_SPARE = 60  # seconds that a job's token must still be valid
_AT_ONCE = 5  # seconds in which a new token is sent, whatever expiry it has


class _OldTokenError(Exception):
    """The job's token is too old to be sent."""


class FederatedCredential:
    """Exchanges the job's token for an Azure token. It has the interface of azure-identity's credentials.

    A job token is requested only when azure-identity sends it: the CI system may be down while the Azure token is still
    valid.
    """

    def __init__(self, tokens: JobTokens, tenant: str, client: str, clock: Clock, **options: Any) -> None:
        self._tokens = tokens
        self._clock = clock
        self._token = ""
        self._good_until = 0.0  # seconds since 1970
        self._was_too_old = False
        self._requesting = asyncio.Lock()
        self._exchange = ClientAssertionCredential(tenant, client, self._give_token, **options)

    async def get_token_info(self, *scopes: str, options: Any = None) -> Any:
        try:
            info = await self._exchange.get_token_info(*scopes, options=options)
        except _OldTokenError:
            await self._renew()
            return await self._exchange.get_token_info(*scopes, options=options)
        if self._was_too_old:
            # azure-identity renews a token that is still valid, and retries in half a minute.
            with suppress(AzureError):
                await self._renew()
        return info

    def _give_token(self) -> str:
        if self._is_old():
            self._was_too_old = True
            raise _OldTokenError
        return self._token

    def _is_old(self) -> bool:
        return self._clock.now().timestamp() > self._good_until

    async def _renew(self) -> None:
        async with self._requesting:  # many requests may need one at the same time
            if self._is_old():
                self._token = await self._tokens()
                # A job's token lives for minutes: a new one is requested before azure-identity sends an old one.
                expiry = as_mapping(read_claims(self._token)).get("exp")  # seconds since 1970
                good_until = expiry - _SPARE if isinstance(expiry, (int, float)) else 0.0
                self._good_until = max(good_until, self._clock.now().timestamp() + _AT_ONCE)
            self._was_too_old = False

    async def close(self) -> None:
        await self._exchange.close()
