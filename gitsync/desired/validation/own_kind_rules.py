"""The rules of Entra ID for gitsync's own kinds: federated credentials of applications, and assignments of app roles
(https://learn.microsoft.com/graph/api/resources/federatedidentitycredential).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import urlsplit

from gitsync.desired.catalog.own_kinds import ASSIGNMENT, CREDENTIAL
from gitsync.desired.catalog.type_words import quote_scalar
from gitsync.desired.problems.field_path import FieldPath, format_field
from gitsync.desired.problems.finding import Finding
from gitsync.desired.validation.name_rules import find_azure_name, list_name_faults
from gitsync.desired.validation.relations import Member
from gitsync.model.facts import Kind
from gitsync.model.gvk import Key
from gitsync.model.resource import Resource
from gitsync.model.template import ComputedValue

MOST_CREDENTIALS: Final = 20
"""Federated credentials of one application."""

_LONGEST: Final = 600
_LONGEST_SHOWN: Final = 120
_CODE: Final = "FederatedCredential"
_REFERENCE: Final = "PrincipalReference"


def check_own_kind(resource: Resource, kind: Kind) -> Iterator[Finding]:
    """Check the fields of one manifest."""
    if resource.key[:2] == CREDENTIAL:
        yield from _check_credential(resource, kind)
    elif resource.key[:2] == ASSIGNMENT and resource.spec.get("role") == "":
        hint = "Write the value of the app role, such as User.Read.All."
        yield Finding(code=_REFERENCE, path=("spec", "role"), message="spec.role is empty.", hint=hint)


def check_credentials_together(members: Sequence[Member]) -> Iterator[tuple[Member, Finding]]:
    """Check the credentials of each application: how many there are, and that no two trust the same token."""
    by_owner: dict[Key, list[Member]] = defaultdict(list)
    for member in members:
        if member.resource.key[:2] == CREDENTIAL and member.owner and member.owner.key:
            by_owner[member.owner.key].append(member)
    for owner, credentials in by_owner.items():
        trusted: dict[tuple[str, str], str] = {}
        for number, member in enumerate(credentials, start=1):
            resource = member.resource
            if number > MOST_CREDENTIALS:
                message = f"Application/{owner.name} has {len(credentials)} federated credentials, and Entra ID allows "
                hint = "Remove some, or give them to another application."
                yield member, _make_finding(("spec", "owner"), f"{message}{MOST_CREDENTIALS}.", hint)
            # Entra ID refuses a second credential with the same issuer and subject.
            token = str(resource.spec.get("issuer")), str(resource.spec.get("subject"))
            if token in trusted:
                message = f"{trusted[token]} of the same application trusts the same issuer and subject."
                yield member, _make_finding(("spec", "subject"), message, "Remove one of them.")
            trusted.setdefault(token, f"{resource.key.kind}/{resource.key.name}")


def check_assignments_together(members: Sequence[Member]) -> Iterator[tuple[Member, Finding]]:
    """Check that no two manifests declare one assignment: with the removal of one, both would lose it."""
    declared: dict[tuple[object, ...], str] = {}
    for member in (member for member in members if member.resource.key[:2] == ASSIGNMENT):
        resource = member.resource
        values = [resource.spec.get(name) for name in ("principal", "resource", "role")]
        # One that is missing, or names what cannot be found, is reported by itself.
        if any(value is None or (isinstance(value, ComputedValue) and not value.reads) for value in values):
            continue
        # A name that stands for an id is a computed value by now: names with and without namespace read one resource.
        wanted = tuple(value.reads if isinstance(value, ComputedValue) else str(value) for value in values)
        if wanted in declared:
            message = f"{declared[wanted]} assigns the same role to the same principal."
            yield member, Finding(code=_REFERENCE, path=("spec", "role"), message=message, hint="Remove one of them.")
        declared.setdefault(wanted, f"{resource.key.kind}/{resource.key.name}")


def _check_credential(resource: Resource, kind: Kind) -> Iterator[Finding]:
    spec = resource.spec
    yield from _check_name(resource, kind)
    issuer = spec.get("issuer")
    if isinstance(issuer, str) and not _is_https(issuer):
        message = f"spec.issuer must be a URL that begins with https://, but is {quote_scalar(issuer, _LONGEST_SHOWN)}."
        hint = "Write the issuer of the tokens, such as https://token.actions.githubusercontent.com."
        yield _make_finding(("spec", "issuer"), message, hint)
    audiences = spec.get("audiences")
    if isinstance(audiences, list) and len(audiences) != 1:
        message = f"spec.audiences must have one entry, but has {len(audiences)}."
        yield _make_finding(("spec", "audiences"), message, "Declare a credential for each audience.")
    texts: dict[FieldPath, object] = {("spec", name): spec.get(name) for name in ("issuer", "subject", "description")}
    if isinstance(audiences, list):
        texts |= {("spec", "audiences", index): audience for index, audience in enumerate(audiences)}
    for path, text in texts.items():
        if isinstance(text, str) and not (len(text) <= _LONGEST and (text or path[-1] == "description")):
            message = f"{format_field(path)} must have 1 to {_LONGEST} characters, but has {len(text)}."
            yield _make_finding(path, message, "Write the value that the token has.")


def _check_name(resource: Resource, kind: Kind) -> Iterator[Finding]:
    path_and_name = find_azure_name(resource, kind)
    if path_and_name is None:
        return
    path, name = path_and_name
    for fault in list_name_faults(name, kind):
        message = f"{format_field(path)} is the name of the credential and {fault}."
        hint = "Set spec.azureName to a valid name. Entra ID fixes it when it creates the credential."
        yield Finding(code="AzureName", path=path, message=message, hint=hint)


def _is_https(issuer: str) -> bool:
    try:
        parts = urlsplit(issuer)
    except ValueError:
        return False
    return parts.scheme == "https" and bool(parts.hostname)


def _make_finding(path: FieldPath, message: str, hint: str) -> Finding:
    return Finding(code=_CODE, path=path, message=message, hint=hint)
