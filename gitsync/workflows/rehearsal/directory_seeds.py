"""Entra ID objects as the emulator's directory has them: at the path of Microsoft Graph, and with its values.

They are in the tenant, so an empty subscription has them too. No record has the client id of an application, but those
of its service principals do; and the id of an app role is not recorded either, so one is made up.

Only Entra ID has the app roles of an API. A rehearsal takes it that an API has those that git assigns: that a role
does not exist is for the sync to find out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple
from uuid import NAMESPACE_URL, uuid5

from gitsync.desired.catalog.directory_relations import RELATIONS
from gitsync.emulator.graph.first_party import find_role_id
from gitsync.model.arm_id import ArmId, IdKey
from gitsync.model.gvk import Key
from gitsync.model.record import Record
from gitsync.model.resource import Prepared
from gitsync.model.template import ComputedValue
from gitsync.providers.entra.application_conversion import APPLICATION
from gitsync.providers.entra.directory_kind import DirectoryKind
from gitsync.providers.entra.directory_kinds import KINDS
from gitsync.providers.entra.part_access import GivenId
from gitsync.providers.entra.part_requests import APPLICATIONS, ASSIGNED, CREDENTIALS, PRINCIPALS, make_path
from gitsync.providers.entra.principal_conversion import SERVICE_PRINCIPAL

Body = Mapping[str, Any]

_APP_ID: Final = "appId"
_BY_TYPE: Final[Mapping[str, DirectoryKind]] = {
    f"microsoft.graph/{kind.collection.rpartition('/')[2]}".casefold(): kind for kind in KINDS.values()
}
"""By the type of gitsync's own ids, in lower case."""

_CREDENTIAL: Final = "microsoft.graph/applications/federatedidentitycredentials"
_ASSIGNMENT: Final = "microsoft.graph/approleassignments"
_PRINCIPAL: Final = "Microsoft.Graph/servicePrincipals"
_PARTS: Final = {_CREDENTIAL: (APPLICATIONS, CREDENTIALS), _ASSIGNMENT: (PRINCIPALS, ASSIGNED)}
"""What is below an object: the collection of that, and the word behind its id."""


class _Records(NamedTuple):
    """What the records show of the directory."""

    given_ids: dict[IdKey, str]  # by the ids of resources
    app_ids: Mapping[IdKey, str]  # of applications, by their ids
    roles: defaultdict[str, frozenset[str]]  # of principals that are an API, by their object ids


class _Api(NamedTuple):
    """A principal with an app role that git assigns."""

    arm_id: ArmId
    object_id: str
    role: str
    body: Body  # empty if the run makes its application, so that it may not exist yet


def is_in_directory(arm_id: ArmId) -> bool:
    return arm_id.arm_type.casefold() in {*_BY_TYPE, *_PARTS}


def locate_object(record: Record) -> ArmId | None:
    """Return the path of a recorded object in Microsoft Graph; None for any other resource."""
    given_id = record.kept.given_id
    return _locate(record.arm_id, given_id) if given_id and is_in_directory(record.arm_id) else None


def convert_seeds(
    seeds: Iterable[tuple[ArmId, Body]], records: Mapping[Key, Record], prepared: Iterable[Prepared]
) -> Iterator[tuple[ArmId, Body]]:
    """Yield the seeds with those of Entra ID as Microsoft Graph has them, and the APIs whose app roles `prepared`
    assigns; a made-up id stands for one that no record has.
    """
    known, bodies = _read(records), {arm_id.key: (arm_id, body) for arm_id, body in seeds}
    recorded = {object_id.casefold() for object_id in known.given_ids.values()}
    for api in _list_apis(prepared, known):
        known.roles[api.object_id.casefold()] |= {api.role}
        if api.body and api.object_id.casefold() not in recorded:
            bodies.setdefault(api.arm_id.key, (api.arm_id, api.body))
            known.given_ids[api.arm_id.key] = api.object_id
    for arm_id, body in bodies.values():
        arm_type, given_id = arm_id.arm_type.casefold(), known.given_ids.get(arm_id.key, "")
        if kind := _BY_TYPE.get(arm_type):
            yield _make_object(arm_id, kind, body, given_id or _make_up(arm_id), known)
        elif arm_type in _PARTS and given_id:
            make = _make_credential if arm_type == _CREDENTIAL else _make_assignment
            yield _locate(arm_id, given_id), make(arm_id, body)
        else:
            yield arm_id, body


def _list_apis(prepared: Iterable[Prepared], known: _Records) -> Iterator[_Api]:
    resources = {resource.key: resource for resource in prepared if resource.arm_id and resource.template}
    for resource in resources.values():
        if not resource.arm_id or not resource.template or resource.arm_id.arm_type.casefold() != _ASSIGNMENT:
            continue
        role, wanted = str(resource.template.body.get("role")), resource.template.body.get("resourceId")
        if isinstance(wanted, str):
            arm_id = ArmId(f"/providers/{_PRINCIPAL}/{wanted}")
            yield _Api(arm_id, wanted, role, {_APP_ID: _make_up(f"{arm_id}#{_APP_ID}")})
        reads = wanted.reads if isinstance(wanted, ComputedValue) else ()
        for api in (resources[key] for key in reads if key in resources):
            if api.arm_id and api.template:
                body = {name: text for name, text in api.template.body.items() if isinstance(text, str)}
                object_id = known.given_ids.get(api.arm_id.key) or _make_up(api.arm_id)
                yield _Api(api.arm_id, object_id, role, body if _APP_ID in body else {})


def _make_links(body: Body) -> dict[str, list[str]]:
    """Make the members and owners of an object."""
    return {
        relation.name: sorted({str(linked) for name in names for linked in body[name].values()})
        for relation in RELATIONS.values()
        if (names := [name for name in (relation.complete, relation.added) if isinstance(body.get(name), Mapping)])
    }


def _make_object(arm_id: ArmId, kind: DirectoryKind, body: Body, object_id: str, known: _Records) -> tuple[ArmId, Body]:
    created = {"displayName": arm_id.name, **kind.make_create(body), **_make_links(body)}
    created["displayName"] = created["displayName"] or arm_id.name
    if kind is APPLICATION and arm_id.key in known.app_ids:
        created[_APP_ID] = known.app_ids[arm_id.key]
    if kind is SERVICE_PRINCIPAL:
        created.setdefault(_APP_ID, _make_up(f"{arm_id}#{_APP_ID}"))
        roles = sorted(known.roles.get(object_id.casefold(), ()))
        created |= {"appRoles": [{"id": _find_role_id(object_id, role), "value": role} for role in roles]}
    return _locate(arm_id, object_id), created


def _make_credential(arm_id: ArmId, body: Body) -> Body:
    sent = {name: body[name] for name in ("issuer", "subject", "audiences", "description") if name in body}
    return {"name": arm_id.name, **sent}


def _make_assignment(_arm_id: ArmId, body: Body) -> Body:
    role_id = _find_role_id(str(body.get("resourceId")), str(body.get("role")))
    return {"principalId": body.get("principalId"), "resourceId": body.get("resourceId"), "appRoleId": role_id}


def _find_role_id(object_id: str, role: str) -> str:
    return find_role_id(role) or _make_up(f"{object_id}#{role}")


def _locate(arm_id: ArmId, given_id: str) -> ArmId:
    arm_type = arm_id.arm_type.casefold()
    if kind := _BY_TYPE.get(arm_type):
        return ArmId(f"{kind.collection}/{given_id}")
    (collection, word), given = _PARTS[arm_type], GivenId.parse(given_id)
    return ArmId(make_path(collection, given.object_id, word, given.part_id))


def _read(records: Mapping[Key, Record]) -> _Records:
    app_ids: dict[IdKey, str] = {}
    roles = defaultdict[str, frozenset[str]](frozenset)
    for record in records.values():
        applied = record.spec.applied or {}
        # A principal was sent the client id of the application that it needs.
        for needed in record.manifest.needs if isinstance(applied.get(_APP_ID), str) else ():
            application = records.get(needed)
            if application is not None and KINDS.get(needed[:2]) is APPLICATION:
                app_ids[application.arm_id.key] = applied[_APP_ID]
        if record.arm_id.arm_type.casefold() == _ASSIGNMENT and "role" in applied:
            roles[str(applied.get("resourceId")).casefold()] |= {str(applied["role"])}
    given_ids = {record.arm_id.key: record.kept.given_id for record in records.values() if record.kept.given_id}
    return _Records(given_ids, app_ids, roles)


def _make_up(text: str) -> str:
    return str(uuid5(NAMESPACE_URL, text.casefold()))
