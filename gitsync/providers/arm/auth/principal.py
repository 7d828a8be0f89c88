"""The identity of a token, read from the token itself, so that a refusal can name it.

The token is not verified: Azure does that, and nothing is decided by what is read here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gitsync.desired.formats.json_members import read_claims, read_text


@dataclass(frozen=True, slots=True)
class Principal:
    """Ids from the token's claims; "" without the claim."""

    tenant: str  # the claim `tid`
    client: str  # the claim `appid` or `azp`
    object: str  # the claim `oid`
    managed: str = ""  # the ARM id of the resource that a managed identity belongs to

    @property
    def tool(self) -> str:
        """The tool that a person signed in with, as far as the client shows it; "" for an application."""
        return _TOOLS.get(self.client, "")

    def __str__(self) -> str:
        ids = {"client": self.client, "object": self.object, "tenant": self.tenant}
        return ", ".join(f"{name} {value}" for name, value in ids.items() if value)


_TOOLS = {
    "04b07795-8ddb-461a-bbee-02f9e1bf7b46": "azure-cli",
    "1950a258-227b-4e31-a9cf-717495945fc2": "azure-powershell",
}
"""Tools that a person signs in with, by their client ids, which are the same in every tenant."""


def describe_principal(principal: Principal | None, method: str) -> str:
    """Describe the signed-in identity and its ids, for people. `method` replaces them without a token."""
    if principal is None:
        return method
    how = principal.tool or ("managed-identity" if principal.managed else method)
    ids = str(replace(principal, client="") if how in _TOOLS.values() else principal)
    return f"{how} ({ids})" if ids else how


def read_principal(token: str) -> Principal | None:
    """Read the claims `tid`, `appid` or `azp`, `oid` and `xms_mirid` of a JWT (RFC 7519); None for anything else."""
    claims = read_claims(token)
    if claims is None:
        return None
    return Principal(
        tenant=read_text(claims, "tid"),
        client=read_text(claims, "appid") or read_text(claims, "azp"),
        object=read_text(claims, "oid"),
        managed=read_text(claims, "xms_mirid"),
    )
