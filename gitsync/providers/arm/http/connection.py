"""The connection to Azure: one HTTP session with one TLS context for everything, the proxy for a host, and the errors
for a host that cannot be reached.

Proxies and certificates are read once. The SDK would look them up for every request, and a private CA would cost a new
TLS context and connection each time (docs/reference/design.md#http-client).
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import urlsplit

import aiohttp
from azure.core.pipeline.transport import AioHttpTransport
from yarl import URL

from gitsync.errors import AuthorityError, ConfigError, TransportError
from gitsync.providers.arm.auth.arm_access import PATIENCE, Network, Trust, read_trust
from gitsync.providers.arm.http.answer_budget import AnswerBudget
from gitsync.providers.arm.http.failures import scrub

MOST_BYTES = 16 << 20
"""The size limit for an answer of an authority, a CI system or a vault."""

BLOCK = 1 << 16
"""Bytes of an answer that are read at a time."""

_NEVER_SENT = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, aiohttp.ClientHttpProxyError)
_UNTRUSTED = (aiohttp.ClientSSLError, ssl.SSLError)
_HINTS: tuple[tuple[tuple[type[BaseException], ...], str], ...] = (
    ((aiohttp.ClientConnectorDNSError,), "Check the host name, the DNS server, and HTTPS_PROXY."),
    (_UNTRUSTED, "If a private CA signed the host's certificate, set --ca-bundle to that CA."),
    (_NEVER_SENT, "Check the address, the firewall, and HTTPS_PROXY."),
)


class ConnectionLostError(aiohttp.ClientError):
    """The connection broke after the request was sent: its outcome is unknown."""


class BoundedResponse(aiohttp.ClientResponse):
    """An answer of limited size: reading a larger one fails. aiohttp decompresses it piece by piece while it is
    read.
    """

    budget: ClassVar[AnswerBudget]

    async def read(self) -> bytes:
        """Raises ClientPayloadError if the answer is too large."""
        if self._body is None:
            with self.budget.share() as share:
                pieces = bytearray()
                async for piece in self.content.iter_chunked(BLOCK):
                    pieces += piece
                    if len(pieces) > MOST_BYTES:
                        # A connection with an unread rest must not serve another request.
                        self.close()
                        raise aiohttp.ClientPayloadError(f"the response exceeds {MOST_BYTES >> 20} MB")
                    await share.note(len(piece))
                self._body = bytes(pieces)
        return await super().read()


def _bind_responses(shared_budget: AnswerBudget) -> type[BoundedResponse]:
    """Return the class of the answers of one connection: aiohttp makes them, and cannot pass them a budget."""

    class ResponseOfConnection(BoundedResponse):
        budget = shared_budget

    return ResponseOfConnection


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpConnection:
    """The open session and what belongs to it."""

    session: aiohttp.ClientSession
    transport: AioHttpTransport  # the SDK's, over the session, which it does not own
    environment: Mapping[str, str]  # names the proxy
    budget: AnswerBudget  # of its answers

    def read_proxies(self, url: str) -> dict[str, str]:
        """Return proxies as the SDK takes them: scheme → proxy; empty if the host of a URL is reached directly."""
        proxy = find_proxy(url, self.environment)
        return {urlsplit(url).scheme: proxy} if proxy else {}


@asynccontextmanager
async def open_connection(network: Network, trust: Trust | None = None) -> AsyncIterator[HttpConnection]:
    """`trust` is the CA bundle if it was read before: reading a typical bundle takes a twentieth of a second.

    Raises ConfigError for a CA bundle that cannot be read.
    """
    trusted = read_trust(network.ca_bundle) if trust is None else trust
    budget = AnswerBudget()
    connector = aiohttp.TCPConnector(limit=0, ssl=trusted)  # the retrier limits the requests in flight
    async with aiohttp.ClientSession(
        connector=connector,
        # All identities share the session, so a cookie of one must not go with the requests of another.
        cookie_jar=aiohttp.DummyCookieJar(),
        middlewares=(_prevent_resend,),  # each sent request must be counted
        response_class=_bind_responses(budget),
    ) as session:
        transport = AioHttpTransport(
            session=session,
            session_owner=False,
            connection_timeout=network.connect_timeout,
            read_timeout=network.read_timeout,
            connection_data_block_size=BLOCK,
        )
        yield HttpConnection(session=session, transport=transport, environment=network.environment, budget=budget)


async def _prevent_resend(request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    """Keep aiohttp from resending a request by itself, as it does for PUT and DELETE when a connection breaks.

    It does so for two exceptions only, so this raises a third one. gitsync decides what is sent again, and counts it.
    """
    try:
        return await handler(request)
    except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError):
        raise
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        # The request may have arrived, so only the retrier may decide whether it is sent again.
        raise ConnectionLostError(f"the connection broke: {error}") from error


def find_proxy(url: str, environment: Mapping[str, str]) -> str | None:
    """Find the proxy that the environment names for a URL (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`, in either case).

    `NO_PROXY` is a list of hosts, domains (with or without a leading dot) and `host:port`; `*` is all. Raises
    ConfigError for a proxy that is not http(s).
    """
    parts = urlsplit(url)
    proxy = _read_variable(environment, f"{parts.scheme}_proxy")
    if not proxy or _is_exempt(parts.hostname or "", parts.port, _read_variable(environment, "no_proxy")):
        return None
    # As in curl and pip, a proxy without a scheme uses plain HTTP.
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    if urlsplit(proxy).scheme not in {"http", "https"}:
        raise ConfigError(f"{parts.scheme.upper()}_PROXY is not an http(s) URL.", hint="Set it to an http(s) URL.")
    return proxy


def _read_variable(environment: Mapping[str, str], name: str) -> str:
    # Lower case first, as in curl.
    return (environment.get(name) or environment.get(name.upper()) or "").strip()


def _is_exempt(host: str, port: int | None, exempt: str) -> bool:
    for entry in (part.strip().casefold() for part in exempt.split(",")):
        # More than one colon is an IPv6 address without a port.
        name, _, exempt_port = entry.partition(":") if entry.count(":") == 1 else (entry, "", "")
        name = name.removeprefix("*").removeprefix(".")
        if entry == "*" or (
            name and (host == name or host.endswith(f".{name}")) and exempt_port in {"", str(port or "")}
        ):
            return True
    return False


async def connect(http: HttpConnection, url: str, *, is_direct: bool) -> None:
    """Open a connection, TLS and proxy included, for the next request. Raises aiohttp.ClientError."""
    proxy = None if is_direct else next(iter(http.read_proxies(url).values()), None)
    connector = http.session.connector
    if connector is None:
        raise AssertionError("the session is open")
    request = aiohttp.ClientRequest(
        "GET",
        URL(url),
        loop=asyncio.get_running_loop(),
        session=http.session,
        proxy=URL(proxy) if proxy else None,
    )
    # The request is never sent: it only has the host and the proxy for the connector.
    connection = await connector.connect(request, [], aiohttp.ClientTimeout(sock_connect=PATIENCE))
    connection.release()


def make_transport_error(message: str, cause: BaseException) -> TransportError:
    """Make the error for a request that got no answer, from aiohttp's exception."""
    return TransportError(
        scrub(message),
        was_sent=not isinstance(cause, _NEVER_SENT),
        is_wrong_host=_is_wrong_host(cause),
        is_trusted=not isinstance(cause, _UNTRUSTED),
        hint=_find_hint(cause),
    )


def make_authority_error(message: str, cause: BaseException) -> AuthorityError:
    """Make the same for a token request."""
    hint = _find_hint(cause) or "Check AZURE_AUTHORITY_HOST, the network, and HTTPS_PROXY."
    return AuthorityError(
        scrub(message),
        was_sent=False,
        is_wrong_host=_is_wrong_host(cause),
        is_trusted=not isinstance(cause, _UNTRUSTED),
        hint=hint,
    )


def _is_wrong_host(cause: BaseException) -> bool:
    return isinstance(cause, (aiohttp.ClientConnectorDNSError, *_UNTRUSTED))


def _find_hint(cause: BaseException) -> str:
    return next((hint for kinds, hint in _HINTS if isinstance(cause, kinds)), "")
