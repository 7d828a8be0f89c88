"""Sends requests with azure-mgmt-resource; only this module imports it.

The client of the SDK only signs in. Its retries, its registration of providers and its handling of redirects and
operations are disabled, since each would send requests that gitsync does not count
(docs/reference/design.md#http-client). The policies that only set headers are disabled too: they cost more than the
headers. gitsync's own sender limits the size of answers and keeps aiohttp's errors.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, cast
from uuid import uuid4

import aiohttp
from azure.core import AzureClouds
from azure.core.exceptions import AzureError
from azure.core.pipeline.policies import UserAgentPolicy
from azure.core.pipeline.transport import AsyncHttpTransport
from azure.core.rest import HttpRequest
from azure.mgmt.resource.resources.aio import ResourceManagementClient
from multidict import CIMultiDict

from gitsync import __version__
from gitsync.errors import ArmError, CredentialError, GitsyncError, TransportError
from gitsync.model.clock import Clock
from gitsync.model.secret import Secret
from gitsync.providers.arm.auth.arm_access import ArmAccess, RenewableCredential, TokenCredential
from gitsync.providers.arm.auth.credentials import open_credential
from gitsync.providers.arm.auth.principal import Principal, read_principal
from gitsync.providers.arm.cloud import Cloud
from gitsync.providers.arm.http.challenge_policy import ChallengePolicy
from gitsync.providers.arm.http.connection import (
    BLOCK,
    HttpConnection,
    connect,
    find_proxy,
    make_transport_error,
    open_connection,
)
from gitsync.providers.arm.http.failures import refuses_token
from gitsync.providers.arm.http.messages import ANSWER_TOO_LARGE, ArmRequest, Response

_REFUSED = frozenset({401, 403})
_UNTOLD = frozenset({"Content-Type"})  # for a request without a body; aiohttp would add one


@asynccontextmanager
async def open_transport(
    access: ArmAccess, clock: Clock, credential: TokenCredential | None = None, http: HttpConnection | None = None
) -> AsyncIterator[SdkTransport]:
    """Raises ConfigError if the settings cannot work; nothing is sent yet. `http` is an open transport."""
    async with (
        open_connection(access.network) if http is None else nullcontext(http) as connection,
        open_credential(access, connection, clock, credential) as guarded_credential,
        _make_client(access, connection, guarded_credential) as client,
    ):
        yield SdkTransport(client, guarded_credential, access, connection)


def _make_client(
    access: ArmAccess, http: HttpConnection, credential: TokenCredential | None
) -> ResourceManagementClient:
    cloud = access.cloud
    policies = [ChallengePolicy(cast("Any", credential), cloud.scope)] if credential else []
    return ResourceManagementClient(
        cast("Any", credential or "anonymous"),  # the client requires one; only the policy above uses it
        "-",  # the subscription is part of every path
        base_url=cloud.endpoint,
        cloud_setting=AzureClouds.AZURE_PUBLIC_CLOUD,  # unused, but without it the SDK reads all of its settings
        credential_scopes=[cloud.scope],
        policies=policies,
        transport=_Sender(http, access),
        user_agent_policy=UserAgentPolicy("gitsync"),  # the default one runs `uname`, and is not in `policies` either
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
        # Request ids count up from one random GUID: random bytes for each would be a system call.
        self._id_prefix, self._id_numbers = str(uuid4())[:24], count(1)
        # Only the sign-in policy takes this option.
        self._options: dict[str, Any] = {} if credential is None else {"enforce_https": not cloud.is_loopback}

    async def send(self, request: ArmRequest, *, read_timeout: float) -> Response:
        """Raises TransportError if no answer came, CredentialError if there is no token, ArmError for an answer that is
        too large.
        """
        try:
            incoming: Any = await self._client.send_request(
                self._make_request(request), arm_request=request, read_timeout=read_timeout, **self._options
            )
        except GitsyncError as error:
            if isinstance(error, CredentialError):
                error.method, error.resource_id = request.method, request.resource_id
            raise
        except (AzureError, aiohttp.ClientError, TimeoutError) as error:
            raise _make_failure(error, request, self._cloud.service) from error
        except (ValueError, TypeError, LookupError, RecursionError) as error:
            # The SDK and aiohttp raise these for malformed headers and bodies.
            raise _make_unreadable_error(error, request, self._cloud.service) from error
        answer = Response(status=incoming.status_code, headers=incoming.headers, content=incoming.content)
        if answer.status not in _REFUSED:
            return answer
        # A refusal names the identity, which is read from the token that was sent.
        token = incoming.request.headers.get("Authorization", "").removeprefix("Bearer ")
        return replace(answer, principal=read_principal(token), is_token_dropped=self._drop_token(token, answer))

    def _drop_token(self, token: str, answer: Response) -> bool:
        """Forget a token that Azure rejected. Returns whether the next request gets a new one."""
        if self._credential is None or not refuses_token(answer):
            return False
        # azure-identity would return the rejected token again until it expires.
        self._credential.forget(token)
        return True

    async def get_token(self, scope: str) -> Secret:
        """Get a token for a scope. Raises CredentialError if there is none."""
        if self._credential is None:
            raise CredentialError(
                "There is no token: the run does not sign in.",
                code="AuthenticationFailed",
                hint="Set --credential to a method that signs in.",
            )
        return Secret((await self._credential.get_token_info(scope)).token)

    def reach(self, cloud: Cloud) -> SdkTransport:
        """Return what sends requests to another service with the same credential, which then gives tokens for both."""
        # Not entered as a context: it would close only the connection, which belongs to this transport.
        access = replace(self._access, cloud=cloud)
        client = _make_client(access, self._http, self._credential)
        return SdkTransport(client, self._credential, access, self._http)

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
        target = request.target.replace("{", "%7B").replace("}", "%7D")  # the SDK treats URLs as templates
        request_id = f"{self._id_prefix}{next(self._id_numbers):012x}"
        return HttpRequest(
            request.method,
            f"{self._cloud.endpoint}{target}",
            headers={**self._headers, "x-ms-client-request-id": request_id, **request.headers},
            content=request.payload.content if request.payload else None,
        )


@dataclass(kw_only=True, slots=True)
class _Incoming:
    """The interface that the SDK needs of an answer that was read to its end."""

    request: HttpRequest  # as it was sent, with its token
    status_code: int  # of HTTP
    reason: str | None  # the words behind the status, None if the server sent none
    headers: Mapping[str, str]  # each name once, with all its values
    content: bytes


class _Sender(AsyncHttpTransport[HttpRequest, _Incoming]):
    """Sends with the session of a connection, which it does not own, and reads the answers. Raises aiohttp's errors."""

    def __init__(self, http: HttpConnection, access: ArmAccess) -> None:
        cloud = access.cloud
        self._service = cloud.service
        self._session, self._budget = http.session, http.budget
        # No proxy reaches an emulator on this machine.
        self._proxy = None if cloud.is_loopback else find_proxy(cloud.endpoint, http.environment)
        self._connect_timeout = access.network.connect_timeout

    async def send(self, request: HttpRequest, **options: Any) -> _Incoming:
        """Raises ArmError for an answer that exceeds the size limit of the request."""
        async with self._session.request(
            request.method,
            request.url,
            headers=request.headers,
            data=request.content,
            skip_auto_headers=None if request.content else _UNTOLD,
            timeout=aiohttp.ClientTimeout(sock_connect=self._connect_timeout, sock_read=options["read_timeout"]),
            # ARM names other addresses in headers, which `Cloud.find_target` checks before a token goes there.
            allow_redirects=False,
            proxy=self._proxy,
        ) as response:
            content = await self._read_content(response, options["arm_request"])
        return _Incoming(
            request=request,
            status_code=response.status,
            reason=response.reason,
            headers=_join_headers(response.headers),
            content=content,
        )

    async def _read_content(self, response: aiohttp.ClientResponse, request: ArmRequest) -> bytes:
        """Read the complete answer, decompressed. Raises ArmError if it exceeds the size limit of the request."""
        content = bytearray()
        with self._budget.share() as share:
            while piece := await response.content.read(BLOCK):  # in pieces, so that memory is bounded
                content += piece
                if len(content) > request.max_bytes:
                    response.close()  # the rest is not read
                    raise ArmError(
                        f"The response from {self._service} exceeds {request.max_bytes >> 20} MB and was not read.",
                        status=response.status,
                        code=ANSWER_TOO_LARGE,
                        resource_id=request.resource_id,
                        method=request.method,
                        outcome_unknown=request.is_write,
                    )
                await share.note(len(piece))
            return bytes(content)

    async def open(self) -> None:
        """Do nothing: the session is open."""

    async def close(self) -> None:
        """Do nothing: the session belongs to the connection."""

    async def __aexit__(self, *_error: object) -> None:
        await self.close()


def _join_headers(headers: Mapping[str, str]) -> Mapping[str, str]:
    """Join the values of repeated headers, as in RFC 9110."""
    joined: CIMultiDict[str] = CIMultiDict()
    for name, value in headers.items():
        joined[name] = f"{joined[name]}, {value}" if name in joined else value
    return joined


def _make_failure(error: Exception, request: ArmRequest, service: str) -> TransportError:
    cause = getattr(error, "inner_exception", None) or error  # the cause inside the SDK's own
    failure = make_transport_error(f"{service} did not respond: {cause}", cause)
    failure.method, failure.resource_id = request.method, request.resource_id
    failure.outcome_unknown = failure.was_sent and request.is_write
    return failure


def _make_unreadable_error(error: Exception, request: ArmRequest, service: str) -> TransportError:
    """Make the error for an answer that the SDK cannot read, such as an invalid challenge in a header."""
    return TransportError(
        f"The response from {service} cannot be read ({type(error).__name__}).",
        was_sent=True,
        resource_id=request.resource_id,
        method=request.method,
        outcome_unknown=request.is_write,
    )
