"""An application in the words of a manifest and in those of Microsoft Graph, which are the same: a table of the fields
has what differs, the value that stands for none.

A field counts if git states it, or if git gave it up after gitsync had sent it. ASO sends each field in each pass, so
it also empties what was never in git.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from gitsync.model.live import Live
from gitsync.providers.entra.directory_kind import GUID, Body, DirectoryKind, GraphObject, Names, list_name_searches


class _Field(NamedTuple):
    path: tuple[str, ...]
    type: type
    none: Any  # the value of a new application without the field, which a PATCH sends to remove another
    spellings: tuple[str, ...] = ("",)  # further texts for none


_FIELDS: Final = (
    _Field(("description",), str, None),
    _Field(("signInAudience",), str, "AzureADMyOrg"),
    _Field(("identifierUris",), list, []),
    _Field(("web", "redirectUris"), list, []),
    _Field(("web", "implicitGrantSettings", "enableIdTokenIssuance"), bool, False),
    _Field(("web", "implicitGrantSettings", "enableAccessTokenIssuance"), bool, False),
    _Field(("spa", "redirectUris"), list, []),
    _Field(("publicClient", "redirectUris"), list, []),
    _Field(("tags",), list, []),
    _Field(("isFallbackPublicClient",), bool, None),
    _Field(("groupMembershipClaims",), str, None, ("", "None")),
)
"""All but displayName, which no application lacks."""

_NAME: Final = ("displayName",)
_APP_ID: Final = "appId"


def show_application(application: GraphObject, wanted: Body) -> Live:
    """Show an application with its ids."""
    body: dict[str, Any] = {"id": application["id"], _APP_ID: application.get(_APP_ID)}
    _put(body, _NAME, application.get("displayName"))
    for field in _FIELDS:
        stated, live = _find(wanted, field.path), _find(application, field.path)
        if stated is not None and _is_same(field, stated, live):
            _put(body, field.path, stated)
        # A field without a value is shown only if git states it, as git writes it.
        elif not _is_same(field, field.none, live) or stated is not None:
            _put(body, field.path, live)
    return Live(body=body)


def make_create(body: Body) -> dict[str, Any]:
    """Make the body of the POST that creates an application."""
    created = {"displayName": body.get("displayName")}
    for field in _FIELDS:
        stated = _normalize(field, _find(body, field.path))
        if stated is not None and _find(body, field.path) is not None:  # Graph takes no empty text
            _put(created, field.path, stated)
    return created


def compute_changes(body: Body, application: GraphObject, applied: Body | None) -> dict[str, Any]:
    """Compute what a PATCH has to send."""
    changes: dict[str, Any] = {}
    if "displayName" in body and body["displayName"] != application.get("displayName"):
        _put(changes, _NAME, body["displayName"])
    # A PATCH merges objects such as `web`, and replaces lists.
    for field in _FIELDS:
        stated, live = _find(body, field.path), _find(application, field.path)
        is_given_up = stated is None and applied is not None and _find(applied, field.path) is not None
        if (stated is not None or is_given_up) and not _is_same(field, stated, live):
            _put(changes, field.path, _normalize(field, stated))
    return changes


def _is_same(field: _Field, left: Any, right: Any) -> bool:
    """Return whether two values are one to Graph, which keeps lists in an order of its own."""
    left, right = _normalize(field, left), _normalize(field, right)
    if isinstance(left, list) and isinstance(right, list):
        return sorted(left, key=str) == sorted(right, key=str)
    return bool(left == right)


def _normalize(field: _Field, value: Any) -> Any:
    """Return a value in one spelling: Graph has several for none."""
    is_false = field.type is bool and value is False
    return field.none if value is None or value in field.spellings or (is_false and field.none is None) else value


def _find(body: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        body = body.get(step) if isinstance(body, Mapping) else None
    return body


def _put(body: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    *parents, last = path
    for step in parents:
        body = body.setdefault(step, {})
    body[last] = value


def _find_fault(application: GraphObject) -> str:
    app_id = application.get(_APP_ID)
    if not isinstance(app_id, str) or not GUID.fullmatch(app_id):
        return "it has no appId"
    for field in _FIELDS:
        value = _find(application, field.path)
        is_valid = isinstance(value, field.type | None)
        if not is_valid or (field.type is list and not all(isinstance(entry, str) for entry in value or ())):
            return f"its {'.'.join(field.path)} is not a {_TYPE_NAMES[field.type]}"
    return ""


_TYPE_NAMES: Final = {bool: "boolean", list: "list of strings", str: "string"}


def _explain_denied_write(_application: GraphObject | None) -> str:
    return (
        "{identity} is missing the application permission Application.ReadWrite.OwnedBy of Microsoft Graph, or does "
        "not own the application: grant it, with the consent of an administrator. To change an application that "
        "gitsync did not create, make it an owner, or grant Application.ReadWrite.All instead."
    )


APPLICATION: Final = DirectoryKind(
    names=Names(
        one="application",
        several="applications",
        if_several="Rename or delete all but one of them, or give the manifest a unique displayName. "
        "Set operatorSpec.creationMode to AlwaysCreate to create another application of that name.",
        ambiguous="AmbiguousApplication",
        malformed="MalformedApplication",
        in_use="ApplicationInUse",
    ),
    collection="/v1.0/applications",
    list_searches=list_name_searches,
    is_meant=lambda _application: True,
    find_fault=_find_fault,
    show=show_application,
    make_create=make_create,
    refuse_create=lambda _body: None,
    refuse_match=lambda _body, _application: None,
    may_be_late=lambda _error: False,
    compute_changes=compute_changes,
    compute_fixed_changes=lambda _body, _application: {},
    read_permission="Application.Read.All",
    explain_denied_write=_explain_denied_write,
)
