"""The credentials of azure-identity, one function for each method of `--credential`; the default is a chain of those
that the settings support.

Imported when a credential is opened: azure-identity takes a tenth of a second, and anonymous access needs none of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from azure.identity.aio import (
    AzureCliCredential,
    AzureDeveloperCliCredential,
    AzurePowerShellCredential,
    ChainedTokenCredential,
    ClientSecretCredential,
    ManagedIdentityCredential,
    WorkloadIdentityCredential,
)

from gitsync.errors import ConfigError
from gitsync.model.clock import Clock
from gitsync.model.secret import Secret
from gitsync.model.signin import Method, SignIn
from gitsync.providers.arm.auth.arm_access import ArmAccess
from gitsync.providers.arm.auth.certificates import open_certificate_credential, open_identity_file_credential
from gitsync.providers.arm.auth.federation import FederatedCredential
from gitsync.providers.arm.auth.identity_binding import has_identity_binding, open_bound_credential
from gitsync.providers.arm.auth.job_tokens import JobTokens, find_job_tokens, find_token_file
from gitsync.providers.arm.auth.sign_in_refusals import advise_on_missing_token
from gitsync.providers.arm.auth.token_answers import MACHINE, MACHINE_IS_UPDATED, NotingTransport
from gitsync.providers.arm.cloud import Cloud
from gitsync.providers.arm.http.connection import HttpConnection
from gitsync.settings.redaction import Redactions


@dataclass(frozen=True, slots=True, kw_only=True)
class _BuildContext:
    """What the builders of credentials need."""

    sign_in: SignIn
    cloud: Cloud
    http: HttpConnection
    clock: Clock
    redactions: Redactions

    def make_options(self) -> dict[str, Any]:
        """For credentials that call the authority themselves."""
        return {
            "authority": self.cloud.authority,
            "disable_instance_discovery": not self.cloud.knows_authority,
            "additionally_allowed_tenants": list(self.sign_in.additional_tenants),
            "retry_connect": 0,  # gitsync retries, unless the host is wrong
            "retry_status": 0,  # likewise
            "transport": NotingTransport(self.http.transport),
            "proxies": self.http.read_proxies(self.cloud.authority),
        }


def build_credential(access: ArmAccess, http: HttpConnection, clock: Clock) -> Any:
    """Build the credential of the method that the settings name. Raises ConfigError if they are incomplete."""
    context = _BuildContext(
        sign_in=access.sign_in, cloud=access.cloud, http=http, clock=clock, redactions=access.redactions
    )
    return _BUILDERS[access.sign_in.method](context)


def _build_client_secret(context: _BuildContext) -> Any:
    sign_in = context.sign_in
    _require(sign_in, {"AZURE_CLIENT_SECRET": sign_in.client_secret})
    secret = sign_in.client_secret.reveal() if sign_in.client_secret else ""
    return ClientSecretCredential(sign_in.tenant_id, sign_in.client_id, secret, **context.make_options())


def _build_workload_identity(context: _BuildContext) -> Any:
    """Build the credential of a token file if there is one, else of the identity token of the CI job."""
    sign_in = context.sign_in
    _require(sign_in, {})
    # A file that the settings name is chosen on purpose, so the token of the CI system does not replace it.
    tokens = None if sign_in.federated_token_file else find_job_tokens(sign_in.environment, context.http)
    if tokens is not None:
        return FederatedCredential(
            _redact_tokens(tokens, context.redactions),
            sign_in.tenant_id,
            sign_in.client_id,
            context.clock,
            **context.make_options(),
        )
    file = find_token_file(sign_in)
    if file.exists() and has_identity_binding(sign_in.environment):
        return open_bound_credential(sign_in, file, context.http, context.make_options())
    if file.exists():
        return WorkloadIdentityCredential(
            tenant_id=sign_in.tenant_id,
            client_id=sign_in.client_id,
            token_file_path=str(file),
            **context.make_options(),
        )
    raise ConfigError(
        f"There is no federated token: no file {file}, and no variables of GitHub Actions or Azure Pipelines.",
        hint=advise_on_missing_token(sign_in.environment),
    )


def _redact_tokens(tokens: JobTokens, redactions: Redactions) -> JobTokens:
    """Return the same tokens, each added to the redactions."""

    async def request_token() -> str:
        token = await tokens()
        redactions.add(Secret(token))
        return token

    return request_token


def _build_certificate(context: _BuildContext) -> Any:
    sign_in = context.sign_in
    _require(sign_in, {"AZURE_CLIENT_CERTIFICATE": sign_in.client_certificate or sign_in.client_certificate_path})
    return open_certificate_credential(sign_in, context.make_options())


def _build_identity_file(context: _BuildContext) -> Any:
    if not context.sign_in.identity_file:
        raise ConfigError(
            f"{context.sign_in.title} needs AZURE_USER_ASSIGNED_IDENTITY_CREDENTIALS.",
            hint="Set it to the identity file.",
        )
    return open_identity_file_credential(context.sign_in, context.make_options(), context.clock)


def _build_managed_identity(context: _BuildContext) -> Any:
    sign_in = context.sign_in
    # In the chain of `default`, a 404 may come from a machine outside Azure, which never has such an endpoint.
    passing = MACHINE_IS_UPDATED if sign_in.method is Method.MANAGED_IDENTITY else frozenset[int]()
    return ManagedIdentityCredential(
        client_id=sign_in.client_id or None,
        retry_status=0,
        transport=NotingTransport(context.http.transport, MACHINE, passing),
    )


def _build_default(context: _BuildContext) -> Any:
    """Build a chain that signs in with the first that can: certificate, secret, federated token, identity file, the
    machine's identity, the account of the Azure CLI or similar tools.

    As azure-identity's DefaultAzureCredential, with settings instead of variables, and with the CI systems' tokens.
    """
    sign_in, tenants = context.sign_in, list(context.sign_in.additional_tenants)
    # A member that cannot work would raise when it is built, so the chain has only those with settings.
    chain: list[Any] = []
    if sign_in.tenant_id and sign_in.client_id:
        chain += [_build_certificate(context)] if sign_in.client_certificate or sign_in.client_certificate_path else []
        chain += [_build_client_secret(context)] if sign_in.client_secret else []
        is_federated = (
            find_token_file(sign_in).exists() or find_job_tokens(sign_in.environment, context.http) is not None
        )
        chain += [_build_workload_identity(context)] if is_federated else []
    signed_in = (AzureCliCredential, AzurePowerShellCredential, AzureDeveloperCliCredential)
    chain += [_build_identity_file(context)] if sign_in.identity_file else []
    chain += [_build_managed_identity(context)]
    chain += [tool(tenant_id=sign_in.tenant_id, additionally_allowed_tenants=tenants) for tool in signed_in]
    return ChainedTokenCredential(*chain)


def _require(sign_in: SignIn, extra: dict[str, object]) -> None:
    needed = {"AZURE_TENANT_ID": sign_in.tenant_id, "AZURE_CLIENT_ID": sign_in.client_id, **extra}
    missing = sorted(name for name, value in needed.items() if not value)
    if missing:
        raise ConfigError(f"{sign_in.title} needs {', '.join(missing)}.", hint="Set the missing values.")


_BUILDERS: dict[Method, Callable[[_BuildContext], Any]] = {
    Method.DEFAULT: _build_default,
    Method.WORKLOAD_IDENTITY: _build_workload_identity,
    Method.MANAGED_IDENTITY: _build_managed_identity,
    Method.CLIENT_SECRET: _build_client_secret,
    Method.CLIENT_CERTIFICATE: _build_certificate,
    Method.IDENTITY_FILE: _build_identity_file,
}
