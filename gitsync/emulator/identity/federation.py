"""Compares the token of a job with the federated credentials of a principal, as Entra ID does: exactly, case included.

The credentials are those of the settings, and those that the managed identity of the principal has as resources.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gitsync.emulator.http.target import parse
from gitsync.emulator.settings import EmulatedFederation, EmulatedPrincipal
from gitsync.emulator.state.store import Store

_CLAIMS = (
    (700211, "iss", "issuer"),
    (700212, "aud", "audience"),
    (700213, "sub", "subject"),
)
"""Code of a claim that no federated credential has, the claim, and its name in a credential."""


def list_credentials(principal: EmulatedPrincipal, store: Store) -> list[EmulatedFederation] | None:
    """List the federated credentials of a principal; None if it may use any assertion."""
    if principal.federated is None:
        return None
    prefix = f"{parse(principal.identity).key}/federatedidentitycredentials/"
    bodies = [resource.body for _, resource in store.below(prefix)] if principal.identity else []
    return [*principal.federated, *(credential for body in bodies for credential in _read_credentials(body))]


def _read_credentials(body: Mapping[str, Any]) -> list[EmulatedFederation]:
    properties = body.get("properties") or {}
    issuer, subject = str(properties.get("issuer")), str(properties.get("subject"))
    return [
        EmulatedFederation(issuer=issuer, subject=subject, audience=str(audience))
        for audience in properties.get("audiences") or []
    ]


def find_mismatch(
    principal: EmulatedPrincipal, credentials: Sequence[EmulatedFederation], claims: Mapping[str, Any], now: float
) -> tuple[int, str] | None:
    """Find why no credential matches the claims of a token: code and message, for the first claim that differs. None
    if one matches.
    """
    if not credentials:
        return 70025, f"The client '{principal.client}' has no configured federated identity credentials."
    expiry = claims.get("exp")
    if isinstance(expiry, int | float) and expiry <= now:
        return 700024, "Client assertion is not within its valid time range."
    remaining = list(credentials)
    for code, claim, name in _CLAIMS:
        value = claims.get(claim)
        # `aud` may be a list of audiences (RFC 7519, 4.1.3).
        presented = value if isinstance(value, list) else [value]
        remaining = [credential for credential in remaining if getattr(credential, name) in presented]
        if not remaining:
            shown = " ".join(str(part) for part in presented if part)
            return code, (
                f"No matching federated identity record found for presented assertion {name} '{shown}'. Check "
                "your federated identity credential Subject, Audience and Issuer against the presented assertion. "
                "https://learn.microsoft.com/entra/workload-id/workload-identity-federation"
            )
    return None
