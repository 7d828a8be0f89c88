"""What is directly in a subscription, and in no resource group: role assignments, locks and policy assignments."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Final

from gitsync.desired.catalog.children import KindTree
from gitsync.desired.formats.json_members import read_mapping, read_text
from gitsync.errors import RefusedListError
from gitsync.model.arm_id import ArmId
from gitsync.providers.arm.http.response_bodies import ListSource
from gitsync.workflows.imports.acceptance import Acceptance
from gitsync.workflows.imports.conversion.found_resources import FoundResource
from gitsync.workflows.imports.resource_reader import Body, ResourceReader

ASSIGNMENTS: Final = "Microsoft.Authorization/roleAssignments"
_ROLES: Final = "Microsoft.Authorization/roleDefinitions"

_LISTS: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    # Without the filter, the first has all that is below the subscription too.
    ASSIGNMENTS: ("2022-04-01", {"$filter": "atScope()"}),
    "Microsoft.Authorization/locks": ("2020-05-01", {}),
    "Microsoft.Authorization/policyAssignments": ("2023-04-01", {"$filter": "atExactScope()"}),
}
"""By type: the api-version and the query of its list."""

_ROLES_VERSION: Final = "2022-04-01"


async def list_at_subscription(
    root: ArmId, reader: ResourceReader, tree: KindTree, acceptance: Acceptance
) -> list[str]:
    """List what is directly in the subscription with the id `root`. Returns which lists Azure refuses: what they have
    is not known. Raises ArmError for a list without a usable answer.
    """
    rows = await asyncio.gather(*(_read(root, arm_type, reader) for arm_type in _LISTS))
    for arm_type, row in zip(_LISTS, rows, strict=True):
        if isinstance(row, RefusedListError):
            continue
        kind = tree.find(arm_type)
        if kind is None:
            for arm_id, entry in row.items():
                acceptance.note_foreign(arm_id, entry, tree.explain_missing(arm_type))
            continue
        found = [FoundResource(kind=kind, arm_id=arm_id, owner_id=root, body=entry) for arm_id, entry in row.items()]
        await acceptance.accept(found)
    return [f"{row.path}: refused by Azure ({row.error.code})" for row in rows if isinstance(row, RefusedListError)]


async def _read(root: ArmId, arm_type: str, reader: ResourceReader) -> dict[ArmId, Body] | RefusedListError:
    path, (version, query) = f"{root}/providers/{arm_type}", _LISTS[arm_type]
    try:
        return _select_own(root, arm_type, await reader.read_list(path, version, query))
    except RefusedListError as refused:
        return refused


def _select_own(root: ArmId, arm_type: str, entries: Iterable[Body]) -> dict[ArmId, Body]:
    """Select the entries of a list that are directly in the subscription, by their ids as the subscription spells them:
    the lists also have what is inherited from management groups, or what is below. Raises ArmError for one without an
    id: it would be missing without a word.
    """
    own = {}
    for entry in entries:
        arm_id = read_text(entry, "id")
        if not arm_id:
            raise ListSource(f"{root}/providers/{arm_type}").make_error("has an entry without an id")
        scope, _, path = arm_id.rpartition("/providers/")
        shown_type, _, name = path.rpartition("/")
        if ArmId(scope).is_same(root) and shown_type.casefold() == arm_type.casefold():
            own[ArmId(f"{root}/providers/{arm_type}/{name}")] = entry
    return own


async def read_role_names(root: str, reader: ResourceReader) -> dict[str, str]:
    """Read the names of the roles of a subscription, by the last step of their ids, in lower case; none if refused.

    Raises ArmError for a list without a usable answer.
    """
    try:
        entries = await reader.read_list(f"{root}/providers/{_ROLES}", _ROLES_VERSION)
    except RefusedListError:
        return {}  # the ids of the roles are shown
    rows = ((read_text(entry, "id"), read_text(read_mapping(entry, "properties"), "roleName")) for entry in entries)
    return {ArmId(arm_id).name.casefold(): name for arm_id, name in rows if arm_id and name}
