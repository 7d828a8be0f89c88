"""The check `names` for Entra ID: what a deleted application holds of an application or a service principal that would
be created (docs/checks.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from gitsync.agent.checks.check_requests import CheckRequests, Unanswered, shorten_text
from gitsync.desired.formats.name_list import name_first
from gitsync.model.check import CheckFinding, CheckName, CheckVerdict, Findings, PlannedChange
from gitsync.providers.entra.deleted_applications import DeletedApplication

HELD: Final = "HeldByDeletedApplication"

_APPLICATION, _PRINCIPAL = "microsoft.graph/applications", "microsoft.graph/serviceprincipals"
TYPES: Final = frozenset({_APPLICATION, _PRINCIPAL})
_MOST_URIS: Final = 5

_make = partial(CheckFinding, check=CheckName.NAMES)


async def check_directory_names(changes: Sequence[PlannedChange], requests: CheckRequests) -> Findings:
    """Look for what deleted applications hold of each change: one list for all."""
    looked = [change for change in changes if change.creates or _list_new_uris(change)]
    if not looked:
        return []
    deleted = await requests.list_deleted_applications()
    if isinstance(deleted, Unanswered):
        gap = _make(
            verdict=CheckVerdict.NOT_CHECKED,
            code=deleted.code,
            message=f"The deleted applications cannot be listed: {deleted.reason}",
            advice=deleted.error.hint,
        )
        return [(change.key, gap) for change in looked]
    return [(change.key, finding) for change in looked for finding in evaluate(change, deleted)]


def evaluate(change: PlannedChange, deleted: Sequence[DeletedApplication]) -> list[CheckFinding]:
    """Return what deleted applications mean for a change."""
    find = _find_held if change.arm_type.casefold() == _APPLICATION else _find_backing
    return [*find(change, deleted)] or [_make(verdict=CheckVerdict.FINE)]


def _find_held(change: PlannedChange, deleted: Sequence[DeletedApplication]) -> Iterator[CheckFinding]:
    """Find the deleted applications that hold a URI of an application, or else have its name."""
    name = (change.body or {}).get("displayName")
    new = {uri.casefold(): uri for uri in _list_new_uris(change)}
    for application in deleted:
        held = [new[uri.casefold()] for uri in application.uris if uri.casefold() in new]
        is_named = isinstance(name, str) and name.casefold() == application.display_name.casefold()
        what = _describe(application)
        if held:
            message = f"{what} holds the identifier URI {name_first(held, _MOST_URIS)}{_until(application)}."
            declared = f"declare it as {shorten_text(application.display_name)!r}, and gitsync adopts it"
            then = "gitsync adopts it" if is_named else declared
            yield _make(
                verdict=CheckVerdict.REFUSED,
                code=HELD,
                message=message,
                advice=_advise(application, then if change.creates else "", "Otherwise choose another URI."),
                path="/identifierUris",
            )
        elif is_named and change.creates:
            yield _make(
                verdict=CheckVerdict.WARNING,
                code=HELD,
                message=f"{what} has this displayName{_until(application)}. The create makes another application, with "
                "another client id.",
                advice=_advise(application, "gitsync adopts it", ""),
                path="/displayName",
            )


def _find_backing(change: PlannedChange, deleted: Sequence[DeletedApplication]) -> Iterator[CheckFinding]:
    """Find the deleted application of a service principal: Graph creates none for it."""
    app_id = (change.body or {}).get("appId")
    for application in deleted:
        if isinstance(app_id, str) and application.app_id.casefold() == app_id.casefold():
            yield _make(
                verdict=CheckVerdict.REFUSED,
                code=HELD,
                message=f"{_describe(application)} holds the appId {application.app_id}{_until(application)}.",
                advice=_advise(application, "", "Otherwise set the appId of another application."),
                path="/appId",
            )


def _list_new_uris(change: PlannedChange) -> list[str]:
    """List the URIs that an application gets by a change."""
    if change.arm_type.casefold() != _APPLICATION or change.deletes:
        return []
    # Only a new URI can collide: Graph has accepted those that the application has.
    before = {uri.casefold() for uri in _list_uris(change.live_body)}
    return [uri for uri in _list_uris(change.body) if uri.casefold() not in before]


def _list_uris(body: Mapping[str, Any] | None) -> list[str]:
    uris = (body or {}).get("identifierUris")
    return [uri for uri in uris if isinstance(uri, str)] if isinstance(uris, list) else []


def _describe(application: DeletedApplication) -> str:
    return f"The deleted application {shorten_text(application.display_name)!r} ({application.object_id})"


def _until(application: DeletedApplication) -> str:
    return f" until {application.kept_until}" if application.kept_until else ""


def _advise(application: DeletedApplication, then: str, otherwise: str) -> str:
    """The options: restore it, delete it permanently, or another value. `then` is what follows a restore."""
    ways = (
        f"To restore it with its client id, run `{application.restore}`{f': {then}' if then else ''}.",
        f"To delete it permanently, run `{application.purge}`.",
        otherwise,
    )
    return " ".join(filter(None, ways))
