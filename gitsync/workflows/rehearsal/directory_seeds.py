"""Objects of Entra ID as the emulator's directory has them: at the path of Microsoft Graph, and with its values.

They are in the tenant, so an empty subscription has them too. No record has the client id of an application, but those
of its service principals do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

from gitsync.desired.catalog.directory_relations import RELATIONS
from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import Key
from gitsync.model.record import Record
from gitsync.providers.entra.application_conversion import APPLICATION
from gitsync.providers.entra.directory_kind import GUID, DirectoryKind
from gitsync.providers.entra.directory_kinds import KINDS
from gitsync.providers.entra.part_access import GivenId
from gitsync.providers.entra.part_requests import APPLICATIONS, ASSIGNED, CREDENTIALS, PRINCIPALS

_APP_ID: Final = "appId"
_BY_TYPE: Final[Mapping[str, DirectoryKind]] = {
    f"microsoft.graph/{kind.collection.rpartition('/')[2]}".casefold(): kind for kind in KINDS.values()
}
"""By the type of gitsync's own ids, in lower case."""


_PARTS: Final[Mapping[str, str]] = {
    "microsoft.graph/applications/federatedidentitycredentials": f"{APPLICATIONS}/{{given.object_id}}/{CREDENTIALS}/"
    "{name}",
    "microsoft.graph/approleassignments": f"{PRINCIPALS}/{{given.object_id}}/{ASSIGNED}/{{given.part_id}}",
}
"""The paths of what is below an object, by type likewise. Microsoft Graph takes the name of a credential as its id."""


def is_in_directory(arm_id: ArmId) -> bool:
    return arm_id.arm_type.casefold() in {*_BY_TYPE, *_PARTS}


def locate_object(record: Record) -> ArmId | None:
    """Return the path of a recorded object in Microsoft Graph; None for any other resource."""
    if path := _PARTS.get(record.arm_id.arm_type.casefold()):
        given = GivenId.parse(record.kept.given_id)
        return ArmId(path.format(given=given, name=record.arm_id.name)) if given.part_id else None
    kind = _BY_TYPE.get(record.arm_id.arm_type.casefold())
    return ArmId(f"{kind.collection}/{record.kept.given_id}") if kind and record.kept.given_id else None


def convert_seeds(
    seeds: Iterable[tuple[ArmId, Mapping[str, Any]]], records: Mapping[Key, Record]
) -> Iterator[tuple[ArmId, Mapping[str, Any]]]:
    """Yield the seeds with those of Entra ID as Microsoft Graph has them; a made-up id stands for one that no record
    has.
    """
    given_ids = {record.arm_id.key: record.kept.given_id for record in records.values() if record.kept.given_id}
    app_ids = _collect_app_ids(records)
    known = list(seeds)
    roles = _collect_roles(known)
    for arm_id, body in known:
        if path := _PARTS.get(arm_id.arm_type.casefold()):
            given = GivenId.parse(given_ids.get(arm_id.key, ""))
            if given.part_id:
                yield ArmId(path.format(given=given, name=arm_id.name)), _convert_part(body)
            continue
        kind = _BY_TYPE.get(arm_id.arm_type.casefold())
        if kind is None:
            yield arm_id, body
            continue
        object_id = given_ids.get(arm_id.key) or _make_up(arm_id)
        app_id = app_ids.get(arm_id.key) if kind is APPLICATION else body.get(_APP_ID) or _make_up(f"{arm_id}#appId")
        is_group = "mailNickname" in body
        own = {"displayName": arm_id.name} if "displayName" not in body else {}
        ids = {} if is_group or app_id is None else {_APP_ID: app_id}
        yield (
            ArmId(f"{kind.collection}/{object_id}"),
            {
                **own,
                **kind.make_create(body),
                **ids,
                **_convert_links(body),
                **({"appRoles": roles[object_id]} if object_id in roles else {}),
            },
        )


def _convert_part(body: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the body of a federated credential, or of the assignment of an app role."""
    if "role" in body:
        ids = {name: body.get(name) for name in ("principalId", "resourceId")}
        return {**ids, "appRoleId": _make_role_id(body["role"])}
    return {name: body[name] for name in ("issuer", "subject", "audiences", "description") if body.get(name)}


def _convert_links(body: Mapping[str, Any]) -> dict[str, list[str]]:
    """Convert members and owners."""
    return {
        relation.name: sorted({str(linked) for name in names for linked in body[name].values()})
        for relation in RELATIONS.values()
        if (names := [name for name in (relation.complete, relation.added) if isinstance(body.get(name), Mapping)])
    }


def _collect_roles(seeds: Iterable[tuple[ArmId, Mapping[str, Any]]]) -> dict[str, list[dict[str, str]]]:
    """Collect the app roles that assignments name, by the object id of the principal that has them."""
    found: dict[str, set[str]] = {}
    for _, body in seeds:
        if isinstance(body.get("role"), str) and isinstance(body.get("resourceId"), str):
            found.setdefault(body["resourceId"], set()).add(body["role"])
    return {
        object_id: [{"id": _make_role_id(role), "value": role} for role in sorted(names)]
        for object_id, names in found.items()
    }


def _make_role_id(role: str) -> str:
    return role if GUID.fullmatch(role) else _make_up(f"app role {role}")


def _collect_app_ids(records: Mapping[Key, Record]) -> dict[str, str]:
    """Collect the client ids of applications, by their ids: those that a service principal which needs it was sent."""
    found: dict[str, str] = {}
    for record in records.values():
        app_id = (record.spec.applied or {}).get(_APP_ID)
        for needed in record.manifest.needs if isinstance(app_id, str) else ():
            application = records.get(needed)
            if application is not None and KINDS.get(needed[:2]) is APPLICATION:
                found[application.arm_id.key] = str(app_id)
    return found


def _make_up(text: str) -> str:
    return str(uuid5(NAMESPACE_URL, text.casefold()))
