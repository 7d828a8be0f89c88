"""A service principal in the words of a manifest and in those of Microsoft Graph: the instance of an application in the
tenant, which has the object id that role assignments name.
"""

from __future__ import annotations

from typing import Any, Final

from gitsync.errors import ArmError
from gitsync.model.live import Live
from gitsync.providers.entra.directory_kind import (
    GUID,
    Body,
    DirectoryKind,
    GraphObject,
    GraphRefusal,
    Names,
    ObjectSearch,
    list_name_searches,
)

_NO_APPLICATION: Final = "NoBackingApplicationObject"
_NO_APPLICATION_TEXTS: Final = (
    "does not reference a valid application object",
    "the backing application of the service principal being created must",
)


def show_principal(principal: GraphObject, wanted: Body) -> Live:
    """Show a principal with its id."""
    app_id, stated = str(principal["appId"]), wanted.get("appId")
    is_same = isinstance(stated, str) and stated.casefold() == app_id.casefold()
    # A displayName that git does not state is not git's.
    name = {"displayName": principal.get("displayName")} if "displayName" in wanted else {}
    return Live(body={"id": principal["id"], "appId": stated if is_same else app_id, **name})


def make_create(body: Body) -> dict[str, Any]:
    """Make the body of the POST that creates a principal."""
    return {name: body[name] for name in ("appId", "displayName") if body.get(name)}


def compute_changes(body: Body, principal: GraphObject, _applied: Body | None) -> dict[str, Any]:
    """Compute what a PATCH has to send: only a displayName."""
    name = body.get("displayName")
    # A displayName that git gave up stays, since no principal lacks one.
    return {"displayName": name} if name and name != principal.get("displayName") else {}


def _compute_fixed_changes(body: Body, principal: GraphObject) -> dict[str, tuple[Any, Any]]:
    live = show_principal(principal, body).body["appId"]
    return {"appId": (live, body["appId"])} if "appId" in body and body["appId"] != live else {}


def _list_searches(body: Body) -> tuple[ObjectSearch, ...]:
    """Search by appId first, since the displayName may have changed."""
    app_id = body.get("appId")
    if app_id is not None and not isinstance(app_id, str):
        # While the appId is unknown in a plan, an object that has the name may be another one.
        return ()
    return (*((ObjectSearch("appId", app_id),) if app_id else ()), *list_name_searches(body))


def _refuse_create(body: Body) -> GraphRefusal | None:
    if body.get("appId"):
        return None
    return GraphRefusal(
        f"No service principal has the displayName {body.get('displayName')!r}, and without appId none can be created.",
        "Set spec.appId to the client id of the application, or correct displayName.",
        "ServicePrincipalNotFound",
    )


def _refuse_match(body: Body, principal: GraphObject) -> GraphRefusal | None:
    """Refuse a principal that has the displayName of a body and another appId."""
    app_id = body.get("appId")
    if not isinstance(app_id, str) or app_id.casefold() == str(principal["appId"]).casefold():
        return None
    return GraphRefusal(
        f"The service principal {principal['id']} has the displayName {body.get('displayName')!r} and the appId "
        f"{principal['appId']}, and git states {app_id}.",
        "Correct spec.appId, or give the manifest another displayName.",
        "ServicePrincipalMismatch",
    )


def _may_be_late(error: ArmError) -> bool:
    """Return whether Graph does not have the application of a principal, or not yet."""
    codes = {detail.get("code") for detail in error.details}
    return _NO_APPLICATION in codes or any(text in error.message for text in _NO_APPLICATION_TEXTS)


def _find_fault(principal: GraphObject) -> str:
    app_id = principal.get("appId")
    return "" if isinstance(app_id, str) and GUID.fullmatch(app_id) else "it has no appId"


def _explain_denied_write(_principal: GraphObject | None) -> str:
    return (
        "{identity} is missing the application permission Application.ReadWrite.OwnedBy of Microsoft Graph, or does "
        "not own the service principal: grant it, with the consent of an administrator. To change a principal that "
        "gitsync did not create, make it an owner, or grant Application.ReadWrite.All instead."
    )


SERVICE_PRINCIPAL: Final = DirectoryKind(
    names=Names(
        one="service principal",
        several="service principals",
        if_several="Set spec.appId to the client id of the application, which identifies its service principal.",
        ambiguous="AmbiguousServicePrincipal",
        malformed="MalformedServicePrincipal",
        in_use="ServicePrincipalInUse",
        if_in_use="Keep one of the manifests, or give each of them the appId of another application.",
    ),
    collection="/v1.0/servicePrincipals",
    list_searches=_list_searches,
    is_meant=lambda _principal: True,
    find_fault=_find_fault,
    show=show_principal,
    make_create=make_create,
    refuse_create=_refuse_create,
    refuse_match=_refuse_match,
    may_be_late=_may_be_late,
    compute_changes=compute_changes,
    compute_fixed_changes=_compute_fixed_changes,
    read_permission="Application.Read.All",
    explain_denied_write=_explain_denied_write,
)
