"""Signs in with the identity token of a CI job: GitHub Actions and Azure Pipelines.

These tokens live for minutes, a run for an hour: gitsync requests a new job token whenever it
renews the Azure token. azure-identity has a credential for Azure Pipelines, but it blocks the
event loop and reads the environment of the process.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import quote

import aiohttp
from azure.core.exceptions import ClientAuthenticationError, ServiceRequestError
from azure.identity.aio import ClientAssertionCredential

from gitsync.arm.cloud import is_safe
from gitsync.arm.http.network import HttpConnection
from gitsync.errors import ConfigError
from gitsync.formats.json_members import as_mapping, read_claims, read_text
from gitsync.formats.strict_json import read_json
from gitsync.model.clock import Clock

_AUDIENCE = "api://AzureADTokenExchange"
_SPARE = 60  # seconds that a job's token must still be good for

JobTokens = Callable[[], Awaitable[str]]


class FederatedCredential:
    """Exchanges the job's token for one of Azure. A credential as azure-identity's are."""

    def __init__(self, tokens: JobTokens, tenant: str, client: str, clock: Clock, **options: Any) -> None:
        self._tokens = tokens
        self._clock = clock
        self._token = ""
        self._exchange = ClientAssertionCredential(tenant, client, lambda: self._token, **options)

    async def get_token_info(self, *scopes: str, options: Any = None) -> Any:
        # A job's token lives for minutes: it is asked for again before azure-identity sends an old one.
        expiry = as_mapping(read_claims(self._token)).get("exp")  # seconds since 1970
        soon = self._clock.now().timestamp() + _SPARE
        if not isinstance(expiry, (int, float)) or expiry < soon:
            self._token = await self._tokens()
        return await self._exchange.get_token_info(*scopes, options=options)

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
    proxy = next(iter(http.find_proxies(url).values()), None)

    async def ask() -> str:
        try:
            async with http.session.request(
                method, url, headers=headers, proxy=proxy, allow_redirects=False
            ) as response:
                status, body = response.status, await response.read()
        except aiohttp.ClientError as error:
            raise ServiceRequestError(f"the token request to the CI system failed: {error}", error=error) from error
        return _read_token(status, body, member)

    return ask


def _read_token(status: int, body: bytes, member: str) -> str:
    try:
        answer = read_json(body)
    except ValueError:
        answer = None
    token = read_text(answer, member)
    if status != 200 or not token:
        raise ClientAuthenticationError(f"the CI system returned no identity token (HTTP {status})")
    return token
