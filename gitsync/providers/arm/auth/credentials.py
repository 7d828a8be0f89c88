"""The identity that gitsync uses in Azure: a credential that shows no token, and gets a new one if Azure refuses one.

If a method gets no token, the error names the method and the fix.
"""

from __future__ import annotations

import asyncio
import logging
import math
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from azure.core.exceptions import AzureError, ClientAuthenticationError
from loguru import logger

from gitsync.errors import ArmError, AuthorityError, ConfigError, CredentialError, GitsyncError
from gitsync.model.clock import Clock
from gitsync.model.secret import Secret
from gitsync.model.signin import Method
from gitsync.providers.arm.auth.arm_access import ArmAccess, RenewableCredential, TokenCredential
from gitsync.providers.arm.auth.challenge_advice import CODE, advise_on_challenge, describe_challenge, is_of_a_tool
from gitsync.providers.arm.auth.job_identity import JobIdentity
from gitsync.providers.arm.auth.principal import read_principal
from gitsync.providers.arm.auth.sign_in_refusals import advise_on_refusal
from gitsync.providers.arm.auth.token_answers import TokenAnswer, note_answers
from gitsync.providers.arm.http.connection import HttpConnection, make_authority_error
from gitsync.providers.arm.http.failures import scrub

TOKEN_PATIENCE = 60.0
"""Seconds for one token, the retries of azure-identity included."""

_SPARE = 30  # seconds that a token must still be valid
_PAUSE = 30.0  # seconds after a failed attempt to renew a token that is still valid

_CHAIN = "Attempted credentials:"
"""ChainedTokenCredential writes this before the causes, each on its own line that begins with a tab."""

_NOISE = re.compile(
    r"^\w+Credential authentication unavailable[,.]\s*|\s*\b(?:To mitigate this issue|(?:Please )?[Vv]isit)\b.*"
)
"""In a cause: the name of the credential again, and a link to a page of azure-identity."""

_NAMES = {
    "AzureCliCredential": "Azure CLI",
    "AzureDeveloperCliCredential": "Azure Developer CLI",
    "AzurePowerShellCredential": "Azure PowerShell",
    "CertificateCredential": "certificate",
    "ClientAssertionCredential": "identity file",
    "ClientSecretCredential": "client secret",
    "FederatedCredential": "token of the CI job",
    "ManagedIdentityCredential": "managed identity",
    "WorkloadIdentityCredential": "workload identity",
}

_FOREIGN_TENANT = re.compile(
    r"(not configured to acquire tokens for tenant ([\w.-]{1,100}))\. To enable .*? for any tenant(?=\.|$)"
)
"""How azure-identity refuses a tenant; its advice is for programmers."""


@asynccontextmanager
async def open_credential(
    access: ArmAccess, http: HttpConnection, clock: Clock, override: TokenCredential | None = None
) -> AsyncIterator[RenewableCredential | None]:
    """Open the credential of a run, None for anonymous access; `override` replaces the one in the settings.

    Raises ConfigError if the settings of the method are incomplete, or for anonymous access to another machine.
    """
    method = access.sign_in.method
    if override is None and method is Method.ANONYMOUS:
        if not access.cloud.is_loopback:
            raise ConfigError(
                f"Anonymous access to {access.cloud.endpoint} is refused.",
                hint="Set --credential to another method: anonymous access is for an emulator on this machine.",
            )
        yield None
        return
    # azure-identity logs the errors that it raises; an error that ends a run is shown already.
    logging.getLogger("azure.identity").setLevel(logging.ERROR)
    if override is not None:
        yield _GuardedCredential(lambda: override, access, clock)
        return
    from gitsync.providers.arm.auth.methods import build_credential  # noqa: PLC0415 - azure-identity takes a tenth of a second to import

    async with AsyncExitStack() as opened:

        def open_new() -> Any:
            credential = build_credential(access, http, clock)
            opened.push_async_callback(credential.close)  # at the end: other requests may still use the old one
            return credential

        yield _GuardedCredential(open_new, access, clock)


@dataclass(slots=True)
class _LastToken:
    """The last token for some scopes."""

    info: Any = field(repr=False)  # as the SDK returned it
    not_before: float = -math.inf  # no new one is requested before this time of the monotonic clock


class _GuardedCredential:
    """A credential that never shows its tokens, and whose errors contain the cause and the fix.

    The credentials of azure-identity keep a token until it expires, so a new token needs a new credential, which
    `open_new` gives. A token that is still valid serves while there is no new one.
    """

    def __init__(self, open_new: Callable[[], TokenCredential], access: ArmAccess, clock: Clock) -> None:
        self._open_new = open_new
        self._credential = open_new()
        self._clock = clock
        self._last: dict[tuple[str, ...], _LastToken] = {}  # by their scopes
        self._unanswered: set[tuple[tuple[str, ...], str]] = set()  # challenges that the login of a tool cannot answer
        self._method = access.sign_in.method
        self._description = access.sign_in.title
        self._redactions = access.redactions

    async def get_token_info(self, *scopes: str, options: Any = None) -> Any:
        """Raises CredentialError if there is no token, AuthorityError if the authority did not respond."""
        # Other claims need another token.
        claims = (options or {}).get("claims", "")
        last = None if claims else self._last.get(scopes)
        if (scopes, claims) in self._unanswered:  # each try would start the tools again
            raise self._make_challenge_error(claims, scopes[0])
        if last is not None and self._clock.monotonic() < last.not_before:
            return last.info
        try:
            info = await self._request(*scopes, options=options)
        except ArmError as error:
            if last is None or last.info.expires_on - _SPARE < self._clock.now().timestamp():
                raise
            # Not for each request: a source that hangs would stop all of them.
            last.not_before = self._clock.monotonic() + _PAUSE
            logger.warning("The Azure token cannot be renewed, and is still valid: {}", error.message)
            return last.info
        self._redactions.add(Secret(info.token))
        self._last[scopes] = _LastToken(info)
        return info

    async def _request(self, *scopes: str, options: Any) -> Any:
        """Raises CredentialError if a source refused, AuthorityError if one has no token at the moment."""
        with note_answers() as answers:
            try:
                async with asyncio.timeout(TOKEN_PATIENCE):
                    return await self._credential.get_token_info(*scopes, options=options)
            except GitsyncError:
                raise
            except Exception as error:
                if (claims := (options or {}).get("claims", "")) and is_of_a_tool(str(error)):
                    self._unanswered.add((scopes, claims))
                    raise self._make_challenge_error(claims, scopes[0]) from error
                raise self._explain(error, answers) from error

    def _make_challenge_error(self, claims: str, scope: str) -> CredentialError:
        """Make the error for a challenge that the login of a tool cannot answer. The token before it names the
        person.
        """
        last = self._last.get((scope,))
        principal = read_principal(last.info.token) if last else None
        return CredentialError(
            describe_challenge(principal),
            status=401,
            code=CODE,
            hint=advise_on_challenge(claims, scope, principal),
        )

    def _explain(self, error: Exception, answers: Sequence[TokenAnswer]) -> ArmError:
        """Make the error for a failure of azure-identity, by the last answer before it."""
        answer = answers[-1] if answers else None
        failed = f"Could not get a token with {self._description}"
        if isinstance(error, TimeoutError):
            return make_authority_error(f"{failed} within {TOKEN_PATIENCE:g} seconds.", error)
        # The source has answered that it cannot give a token now, which another try may change.
        if answer is not None and answer.is_passing:
            return AuthorityError(
                f"{failed}: {answer.source} has none at the moment ({answer}).",
                was_sent=False,
                has_answered=True,
                retry_after=answer.response.read_retry_after(self._clock.now()),
                hint="Run the command again later.",
            )
        if isinstance(error, ClientAuthenticationError):  # the authority answered, and refused
            presented = [answer.presented for answer in answers if answer.presented]
            return self._make_token_error(scrub(format_causes(str(error.message))), next(iter(presented), None))
        if isinstance(error, AzureError):
            # No answer: the authority may be unreachable for a while, so this is retried.
            return make_authority_error(
                f"{failed}: {format_causes(str(error.message))}", error.inner_exception or error
            )
        # azure-identity raises many errors for an answer that is not an authority's
        return self._make_token_error(f"the response is not from a token authority ({type(error).__name__})")

    def forget(self, token: str) -> None:
        """Get a new token next time, unless this token was replaced already."""
        # Many requests may be refused with one token: the first refusal replaces it for all.
        if any(last.info.token == token for last in self._last.values()):
            self._last.clear()
            self._credential = self._open_new()

    def _make_token_error(self, why: str, presented: JobIdentity | None = None) -> CredentialError:
        hint = advise_on_refusal(self._method, why, presented)
        # The advice of azure-identity is for programmers, and there is a setting for it.
        if foreign := _FOREIGN_TENANT.search(why):
            why = _FOREIGN_TENANT.sub(r"\1", why)
            hint = f"If that tenant may get tokens of this identity, add {foreign[2]} to --additional-tenants."
        message = f"Could not get a token with {self._description}: {why}"
        return CredentialError(message, status=401, code="AuthenticationFailed", hint=hint)


def format_causes(message: str) -> str:
    """Format the message of a credential in one line; for a chain, the cause of each credential by name."""
    causes = message.partition(_CHAIN)[2].split("\n\t")[1:]
    if not causes:
        return _join_lines(message)
    texts = []
    for cause in causes:
        name, _, text = cause.partition(": ")
        text = _NOISE.sub("", _join_lines(text)).rstrip(".")
        # azure-core adds the body of the answer, whose text azure-identity has shown already.
        description, _, body = text.partition(" Content: {")
        text = description if "AADSTS" in description and body else text
        texts.append(f"{_NAMES.get(name, name)}: {text or 'no token'}")
    return "; ".join(texts) + "."


def _join_lines(text: str) -> str:
    return " ".join(text.split())
