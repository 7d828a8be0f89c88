"""Where a resource has its object id in Entra ID, the one that groups and role assignments name."""

from __future__ import annotations

from gitsync.desired.catalog.directory_relations import OBJECT_IDS, SYSTEM_ID
from gitsync.desired.cel.source_types import make_source_type
from gitsync.desired.cel.types.types import DYN, Type
from gitsync.model.facts import Kind

_IDENTITIES = "microsoft.managedidentity/userassignedidentities"


def find_object_id(kind: Kind) -> tuple[str, ...] | None:
    """Find the member of the status that has the object id of a resource of a kind; None if it has none."""
    steps = OBJECT_IDS.get(kind.rule_key)
    if steps is None and kind.is_any_type:
        steps = ("properties", "principalId") if kind.arm_type.casefold() == _IDENTITIES else SYSTEM_ID
    steps = steps or SYSTEM_ID
    type_: Type | None = (make_source_type(kind).fields or {})["status"]
    for step in steps:
        # A body without a known type may have the member, which only Azure shows.
        if type_ == DYN:
            return steps
        type_ = (type_.fields or {}).get(step) if type_ else None
    return steps if type_ else None
