"""Rules for the leaves of one resource type, each with its evidence: for what is no general way of Azure's.

`UNTOLD` is the outcome for a value that Azure sets itself regardless of the request, and only for known values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from gitsync.dataclasses import dataclass
from gitsync.diff.hints import ANY, Hints
from gitsync.diff.rules.numbers import is_number
from gitsync.diff.rules.rule import EquivalenceRule, Leaf, RuleOutcome, make_outcome
from gitsync.formats.json_pointer import JsonPath


def _rooted(leaf: Leaf) -> RuleOutcome | None:
    return make_outcome(leaf.desired.strip("/") == leaf.live.strip("/"))


def _all_keys(leaf: Leaf) -> RuleOutcome | None:
    names_keys = any(part.startswith(("~", "%", "allkeys")) for part in leaf.desired.split())
    return None if names_keys else make_outcome(leaf.live == f"{leaf.desired} allkeys")


_ROLE_NUMBERS: Final[Mapping[str, int]] = {"builtinrole": 0, "customrole": 1}


def _role_number(leaf: Leaf) -> RuleOutcome | None:
    number = _ROLE_NUMBERS.get(str(leaf.desired).casefold())
    return make_outcome(leaf.live == number) if number is not None and is_number(leaf.live) else None


def _utf8(leaf: Leaf) -> RuleOutcome | None:
    return make_outcome(_three_bytes(leaf.desired) == _three_bytes(leaf.live))


def _three_bytes(text: str) -> str:
    return re.sub(r"^utf8(?=_|$)", "utf8mb3", text.casefold())


_VERSION: Final = re.compile(r"\d+(?:\.\d+)*")


def _version_line(leaf: Leaf) -> RuleOutcome | None:
    """6.0 is of the line "6"; 1.10 is not of the line "1.1"."""
    if not (_VERSION.fullmatch(leaf.desired) and _VERSION.fullmatch(leaf.live)):
        return None
    asked, found = leaf.desired.split("."), leaf.live.split(".")
    return make_outcome(len(asked) < len(found) and found[: len(asked)] == asked)


def _without_case(leaf: Leaf) -> RuleOutcome | None:
    return make_outcome(leaf.desired.casefold() == leaf.live.casefold())


def _revision_of_the_id(leaf: Leaf) -> RuleOutcome | None:
    _, _, revision = leaf.hints.own_id.casefold().partition(";rev=")
    return RuleOutcome.UNTOLD if leaf.live == (revision or "1") else None


def _computed(leaf: Leaf) -> RuleOutcome | None:
    return RuleOutcome.UNTOLD if leaf.desired.isdecimal() and leaf.live.isdecimal() else None


def _legacy_tier(leaf: Leaf) -> RuleOutcome | None:
    legacy = leaf.desired.casefold() == "standalone" and leaf.live.casefold() == "pergb2018"
    return RuleOutcome.UNTOLD if legacy else None


def _always_on(leaf: Leaf) -> RuleOutcome | None:
    return RuleOutcome.UNTOLD if leaf.desired is False and leaf.live is True else None


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeRule:
    """A rule for the leaf at `path` of the resource types that `types` matches, without case."""

    types: re.Pattern[str]
    path: JsonPath
    both: type | None  # what both sides must be
    rule: EquivalenceRule


def _row(
    types: str, path: str, decide: Callable[[Leaf], RuleOutcome | None], both: type | None = str, **more: str
) -> TypeRule:
    return TypeRule(
        types=re.compile(types, re.IGNORECASE),
        path=tuple(path.split("/")),
        both=both,
        rule=EquivalenceRule(name=more["name"], evidence=more["evidence"], decide=decide),
    )


TYPE_RULES: Final = (
    _row(
        r"Microsoft\.ApiManagement/service/apis",
        "properties/path",
        _rooted,
        name="a path of the gateway",
        evidence="Recorded: '/account-api' comes back 'account-api', at three api-versions.",
    ),
    _row(
        r"Microsoft\.ApiManagement/service/apis",
        "properties/apiRevision",
        _revision_of_the_id,
        name="the revision that the id names",
        evidence="Recorded: 'v1' and '2' come back '1'. The id names it (';rev=2'); without, it is the first.",
    ),
    _row(
        r"Microsoft\.Cache/redis",
        "properties/redisConfiguration/maxmemory-delta",
        _computed,
        name="memory that Azure reserves",
        evidence="Recorded ten times, at three api-versions: '10' comes back '642', which follows from the size.",
    ),
    _row(
        r"Microsoft\.Cache/redis",
        "properties/redisVersion",
        _version_line,
        name="a version's line",
        evidence="Recorded ten times, at three api-versions: '6' comes back '6.0'. A major version asks for any of it.",
    ),
    _row(
        r"Microsoft\.ContainerService/managedClusters",
        "properties/kubernetesVersion",
        _version_line,
        name="a version's line",
        evidence="The API specification: of a version without patch the latest supported patch is chosen.",
    ),
    _row(
        r"Microsoft\.ContainerService/managedClusters/agentPools",
        "properties/orchestratorVersion",
        _version_line,
        name="a version's line",
        evidence="The API specification: of a version without patch the latest supported patch is chosen.",
    ),
    _row(
        r"Microsoft\.Sql/(?:servers|managedInstances)(?:/databases)?",
        "properties/collation",
        _without_case,
        name="a collation",
        evidence="SQL answers a collation's name in its own case (hashicorp/terraform-provider-azurerm#3137).",
    ),
    _row(
        r"Microsoft\.Cache/redis/accessPolicies",
        "properties/permissions",
        _all_keys,
        name="permissions for all keys",
        evidence="Recorded: '+get +set' comes back '+get +set allkeys', which is what no pattern means.",
    ),
    _row(
        r"Microsoft\.DocumentDB/databaseAccounts/\w+RoleDefinitions",
        "properties/type",
        _role_number,
        both=None,
        name="a role's type by number",
        evidence="Recorded: 'CustomRole' comes back 1, its place among the values of the API specification.",
    ),
    _row(
        r"Microsoft\.DBforM(?:ySQL|ariaDB)/\w+/databases",
        "properties/charset",
        _utf8,
        name="MySQL's UTF-8",
        evidence="MySQL 8.0 Reference Manual §12.9.2: utf8 is another name of utf8mb3.",
    ),
    _row(
        r"Microsoft\.DBforM(?:ySQL|ariaDB)/\w+/databases",
        "properties/collation",
        _utf8,
        name="MySQL's UTF-8",
        evidence="MySQL 8.0 Reference Manual §12.9.2: collations named utf8_… are those of utf8mb3.",
    ),
    _row(
        r"Microsoft\.KeyVault/vaults",
        "properties/enableSoftDelete",
        _always_on,
        both=bool,
        name="soft delete, which is always on",
        evidence="Recorded: false comes back true. Key Vault documents that it cannot be switched off.",
    ),
    _row(
        r"Microsoft\.SignalRService/signalR",
        "properties/features/*/value",
        _without_case,
        name="a feature's value",
        evidence="The API specification lists the values: 'true', 'false', and the modes. People write 'False'.",
    ),
    _row(
        r"Microsoft\.OperationalInsights/workspaces",
        "properties/sku/name",
        _legacy_tier,
        name="a pricing tier of the past",
        evidence="Recorded: 'Standalone' comes back 'PerGB2018', the tier that new workspaces have.",
    ),
)


def find_type_rules(path: JsonPath, hints: Hints) -> list[TypeRule]:
    """The rows for one leaf; "*" stands for any place in a list."""
    path = tuple(ANY if isinstance(step, int) else step for step in path)
    return [row for row in TYPE_RULES if row.path == path and row.types.fullmatch(hints.arm_type)]


def fits(row: TypeRule, desired: Any, live: Any) -> bool:
    """Whether both sides are of the sort that a row is about."""
    return row.both is None or (isinstance(desired, row.both) and isinstance(live, row.both))
