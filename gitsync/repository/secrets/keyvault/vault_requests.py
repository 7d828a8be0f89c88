"""Sends requests only to one Key Vault, and makes its errors readable: the only module that imports
azure-keyvault-secrets.

The client of the SDK signs in by the challenge of the vault and checks the audience of the challenge. Its methods are
not used: those that delete and recover wait without a limit, and those that list follow a link to any host. Values of
secrets are not shown: error texts of Key Vault are masked and bounded before they are reported.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from types import NoneType
from typing import Any, cast
from urllib.parse import urlsplit

from azure.core.credentials import AccessTokenInfo
from azure.core.exceptions import AzureError
from azure.core.pipeline.policies import AsyncRedirectPolicy, AsyncRetryPolicy
from azure.core.rest import HttpRequest
from azure.keyvault.secrets.aio import SecretClient

from gitsync import __version__
from gitsync.desired.formats.strict_json import read_json
from gitsync.errors import (
    ArmError,
    AuthorityError,
    SecretInTransitionError,
    SecretNameTakenError,
    SecretStoreError,
    StoreForbiddenError,
    TransientStoreError,
)
from gitsync.model.clock import Clock
from gitsync.model.secret import Secret
from gitsync.repository.secrets.keyvault.index import VaultSecret
from gitsync.repository.secrets.protocols import VaultConnection
from gitsync.repository.secrets.remote_requests import (
    Retries,
    find_certificate_error,
    format_complaint,
    limit_request_time,
    read_retry_after,
)

_NAME = re.compile(r"/secrets/([0-9A-Za-z-]+)")  # in an id: https://vault/secrets/NAME, or with a version
_HINT = "Check the URL of the vault, and any proxy in between."
_NEVER = 253402300799  # the last second that a date can name
_MOST_PAGES = 4000  # of 25 secrets each; a longer list goes in circles
_PASSING = frozenset({408, 429, 500, 502, 503, 504})
_NO_CODE, _NO_REASON = "without a code", "without a reason"
_WITHOUT_CAUSE = frozenset({_NO_CODE, _NO_REASON, "Forbidden"})
_IN_BETWEEN = frozenset({"ObjectIsBeingRecovered", "ObjectIsBeingDeleted"})


class VaultPermission(StrEnum):
    """What the identity must be allowed to do, and how to allow it."""

    READ = "Grant the identity the role `Key Vault Secrets User`, or get and list in the vault's access policy."
    WRITE = (
        "Grant the identity the role `Key Vault Secrets Officer`, or get, list, set, delete and recover in the vault's "
        "access policy."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultRequest:
    """One request."""

    method: str
    path: str
    doing: str  # what it does, for people
    needs: VaultPermission = VaultPermission.READ  # the permission that the identity must have
    body: Mapping[str, Any] | None = field(default=None, repr=False)  # None for a read
    secret: Secret | None = None  # must not show in an error


@asynccontextmanager
async def open_requests(
    url: str, credential: Any, connection: VaultConnection, clock: Clock, *, is_local: bool
) -> AsyncIterator[KeyVaultRequests]:
    """`is_local`: the vault is an emulator on this machine, which has no domain to check an audience against."""
    client = SecretClient(
        vault_url=url,
        credential=cast("Any", credential or AnonymousCredential()),  # the SDK names an older protocol, and takes both
        transport=connection.transport,
        proxies={} if is_local else dict(connection.read_proxies(url)),
        # A challenge of another audience would take the token elsewhere.
        verify_challenge_resource=not is_local,
        # `Retries` decides what is sent again, and a redirect would take the token to another host.
        retry_policy=AsyncRetryPolicy.no_retries(),
        redirect_policy=AsyncRedirectPolicy.no_redirects(),
        user_agent=f"gitsync/{__version__}",
    )
    async with client:
        yield KeyVaultRequests(client, clock)


class AnonymousCredential:
    """A credential for an emulator on this machine, which takes any token."""

    async def get_token_info(self, *_scopes: str, options: Any = None) -> AccessTokenInfo:  # noqa: ARG002 - the protocol's
        return AccessTokenInfo("anonymous", _NEVER)


class KeyVaultRequests:
    """The requests of one vault, each tried again if its refusal may pass. All of them raise SecretStoreError."""

    def __init__(self, client: SecretClient, clock: Clock) -> None:
        self._client = client
        self._retries = Retries(clock)
        self.vault = client.vault_url

    async def get(self, name: str) -> VaultSecret | None:
        """Return a secret with its value; None if there is none."""
        return await self._show(VaultRequest(method="GET", path=f"/secrets/{name}", doing=f"show secret {name}"))

    async def get_deleted(self, name: str) -> VaultSecret | None:
        """Return a deleted secret that can be recovered; None if there is none."""
        doing = f"show deleted secret {name}"
        return await self._show(
            VaultRequest(method="GET", path=f"/deletedsecrets/{name}", doing=doing, needs=VaultPermission.WRITE)
        )

    async def put(self, name: str, value: Secret, tags: Mapping[str, str]) -> SecretStoreError | None:
        """Make a new version of a secret, or a new secret. Returns the conflict if the name is taken."""
        body = {"value": value.reveal(), "tags": dict(tags), "attributes": {"enabled": True}}
        try:
            await self._write("PUT", f"/secrets/{name}", f"write secret {name}", body=body, secret=value)
        except (SecretNameTakenError, SecretInTransitionError) as error:
            return error
        return None

    async def delete(self, name: str) -> None:
        """Delete a secret, if it is still there; its name stays taken."""
        await self._write("DELETE", f"/secrets/{name}", f"delete secret {name}")

    async def recover(self, name: str) -> None:
        """Recover a deleted secret, and wait until it is there."""
        if await self._write("POST", f"/deletedsecrets/{name}/recover", f"recover secret {name}") is None:
            raise SecretStoreError(f"{self.vault} has no deleted secret {name} any more.", hint="Run again.")
        await self._retries.request(lambda: self._check_recovered(name))

    async def _check_recovered(self, name: str) -> None:
        if await self.get(name) is None:
            raise TransientStoreError(f"{self.vault} has not recovered secret {name} yet.", hint="Run again later.")

    async def look(self) -> None:
        """List one secret, to check that the vault answers."""
        await self._send(VaultRequest(method="GET", path="/secrets?maxresults=1", doing="list its secrets"))

    async def list_all(self) -> list[VaultSecret]:
        """List all secrets, without values."""
        secrets: list[VaultSecret] = []
        path = "/secrets"
        for _ in range(_MOST_PAGES):
            page = await self._send(VaultRequest(method="GET", path=path, doing="list its secrets"))
            secrets += [self._read_secret(entry) for entry in self._read_entries(page)]
            link = page.get("nextLink")
            if link is None or link == "":
                return secrets
            path = self._find_target(link)
        raise SecretStoreError(f"The list of the secrets of {self.vault} does not end.")

    def _read_entries(self, page: Any) -> list[Any]:
        """Read the entries of a page."""
        entries = page.get("value") if isinstance(page, dict) else None
        link = page.get("nextLink") if isinstance(page, dict) else None
        if isinstance(entries, list) and isinstance(link, str | None):
            return entries
        # A malformed list is not an empty one: a secret that it leaves out would be overwritten.
        raise SecretStoreError(f"{self.vault} returned a response that is not a list of secrets.", hint=_HINT)

    async def _show(self, request: VaultRequest) -> VaultSecret | None:
        body = await self._send(request)
        return None if body is None else self._read_secret(body)

    def _read_secret(self, body: Any) -> VaultSecret:
        name_match = _NAME.search(str(body.get("id"))) if isinstance(body, dict) else None
        if name_match is None:
            raise SecretStoreError(f"{self.vault} returned a response that is not a secret.", hint=_HINT)
        attributes, tags = body.get("attributes") or {}, body.get("tags") or {}
        has_texts = isinstance(tags, dict) and all(isinstance(value, str) for value in tags.values())
        has_times = isinstance(attributes, dict) and all(
            isinstance(attributes.get(name), (int, NoneType)) for name in ("nbf", "exp")
        )
        if not has_texts or not has_times:
            raise SecretStoreError(f"{self.vault} returned secret {name_match[1]} in an unexpected shape.", hint=_HINT)
        return VaultSecret(
            name=name_match[1],
            tags=tags,
            enabled=attributes.get("enabled", True) is not False,
            not_before=attributes.get("nbf"),
            expires=attributes.get("exp"),
            value=Secret(body["value"]) if isinstance(body.get("value"), str) else None,
        )

    def _find_target(self, link: str) -> str:
        """Find path and query of a link to this vault: no other host gets a token."""
        parts = urlsplit(link)
        # The list names the next page; the request for it carries a token.
        if _read_origin(link) != _read_origin(self.vault):
            raise SecretStoreError(
                f"The list of the secrets of {self.vault} continues on another host, {parts.scheme}://{parts.hostname}.",
                hint="Check the URL of the vault. gitsync does not follow the link.",
            )
        return f"{parts.path}?{parts.query}"

    async def _write(
        self, method: str, path: str, doing: str, *, body: Mapping[str, Any] | None = None, secret: Secret | None = None
    ) -> Any:
        return await self._send(
            VaultRequest(method=method, path=path, doing=doing, needs=VaultPermission.WRITE, body=body, secret=secret)
        )

    async def _send(self, request: VaultRequest) -> Any:
        """Send a request, and return the body of the answer; None for 404."""
        return await self._retries.request(lambda: self._send_once(request))

    def _explain_token(self, error: ArmError, request: VaultRequest) -> SecretStoreError:
        """Make the error for a token that could not be had; it has the hint of the credential."""
        message = f"{self.vault} could not {request.doing}: {error.message}"
        if not isinstance(error, AuthorityError):
            return SecretStoreError(message, hint=error.hint)
        return TransientStoreError(message, retry_after=error.retry_after, is_of_all=True, hint=error.hint)

    def _explain_silence(self, error: AzureError, request: VaultRequest) -> SecretStoreError:
        if reason := find_certificate_error(error):
            message = f"The certificate of {self.vault} is not accepted: {reason}."
            return SecretStoreError(message, hint="Check the URL of the vault, and --ca-bundle.")
        return TransientStoreError(
            f"{self.vault} could not be reached to {request.doing}: {error.message.rstrip('.')}.",
            is_of_all=True,
            hint="Check the URL of the vault, the network, the proxy, and --ca-bundle.",
        )

    async def _send_once(self, request: VaultRequest) -> Any:
        content = None if request.body is None else json.dumps(request.body)
        headers = {"Accept": "application/json"} | ({} if content is None else {"Content-Type": "application/json"})
        path = request.path.replace("{", "%7B").replace("}", "%7D")  # the SDK takes URLs for templates
        http_request = HttpRequest(request.method, path, headers=headers, content=content)
        try:
            async with limit_request_time(f"{self.vault} did not respond to the request to {request.doing}"):
                response = await self._client.send_request(http_request)
        except ArmError as error:
            raise self._explain_token(error, request) from error
        except AzureError as error:
            raise self._explain_silence(error, request) from error
        except ValueError as error:  # raised by the SDK if the vault requests a token for another audience
            raise SecretStoreError(
                f"{self.vault} requests a token for another audience; gitsync sends none.",
                hint="Check the URL of the vault.",
            ) from error
        if response.status_code == 404:
            return None  # the callers know what they asked for: no secret of that name, or none that is deleted
        body = _parse_json(response.content)
        if response.status_code not in {200, 202}:
            raise make_failure(request, self.vault, response.status_code, response.headers, body)
        if not isinstance(body, dict):
            message = f"{self.vault} returned a response that is not JSON to the request to {request.doing}."
            raise SecretStoreError(message, hint=_HINT)
        return body


def _parse_json(text: bytes) -> Any:
    try:
        return read_json(text)
    except ValueError:
        return None


def _read_origin(url: str) -> tuple[str, str, int]:
    parts = urlsplit(url)
    return parts.scheme, (parts.hostname or "").casefold(), parts.port or 443


_CAUSES_BY_CODE: dict[str, tuple[str, str]] = {
    "SecretDisabled": ("It is disabled.", "Enable or remove it."),
    "ForbiddenByFirewall": (
        "The firewall of the vault blocks this machine.",
        "Allow its address in the firewall of the vault, or run in a network with access to the vault.",
    ),
    "ForbiddenByConnection": (
        "The vault is reachable only through its private endpoints.",
        "Run in a network with a private endpoint of the vault.",
    ),
    "ObjectIsDeletedButRecoverable": (
        "A secret of this name is deleted, and Key Vault keeps its name until it is purged.",
        "Recover or purge it: `az keyvault secret recover` or `purge`.",
    ),
}

_CAUSES_BY_STATUS: dict[int, tuple[str, str]] = {
    401: (
        "Key Vault does not accept the token.",
        "Check that the vault's tenant is that of the identity, or one of --additional-tenants.",
    ),
    429: ("Key Vault is throttling requests.", "Run again later, or use a separate vault for the run."),
}


def make_failure(
    request: VaultRequest, vault: str, status: int, headers: Mapping[str, str], body: Any
) -> SecretStoreError:
    """Make the error for an answer."""
    code, reason = _read_reason(body, request.secret)
    cause, hint = (
        _CAUSES_BY_CODE.get(code) or _CAUSES_BY_STATUS.get(status) or ("", request.needs.value if status == 403 else "")
    )
    message = " ".join(filter(None, (f"{vault} refused to {request.doing} ({status} {code}).", cause, reason)))
    # A secret that is being deleted or recovered is about itself; the other codes are about the whole vault.
    if status in _PASSING or code in _IN_BETWEEN:
        is_of_all = code not in _IN_BETWEEN
        return (TransientStoreError if is_of_all else SecretInTransitionError)(
            message,
            retry_after=read_retry_after(headers),
            is_of_all=is_of_all,
            hint=hint,
        )
    if status == 403 and code in _WITHOUT_CAUSE:
        return StoreForbiddenError(message, hint=hint)
    return (SecretNameTakenError if status == 409 else SecretStoreError)(message, hint=hint)


def _read_reason(body: Any, secret: Secret | None) -> tuple[str, str]:
    """Read the innermost code of an error body, and its message."""
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return _NO_REASON, ""
    inner = error.get("innererror") or error.get("innerError")
    code = (inner.get("code") if isinstance(inner, dict) else None) or error.get("code") or _NO_CODE
    reason = format_complaint(error.get("message"), [secret] if secret else [])
    return str(code), f"{reason}." if reason else ""
