"""Reads the violations of Azure Policy in a refusal, and whether a policy token would satisfy them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gitsync.desired.formats.json_members import as_mapping, read_mapping

POLICY_REFUSAL: Final = "RequestDisallowedByPolicy"
"""The code of a write that Azure Policy refuses."""


@dataclass(frozen=True, slots=True)
class TokenDemand:
    """A policy that is evaluated outside Azure Resource Manager ("invoke") refuses a write without a policy token."""

    needs_change_reference: bool  # a token is issued only with the reference of the change


def read_token_demand(infos: Iterable[Mapping[str, Any]]) -> TokenDemand | None:
    """Read what violations (`additionalInfo[].info`) demand; None if no policy refuses for the lack of a token."""
    demands = [details for info in infos for details in _list_details(info)]
    if not demands:
        return None
    return TokenDemand(any(details.get("isChangeReferenceRequired") is True for details in demands))


def list_violations(additions: object) -> list[Mapping[str, Any]]:
    """List the violations in the `additionalInfo` of an error."""
    entries = additions if isinstance(additions, list) else []
    return [info for entry in entries if (info := read_mapping(entry, "info"))]


def _list_details(info: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    # Microsoft's SDK for Java expects the details beside `evaluationDetails` too.
    for holder in (read_mapping(info, "evaluationDetails"), info):
        if missing := holder.get("missingPolicyTokenDetails"):
            details = [as_mapping(each) for each in (missing if isinstance(missing, list) else [missing])]
            # Without `shouldDeny` the policy only audits that the token is missing.
            return [each for each in details if each and each.get("shouldDeny") is not False]
    return ()
