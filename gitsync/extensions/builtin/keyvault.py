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

from gitsync.desired.formats.json_members import read_text
from gitsync.errors import GitsyncError
from gitsync.extensions.api import ActionCall, Extension, Extensions, LookupRequest, Modifier, PermanentError, Subject
from gitsync.model.arm_id import ArmId
from gitsync.model.live import Live

GROUP = "keyvault.azure.com"
API_VERSION = "2024-11-01"
"""The version of deleted vaults, for any version of the manifest."""


class Goal(StrEnum):
    """The modes that only ASO and gitsync have."""

    CREATE_OR_RECOVER = "createOrRecover"
    PURGE_THEN_CREATE = "purgeThenCreate"


def find_goal(subject: Subject) -> Goal | None:
    """The goal that a manifest states; None for an Azure mode, and without a mode."""
    mode = read_text(subject.spec.get("properties"), "createMode")
    return Goal(mode) if mode in set(Goal) else None


def request_deleted(subject: Subject) -> tuple[LookupRequest, ...]:
    """The deleted vault of the same name, if the vault must be created. Not for names that are known only in a later
    step.
    """
    # A plan shows a part of an id that is not known yet as `<…>`, which no id of a vault contains.
    if find_goal(subject) is None or subject.live is not None or "<" in subject.arm_id:
        return ()
    return (LookupRequest(_make_deleted_id(subject), API_VERSION),)


def remove_goal(body: Mapping[str, Any], subject: Subject) -> Mapping[str, Any]:
    """The body without a mode that Azure does not have.

    Raises PermanentError if the vault would have to be recovered to another resource group than before, GitsyncError if
    Azure's answer about the deleted vault is not valid.
    """
    if find_goal(subject) is None:
        return body
    if _does_recover(subject):
        _check_group(subject)
    if _does_purge(subject):
        # Before a purge, which loses everything in a vault, the answer must be about this one.
        _find_former_group(subject)
    properties = {name: value for name, value in body["properties"].items() if name != "createMode"}
    return {**body, "properties": properties}


def set_mode(body: Mapping[str, Any], subject: Subject) -> Mapping[str, Any]:
    """The body with the mode that leads to the goal."""
    if find_goal(subject) is None:
        return body
    mode = "recover" if _does_recover(subject) else "default"
    return {**body, "properties": {**body["properties"], "createMode": mode}}


def purge(subject: Subject) -> ActionCall | None:
    """The action to call before the vault can be created."""
    return (
        ActionCall(path=f"{_make_deleted_id(subject)}/purge", api_version=API_VERSION) if _does_purge(subject) else None
    )


def describe_calls(subject: Subject) -> str:
    if _does_recover(subject):
        return f"Would recover the deleted vault {_get_name(subject)}."
    if _does_purge(subject):
        return f"Would purge the deleted vault {_get_name(subject)}, with all its contents, and create a new one."
    return ""


def _does_recover(subject: Subject) -> bool:
    return find_goal(subject) is Goal.CREATE_OR_RECOVER and _find_deleted(subject) is not None


def _does_purge(subject: Subject) -> bool:
    return find_goal(subject) is Goal.PURGE_THEN_CREATE and _find_deleted(subject) is not None


def _find_deleted(subject: Subject) -> Live | None:
    """The deleted vault that holds the name."""
    for lookup in request_deleted(subject):
        vault = subject.answers.get(lookup)
        return vault if isinstance(vault, Live) else None
    return None


def _make_deleted_id(subject: Subject) -> str:
    location = subject.spec.get("location")
    if not isinstance(location, str) or not location:
        raise GitsyncError(
            "The manifest has no location, so deleted vaults cannot be searched.", hint="Set spec.location."
        )
    scope = f"/subscriptions/{ArmId(subject.arm_id).subscription}/providers/Microsoft.KeyVault"
    return f"{scope}/locations/{location}/deletedVaults/{_get_name(subject)}"


def _get_name(subject: Subject) -> str:
    """The vault's name in Azure: the deleted one had the same, whatever the manifest is called."""
    return ArmId(subject.arm_id).name


def _check_group(subject: Subject) -> None:
    """A deleted vault without properties is recovered: then Azure itself refuses another group."""
    vault = _find_deleted(subject)
    if vault is None or vault.body.get("properties") is None:
        return
    former_group, new_group = _find_former_group(subject), ArmId(subject.arm_id).resource_group
    if new_group is None or former_group.casefold() != new_group.casefold():
        raise PermanentError(
            f"The deleted vault {_get_name(subject)} was in resource group {former_group}, "
            f"and cannot be recovered to {new_group}.",
            hint=f"Set the owner of the manifest to {former_group}, "
            "or set spec.properties.createMode to purgeThenCreate.",
        )


def _find_former_group(subject: Subject) -> str:
    """The resource group that the deleted vault was in.

    Raises GitsyncError if Azure's answer is not about a deleted vault of this name: then it is neither recovered nor
    purged.
    """
    deleted = _find_deleted(subject)
    vault = ArmId(read_text(deleted.body.get("properties"), "vaultId") if deleted else "")
    group = vault.resource_group
    if group is None or vault.name.casefold() != _get_name(subject).casefold():
        raise GitsyncError(
            f"Azure returned {str(vault)!r} as the id of the deleted vault {_get_name(subject)}, which is not its id.",
            hint="Check the deleted vault in Azure. gitsync did not change it.",
        )
    return group


EXTENSIONS: Extensions = (
    Extension(
        group=GROUP,
        kind="Vault",
        modify=Modifier(
            asks=request_deleted,
            compared=remove_goal,
            sent=set_mode,
            first=purge,
            foretells=describe_calls,
            restores=_does_recover,
        ),
    ),
)
