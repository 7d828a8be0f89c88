"""Find ids that change in a rebuild: Azure generated them for today's resources, and a manifest has them as text.

An id counts only if it may belong to a resource of the estate. Ids that outlive a subscription are skipped: those of
Entra ID users, groups and applications, of tenants and of built-in roles.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any, Final, NamedTuple

from gitsync.desired.catalog.spec_visitor import Visit
from gitsync.desired.catalog.type_words import format_short_key
from gitsync.desired.problems.field_path import FieldPath, format_field
from gitsync.desired.problems.finding import find_location
from gitsync.desired.request.exports import collect_destinations
from gitsync.model.arm_id import ArmId
from gitsync.model.export import Address, Export, ObjectKind
from gitsync.model.gvk import Key
from gitsync.model.rehearsal import Gap, GapKind
from gitsync.workflows.rehearsal.rebuild import Rebuild, RebuiltResource

_GUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_ISSUER: Final = re.compile(r"https://[a-z0-9.-]*oic\.[a-z0-9-]+\.azure\.\w+/.+", re.IGNORECASE)
_PEOPLE: Final = frozenset({"user", "group", "foreigngroup", "device"})
_APPLICATIONS: Final = ("servicePrincipal", "servicePrincipalProfile", "oAuth2", "registration")
"""Fields above the ids of Entra ID applications."""

_IDENTITY: Final = "microsoft.managedidentity/userassignedidentities"
_CLUSTER: Final = "microsoft.containerservice/managedclusters"
_LOGS: Final = "microsoft.operationalinsights/workspaces"
_ASSIGNMENT: Final = "microsoft.authorization/roleassignments"


def _has_type(arm_type: str, member: RebuiltResource) -> bool:
    return member.kind.arm_type.casefold() == arm_type


def _has_principal(member: RebuiltResource) -> bool:
    identity = member.body.get("identity")
    kind = identity.get("type") if isinstance(identity, Mapping) else ""
    return _has_type(_IDENTITY, member) or "systemassigned" in str(kind).casefold()


class Maker(NamedTuple):
    """An id that Azure generates."""

    noun: str  # its name for people
    form: re.Pattern[str]
    makes: Callable[[RebuiltResource], bool]  # returns whether a resource has one
    export: str = ""  # the field that exports it, "" for none


_PRINCIPAL: Final = Maker("the principal of a managed identity", _GUID, _has_principal, "principalId")
_CLIENT: Final = Maker(
    "the client id of a managed identity",
    _GUID,
    partial(_has_type, _IDENTITY),
    "clientId",
)
_WORKSPACE: Final = Maker(
    "the id of a Log Analytics workspace",
    _GUID,
    partial(_has_type, _LOGS),
)

MAKERS: Final[Mapping[str, Maker]] = {
    "clientId": _CLIENT,
    "customerId": _WORKSPACE,
    "extensionPrincipalId": _PRINCIPAL,
    "identity": _CLIENT,
    "identityClientId": _CLIENT,
    "issuer": Maker(
        "the issuer of a cluster's tokens",
        _ISSUER,
        partial(_has_type, _CLUSTER),
        "oidcIssuerProfile",
    ),
    "objectId": _PRINCIPAL,
    "principalId": _PRINCIPAL,
    "sid": _PRINCIPAL,
    "workspaceId": _WORKSPACE,
}
"""By the name of the field."""


class Exported(NamedTuple):
    """A value that a resource of the estate exported, as recorded in the status."""

    owner: Key
    address: Address
    key: str


class Ids:
    """The ids and addresses of the estate before the rebuild."""

    def __init__(self, rebuild: Rebuild, config_maps: Mapping[Address, Export]) -> None:
        self.rebuild = rebuild
        # In reverse order, so that the first of equal values is the one that stays.
        self.exported = {
            value.reveal().casefold(): Exported(export.owner.key, address, key)
            for address, export in sorted(config_maps.items(), reverse=True)
            if export.owner.key in rebuild.by_key
            for key, value in sorted(export.data.items(), reverse=True)
            if _changes(value.reveal()) and "tenant" not in key.casefold()
        }

    @cached_property
    def networks(self) -> list[IPv4Network | IPv6Network]:
        """The address spaces of the estate's networks."""
        prefixes = (_list_prefixes(member.body) for member in self.rebuild.members)
        return [network for group in prefixes for text in group if (network := _read_network(text)) is not None]

    @cached_property
    def given_addresses(self) -> frozenset[str]:
        """The private addresses that manifests give to resources."""
        return frozenset(address for member in self.rebuild.members for address in _list_addresses(member.body))


def list_fixed_ids(rebuild: Rebuild, config_maps: Mapping[Address, Export]) -> Iterator[Gap]:
    """List ids as text. `config_maps` are those that today's resources exported, as recorded in the status."""
    ids = Ids(rebuild, config_maps)
    for member in rebuild.members:
        for path, text, visit in member.list_texts():
            name = str(path[-1])
            # A tenant outlives all of its subscriptions, and operatorSpec is not sent.
            if path[1] == "operatorSpec" or "tenant" in name.casefold():
                continue
            if (known := ids.exported.get(text.casefold())) is not None and known.owner != member.key:
                yield _describe_known(member, path, visit, known)
            elif _may_be_of(member, path, text, visit, ids):
                yield _describe_likely(member, path, visit, rebuild)
            elif _is_private_address(text, visit, name, ids):
                yield _describe_address(member, path, visit)
        yield from _list_other_subscriptions(member, rebuild)


def _may_be_of(member: RebuiltResource, path: FieldPath, text: str, visit: Visit, ids: Ids) -> bool:
    """Return whether a text may be the id of a resource of the rebuild."""
    maker = MAKERS.get(str(path[-1]))
    if maker is None or not maker.form.fullmatch(text) or any(step in _APPLICATIONS for step in path):
        return False
    # Users and groups are in Entra ID, where a rebuild changes nothing.
    if any(str(visit.value.get(field)).casefold() in _PEOPLE for field in ("principalType", "administratorType")):
        return False
    return any(maker.makes(other) for other in ids.rebuild.members if other.key != member.key)


def _changes(text: str) -> bool:
    """Return whether a value differs after a rebuild: it has a UUID, or is an address."""
    return _GUID.search(text) is not None or _read_address(text) is not None


def _describe_known(member: RebuiltResource, path: FieldPath, visit: Visit, known: Exported) -> Gap:
    config_map = known.address
    message = (
        f"{format_short_key(known.owner)} exports this id as key {known.key} of {config_map}. After a rebuild, the id "
        "is different."
    )
    taker = _find_config_map_field(member, path, visit)
    if not taker:
        hint = "Change it once that resource is rebuilt: no field of this kind takes it from a ConfigMap."
    elif config_map.namespace == member.key.namespace:
        hint = f"Set {taker} to {{name: {config_map.name}, key: {known.key}}} instead."
    else:
        hint = f"Export it to a ConfigMap in namespace {member.key.namespace}, and name that ConfigMap in {taker}."
    # Azure refuses to assign a role to a principal that is gone.
    stops = member.kind.arm_type.casefold() == _ASSIGNMENT
    return _make(member, path, message, hint, stops=stops)


def _describe_likely(member: RebuiltResource, path: FieldPath, visit: Visit, rebuild: Rebuild) -> Gap:
    maker = MAKERS[str(path[-1])]
    message = f"If this is {maker.noun} of this estate, it changes in a rebuild."
    if taker := _find_config_map_field(member, path, visit):
        hint = _advise_export(member, maker, taker, rebuild)
        keep = "for a user or a group, set principalType" if "principalType" in visit.fields else "keep any other id"
        return _make(member, path, message, f"{hint}; {keep}.")
    hint = "Change it once that resource is rebuilt: no field of this kind takes it from a ConfigMap."
    return _make(member, path, message, hint)


def _advise_export(member: RebuiltResource, maker: Maker, field: str, rebuild: Rebuild) -> str:
    """Return an order, which names the export if only one resource of the namespace can be meant."""
    makers = [
        resource
        for resource in rebuild.members
        if maker.makes(resource) and resource.key.namespace == member.key.namespace
    ]
    if len(makers) != 1 or maker.export not in makers[0].kind.config_maps:
        return f"Export it to a ConfigMap, and set {field} instead"
    (only,) = makers
    to = collect_destinations(only.prepared.resource, ObjectKind.CONFIG_MAP).get(maker.export)
    if to is not None:
        config_map = f"{{name: {to.address.name}, key: {to.key}}}"
        return f"Set {field} to {config_map} instead, which {format_short_key(only.key)} exports"
    return f"Export {maker.export} of {format_short_key(only.key)} to a ConfigMap, and set {field} instead"


def _is_private_address(text: str, visit: Visit, name: str, ids: Ids) -> bool:
    """Return whether a text is an address in the estate's networks that no manifest assigns, in a field that can take
    it from a ConfigMap instead.
    """
    if not _find_sibling(visit, name) or (address := _read_address(text)) is None:
        return False
    # An address that a manifest gives is the same after a rebuild.
    return text not in ids.given_addresses and any(address in network for network in ids.networks)


def _describe_address(member: RebuiltResource, path: FieldPath, visit: Visit) -> Gap:
    other = _find_config_map_field(member, path, visit)
    hint = f"Give the resource a fixed address in its manifest, or export the address and set {other} instead."
    message = (
        "This address belongs to a network of the estate, and no manifest assigns it. A rebuilt resource may get "
        "another one."
    )
    return _make(member, path, message, hint)


def _list_other_subscriptions(member: RebuiltResource, rebuild: Rebuild) -> Iterator[Gap]:
    """List ids in another subscription whose resource a manifest declares in this one."""
    for visit in member.visits:
        is_reference = visit.fits and isinstance(visit.value, Mapping)
        arm_id = visit.value.get("armId") if is_reference else None
        if isinstance(arm_id, str) and (other := rebuild.find_twin(ArmId(arm_id))) is not None:
            message = (
                f"The id names {format_short_key(other.key)} in subscription {ArmId(arm_id).subscription}, but git "
                "declares that resource in another subscription."
            )
            hint = "Refer to the resource by group, kind and name instead."
            yield _make(member, (*visit.path, "armId"), message, hint, stops=True)


def _make(member: RebuiltResource, path: FieldPath, message: str, hint: str, *, stops: bool = False) -> Gap:
    return Gap(
        kind=GapKind.ID,
        key=member.key,
        message=message,
        hint=hint,
        stops=stops,
        source=find_location(path, member.prepared.resource),
        field=format_field(path),
    )


def _find_config_map_field(member: RebuiltResource, path: FieldPath, visit: Visit) -> str:
    """Find the field that takes a value from a ConfigMap instead; "" for none. In an `AzureResource` any can."""
    if member.kind.is_any_type:
        return format_field((*path, "$configMap"))
    sibling = _find_sibling(visit, str(path[-1]))
    return format_field((*path[:-1], sibling)) if sibling else ""


def _find_sibling(visit: Visit, name: str) -> str:
    """Find the field that takes the same value from a ConfigMap; "" if there is none."""
    pair = visit.fields[name].get("optionalConfigMapPair")
    others = (other for other, field in visit.fields.items() if field.get("optionalConfigMapPair") == pair)
    return next((other for other in others if other != name), "") if pair else ""


def _read_address(text: str) -> Any:
    try:
        return ip_address(text)
    except ValueError:
        return None


def _read_network(text: str) -> IPv4Network | IPv6Network | None:
    try:
        return ip_network(text, strict=False)
    except ValueError:
        return None


def _list_prefixes(body: Mapping[str, Any]) -> Iterator[str]:
    properties = body.get("properties")
    space = properties.get("addressSpace") if isinstance(properties, Mapping) else None
    prefixes = space.get("addressPrefixes") if isinstance(space, Mapping) else None
    yield from (prefix for prefix in (prefixes if isinstance(prefixes, list) else []) if isinstance(prefix, str))


def _list_addresses(value: Any) -> Iterator[str]:
    """List the private addresses that a body assigns."""
    if isinstance(value, list):
        for entry in value:
            yield from _list_addresses(entry)
    elif isinstance(value, Mapping):
        for name, entry in value.items():
            if name in {"privateIPAddress", "staticIp"} and isinstance(entry, str):
                yield entry
            else:
                yield from _list_addresses(entry)
