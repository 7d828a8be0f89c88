"""Words of Azure's own vocabulary: enumerations, regions, states, sizes. Azure answers them in its own case.

Free text is compared letter by letter: the path of a leaf decides whether it holds free text.
"""

from __future__ import annotations

import re
from typing import Final

from gitsync.desired.formats.region_names import is_region, normalize_region
from gitsync.planning.diff.rules.rule import (
    EquivalenceRule,
    Leaf,
    RuleOutcome,
    compare_without_case,
    make_outcome,
)

FREE: Final = frozenset(
    {"annotations", "appsettings", "description", "displayname", "env", "environmentvariables", "labels", "metadata"}
    | {"nodelabels", "query", "tags", "title", "value", "values"}
)
"""Members that hold people's own text, or anything below which is."""

_STATES: Final = frozenset({"allow", "default", "deny", "disabled", "enabled", "false", "none", "off", "on", "true"})

CHOICES: Final = (
    *("access", "action", "aggregation", "behavior", "caching", "channel", "direction", "format", "generation", "kind"),
    *("level", "method", "mode", "operator", "option", "policies", "priority", "protocol", "protocols", "redundancy"),
    *("rights", "state", "status", "strategy", "tier", "transforms", "type", "week"),
)
"""Endings of members that hold a choice. Of those that kinds set, nine in ten or more are enumerations."""

_GROUPS: Final = ("resourcegroup", "resourcegroupname")

_SIZES: Final = frozenset({"capacity", "family", "name", "size", "tier"})

_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_RESOURCE_TYPE: Final = re.compile(r"microsoft\.[a-z]+(?:/[a-z0-9]+)*", re.IGNORECASE)

_PROGRESS: Final = frozenset(
    {"accepted", "creating", "provisioning", "registeringdns", "running", "succeeded", "updating"}
)
"""States of a resource that has not failed."""


def _compare_enumerations(leaf: Leaf) -> RuleOutcome | None:
    return compare_without_case(leaf) if leaf.hints.told(leaf.path) == "enum" else None


def _compare_states(leaf: Leaf) -> RuleOutcome | None:
    # A resource may be called "default", and names are compared by rules of their own.
    if leaf.desired.casefold() not in _STATES or leaf.above & FREE or leaf.name.endswith("name"):
        return None
    return compare_without_case(leaf)


def _compare_choices(leaf: Leaf) -> RuleOutcome | None:
    # A choice is one word: anything else is an id, a path or somebody's sentence.
    if not leaf.name.endswith(CHOICES) or leaf.above & FREE or not _WORD.fullmatch(leaf.desired):
        return None
    return compare_without_case(leaf)


def _compare_resource_types(leaf: Leaf) -> RuleOutcome | None:
    if leaf.above & FREE or not _RESOURCE_TYPE.fullmatch(leaf.desired):
        return None
    return compare_without_case(leaf)


def _compare_sizes(leaf: Leaf) -> RuleOutcome | None:
    in_sku = len(leaf.path) > 1 and leaf.path[-2] == "sku" and leaf.name in _SIZES
    if not (in_sku or leaf.name == "vmsize"):
        return None
    return compare_without_case(leaf)


def _compare_size_with_capacity(leaf: Leaf) -> RuleOutcome | None:
    size, _, capacity = leaf.desired.rpartition("_")
    if leaf.path[-2:] != ("sku", "name") or not capacity.isdecimal() or size.casefold() != leaf.live.casefold():
        return None
    return make_outcome(str(leaf.find_in_answer(*leaf.path[:-1], "capacity")) == capacity)


def _split_types(text: str) -> list[str]:
    return sorted(part.strip().casefold() for part in text.split(","))


WORD_RULES: Final = (
    EquivalenceRule(
        name="a region",
        evidence="Resource-provider contract: no case and no blanks count; 'westus2' comes back 'West US 2'. Recorded: "
        "'northcentralusstage' comes back 'North Central US (Stage)'.",
        decide=lambda leaf: (
            make_outcome(normalize_region(leaf.desired) == normalize_region(leaf.live))
            if is_region(leaf.name)
            else None
        ),
    ),
    EquivalenceRule(
        name="an enumeration",
        evidence="The API specification names the leaf's values; providers answer in a case of their own.",
        decide=_compare_enumerations,
    ),
    EquivalenceRule(
        name="the identity's types",
        evidence="'SystemAssigned, UserAssigned' and 'SystemAssigned,UserAssigned' are both in the API specifications.",
        decide=lambda leaf: (
            make_outcome(_split_types(leaf.desired) == _split_types(leaf.live))
            if leaf.path[-2:] == ("identity", "type")
            else None
        ),
    ),
    EquivalenceRule(
        name="a state",
        evidence="Recorded: PostgreSQL servers answer 'enabled' with 'Enabled'; the specification has a string.",
        decide=_compare_states,
    ),
    EquivalenceRule(
        name="a choice",
        evidence="Recorded: role definitions answer the type 'customRole' with 'CustomRole', a word of the provider. "
        "In the API specifications, nine in ten members with these endings are enumerations.",
        decide=_compare_choices,
    ),
    EquivalenceRule(
        name="a resource type",
        evidence="Resource-provider contract: namespaces and types have no case.",
        decide=_compare_resource_types,
    ),
    EquivalenceRule(
        name="a provisioning state",
        evidence="Resource-provider contract: the provider alone sets it. A resource that has not failed is on its way "
        "to 'Succeeded', whatever state was sent.",
        decide=lambda leaf: (
            make_outcome({leaf.desired.casefold(), leaf.live.casefold()} <= _PROGRESS)
            if leaf.name == "provisioningstate"
            else None
        ),
    ),
    EquivalenceRule(
        name="a size",
        evidence="Azure takes the names of SKUs and of machine sizes in any case.",
        decide=_compare_sizes,
    ),
    EquivalenceRule(
        name="a size with its capacity",
        evidence="Recorded: SQL databases answer the SKU 'HS_Gen5_2' with 'HS_Gen5' and the capacity 2.",
        decide=_compare_size_with_capacity,
        reads_answer=True,
    ),
    EquivalenceRule(
        name="a resource group",
        evidence="Azure's naming rules: names of resource groups have no case.",
        decide=lambda leaf: compare_without_case(leaf) if leaf.name.endswith(_GROUPS) else None,
    ),
    EquivalenceRule(
        name="a character set",
        evidence="Recorded: PostgreSQL answers 'utf8' with 'UTF8'. PostgreSQL and MySQL document names without case.",
        decide=lambda leaf: compare_without_case(leaf) if leaf.name == "charset" else None,
    ),
)
