"""Signs in with the identity token of a CI job: GitHub Actions and Azure Pipelines.

These tokens live for minutes, a run for an hour: gitsync requests a new job token whenever it renews the Azure token.
azure-identity has a credential for Azure Pipelines, but it blocks the event loop and reads the environment of the
process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import quote

import aiohttp
from azure.core.exceptions import AzureError, ClientAuthenticationError, ServiceRequestError
from azure.identity.aio import ClientAssertionCredential

from gitsync.desired.formats.json_members import as_mapping, read_claims, read_text
from gitsync.errors import ConfigError
from gitsync.model.clock import Clock
from gitsync.providers.arm.auth.token_answers import CI_SYSTEM, TokenAnswer, note_answer, read_answer
from gitsync.providers.arm.cloud import is_safe
from gitsync.providers.arm.http.connection import HttpConnection

_AUDIENCE = "api://AzureADTokenExchange"
_SPARE = 60  # seconds that a job's token must still be valid
_AT_ONCE = 5  # seconds in which a new token is sent, whatever expiry it has

JobTokens = Callable[[], Awaitable[str]]


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


def find_job_tokens(environment: Mapping[str, str], http: HttpConnection) -> JobTokens | None:
    """Find the source of tokens of the CI job; None outside of a job, or if the job may not have them."""
    for find in (_find_github, _find_azure_pipelines):
        request = find(environment)
        if request is not None:
            return _make_token_source(http, *request)
    return None


_Request = tuple[str, str, dict[str, str], str]
"""Method, URL, headers, and the member of the answer that is the token."""


def _find_github(environment: Mapping[str, str]) -> _Request | None:
    url, token = environment.get("ACTIONS_ID_TOKEN_REQUEST_URL"), environment.get("ACTIONS_ID_TOKEN_REQUEST_TOKEN")
    if not url or not token:
        return None
    joint = "&" if "?" in url else "?"
    request_url = f"{url}{joint}audience={quote(_AUDIENCE, safe='')}"
    return "GET", request_url, {"Authorization": f"Bearer {token}", "Accept": "application/json"}, "value"


def _find_azure_pipelines(environment: Mapping[str, str]) -> _Request | None:
    url, token = environment.get("SYSTEM_OIDCREQUESTURI"), environment.get("SYSTEM_ACCESSTOKEN")
    connection = environment.get("AZURESUBSCRIPTION_SERVICE_CONNECTION_ID")
    if not url or not token or not connection:
        return None
    headers = {
        "Authorization": f"Bearer {token}",
        "Accept": "application/json",
        "X-TFS-FedAuthRedirect": "Suppress",  # 401 instead of a redirect to a page
    }
    return "POST", f"{url}?api-version=7.1&serviceConnectionId={quote(connection, safe='')}", headers, "oidcToken"


def _make_token_source(http: HttpConnection, method: str, url: str, headers: dict[str, str], member: str) -> JobTokens:
    # The variables of the job name the URL: its token is never sent in plain HTTP.
    if not is_safe(url):
        raise ConfigError("The token URL of the CI system is not https.", hint="Use an https URL.")
    proxy = next(iter(http.read_proxies(url).values()), None)

    async def request_token() -> str:
        try:
            async with http.session.request(
                method, url, headers=headers, proxy=proxy, allow_redirects=False
            ) as response:
                answer = read_answer(response.status, response.headers, await response.read())
        except aiohttp.ClientError as error:
            raise ServiceRequestError(f"the token request to the CI system failed: {error}", error=error) from error
        return _read_token(TokenAnswer(CI_SYSTEM, answer), member)

    return request_token


def _read_token(answer: TokenAnswer, member: str) -> str:
    note_answer(answer)
    token = read_text(answer.response.body, member)
    if answer.response.status == 200 and token:
        return token
    raise ClientAuthenticationError(f"the CI system returned no identity token ({answer})")
