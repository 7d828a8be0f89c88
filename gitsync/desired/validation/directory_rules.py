"""The rules of Microsoft Graph for what is in Entra ID: lengths, names and URIs
(https://learn.microsoft.com/entra/identity-platform/supported-accounts-validation,
https://learn.microsoft.com/entra/identity-platform/reply-url).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from gitsync.desired.catalog.type_words import format_short_key, quote_scalar
from gitsync.desired.manifests.creation_mode import ALWAYS_CREATE, ENTRA_GROUP, read_creation_mode
from gitsync.desired.problems.field_path import FieldPath, find_member, format_field
from gitsync.desired.problems.finding import Finding
from gitsync.desired.validation.relations import Member
from gitsync.model.facts import Kind
from gitsync.model.problem import Level
from gitsync.model.resource import Resource

_DISPLAY_NAME, _NICKNAME, _DESCRIPTION = 256, 64, 1024
_NOT_IN_NICKNAMES: Final = re.compile(r'[^\x21-\x7e]|[@()\\\[\]";:<>,]')
_DYNAMIC: Final[Mapping[str, str]] = {"enabled": "assigned", "enabledm365": "assignedm365"}

_URI_CODE: Final = "InvalidUri"

_PERSONAL: Final = frozenset({"AzureADandPersonalMicrosoftAccount", "PersonalMicrosoftAccount"})
"""Values of signInAudience with lower limits."""

_URI, _PERSONAL_URI, _PERSONAL_URIS = 255, 120, 50
_REDIRECT, _REDIRECTS, _PERSONAL_REDIRECTS = 256, 256, 100
_TAG: Final = 256
_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_CLAIMS: Final = ("All", "ApplicationGroup", "DirectoryRole", "SecurityGroup")
_PLATFORMS: Final = ("web", "spa", "publicClient")


def check_directory_object(resource: Resource, kind: Kind) -> Iterator[Finding]:
    """Check the rules of an Entra ID kind."""
    rule = _RULES.get(kind.gvk.kind)
    if rule is not None:
        yield from rule(resource.spec)


def check_names_together(members: Sequence[Member]) -> Iterator[tuple[Member, Finding]]:
    """Warn of manifests that may adopt the same object. Once each has an object of its own, they may share a name, and
    what the records have is not known here.
    """
    first: dict[tuple[str, str, str], Member] = {}
    for member in members:
        spec = member.resource.spec
        if member.key.group != ENTRA_GROUP or not member.is_written or read_creation_mode(spec) == ALWAYS_CREATE:
            continue
        field = _find_naming_field(member.key.kind, spec)
        name = spec.get(field)
        # An appId that is read from an application is not known yet.
        if not isinstance(name, str):
            continue
        # A subscription has one tenant. Without one, namespaces may have credentials of several.
        tenant = member.subscription or member.key.namespace
        other = first.setdefault((tenant, member.key.kind, name.casefold()), member)
        if other is not member:
            yield member, _make_shared_name(field, name, other.resource)


def _find_naming_field(kind: str, spec: Mapping[str, Any]) -> str:
    """Find the field by which an object is looked up."""
    return "appId" if kind == "ServicePrincipal" and "appId" in spec else "displayName"


def _make_shared_name(field: str, name: str, other: Resource) -> Finding:
    return Finding(
        code="MayAdoptTheSame",
        path=("spec", field),
        message=f"{format_short_key(other.key)} ({other.source}) has the {field} {quote_scalar(name)} too: only one of "
        "them can adopt or create that object.",
        hint="Remove one of them, or write another name."
        if field == "appId"
        else f"Write another name, or set operatorSpec.creationMode to {ALWAYS_CREATE}.",
        level=Level.WARNING,
    )


def _check_group(spec: Mapping[str, Any]) -> Iterator[Finding]:
    yield from _check_display_name(spec)
    nickname = spec.get("mailNickname")
    if isinstance(nickname, str) and (not 0 < len(nickname) <= _NICKNAME or _NOT_IN_NICKNAMES.search(nickname)):
        yield Finding(
            code="AzureName",
            path=("spec", "mailNickname"),
            message=f"spec.mailNickname must be 1 to {_NICKNAME} characters that an address may have before its @, but "
            f"is {quote_scalar(nickname)}.",
            hint="Leave out @ and what is after it." if "@" in nickname else "Use letters, digits, - and _.",
        )
    membership = spec.get("membershipType")
    if isinstance(membership, str) and membership in _DYNAMIC:
        yield Finding(
            code="NoEffect",
            path=("spec", "membershipType"),
            message=f"{membership} makes a group of assigned members: no field can state the rule of a dynamic group.",
            hint=f"Use {_DYNAMIC[membership]}.",
            level=Level.WARNING,
        )


def _check_application(spec: Mapping[str, Any]) -> Iterator[Finding]:
    yield from _check_display_name(spec)
    yield from _check_length(("spec", "description"), spec.get("description"), _DESCRIPTION, least=0)
    audience = spec.get("signInAudience")
    is_personal = isinstance(audience, str) and audience in _PERSONAL
    yield from _check_identifiers(spec, is_personal=is_personal)
    for at, tag in _list_texts(spec, "tags"):
        yield from _check_length(at, tag, _TAG)
        if re.search(r"\s", tag):
            yield _make_fault("PatternMismatch", at, "must have no blanks", tag)
    yield from _check_redirects(spec, is_personal=is_personal)
    claims = spec.get("groupMembershipClaims")
    if isinstance(claims, str) and not {claim.strip() for claim in claims.split(",")} <= {*_CLAIMS, "None", ""}:
        fault = f"must be {', '.join(_CLAIMS[:-1])} or {_CLAIMS[-1]}, or be left out"
        yield _make_fault("UnknownValue", ("spec", "groupMembershipClaims"), fault, claims)


def _check_principal(spec: Mapping[str, Any]) -> Iterator[Finding]:
    yield from _check_length(("spec", "displayName"), spec.get("displayName"), _DISPLAY_NAME, least=0)
    if spec.get("appId") is None and spec.get("displayName") is None:
        yield Finding(
            code="MissingField",
            path=("spec",),
            message="spec must have appId or displayName.",
            hint="Set appId to the client id of the application. Without it, no service principal is created.",
        )


def _check_display_name(spec: Mapping[str, Any]) -> Iterator[Finding]:
    name = spec.get("displayName")
    if isinstance(name, str) and not 0 < len(name) <= _DISPLAY_NAME:
        yield Finding(
            code="AzureName",
            path=("spec", "displayName"),
            message=f"spec.displayName must have 1 to {_DISPLAY_NAME} characters, but has {len(name)}.",
            hint="Choose another name.",
        )


def _check_identifiers(spec: Mapping[str, Any], *, is_personal: bool) -> Iterator[Finding]:
    uris = list(_list_texts(spec, "identifierUris"))
    yield from _check_repeats(uris)
    for at, uri in uris:
        yield from _check_length(at, uri, _PERSONAL_URI if is_personal else _URI)
        if fault := _find_identifier_fault(uri, is_personal=is_personal):
            yield _make_fault(_URI_CODE, at, fault, uri)
    if is_personal and len(uris) > _PERSONAL_URIS:
        yield _make_count_error(("spec", "identifierUris"), _PERSONAL_URIS, len(uris))


def _find_identifier_fault(uri: str, *, is_personal: bool) -> str:
    parts = _split(uri)
    if parts is None or not (parts.netloc or parts.path):
        return "must be a URI such as api://shop"
    if "*" in uri:
        return "must not have the wildcard *"
    if is_personal and (parts.scheme.casefold() == "urn" or parts.query or parts.fragment):
        return "must not be a urn, nor have a query or a fragment, for personal Microsoft accounts"
    return ""


def _check_redirects(spec: Mapping[str, Any], *, is_personal: bool) -> Iterator[Finding]:
    count, most = 0, _PERSONAL_REDIRECTS if is_personal else _REDIRECTS
    for platform in _PLATFORMS:
        uris = list(_list_texts(spec, platform, "redirectUris"))
        yield from _check_repeats(uris)
        count += len(uris)
        for at, uri in uris:
            yield from _check_length(at, uri, _REDIRECT)
            if fault := _find_redirect_fault(uri, is_public=platform == "publicClient"):
                yield _make_fault(_URI_CODE, at, fault, uri)
    if count > most:
        yield _make_count_error(("spec",), most, count, " in redirectUris of web, spa and publicClient")


def _find_redirect_fault(uri: str, *, is_public: bool) -> str:
    parts = _split(uri)
    if parts is None:
        return "must be a URI such as https://shop.example.com/signin"
    # The parts do not show an empty fragment.
    if parts.fragment or uri.endswith("#"):
        return "must not have a fragment"
    scheme = parts.scheme.casefold()
    # A public client may have a scheme of its own, by which a device finds the app.
    if not is_public and scheme != "https" and not (scheme == "http" and parts.hostname in _LOCAL):
        return "must begin with https://, or with http://localhost"
    return "must name a host" if scheme in {"http", "https"} and not parts.hostname else ""


def _split(uri: str) -> SplitResult | None:
    """Split a URI; None if it is not absolute."""
    try:
        parts = urlsplit(uri)
        _ = parts.port  # it may be malformed
    except ValueError:
        return None
    return parts if parts.scheme and not re.search(r"[\s\x00-\x1f\x7f]", uri) else None


def _list_texts(spec: Mapping[str, Any], *path: str) -> Iterator[tuple[FieldPath, str]]:
    entries = find_member(spec, *path)
    for index, entry in enumerate(entries) if isinstance(entries, list) else ():
        if isinstance(entry, str):
            yield ("spec", *path, index), entry


def _check_repeats(uris: list[tuple[FieldPath, str]]) -> Iterator[Finding]:
    seen: dict[str, FieldPath] = {}
    for at, uri in uris:
        if (first := seen.setdefault(uri, at)) is not at:
            yield _make_fault(_URI_CODE, at, f"must not repeat {format_field(first)}", uri)


def _check_length(at: FieldPath, text: Any, most: int, *, least: int = 1) -> Iterator[Finding]:
    if isinstance(text, str) and not least <= len(text) <= most:
        span = f"{least} to {most}" if least else f"at most {most}"
        yield Finding(
            code="WrongLength",
            path=at,
            message=f"{format_field(at)} must have {span} characters, but has {len(text)}.",
        )


def _make_count_error(at: FieldPath, most: int, count: int, where: str = "") -> Finding:
    message = f"{format_field(at)} must have at most {most} items{where}, but has {count}."
    return Finding(code="WrongItemCount", path=at, message=message)


def _make_fault(code: str, at: FieldPath, fault: str, value: str) -> Finding:
    message = f"{format_field(at)} {fault}, but is {quote_scalar(value)}."
    return Finding(code=code, path=at, message=message, hint="Correct the URI." if code == _URI_CODE else "")


_RULES: Final[Mapping[str, Callable[[Mapping[str, Any]], Iterator[Finding]]]] = {
    "Application": _check_application,
    "SecurityGroup": _check_group,
    "ServicePrincipal": _check_principal,
}
