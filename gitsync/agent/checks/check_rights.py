"""The paths of each check's requests, so that a role can allow them. They come from the tables that the checks use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from gitsync.agent.checks.names import AVAILABILITIES, COSMOS, SOFT_DELETES, has_label
from gitsync.agent.checks.quota import KINDS
from gitsync.desired.formats.arm_path import choose_deployment_scope, read_provider
from gitsync.model.check import CheckName, PlannedChange


def list_request_paths(name: CheckName, change: PlannedChange) -> list[str]:
    """List the paths that a check may read, or POST to, about a change to a resource in a subscription. Preflight has
    none: Azure does not name the right to it, and a Reader has it.
    """
    find = _REQUEST_PATHS.get(name)
    return list(find(f"/subscriptions/{change.arm_id.subscription}", change)) if find else []


def _list_policies(_subscription: str, change: PlannedChange) -> Iterator[str]:
    for path in (
        "Microsoft.Authorization/policyAssignments",
        "Microsoft.Authorization/policyExemptions",
        "Microsoft.PolicyInsights/checkPolicyRestrictions",
    ):
        yield f"{choose_deployment_scope(change.arm_id)}/providers/{path}"


def _list_names(subscription: str, change: PlannedChange) -> Iterator[str]:
    arm_type, providers = change.arm_type.casefold(), f"{subscription}/providers"
    if arm_type in SOFT_DELETES:
        yield f"{providers}/{SOFT_DELETES[arm_type].list}"
    if arm_type in AVAILABILITIES:
        yield f"{providers}/{AVAILABILITIES[arm_type].path}"
    if arm_type == COSMOS:
        yield "/providers/Microsoft.DocumentDB/databaseAccountNames"
    if has_label(change):
        yield f"{providers}/Microsoft.Network/locations/<...>/checkDnsNameAvailability"


def _list_limits(subscription: str, change: PlannedChange) -> Iterator[str]:
    kind, providers = KINDS.get(change.arm_type.casefold()), f"{subscription}/providers"
    if kind is None:
        return
    namespaces = {limit.provider for limit in kind.count({})}
    if kind.find_machines:
        namespaces.add("Microsoft.Compute")
        yield f"{providers}/Microsoft.Compute/skus"
    for namespace in sorted(namespaces):
        yield f"{providers}/{namespace}/locations/<...>/usages"


_REQUEST_PATHS: Final[Mapping[CheckName, Callable[[str, PlannedChange], Iterator[str]]]] = {
    CheckName.POLICY: _list_policies,
    CheckName.NAMES: _list_names,
    CheckName.LOCKS: lambda subscription, _change: iter(
        (
            f"{subscription}/providers/Microsoft.Authorization/locks",
            f"{subscription}/providers/Microsoft.Authorization/denyAssignments",
        )
    ),
    CheckName.QUOTA: _list_limits,
    CheckName.VERSIONS: lambda subscription, change: iter(
        (f"{subscription}/providers/{read_provider(change.arm_id)}",)
    ),
}
