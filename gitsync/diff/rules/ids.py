"""Identifiers: ARM ids, whole or relative to the resource, and GUIDs."""

from __future__ import annotations

import re
from typing import Final

from gitsync.diff.rules.rule import EquivalenceRule, Leaf, RuleOutcome, make_outcome

_GUID: Final = re.compile(r"\{?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\}?", re.IGNORECASE)
_ROOTS: Final = ("/subscriptions/", "/providers/")


def _compare_guids(leaf: Leaf) -> RuleOutcome | None:
    if not (_GUID.fullmatch(leaf.desired) and _GUID.fullmatch(leaf.live)):
        return None
    return make_outcome(leaf.desired.strip("{}").casefold() == leaf.live.strip("{}").casefold())


def _compare_arm_ids(leaf: Leaf) -> RuleOutcome | None:
    if not _is_arm_id(leaf.desired):
        return None
    return make_outcome(_normalize(leaf.desired) == _normalize(leaf.live))


def _compare_relative_ids(leaf: Leaf) -> RuleOutcome | None:
    """A path that Azure returns in full must be below the resource itself, or below one of its parents."""
    short, whole = leaf.desired, leaf.live
    if _is_arm_id(short) and not _is_arm_id(whole):
        short, whole = whole, short
    if not short.startswith("/") or not _is_arm_id(whole) or not _normalize(short):
        return None
    root = _normalize(whole).removesuffix(_normalize(short))
    own = _normalize(leaf.hints.own_id)
    return make_outcome(root != _normalize(whole) and bool(root) and (own == root or own.startswith(f"{root}/")))


def _compare_name_with_id(leaf: Leaf) -> RuleOutcome | None:
    """A name stands for the resource in the own group: one of the same name in another group is another."""
    name, whole = sorted((leaf.desired, leaf.live), key=_is_arm_id)
    if not leaf.name.endswith("id") or "/" in name or not _is_arm_id(whole):
        return None
    group = "/".join(_normalize(leaf.hints.own_id).split("/")[:5])
    return make_outcome(
        _normalize(whole).startswith(f"{group}/providers/") and _normalize(whole).endswith(f"/{_normalize(name)}")
    )


def _is_arm_id(text: str) -> bool:
    return text.casefold().startswith(_ROOTS)


def _normalize(text: str) -> str:
    return text.removesuffix("/").casefold()


ID_RULES: Final = (
    EquivalenceRule(
        name="an ARM id",
        evidence="Resource-provider contract: ids compare without case; 'serverFarms' comes back 'serverfarms'.",
        decide=_compare_arm_ids,
    ),
    EquivalenceRule(
        name="a relative id",
        evidence="Recorded: API Management answers the scope '/apis' by the id of its service and '/apis'; a role "
        "assignment a role of the tenant by its subscription's id and the role's.",
        decide=_compare_relative_ids,
    ),
    EquivalenceRule(
        name="a name for an id",
        evidence="Microsoft.Web takes a plan's name as serverFarmId, and answers the id of the plan in the site's own "
        "resource group.",
        decide=_compare_name_with_id,
    ),
    EquivalenceRule(
        name="a GUID",
        evidence="RFC 9562 §4: hexadecimal digits in either case; Key Vault answers in small letters.",
        decide=_compare_guids,
    ),
)
