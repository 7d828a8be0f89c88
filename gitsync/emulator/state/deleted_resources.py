"""Soft-deleted resources: which types have them, how long they reserve their name, how they are restored.

They are notes in the store, not resources: no list of a group includes them, and they have no children. A deleted
resource reserves its name until it is recovered, purged or expired.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from gitsync.emulator.clock import format_time
from gitsync.emulator.http.target import Target, parse
from gitsync.emulator.patch import find_value, merge_over
from gitsync.emulator.state.store import Store, StoredResource
from gitsync.emulator.types.behaviour import Style

_NOTE = "deleted"
_CONFIGURED_NOTE = "deleted-configured"


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftDelete:
    """The soft delete of a type."""

    shown: str  # the type of a deleted resource in answers
    id_member: str = ""  # the property with the resource's id; "" if the complete resource is shown
    days: int  # how long it is kept
    recover: tuple[str, str] | None  # the property, with its value, of a PUT that restores it; None: any PUT does
    purge: str = ""  # the method that frees the name, "" for none
    purge_style: Style = Style.ACCEPTED  # how a purge answers
    code: str  # refuses any other PUT of the name
    text: str = ""  # the message with `code`
    nothing: str = ""  # the code if there is nothing to recover, "" if that creates a new resource
    shows_protection: bool = False  # even if it is off
    has_location_outside: bool = False  # next to the properties
    holds_in_group: bool = False  # other groups may use the name
    kept_sku: bool = True  # False: the free tier keeps nothing

    @property
    def deleted_type(self) -> str:
        """The type in the path of one of them, in lower case; for some types it includes the former group."""
        namespace, _, word = self.shown.casefold().partition("/")
        return f"{namespace}/locations/{'resourcegroups/' if self.holds_in_group else ''}{word}"


_CREATE_MODE: Final = ("createMode", "recover")
_RESTORE: Final = ("restore", "true")

SOFT_DELETES: Final[Mapping[str, SoftDelete]] = {
    "microsoft.apimanagement/service": SoftDelete(
        shown="Microsoft.ApiManagement/deletedservices",
        id_member="serviceId",
        days=2,
        recover=_RESTORE,
        purge="DELETE",
        code="ServiceAlreadyExistsInSoftDeletedState",
        nothing="ServiceUndeleteNotPossible",
        has_location_outside=True,
    ),
    "microsoft.appconfiguration/configurationstores": SoftDelete(
        shown="Microsoft.AppConfiguration/deletedConfigurationStores",
        id_member="configurationStoreId",
        days=7,
        recover=_CREATE_MODE,
        purge="POST",
        code="NameUnavailable",
        shows_protection=True,
        kept_sku=False,
    ),
    "microsoft.cognitiveservices/accounts": SoftDelete(
        shown="Microsoft.CognitiveServices/deletedAccounts",
        days=2,
        recover=_RESTORE,
        purge="DELETE",
        code="FlagMustBeSetForRestore",
        nothing="CanNotRestoreANonExistingResource",
        holds_in_group=True,
        purge_style=Style.ACCEPTED_ASYNC,
    ),
    "microsoft.keyvault/managedhsms": SoftDelete(
        shown="Microsoft.Keyvault/deletedManagedHSMs",
        id_member="mhsmId",
        days=90,
        recover=_CREATE_MODE,
        purge="POST",
        code="ConflictError",
        text=(
            "A managed HSM with the same name already exists in deleted state. You need to either recover or purge "
            "existing managed HSM."
        ),
        shows_protection=True,
    ),
    "microsoft.keyvault/vaults": SoftDelete(
        shown="Microsoft.KeyVault/deletedVaults",
        id_member="vaultId",
        days=90,
        recover=_CREATE_MODE,
        purge="POST",
        code="ConflictError",
        nothing="SoftDeletedVaultDoesNotExist",
    ),
    "microsoft.operationalinsights/workspaces": SoftDelete(
        shown="Microsoft.OperationalInsights/deletedWorkspaces",
        days=14,
        recover=None,
        code="Conflict",
        text="The workspace name '{name}' is not unique",
    ),
}
"""By type, in lower case."""

SHOWN: Final[Mapping[str, str]] = {
    path: kind
    for kind, soft in SOFT_DELETES.items()
    for path in (soft.shown.casefold(), *([soft.deleted_type] if soft.purge else []))
}
"""The type, by the types in the paths of its deleted resources and their lists, in lower case."""

DeletedResource = Mapping[str, Any]
"""`id`, `body` and `api_version` of the former resource; `location` in lower case without blanks; `deleted` and
`purged`: the times of its deletion and of its purge.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredDeletion:
    """A resource that was deleted before the emulator began, as configured in the settings."""

    id: str
    location: str
    purge_protection: bool = False


def keep_deleted(store: Store, resource: StoredResource, now: float) -> None:
    """Keep a deleted resource if its type has soft delete; others are removed completely. `now` is in seconds since
    1970.
    """
    soft = SOFT_DELETES.get(parse(resource.id).type.casefold())
    sku = str(find_value(resource.body, ("sku", "name"))).casefold()
    if soft is None or (sku == "free" and not soft.kept_sku):
        return
    days = find_value(resource.body, ("properties", "softDeleteRetentionInDays"))
    deleted = datetime.fromtimestamp(now, UTC)
    row = {
        "id": resource.id,
        "body": dict(resource.body),
        "api_version": resource.api_version,
        "location": normalize_region(resource.body.get("location")),
        "deleted": format_time(deleted),
        "purged": format_time(deleted + timedelta(days=days if isinstance(days, int) else soft.days)),
    }
    store.put_note(_NOTE, {**(store.note(_NOTE) or {}), parse(resource.id).key: row})


def keep_configured(store: Store, deletions: Sequence[ConfiguredDeletion], now: float) -> None:
    """Keep the deleted resources in the settings, each once: one that was purged in a state file stays purged."""
    known = set(store.note(_CONFIGURED_NOTE) or ())
    for deletion in deletions:
        key = parse(deletion.id).key
        if key in known:
            continue
        known.add(key)
        properties = {"enablePurgeProtection": True} if deletion.purge_protection else {}
        body = {"location": deletion.location, "properties": properties}
        time = format_time(datetime.fromtimestamp(now, UTC))
        keep_deleted(
            store,
            StoredResource(id=deletion.id, body=body, api_version="", number=0, created=time, changed=time),
            now,
        )
    if known:
        store.put_note(_CONFIGURED_NOTE, sorted(known))


def list_deleted(store: Store, kind: str, now: float) -> list[DeletedResource]:
    """List the deleted resources of a type in all subscriptions, by id, without expired ones."""
    time = format_time(datetime.fromtimestamp(now, UTC))
    # Nothing removes an expired row, so each list leaves it out.
    rows = sorted((store.note(_NOTE) or {}).items())
    return [row for key, row in rows if parse(key).type == kind.casefold() and row["purged"] > time]


def find_holder(store: Store, target: Target, now: float) -> DeletedResource | None:
    """Find the deleted resource that reserves a resource's name: in its subscription, or in its group if other groups
    may use the name.
    """
    kind = target.type.casefold()
    scope = target.group_path if SOFT_DELETES[kind].holds_in_group else f"/subscriptions/{target.subscription}"
    return next(
        (
            row
            for row in list_deleted(store, kind, now)
            if parse(row["id"]).key.startswith(f"{scope}/".casefold())
            and parse(row["id"]).name.casefold() == target.name.casefold()
        ),
        None,
    )


def remove_deleted(store: Store, arm_id: str) -> None:
    """Remove a purged or recovered resource, which frees its name. `arm_id` is that of the former resource."""
    removed_key = parse(arm_id).key
    store.put_note(_NOTE, {key: row for key, row in (store.note(_NOTE) or {}).items() if key != removed_key})


def find_by_path(store: Store, target: Target, now: float) -> list[DeletedResource]:
    """Find the deleted resources at a path below the provider: one, those of a location, or all of the scope."""
    kind = SHOWN.get(target.type.casefold())
    if kind is None:
        return []
    wanted = dict(zip((word.casefold() for word in target.types), target.names, strict=False))
    location, group = normalize_region(wanted.get("locations")), wanted.get("resourcegroups", target.group)
    name = wanted.get(SOFT_DELETES[kind].shown.casefold().partition("/")[2])
    scope = f"/subscriptions/{target.subscription}/{f'resourceGroups/{group}/' if group else ''}"
    return [
        row
        for row in list_deleted(store, kind, now)
        if parse(row["id"]).key.startswith(scope.casefold())
        and location in {"", row["location"]}
        and (name is None or parse(row["id"]).name.casefold() == name.casefold())
    ]


def normalize_region(name: Any) -> str:
    """Return a region in lower case and without blanks."""
    return str(name or "").replace(" ", "").casefold()


def show_deleted(row: DeletedResource, target: Target) -> StoredResource:
    """Show a deleted resource as a resource that can be read; `target` is its path, or that of a list."""
    former = parse(row["id"])
    soft = SOFT_DELETES[former.type.casefold()]
    if not soft.purge:  # it has no path of its own, and is listed under its former id
        return _make_shown(row, row["id"], row["body"])
    location = target.names[0] if target.names else row["location"]
    group = f"/resourceGroups/{former.group}" if soft.holds_in_group else ""
    scope = f"/subscriptions/{former.subscription}/providers/{former.namespace}/locations/{location}{group}"
    shown_id = f"{scope}/{soft.shown.partition('/')[2]}/{former.name}"
    dates = {"deletionDate": row["deleted"], "scheduledPurgeDate": row["purged"]}
    if not soft.id_member:
        return _make_shown(row, shown_id, merge_over({**row["body"], "type": soft.shown}, {"properties": dates}))
    properties = {soft.id_member: row["id"], **dates}
    if soft.has_location_outside:
        location = row["body"].get("location")  # as written, which is the display name in Azure
        return _make_shown(row, shown_id, {"type": soft.shown, "location": location, "properties": properties})
    properties |= {"location": row["location"], "tags": row["body"].get("tags") or {}}
    is_protected = find_value(row["body"], ("properties", "enablePurgeProtection")) is True
    if is_protected or soft.shows_protection:
        properties["purgeProtectionEnabled"] = is_protected
    return _make_shown(row, shown_id, {"type": soft.shown, "properties": properties})


def _make_shown(row: DeletedResource, arm_id: str, body: Mapping[str, Any]) -> StoredResource:
    return StoredResource(
        id=arm_id,
        body=body,
        api_version=row["api_version"],
        number=0,
        created=row["deleted"],
        changed=row["deleted"],
    )
