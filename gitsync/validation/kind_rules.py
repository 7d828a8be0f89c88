"""Rules for single kinds, beyond their constraints (docs/reference/reconciliation.md#validation-rules)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from gitsync.catalog.type_words import quote_scalar
from gitsync.model.facts import Kind
from gitsync.model.resource import Resource
from gitsync.problems.finding import Finding
from gitsync.validation.name_rules import find_azure_name

_MANAGED_DOMAIN = "AzureManagedDomain"


def check_kind_rules(resource: Resource, kind: Kind) -> Iterator[Finding]:
    """Findings of the rules of this kind; none for most kinds."""
    rule = _RULES.get((resource.key.group, resource.key.kind))
    if rule is not None:
        yield from rule(resource, kind)


def _check_domain(resource: Resource, kind: Kind) -> Iterator[Finding]:
    if resource.spec.get("domainManagement") == "AzureManaged":
        yield from _check_azure_name(resource, kind, _MANAGED_DOMAIN, "a domain whose domainManagement is AzureManaged")


def _check_sender(resource: Resource, kind: Kind) -> Iterator[Finding]:
    username = resource.spec.get("username")
    if isinstance(username, str):
        yield from _check_azure_name(resource, kind, username, "a sender with this spec.username")


def _check_azure_name(resource: Resource, kind: Kind, required_name: str, description: str) -> Iterator[Finding]:
    path_and_name = find_azure_name(resource, kind)
    if path_and_name is None or path_and_name[1].casefold() == required_name.casefold():
        return
    path, name = path_and_name
    yield Finding(
        code="AzureName",
        path=path,
        message=f"The name in Azure of {description} must be {quote_scalar(required_name)}, "
        f"but is {quote_scalar(name)}.",
        hint=f"Set spec.azureName to {required_name}.",
    )


_RULES: Final[Mapping[tuple[str, str], Callable[[Resource, Kind], Iterator[Finding]]]] = {
    ("communication.azure.com", "Domain"): _check_domain,
    ("communication.azure.com", "SenderUsername"): _check_sender,
}
