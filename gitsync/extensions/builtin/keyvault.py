"""keyvault.azure.com: recovers or purges a deleted vault that still holds the name
(docs/reference/kinds.md#key-vault-create-mode).

Two modes of a manifest do not exist in Azure: `createOrRecover` and `purgeThenCreate`. They are neither sent nor
compared. A deleted vault matters only if the vault does not exist, so gitsync does not search for it otherwise. A
recovered vault is unchanged, whatever the body contains: in recordings Azure used only the mode of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from gitsync.errors import GitsyncError
from gitsync.extensions.api import ActionCall, Extension, Extensions, LookupRequest, Modifier, Subject, UnmendableError
from gitsync.formats.arm_path import find_resource_group, find_subscription
from gitsync.model.live import Live

GROUP = "keyvault.azure.com"
API_VERSION = "2024-11-01"
"""Of deleted vaults, whatever the manifest's is."""


class Goal(StrEnum):
    """The modes that only ASO and gitsync know."""

    CREATE_OR_RECOVER = "createOrRecover"
    PURGE_THEN_CREATE = "purgeThenCreate"


def goal_of(subject: Subject) -> Goal | None:
    """The goal that a manifest states; None for a mode that Azure knows, and for none."""
    properties = subject.spec.get("properties")
    mode = properties.get("createMode") if isinstance(properties, Mapping) else None
    return Goal(mode) if mode in set(Goal) else None


def asks_for_deleted(subject: Subject) -> tuple[LookupRequest, ...]:
    """The deleted vault of the same name, if the vault must be created. Not for names that only a later step
    knows.
    """
    if goal_of(subject) is None or subject.live is not None or "<" in subject.arm_id:
        return ()
    return (LookupRequest(_deleted_id(subject), API_VERSION),)


def without_goal(body: Mapping[str, Any], subject: Subject) -> Mapping[str, Any]:
    """The body without a mode that Azure does not know.

    Raises UnmendableError where the vault would have to be recovered into another resource group than it was in,
    GitsyncError where Azure's answer about the deleted vault is odd.
    """
    if goal_of(subject) is None:
        return body
    if _recovers(subject):
        _check_group(subject)
    if _purges(subject):
        _group_before(subject)
    properties = {name: value for name, value in body["properties"].items() if name != "createMode"}
    return {**body, "properties": properties}


def with_mode(body: Mapping[str, Any], subject: Subject) -> Mapping[str, Any]:
    """The body with the mode that leads to the goal."""
    if goal_of(subject) is None:
        return body
    mode = "recover" if _recovers(subject) else "default"
    return {**body, "properties": {**body["properties"], "createMode": mode}}


def purge(subject: Subject) -> ActionCall | None:
    """What must be called before the vault can be created."""
    return ActionCall(path=f"{_deleted_id(subject)}/purge", api_version=API_VERSION) if _purges(subject) else None


def foretold(subject: Subject) -> str:
    if _recovers(subject):
        return f"Would recover the deleted vault {_name(subject)}."
    if _purges(subject):
        return f"Would purge the deleted vault {_name(subject)}, with all its contents, and create a new one."
    return ""


def _recovers(subject: Subject) -> bool:
    return goal_of(subject) is Goal.CREATE_OR_RECOVER and _deleted(subject) is not None


def _purges(subject: Subject) -> bool:
    return goal_of(subject) is Goal.PURGE_THEN_CREATE and _deleted(subject) is not None


def _deleted(subject: Subject) -> Live | None:
    """The deleted vault that holds the name."""
    for question in asks_for_deleted(subject):
        found = subject.answers.get(question)
        return found if isinstance(found, Live) else None
    return None


def _deleted_id(subject: Subject) -> str:
    location = subject.spec.get("location")
    if not isinstance(location, str) or not location:
        raise GitsyncError(
            "The manifest has no location, so deleted vaults cannot be searched.", hint="Set spec.location."
        )
    scope = f"/subscriptions/{find_subscription(subject.arm_id)}/providers/Microsoft.KeyVault"
    return f"{scope}/locations/{location}/deletedVaults/{_name(subject)}"


def _name(subject: Subject) -> str:
    """The vault's name in Azure: the deleted one had the same, whatever the manifest is called."""
    return subject.arm_id.rpartition("/")[2]


def _check_group(subject: Subject) -> None:
    """A deleted vault of which Azure tells nothing more is recovered: Azure refuses another group by itself."""
    found = _deleted(subject)
    if found is None or found.body.get("properties") is None:
        return
    before, now = _group_before(subject), find_resource_group(subject.arm_id)
    if now is None or before.casefold() != now.casefold():
        raise UnmendableError(
            f"The deleted vault {_name(subject)} was in resource group {before}, and cannot be recovered to {now}.",
            hint=f"Set the owner of the manifest to {before}, or set spec.properties.createMode to purgeThenCreate.",
        )


def _group_before(subject: Subject) -> str:
    """The resource group that the deleted vault was in.

    Raises GitsyncError where Azure's answer is not about a deleted vault of this name: it is neither recovered nor
    purged then.
    """
    found = _deleted(subject)
    properties = found.body.get("properties") if found else None
    told = properties.get("vaultId") if isinstance(properties, Mapping) else None
    vault = told if isinstance(told, str) else ""
    before = find_resource_group(vault)
    if before is None or vault.rpartition("/")[2].casefold() != _name(subject).casefold():
        raise GitsyncError(
            f"Azure returned {vault!r} as the id of the deleted vault {_name(subject)}, which is not its id.",
            hint="Check the deleted vault in Azure. gitsync did not change it.",
        )
    return before


EXTENSIONS: Extensions = (
    Extension(
        group=GROUP,
        kind="Vault",
        modify=Modifier(
            asks=asks_for_deleted,
            compared=without_goal,
            sent=with_mode,
            first=purge,
            foretells=foretold,
            restores=_recovers,
        ),
    ),
)
