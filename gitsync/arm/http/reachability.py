"""Whether a host can be reached at all: a connection without a request, and what its failure means."""

from __future__ import annotations

import asyncio
import ssl

import aiohttp
from yarl import URL

from gitsync.arm.http.failures import AuthorityError, TransportError, scrub
from gitsync.arm.http.host_state import PATIENCE
from gitsync.arm.http.network import HttpConnection

_NEVER_SENT = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, aiohttp.ClientHttpProxyError)
_UNTRUSTED = (aiohttp.ClientSSLError, ssl.SSLError)

_HINTS: tuple[tuple[tuple[type[BaseException], ...], str], ...] = (
    ((aiohttp.ClientConnectorDNSError,), "Check the name of the host, the DNS server, and HTTPS_PROXY."),
    (_UNTRUSTED, "If a private CA signed its certificate, set --ca-bundle to that CA."),
    (_NEVER_SENT, "Check the address, the firewall, and HTTPS_PROXY."),
)


async def connect(http: HttpConnection, url: str, *, is_direct: bool) -> None:
    """Open a connection, TLS and proxy included, and leave it to the next request. Raises aiohttp.ClientError."""
    proxy = None if is_direct else next(iter(http.proxies(url).values()), None)
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
    connection = await connector.connect(request, [], aiohttp.ClientTimeout(sock_connect=PATIENCE))
    connection.release()


def make_transport_error(message: str, cause: BaseException) -> TransportError:
    """The error for a request that got no answer, by what aiohttp says of it."""
    return TransportError(
        scrub(message),
        was_sent=not isinstance(cause, _NEVER_SENT),
        is_wrong_host=_is_wrong_host(cause),
        hint=_find_hint(cause),
    )


def make_authority_error(message: str, cause: BaseException) -> AuthorityError:
    """The same for a request for a token."""
    hint = _find_hint(cause) or "Check AZURE_AUTHORITY_HOST, the network, and HTTPS_PROXY."
    return AuthorityError(scrub(message), was_sent=False, is_wrong_host=_is_wrong_host(cause), hint=hint)


def _is_wrong_host(cause: BaseException) -> bool:
    return isinstance(cause, (aiohttp.ClientConnectorDNSError, *_UNTRUSTED))


def _find_hint(cause: BaseException) -> str:
    return next((hint for kinds, hint in _HINTS if isinstance(cause, kinds)), "")
