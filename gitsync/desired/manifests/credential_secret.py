"""Reads a credential Secret: the identity, and how it signs in (docs/reference/reconciliation.md#credential-selection).

Separate from the choice of a credential. The values come from a manifest, so each is checked before it becomes part of
an id or of a URL.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from gitsync.model.identity import IdentityIds
from gitsync.model.problem import SourceLocation
from gitsync.model.secret import Secret
from gitsync.model.signin import Identity, Method, OtherCloud, SignIn

OF_NAMESPACE: Final = "aso-credential"
"""The name of the Secret that is the credential of all resources in its namespace."""

SUBSCRIPTION: Final = "AZURE_SUBSCRIPTION_ID"
TENANT: Final = "AZURE_TENANT_ID"
CLIENT: Final = "AZURE_CLIENT_ID"
REQUIRED: Final = (SUBSCRIPTION, TENANT, CLIENT)
CLIENT_SECRET: Final = "AZURE_CLIENT_SECRET"  # noqa: S105 - the name of a key
CERTIFICATE: Final = "AZURE_CLIENT_CERTIFICATE"
PASSWORD: Final = "AZURE_CLIENT_CERTIFICATE_PASSWORD"  # noqa: S105 - as above
IDENTITY_FILE: Final = "AZURE_USER_ASSIGNED_IDENTITY_CREDENTIALS"
AUTH_MODE: Final = "AUTH_MODE"
TENANTS: Final = "AZURE_ADDITIONAL_TENANTS"
CLOUD: Final = ("AZURE_RESOURCE_MANAGER_ENDPOINT", "AZURE_RESOURCE_MANAGER_AUDIENCE", "AZURE_AUTHORITY_HOST")

PUBLIC_KEYS: Final = frozenset({*REQUIRED, TENANTS, IDENTITY_FILE, AUTH_MODE, *CLOUD})
"""Keys whose values are not secrets: ids that reports show, and addresses."""

KEYS: Final = (*REQUIRED, CLIENT_SECRET, CERTIFICATE, PASSWORD, IDENTITY_FILE, AUTH_MODE, TENANTS, *CLOUD)
"""All keys, for sources that are read key by key."""

_MODES: Final[Mapping[str, Method]] = {
    "": Method.WORKLOAD_IDENTITY,
    "workloadidentity": Method.WORKLOAD_IDENTITY,
    "podidentity": Method.MANAGED_IDENTITY,
}
_METHODS_BY_KEY: Final = (
    (CLIENT_SECRET, Method.CLIENT_SECRET),
    (CERTIFICATE, Method.CLIENT_CERTIFICATE),
    (IDENTITY_FILE, Method.IDENTITY_FILE),
)
"""Keys that each imply a way to sign in; the first that is set counts."""

_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,99}")


@dataclass(frozen=True, slots=True)
class CredentialRefusal:
    """Why there is no credential, and how to fix it: full sentences, except for texts quoted from ASO."""

    message: str
    hint: str
    code: str = "CredentialNotUsable"  # of its problem
    source: SourceLocation | None = None  # of the Secret, if its manifest is at fault


def read_identity(
    name: str, values: Mapping[str, Secret], *, allow_multi_env_management: bool
) -> Identity | CredentialRefusal:
    """Read a Secret; `name` is namespace/name. With `allow_multi_env_management`, it may name another cloud than the
    run's.

    An incomplete Secret is refused, never completed from another source.
    """
    # A key from another credential would write the resource with the rights of another identity.
    missing = [key for key in REQUIRED if not _read_text(values, key)]
    if missing:
        message = "; ".join(f'credential Secret "{name}" does not contain key "{key}"' for key in missing)
        return CredentialRefusal(message, "Add the missing keys; no other credential is used instead.")
    refusal = next(_list_faults(name, values, allow_multi_env_management=allow_multi_env_management), None)
    if refusal:
        return refusal
    endpoint, audience, authority = (_read_text(values, key) for key in CLOUD)
    cloud = OtherCloud(endpoint=endpoint, audience=audience, authority=authority) if endpoint else None
    return Identity(subscription=_read_text(values, SUBSCRIPTION), sign_in=_read_sign_in(name, values), cloud=cloud)


def iterate_secrets(values: Mapping[str, Secret]) -> Iterator[Secret]:
    """Yield the values of a Secret that must never be shown: all except ids and addresses."""
    return (value for key, value in values.items() if key not in PUBLIC_KEYS)


def read_subscription(values: Mapping[str, Secret]) -> str | None:
    """Read the subscription of a Secret; None if it has no valid one."""
    subscription = _read_text(values, SUBSCRIPTION)
    return subscription if is_id(subscription) else None


def read_ids(values: Mapping[str, Secret]) -> IdentityIds:
    """Read the ids of the identity of a Secret, without those that are not valid, as in an encrypted one."""
    client, tenant = (_read_text(values, key) for key in (CLIENT, TENANT))
    # An encrypted Secret has ciphertext here, which is an unknown id and not another one.
    return IdentityIds(client if is_id(client) else "", tenant if is_id(tenant) else "")


def is_id(text: str) -> bool:
    """Return whether a text may be the id of a subscription, a tenant or a client."""
    return bool(_ID.fullmatch(text))


def _list_faults(
    name: str, values: Mapping[str, Secret], *, allow_multi_env_management: bool
) -> Iterator[CredentialRefusal]:
    for key in REQUIRED:
        if not is_id(_read_text(values, key)):
            hint = "It must be letters, digits, dots and dashes, such as a UUID."
            yield CredentialRefusal(f'{key} of credential Secret "{name}" is not an id.', hint)
    if not all(is_id(tenant) for tenant in _read_tenants(values)):
        yield CredentialRefusal(
            f'{TENANTS} of credential Secret "{name}" is not a list of ids.', "Separate them with commas."
        )
    mode = _read_text(values, AUTH_MODE)
    # The mode counts only without a secret, certificate or file to sign in with.
    if mode.casefold() not in _MODES and not any(_read_text(values, key) for key, _ in _METHODS_BY_KEY):
        hint = "Set podidentity or workloadidentity, or remove AUTH_MODE."
        shown = mode if len(mode) <= 40 else f"{mode[:40]}…"
        yield CredentialRefusal(f'authorization mode "{shown}" not valid', hint)
    # The Secret's author would choose where tokens are sent, so the operator must allow it by a setting.
    cloud_keys = [key for key in CLOUD if _read_text(values, key)]
    if cloud_keys and not allow_multi_env_management:
        hint = "Remove it, or set ALLOW_MULTI_ENV_MANAGEMENT=true if you trust everyone who can write the Secret."
        yield CredentialRefusal(
            f'Credential Secret "{name}" names another Azure cloud ({", ".join(cloud_keys)}).', hint
        )
    # The audience is a name, not an address.
    if any(not _read_text(values, key).startswith("https://") for key in cloud_keys if key != CLOUD[1]):
        yield CredentialRefusal(
            f'Credential Secret "{name}" names an address of an Azure cloud that is not https.',
            "Use https: tokens are never sent over plain http.",
        )
    if cloud_keys and len(cloud_keys) < len(CLOUD):
        missing = ", ".join(key for key in CLOUD if key not in cloud_keys)
        yield CredentialRefusal(
            f'Credential Secret "{name}" names another Azure cloud incompletely: {missing} is missing.',
            "Set all three keys, or none.",
        )


def _read_sign_in(name: str, values: Mapping[str, Secret]) -> SignIn:
    method = next((how for key, how in _METHODS_BY_KEY if _read_text(values, key)), None)
    return SignIn(
        method=method or _MODES[_read_text(values, AUTH_MODE).casefold()],
        tenant_id=_read_text(values, TENANT),
        client_id=_read_text(values, CLIENT),
        # Only what this way of signing in needs is kept in memory and handed on.
        client_secret=values.get(CLIENT_SECRET) if method is Method.CLIENT_SECRET else None,
        client_certificate=values.get(CERTIFICATE) if method is Method.CLIENT_CERTIFICATE else None,
        client_certificate_password=values.get(PASSWORD) if method is Method.CLIENT_CERTIFICATE else None,
        identity_file=_read_text(values, IDENTITY_FILE) if method is Method.IDENTITY_FILE else "",
        additional_tenants=_read_tenants(values),
        secret_name=name,
    )


def _read_tenants(values: Mapping[str, Secret]) -> tuple[str, ...]:
    return tuple(tenant for part in _read_text(values, TENANTS).split(",") if (tenant := part.strip()))


def _read_text(values: Mapping[str, Secret], key: str) -> str:
    """Read a value without the white space around it (files end with a line break); "" without the key."""
    value = values.get(key)
    return value.reveal().strip() if value else ""
