"""Finds the identity token of the job: requested from GitHub Actions or Azure Pipelines, or a file that GitLab CI or
Kubernetes wrote.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from urllib.parse import quote

import aiohttp
from azure.core.exceptions import ClientAuthenticationError, ServiceRequestError

from gitsync.desired.formats.json_members import read_text
from gitsync.errors import ConfigError
from gitsync.model.signin import SignIn
from gitsync.providers.arm.auth.token_answers import CI_SYSTEM, TokenAnswer, note_answer, read_answer
from gitsync.providers.arm.cloud import is_safe
from gitsync.providers.arm.http.connection import HttpConnection

ASO_TOKEN_FILE = "/var/run/secrets/tokens/azure-identity"  # noqa: S105 - a path
_AUDIENCE = "api://AzureADTokenExchange"

JobTokens = Callable[[], Awaitable[str]]


def find_token_file(sign_in: SignIn) -> Path:
    """Return the path of the federated token: of the settings, else where Azure Service Operator has it."""
    return Path(sign_in.federated_token_file or ASO_TOKEN_FILE)


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
            # A redirect would lead away from the URL that was checked.
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
