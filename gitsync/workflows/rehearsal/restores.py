"""Find resources that git declares but that a rebuild creates without their data, or cannot create under their name.

The fields of a restore belong to the kind itself: the field with the mode of a create, and next to it the fields with
its source.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from typing import Any, Final, NamedTuple

from gitsync.agent.checks.names import SOFT_DELETES, Retention, name_property
from gitsync.desired.catalog.reference_targets import find_inner
from gitsync.desired.catalog.type_words import format_count, format_short_key, join_with_and
from gitsync.desired.problems.field_path import find_member
from gitsync.model.arm_id import NO_ID, ArmId
from gitsync.model.facts import Kind, TypeFacts
from gitsync.model.gvk import Key
from gitsync.model.rehearsal import Gap, GapKind
from gitsync.planning.data_types import find_loss
from gitsync.workflows.rehearsal.rebuild import Rebuild, RebuiltResource

_MODES: Final = frozenset({"createMode", "createOption"})
_BEST_MODES: Final = ("PointInTimeRestore", "Copy", "Restore", "GeoRestore", "createOrRecover", "Recover", "recover")
_RESTORING: Final = frozenset(
    {mode.casefold() for mode in _BEST_MODES}
    | {"copystart", "copyfromsansnapshot", "import", "importsecure", "recovery", "revivedropped"}
    | {"restoreexternalbackup", "restorelongtermretentionbackup"}
)
_REPLACING: Final = _RESTORING | {"purgethencreate"}
_SOURCE: Final = re.compile(r"source(Server|Database|Resource)\w*(Reference|Id)")
_TIME: Final = re.compile(r"restorePointInTime|pointInTimeUTC|restoreParameters")

_WITHOUT: Final = frozenset(
    {
        "microsoft.compute/virtualmachinescalesets",  # its instances are created from an image
        "microsoft.network/dnszones",  # its records are in git
        "microsoft.network/privatednszones",
        "microsoft.resources/resourcegroups",
    }
)
_PASSING: Final = ("microsoft.eventhub/", "microsoft.servicebus/")
"""Providers of types whose data is in transit, and is not restored."""

_SQL_SERVER: Final = "microsoft.sql/servers"
"""Its databases are restored one by one, so it has a gap only if git declares none."""


class Restore(NamedTuple):
    """How a manifest requests a restore: a field and its value, and the fields with the source."""

    field: str
    mode: str
    sources: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"set {self.field}: {self.mode}{f' with {join_with_and(self.sources)}' if self.sources else ''}"


def list_losses(rebuild: Rebuild) -> Iterator[Gap]:
    """List what a rebuild creates without its data, and names that deleted resources may reserve. A resource without
    its data has one gap with everything below it.
    """
    empty: dict[Key, list[RebuiltResource]] = {}
    keys = {member.key: member for member in rebuild.members}
    for member in rebuild.members:
        soft = SOFT_DELETES.get(member.kind.arm_type.casefold())
        # Such a resource keeps its data while its name is reserved, so it has one gap and not two.
        if soft is not None and soft.recover is not None and not _is_forgotten(member, soft):
            if not names_restore(member, _REPLACING):
                yield _describe_name(member, soft)
        elif describe_data(member.kind) and not names_restore(member):
            empty.setdefault(_find_top(member, keys).key, []).append(member)
    servers = {
        member.prepared.relations.owner.key
        for member in rebuild.members
        if member.prepared.relations.owner and describe_data(member.kind)
    }
    for key, group in empty.items():
        if key not in servers or keys[key].kind.arm_type.casefold() != _SQL_SERVER:
            yield _describe_data(keys[key], len(group))


def describe_data(kind: Kind) -> str:
    """Find the data of a kind that a rebuild does not restore; "" for none."""
    arm_type = kind.arm_type.casefold()
    return "" if arm_type in _WITHOUT or arm_type.startswith(_PASSING) else find_loss(arm_type)


def names_restore(member: RebuiltResource, modes: frozenset[str] = _RESTORING) -> bool:
    """Return whether a manifest specifies the source of a restore."""
    for visit in member.visits:
        name = visit.path[-1]
        if name in _MODES and str(visit.value).casefold() in modes:
            return True
        if name == "restore" and visit.value is True:
            return True
    return False


@cache
def find_restore(kind: Kind) -> Restore | None:
    """Find the fields that request a restore of a kind; None if it has none."""
    restores = [*_list_restores(kind, kind.spec, "spec", ())]
    return min(
        restores,
        key=lambda restore: (_BEST_MODES.index(restore.mode), restore.field.count("."), restore.field),
        default=None,
    )


def _list_restores(kind: Kind, type_name: str, path: str, containing: tuple[str, ...]) -> Iterator[Restore]:
    # A type may contain itself.
    if type_name in containing:
        return
    facts: TypeFacts = kind.types[type_name]
    names = sorted(facts["fields"])
    sources = [*[name for name in names if _SOURCE.fullmatch(name)][:1], *[n for n in names if _TIME.fullmatch(n)]]
    for name, field in facts["fields"].items():
        inner: Any = find_inner(field)
        if name in _MODES:
            choices: Any = field["type"]
            words = choices.get("enum", ()) if isinstance(choices, dict) else ()
            mode = next((mode for mode in _BEST_MODES if mode in words), None)
            if mode is not None:
                yield Restore(f"{path}.{name}", mode, tuple(f"{path}.{source}" for source in sources))
        elif not isinstance(inner, str):
            yield from _list_restores(kind, inner["ref"], f"{path}.{name}", (*containing, type_name))


def _is_forgotten(member: RebuiltResource, soft: Retention) -> bool:
    sku = find_member(member.body, "sku", "name")
    return bool(soft.forgetful_sku) and str(sku).casefold() == soft.forgetful_sku


def _find_top(member: RebuiltResource, members: dict[Key, RebuiltResource]) -> RebuiltResource:
    """Find the highest resource above this one that is created without its data as well."""
    top, seen = member, {member.key}
    current: RebuiltResource | None = member
    while current and (owner := current.prepared.relations.owner) and owner.key and owner.key not in seen:
        seen.add(owner.key)
        current = members.get(owner.key)
        if current and describe_data(current.kind) and current.kind.arm_type.casefold() != _SQL_SERVER:
            top = current
    return top


def _describe_data(member: RebuiltResource, number: int) -> Gap:
    below = number - 1
    also = f" The same applies to {format_count(below, 'resource')} below it." if below else ""
    restore = find_restore(member.kind)
    hint = f"To restore it, {restore}." if restore else "Restore its data from a backup after a rebuild."
    return Gap(
        kind=GapKind.DATA,
        key=member.key,
        message=f"A rebuild creates it without {describe_data(member.kind)}.{also}",
        hint=hint,
        stops=False,
        source=member.prepared.resource.source,
    )


def _describe_name(member: RebuiltResource, soft: Retention) -> Gap:
    arm_id = member.prepared.arm_id or NO_ID
    named = find_member(member.body, "properties", "softDeleteRetentionInDays")
    days = named if isinstance(named, int) else soft.days
    name = arm_id.name or format_short_key(member.key)
    return Gap(
        kind=GapKind.NAME,
        key=member.key,
        message=f"If the {soft.noun} was deleted, Azure reserves the name {name} for {days} days and refuses to create "
        f"it again. A new {soft.noun} is empty.",
        hint=_advise(member, soft, arm_id),
        stops=False,
        source=member.prepared.resource.source,
    )


def _advise(member: RebuiltResource, soft: Retention, arm_id: ArmId) -> str:
    restore = find_restore(member.kind)
    if restore and restore.mode == "createOrRecover":
        recover = f"To recover it with its contents if it was deleted, set {restore.field}: {restore.mode}."
    else:
        recover = f"To recover it with its contents, set {name_property(member.key, soft.field)} for a rebuild."
    # Purge protection forbids the purge, and the command needs parts of the id.
    if find_member(member.body, "properties", "enablePurgeProtection") is True or not arm_id:
        return recover
    words = {
        "name": arm_id.name,
        "group": arm_id.resource_group or "",
        "location": str(member.body.get("location")),
    }
    purge = soft.purge.format_map({gap: shlex.quote(word) for gap, word in words.items()})
    subscription = shlex.quote(arm_id.subscription or "")
    return f"{recover} To delete it permanently, purge it: `{purge} --subscription {subscription}`."
