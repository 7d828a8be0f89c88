"""The identity that gitsync uses in Azure: credentials of azure-identity, chosen by a setting.

Each method is one function; the default is a chain of those that the settings support. If a method gets no token, its
error names the method and the fix.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from azure.core.exceptions import AzureError, ClientAuthenticationError
from azure.identity.aio import (
    AzureCliCredential,
    AzureDeveloperCliCredential,
    AzurePowerShellCredential,
    ChainedTokenCredential,
    ClientSecretCredential,
    ManagedIdentityCredential,
    WorkloadIdentityCredential,
)

from gitsync.arm.auth.access import ArmAccess, RenewableCredential, TokenCredential
from gitsync.arm.auth.certificates import open_certificate_credential, open_identity_file_credential
from gitsync.arm.auth.federation import FederatedCredential, JobTokens, find_job_tokens
from gitsync.arm.cloud import Cloud
from gitsync.arm.http.failures import CredentialError, scrub
from gitsync.arm.http.network import HttpTransport
from gitsync.arm.http.reachability import make_authority_error
from gitsync.dataclasses import dataclass
from gitsync.errors import ConfigError, GitsyncError
from gitsync.model.clock import Clock
from gitsync.model.secret import Secret
from gitsync.model.signin import Method, SignIn
from gitsync.redaction import Redactions

_ASO_TOKEN_FILE = "/var/run/secrets/tokens/azure-identity"  # noqa: S105 - a path

TOKEN_PATIENCE = 60.0
"""Seconds for one token, the retries of azure-identity included."""

_CHAIN = "Attempted credentials:"
"""What ChainedTokenCredential writes before the causes, each on a line of its own that begins with a tab."""

_NOISE = re.compile(
    r"^\w+Credential authentication unavailable[,.]\s*|\s*\b(?:To mitigate this issue|(?:Please )?[Vv]isit)\b.*"
)
"""In a cause: the name of the credential once more, and a pointer to a page of azure-identity."""

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

_HINTS = {
    Method.DEFAULT: "Sign in with `az login`, or set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET.",
    Method.WORKLOAD_IDENTITY: "Check AZURE_TENANT_ID, AZURE_CLIENT_ID, and the federated credential of that identity.",
    Method.MANAGED_IDENTITY: "Check that this machine has a managed identity, and AZURE_CLIENT_ID if it has several.",
    Method.CLIENT_SECRET: "Check AZURE_TENANT_ID and AZURE_CLIENT_ID, and that AZURE_CLIENT_SECRET has not expired.",
    Method.CLIENT_CERTIFICATE: "Check AZURE_TENANT_ID and AZURE_CLIENT_ID, and that the client has this certificate.",
    Method.IDENTITY_FILE: "Check that the file of the identity has been renewed.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _BuildContext:
    """What the builders of credentials need."""

    sign_in: SignIn
    cloud: Cloud
    http: HttpTransport
    clock: Clock
    redactions: Redactions

    def options(self) -> dict[str, Any]:
        """For credentials that ask the authority themselves."""
        return {
            "authority": self.cloud.authority,
            "disable_instance_discovery": not self.cloud.knows_authority,
            "additionally_allowed_tenants": list(self.sign_in.additional_tenants),
            "retry_connect": 0,  # we try again, unless the host is wrong
            "transport": self.http.transport,
            "proxies": self.http.proxies(self.cloud.authority),
        }


@asynccontextmanager
async def open_credential(
    access: ArmAccess, http: HttpTransport, clock: Clock, override: TokenCredential | None = None
) -> AsyncIterator[RenewableCredential | None]:
    """The credential of a run, None for anonymous access; `override` replaces the one in the settings.

    Raises ConfigError if the settings of the method are incomplete, or for anonymous access to another machine.
    """
    method = access.sign_in.method
    if override is None and method is Method.ANONYMOUS:
        if not access.cloud.is_loopback:
            raise ConfigError(
                f"Anonymous access to {access.cloud.endpoint} is refused.",
                hint="It is for an emulator on this machine; choose another --credential.",
            )
        yield None
        return
    _silence_identity_logs()
    if override is not None:
        yield _GuardedCredential(lambda: override, access)
        return
    context = _make_context(access, http, clock)
    async with AsyncExitStack() as opened:

        def open_new() -> Any:
            credential = _BUILDERS[method](context)
            opened.push_async_callback(credential.close)  # at the end: others may still ask the one that this replaces
            return credential

        yield _GuardedCredential(open_new, access)


def _silence_identity_logs() -> None:
    """azure-identity logs the errors that it raises; one that ends a run is shown already."""
    logging.getLogger("azure.identity").setLevel(logging.ERROR)


def _make_context(access: ArmAccess, http: HttpTransport, clock: Clock) -> _BuildContext:
    return _BuildContext(
        sign_in=access.sign_in, cloud=access.cloud, http=http, clock=clock, redactions=access.redactions
    )


class _GuardedCredential:
    """A credential that never shows its tokens, and whose errors contain the cause and the fix.

    The credentials of azure-identity keep a token until it expires, so a new one is asked of a new credential, which
    `open_new` gives.
    """

    def __init__(self, open_new: Callable[[], TokenCredential], access: ArmAccess) -> None:
        self._open_new = open_new
        self._credential = open_new()
        self._last: Secret | None = None
        self._method = access.sign_in.method
        self._description = _describe_method(access.sign_in)
        self._redactions = access.redactions

    async def get_token_info(self, *scopes: str, options: Any = None) -> Any:
        """Raises CredentialError if there is no token, AuthorityError if the authority did not respond."""
        try:
            async with asyncio.timeout(TOKEN_PATIENCE):
                info = await self._credential.get_token_info(*scopes, options=options)
            self._last = Secret(info.token)
            self._redactions.add(self._last)
        except GitsyncError:
            raise
        except ClientAuthenticationError as error:
            raise self._make_token_error(scrub(format_causes(str(error.message)))) from error
        except AzureError as error:
            message = f"Could not get a token with {self._description}: {format_causes(str(error.message))}"
            raise make_authority_error(message, error.inner_exception or error) from error
        except TimeoutError as error:
            text = f"Could not get a token with {self._description} within {TOKEN_PATIENCE:g} seconds."
            raise make_authority_error(text, error) from error
        except Exception as error:  # azure-identity stumbles in many ways over an answer that is no authority's
            raise self._make_token_error(
                f"the response is not that of an authority ({type(error).__name__})"
            ) from error
        return info

    def forget(self, token: str) -> None:
        """Make the next token a new one, unless this token was replaced already."""
        if self._last is not None and self._last.reveal() == token:
            self._last = None
            self._credential = self._open_new()

    def _make_token_error(self, why: str) -> CredentialError:
        message = f"Could not get a token with {self._description}: {why}"
        return CredentialError(message, status=401, code="AuthenticationFailed", hint=_HINTS.get(self._method, ""))


def format_causes(message: str) -> str:
    """The message of a credential in one line; of a chain, the cause of each credential, by its name."""
    causes = message.partition(_CHAIN)[2].split("\n\t")[1:]
    if not causes:
        return _join_lines(message)
    return "; ".join(_format_cause(*cause.partition(": ")[::2]) for cause in causes) + "."


def _format_cause(name: str, cause: str) -> str:
    """What one credential of a chain says, without its own name."""
    cause = _NOISE.sub("", _join_lines(cause)).rstrip(".")
    return f"{_NAMES.get(name, name)}: {cause or 'no token'}"


def _join_lines(text: str) -> str:
    return " ".join(text.split())


def _build_client_secret(context: _BuildContext) -> Any:
    sign_in = context.sign_in
    _require(sign_in, {"AZURE_CLIENT_SECRET": sign_in.client_secret})
    secret = sign_in.client_secret.reveal() if sign_in.client_secret else ""
    return ClientSecretCredential(sign_in.tenant, sign_in.client, secret, **context.options())


def _build_workload_identity(context: _BuildContext) -> Any:
    """A token file if there is one, else the identity token of the CI job."""
    sign_in = context.sign_in
    _require(sign_in, {})
    tokens = None if sign_in.token_file else find_job_tokens(sign_in.environment, context.http)
    if tokens is not None:
        return FederatedCredential(
            _redact_tokens(tokens, context.redactions),
            sign_in.tenant,
            sign_in.client,
            context.clock,
            **context.options(),
        )
    file = sign_in.token_file or _ASO_TOKEN_FILE
    if Path(file).exists():
        return WorkloadIdentityCredential(
            tenant_id=sign_in.tenant, client_id=sign_in.client, token_file_path=file, **context.options()
        )
    raise ConfigError(
        f"There is no federated token: no file {file}, and no variables of GitHub Actions or Azure Pipelines.",
        hint="Set AZURE_FEDERATED_TOKEN_FILE; or grant the job `id-token: write` (GitHub); or set "
        "SYSTEM_ACCESSTOKEN and AZURESUBSCRIPTION_SERVICE_CONNECTION_ID (Azure Pipelines).",
    )


def _redact_tokens(tokens: JobTokens, redactions: Redactions) -> JobTokens:
    """The same tokens, each added to the redactions."""

    async def ask() -> str:
        token = await tokens()
        redactions.add(Secret(token))
        return token

    return ask


def _build_certificate(context: _BuildContext) -> Any:
    sign_in = context.sign_in
    _require(sign_in, {"AZURE_CLIENT_CERTIFICATE": sign_in.certificate or sign_in.certificate_file})
    return open_certificate_credential(sign_in, context.options())


def _build_identity_file(context: _BuildContext) -> Any:
    if not context.sign_in.identity_file:
        raise ConfigError(
            f"{_describe_method(context.sign_in)} needs AZURE_USER_ASSIGNED_IDENTITY_CREDENTIALS.",
            hint="Set it to the file of the identity.",
        )
    return open_identity_file_credential(context.sign_in, context.options(), context.clock)


def _build_managed_identity(context: _BuildContext) -> Any:
    return ManagedIdentityCredential(client_id=context.sign_in.client or None, transport=context.http.transport)


def _build_default(context: _BuildContext) -> Any:
    """The first that can: certificate, secret, federated token, file of an identity, the machine's identity, who is
    signed in to the Azure CLI or others.

    As azure-identity's DefaultAzureCredential, but for settings instead of variables, and with the CI systems' tokens.
    """
    sign_in, tenants = context.sign_in, list(context.sign_in.additional_tenants)
    chain: list[Any] = []
    if sign_in.tenant and sign_in.client:
        chain += [_build_certificate(context)] if sign_in.certificate or sign_in.certificate_file else []
        chain += [_build_client_secret(context)] if sign_in.client_secret else []
        chain += [_build_workload_identity(context)] if _has_federation(context) else []
    signed_in = (AzureCliCredential, AzurePowerShellCredential, AzureDeveloperCliCredential)
    chain += [_build_identity_file(context)] if sign_in.identity_file else []
    chain += [_build_managed_identity(context)]
    chain += [tool(tenant_id=sign_in.tenant, additionally_allowed_tenants=tenants) for tool in signed_in]
    return ChainedTokenCredential(*chain)


def _has_federation(context: _BuildContext) -> bool:
    file = Path(context.sign_in.token_file or _ASO_TOKEN_FILE)
    return file.exists() or find_job_tokens(context.sign_in.environment, context.http) is not None


def _require(sign_in: SignIn, extra: dict[str, object]) -> None:
    needed = {"AZURE_TENANT_ID": sign_in.tenant, "AZURE_CLIENT_ID": sign_in.client, **extra}
    missing = sorted(name for name, value in needed.items() if not value)
    if missing:
        raise ConfigError(f"{_describe_method(sign_in)} needs {', '.join(missing)}.", hint="Set the missing values.")


def _describe_method(sign_in: SignIn) -> str:
    """What a message calls a credential."""
    if sign_in.secret_name:
        return f'credential Secret "{sign_in.secret_name}" ({sign_in.method})'
    return f"--credential {sign_in.method}"


_BUILDERS: dict[Method, Callable[[_BuildContext], Any]] = {
    Method.DEFAULT: _build_default,
    Method.WORKLOAD_IDENTITY: _build_workload_identity,
    Method.MANAGED_IDENTITY: _build_managed_identity,
    Method.CLIENT_SECRET: _build_client_secret,
    Method.CLIENT_CERTIFICATE: _build_certificate,
    Method.IDENTITY_FILE: _build_identity_file,
}
