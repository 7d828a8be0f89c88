"""What a person does after a challenge for claims: sign in again with the tool that holds the login.

The claims are Azure's, so only their base64 is shown, which has no character that a shell reads.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from typing import Final

from gitsync.providers.arm.auth.principal import Principal

CODE: Final = "InsufficientClaims"
_LONGEST: Final = 4000  # characters of claims in a command; Azure's have some hundred
_SAFE: Final = re.compile(r"[A-Za-z0-9_.:/-]{1,300}")
_UNSUPPORTED: Final = "support claims challenges"
"""How azure-identity refuses for a tool that a person signs in with."""

_AZ: Final = 'az login --tenant "{tenant}" --scope "{scope}" --claims-challenge "{claims}"'
_POWERSHELL: Final = 'Connect-AzAccount -Tenant "{tenant}" -ClaimsChallenge "{claims}"'
_COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    "azure-cli": (_AZ, "Azure CLI 2.76 or newer"),
    "azure-powershell": (_POWERSHELL, "Az.Accounts 5.2 or newer"),
}
"""By the tool that a person signed in with: what signs in again, and since when
(https://learn.microsoft.com/cli/azure/authenticate-azure-cli-mfa).
"""


def is_of_a_tool(message: str) -> bool:
    """Return whether azure-identity refused a challenge because the login of a tool cannot answer it."""
    return _UNSUPPORTED in message


def describe_challenge(principal: Principal | None) -> str:
    """Describe a challenge that the login of a tool cannot answer."""
    who = f"The identity ({principal})" if principal and str(principal) else "The identity"
    return (
        f"{who} needs a stronger sign-in for this request, such as multifactor authentication: Azure requires "
        "more claims than its token has. Nothing was written."
    )


def advise_on_challenge(claims: str, scope: str, principal: Principal | None) -> str:
    """Return advice for a challenge that the login of a tool cannot answer. `claims` are JSON; `principal` is that of
    the token before it, None if it is not known.
    """
    tool = principal.tool if principal else "azure-cli"
    if tool not in _COMMANDS:
        return (
            "Set --credential to the method of this application, such as workload-identity: gitsync then answers the "
            "challenge itself, which the login of a tool cannot."
        )
    # People paste the command, so it has no value that a shell could read as more than a word.
    if len(claims) > _LONGEST or not _SAFE.fullmatch(scope):
        return "Sign in again with `az login`, and with multifactor authentication."
    form, needs = _COMMANDS[tool]
    tenant = principal.tenant if principal and _SAFE.fullmatch(principal.tenant) else "TENANT"
    encoded = base64.b64encode(claims.encode()).decode()
    return f"Run `{form.format(tenant=tenant, scope=scope, claims=encoded)}` ({needs}), then run gitsync again."
