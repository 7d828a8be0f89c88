"""ARM types that an `AzureResource` cannot have, each with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

SCRIPTS: Final = "microsoft.resources/deploymentscripts"
"""The type that needs a consent, in lower case."""


class Refusal(NamedTuple):
    """Why gitsync does not write a type."""

    reason: str
    hint: str  # what to do instead


_DEPLOYMENT: Final = Refusal(
    "a deployment is a list of writes that Azure sends, so gitsync could neither compare nor delete what they make",
    "Declare the resources of its template.",
)
_REFUSED: Final[Mapping[str, Refusal]] = {
    "microsoft.resources/deployments": _DEPLOYMENT,
    "microsoft.resources/deploymentstacks": _DEPLOYMENT,
    "microsoft.resources/deploymentstackswhatifresults": _DEPLOYMENT,
    "microsoft.keyvault/vaults/secrets": Refusal(
        "the records and plans of a resource show its fields, and this one consists of a secret",
        "Write the secret with operatorSpec.secretExpressions of the resource that has it, or with your secret store.",
    ),
}


def find_refusal(arm_type: str) -> Refusal | None:
    """Find why gitsync does not write a type (in any case); None if it does."""
    return _REFUSED.get(arm_type.casefold())
