"""Sends requests with azure-mgmt-resource: the only module that imports it.

The client of the SDK only signs in. Its retries, its registration of providers and its handling
of redirects and operations are disabled, since each would send requests that gitsync does not
count (docs/reference/design.md#http-client); so are the policies that only set headers, which
cost more than the headers.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from typing import Any, Self, cast
from uuid import uuid4

import aiohttp
from azure.core.exceptions import AzureError
from azure.core.pipeline.policies import UserAgentPolicy
from azure.core.rest import HttpRequest
from azure.mgmt.core.policies import AsyncARMChallengeAuthenticationPolicy
from azure.mgmt.resource.resources.aio import ResourceManagementClient

from gitsync import __version__
from gitsync.arm.auth.access import ArmAccess, RenewableCredential, TokenCredential
from gitsync.arm.auth.credentials import open_credential
from gitsync.arm.auth.principal import Principal, read_principal
from gitsync.arm.cloud import Cloud
from gitsync.arm.http.failures import refuses_token
from gitsync.arm.http.messages import ArmRequest, Response
from gitsync.arm.http.network import HttpConnection, connect, make_transport_error, open_connection
from gitsync.errors import ArmError, CredentialError, GitsyncError, TransportError
from gitsync.model.clock import Clock
from gitsync.model.secret import Secret

_REFUSED = frozenset({401, 403})


@asynccontextmanager
async def open_transport(
    access: ArmAccess, clock: Clock, credential: TokenCredential | None = None, http: HttpConnection | None = None
) -> AsyncIterator[SdkTransport]:
    """Raises ConfigError if the settings cannot work; nothing is sent yet. `http` is an open transport."""
    async with (
        open_connection(access.network) if http is None else nullcontext(http) as connection,
        open_credential(access, connection, clock, credential) as guarded_credential,
        _make_client(access.cloud, connection, guarded_credential) as client,
    ):
        yield SdkTransport(client, guarded_credential, access, connection)


def _make_client(cloud: Cloud, http: HttpConnection, credential: TokenCredential | None) -> ResourceManagementClient:
    policies = [AsyncARMChallengeAuthenticationPolicy(cast("Any", credential), cloud.scope)] if credential else []
    return ResourceManagementClient(
        cast("Any", credential or "anonymous"),  # the client insists on one; only the policy above asks it
        "-",  # the subscription is part of every path
        base_url=cloud.endpoint,
        credential_scopes=[cloud.scope],
        policies=policies,
        transport=http.transport,
        user_agent_policy=UserAgentPolicy("gitsync"),  # the default one starts `uname`, and is not in `policies` either
    )


class SdkTransport:
    """Sends requests only to the endpoint of a cloud."""

    def __init__(
        self,
        client: ResourceManagementClient,
        credential: RenewableCredential | None,
        access: ArmAccess,
        http: HttpConnection,
    ) -> None:
        self._client = client
        self._credential = credential
        self._access = access
        self._cloud = cloud = access.cloud
        self._http = http
        agent = f"gitsync/{__version__} {access.user_agent_suffix}".strip()
        self._headers = {"Accept": "application/json", "User-Agent": agent}
        self._options: dict[str, Any] = {"proxies": {} if cloud.is_loopback else http.find_proxies(cloud.endpoint)}
        if credential is not None:  # only the policy that signs in takes this option
            self._options["enforce_https"] = not cloud.is_loopback

    async def send(self, request: ArmRequest, *, read_timeout: float) -> Response:
        """Raises TransportError if no answer came, CredentialError if there is no token, ArmError for an answer
        that is too large.
        """
        try:
            response = await self._client.send_request(
                self._make_request(request),
                stream=True,  # read in pieces, so that an answer that is too large is not held
                read_timeout=read_timeout,
                **self._options,
            )
            async with response:
                content = await self._read_content(response, request)
        except GitsyncError as error:
            if isinstance(error, CredentialError):
                error.method, error.resource_id = request.method, request.resource_id
            raise
        except AzureError as error:
            raise _make_failure(error, request, self._cloud.service) from error
        except (ValueError, TypeError, LookupError, RecursionError) as error:
            # The SDK and aiohttp trip over odd headers and bodies in these ways.
            raise _make_unreadable_error(error, request, self._cloud.service) from error
        answer = Response(status=response.status_code, headers=response.headers, content=content)
        if answer.status not in _REFUSED:
            return answer
        # A refusal names the identity: who it was is read from the token that was sent.
        token = response.request.headers.get("Authorization", "").removeprefix("Bearer ")
        return replace(answer, principal=read_principal(token), is_token_dropped=self._drop_token(token, answer))

    def _drop_token(self, token: str, answer: Response) -> bool:
        """Forget a token that Azure did not accept. Returns whether the next request gets a new one."""
        if self._credential is None or not refuses_token(answer):
            return False
        # azure-identity would give the refused token again until it expires.
        self._credential.forget(token)
        return True

    async def _read_content(self, response: Any, request: ArmRequest) -> bytes:
        """Read the whole answer, decompressed. Raises ArmError if it is larger than the request allows."""
        content = bytearray()
        async for piece in response.iter_raw():  # which the session has decompressed; iter_bytes would do so again
            content += piece
            if len(content) > request.max_bytes:
                raise ArmError(
                    f"The response of {self._cloud.service} exceeds {request.max_bytes >> 20} MB and was not read.",
                    status=response.status_code,
                    code="AnswerTooLarge",
                    resource_id=request.resource_id,
                    method=request.method,
                    outcome_unknown=request.is_write,
                )
        return bytes(content)

    async def get_token(self, scope: str) -> Secret:
        """Get a token for a scope. Raises CredentialError if there is none."""
        if self._credential is None:
            raise CredentialError(
                "The run does not sign in, so there is no token.",
                code="AuthenticationFailed",
                hint="Set --credential to a method that signs in.",
            )
        return Secret((await self._credential.get_token_info(scope)).token)

    def reach(self, cloud: Cloud) -> SdkTransport:
        """Return what sends requests to another service with the same credential, which then gives tokens for both."""
        # Not entered as a context: the connection, which alone would be closed, is that of this transport.
        client = _make_client(cloud, self._http, self._credential)
        return SdkTransport(client, self._credential, replace(self._access, cloud=cloud), self._http)

    async def connect(self) -> None:
        """Open a connection to the endpoint, which the first request then uses. TransportError if that fails."""
        try:
            await connect(self._http, self._cloud.endpoint, is_direct=self._cloud.is_loopback)
        except (aiohttp.ClientError, OSError) as error:
            raise make_transport_error(f"{self._cloud.endpoint} cannot be reached: {error}", error) from error

    async def sign_in(self) -> Principal | None:
        """Get a token; None for anonymous access. Raises CredentialError if there is none."""
        if self._credential is None:
            return None
        token = await self._credential.get_token_info(self._cloud.scope)
        return read_principal(token.token)

    def _make_request(self, request: ArmRequest) -> HttpRequest:
        target = request.target.replace("{", "%7B").replace("}", "%7D")  # the SDK takes URLs for templates
        headers = {**self._headers, "x-ms-client-request-id": str(uuid4()), **request.headers}
        content = request.payload.content if request.payload else None
        return _UnsharedRequest(request.method, f"{self._cloud.endpoint}{target}", headers=headers, content=content)


class _UnsharedRequest(HttpRequest):
    """A request that is sent once, in one part. The SDK copies the requests of its callers, lest it alter theirs, and
    asks each ten times for what its older requests had.
    """

    multipart_mixed_info: Any = None
    files: Any = None

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        return self


def _make_failure(error: AzureError, request: ArmRequest, service: str) -> TransportError:
    cause = error.inner_exception or error
    failure = make_transport_error(f"{service} did not respond: {cause}", cause)
    failure.method, failure.resource_id = request.method, request.resource_id
    failure.outcome_unknown = failure.was_sent and request.is_write
    return failure


def _make_unreadable_error(error: Exception, request: ArmRequest, service: str) -> TransportError:
    """Make the error for an answer that the SDK cannot read, such as an invalid challenge in a header."""
    return TransportError(
        f"The response of {service} cannot be read ({type(error).__name__}).",
        was_sent=True,
        resource_id=request.resource_id,
        method=request.method,
        outcome_unknown=request.is_write,
    )
