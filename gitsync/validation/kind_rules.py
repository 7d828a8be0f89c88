"""Rules that hold for a single kind, beyond its constraints (docs/reference/reconciliation.md#validation-rules)."""

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


def _domain(resource: Resource, kind: Kind) -> Iterator[Finding]:
    if resource.spec.get("domainManagement") == "AzureManaged":
        yield from _must_be_called(resource, kind, _MANAGED_DOMAIN, "a domain whose domainManagement is AzureManaged")


def _sender(resource: Resource, kind: Kind) -> Iterator[Finding]:
    username = resource.spec.get("username")
    if isinstance(username, str):
        yield from _must_be_called(resource, kind, username, "a sender with this spec.username")


def _must_be_called(resource: Resource, kind: Kind, wanted: str, what: str) -> Iterator[Finding]:
    found = find_azure_name(resource, kind)
    if found is None or found[1].casefold() == wanted.casefold():
        return
    path, name = found
    yield Finding(
        code="AzureName",
        path=path,
        message=f"The name in Azure of {what} must be {quote_scalar(wanted)}, but is {quote_scalar(name)}.",
        hint=f"Set spec.azureName to {wanted}.",
    )


_RULES: Final[Mapping[tuple[str, str], Callable[[Resource, Kind], Iterator[Finding]]]] = {
    ("communication.azure.com", "Domain"): _domain,
    ("communication.azure.com", "SenderUsername"): _sender,
}
