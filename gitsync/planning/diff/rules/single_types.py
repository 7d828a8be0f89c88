"""Rules for the leaves of one resource type, each with its evidence: behaviour that Azure's other types do not share.

`UNTOLD` is the outcome for a value that Azure sets itself regardless of the request, and only for known values. Such a
rule holds one way: false that comes back true is Azure's doing, true that comes back false is not. A rule about two
ways to write one value, such as another case (`compare_without_case`), holds both ways.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gitsync.desired.formats.json_members import is_number
from gitsync.desired.formats.json_pointer import ANY, JsonPath
from gitsync.model.arm_id import ArmId
from gitsync.planning.diff.hints import Hints
from gitsync.planning.diff.rules.quantities import parse_instant, parse_time_span
from gitsync.planning.diff.rules.rule import (
    EquivalenceRule,
    Leaf,
    RuleOutcome,
    compare_without_case,
    make_outcome,
)


def _compare_all_keys(leaf: Leaf) -> RuleOutcome | None:
    # A policy that names keys itself is not widened by Azure.
    names_keys = any(part.startswith(("~", "%", "allkeys")) for part in leaf.desired.split())
    return None if names_keys else make_outcome(leaf.live == f"{leaf.desired} allkeys")


_ROLE_NUMBERS: Final[Mapping[str, int]] = {"builtinrole": 0, "customrole": 1}


def _compare_role_numbers(leaf: Leaf) -> RuleOutcome | None:
    number = _ROLE_NUMBERS.get(str(leaf.desired).casefold())
    return make_outcome(leaf.live == number) if number is not None and is_number(leaf.live) else None


def _compare_utf8(leaf: Leaf) -> RuleOutcome | None:
    return make_outcome(_name_three_bytes(leaf.desired) == _name_three_bytes(leaf.live))


def _name_three_bytes(text: str) -> str:
    # Only the whole word: utf8mb4 is another character set.
    return re.sub(r"^utf8(?=_|$)", "utf8mb3", text.casefold())


_VERSION: Final = re.compile(r"\d+(?:\.\d+)*")


def _compare_version_lines(leaf: Leaf) -> RuleOutcome | None:
    """6.0 is of the line "6"; 1.10 is not of the line "1.1"."""
    if not (_VERSION.fullmatch(leaf.desired) and _VERSION.fullmatch(leaf.live)):
        return None
    desired, found = leaf.desired.split("."), leaf.live.split(".")
    # Only Azure may be the more exact side: a patch that git pins and Azure lacks is a difference.
    return make_outcome(len(desired) < len(found) and found[: len(desired)] == desired)


def _compare_revisions(leaf: Leaf) -> RuleOutcome | None:
    _, _, revision = leaf.hints.own_id.casefold().partition(";rev=")
    # Any other revision was chosen by somebody, and is a difference.
    return RuleOutcome.UNTOLD if leaf.live == (revision or "1") else None


def _compare_computed(leaf: Leaf) -> RuleOutcome | None:
    """Azure reserves more than is requested, never less."""
    if not (leaf.desired.isdecimal() and leaf.live.isdecimal()):
        return None
    return RuleOutcome.UNTOLD if int(leaf.desired) < int(leaf.live) else None


def _compare_later_stamps(leaf: Leaf) -> RuleOutcome | None:
    desired, found = parse_instant(leaf.desired), parse_instant(leaf.live)
    return RuleOutcome.UNTOLD if desired is not None and found is not None and desired < found else None


def _compare_defaults(leaf: Leaf) -> RuleOutcome | None:
    """'' or 0 leaves the value to Azure, so nothing is compared."""
    return RuleOutcome.UNTOLD if leaf.desired in ("", 0) else None


def _compare_time_spans(leaf: Leaf) -> RuleOutcome | None:
    desired, found = parse_time_span(leaf.desired), parse_time_span(leaf.live)
    return None if desired is None or found is None else make_outcome(desired == found)


_STANDARD_SPEEDS: Final = {"diskIOPSReadWrite": 500, "diskMBpsReadWrite": 60}


def _compare_standard_disks(leaf: Leaf) -> RuleOutcome | None:
    if leaf.find_in_answer("sku", "name") != "Standard_LRS":
        return None
    return RuleOutcome.UNTOLD if leaf.live == _STANDARD_SPEEDS[str(leaf.path[-1])] else None


def _compare_service_objectives(leaf: Leaf) -> RuleOutcome | None:
    objective = leaf.find_in_answer("properties", "currentServiceObjectiveName")
    return make_outcome(leaf.desired.casefold() == objective.casefold()) if isinstance(objective, str) else None


def _compare_read_scales(leaf: Leaf) -> RuleOutcome | None:
    replicas = leaf.find_in_answer("properties", "highAvailabilityReplicaCount")
    if leaf.find_in_answer("sku", "tier") != "Hyperscale" or not is_number(replicas):
        return None
    return RuleOutcome.UNTOLD if leaf.live == ("Enabled" if replicas else "Disabled") else None


def _compare_secret_versions(leaf: Leaf) -> RuleOutcome | None:
    version = leaf.find_in_answer("properties", "parameters", "secretVersion")
    return make_outcome(leaf.desired.casefold() == f"{leaf.live}/{version}".casefold())


_PROTECTED: Final = frozenset({"ConfiguringProtection", "ProtectionConfigured", "UpdatingProtection"})


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeRule:
    """A rule for some leaves of some types."""

    types: re.Pattern[str]  # matches resource types, without case
    path: JsonPath  # `*` in it is any member or entry
    both: type | None  # what both sides must be
    rule: EquivalenceRule


def _make_row(
    types: str,
    path: str,
    decide: Callable[[Leaf], RuleOutcome | None],
    *,
    both: type | None = str,
    reads_answer: bool = False,
    **more: str,
) -> TypeRule:
    return TypeRule(
        types=re.compile(types, re.IGNORECASE),
        path=tuple(path.split("/")),
        both=both,
        rule=EquivalenceRule(name=more["name"], evidence=more["evidence"], decide=decide, reads_answer=reads_answer),
    )


def _compare_prefixed_versions(leaf: Leaf) -> RuleOutcome:
    return make_outcome(leaf.desired.casefold().removeprefix("v") == leaf.live.casefold().removeprefix("v"))


def _compare_solution_names(leaf: Leaf) -> RuleOutcome | None:
    """Azure adds the workspace, which the name of the resource has too."""
    name, _, workspace = leaf.live.partition("(")
    is_own = ArmId(leaf.hints.own_id).name.casefold().endswith(f"({workspace}".casefold())
    return make_outcome(leaf.desired.casefold() == name.casefold()) if workspace and is_own else None


# A pool is an entry of its cluster or a resource of its own, with the same fields.
_POOLS: Final = (
    (r"Microsoft\.ContainerService/managedClusters", "properties/agentPoolProfiles/*"),
    (r"Microsoft\.ContainerService/managedClusters/agentPools", "properties"),
)

TYPE_RULES: Final = (
    _make_row(
        r"Microsoft\.ApiManagement/service/apis",
        "properties/path",
        lambda leaf: make_outcome(leaf.desired.strip("/") == leaf.live.strip("/")),
        name="a path of the gateway",
        evidence="Recorded: '/account-api' comes back 'account-api', at three api-versions.",
    ),
    _make_row(
        r"Microsoft\.ApiManagement/service/apis",
        "properties/apiRevision",
        _compare_revisions,
        name="the revision that the id names",
        evidence="Recorded: 'v1' and '2' come back '1'. The id names it (';rev=2'); without, it is the first.",
    ),
    _make_row(
        r"Microsoft\.Authorization/policy(?:Assignments|Definitions|SetDefinitions|Exemptions)",
        "properties/metadata/updatedOn",
        _compare_later_stamps,
        name="the time of the last write",
        evidence="Recorded seven times: Azure Policy stamps the metadata at each write, whatever they have.",
    ),
    _make_row(
        r"Microsoft\.Cache/redis",
        "properties/redisConfiguration/maxmemory-delta",
        _compare_computed,
        name="memory that Azure reserves",
        evidence="Recorded ten times, at three api-versions: '10' comes back '642', which follows from the size. "
        "It is never less than the requested value.",
    ),
    _make_row(
        r"Microsoft\.Cache/redis",
        "properties/redisVersion",
        _compare_version_lines,
        name="a version's line",
        evidence="Recorded ten times, at three api-versions: '6' comes back '6.0'. A major version allows any minor.",
    ),
    _make_row(
        r"Microsoft\.ContainerService/managedClusters",
        "properties/kubernetesVersion",
        _compare_version_lines,
        name="a version's line",
        evidence="The API specification: of a version without patch the latest supported patch is chosen.",
    ),
    *(
        _make_row(
            types,
            f"{path}/orchestratorVersion",
            _compare_version_lines,
            name="a version's line",
            evidence="The API specification: of a version without patch the latest supported patch is chosen.",
        )
        for types, path in _POOLS
    ),
    *(
        _make_row(
            types,
            f"{path}/orchestratorVersion",
            _compare_defaults,
            name="the cluster's version",
            evidence="AKS gives a pool without a version that of its cluster. '' sets none.",
        )
        for types, path in _POOLS
    ),
    *(
        _make_row(
            types,
            f"{path}/osDiskSizeGB",
            _compare_defaults,
            both=int,
            name="the disk of the machine's size",
            evidence="The API specification: 0 requests the default size of the disk for the machine's size.",
        )
        for types, path in _POOLS
    ),
    _make_row(
        r"Microsoft\.ContainerService/managedClusters",
        "properties/kubernetesVersion",
        _compare_defaults,
        name="the default version",
        evidence="AKS gives a cluster without a version the default one of its region. '' sets none.",
    ),
    _make_row(
        r"Microsoft\.Cdn/profiles/secrets",
        "properties/parameters/secretSource/id",
        _compare_secret_versions,
        name="a secret and its version",
        evidence="Recorded: the id of a secret's version comes back as that of the secret, beside its secretVersion.",
    ),
    *(
        _make_row(
            r"Microsoft\.Compute/disks",
            f"properties/{name}",
            _compare_standard_disks,
            both=int,
            name="the speed of a standard disk",
            evidence="The API specification: it can be set for Ultra disks only. "
            f"Recorded: Standard_LRS comes back with {speed}.",
        )
        for name, speed in _STANDARD_SPEEDS.items()
    ),
    _make_row(
        r"Microsoft\.DataProtection/backupVaults/backupInstances",
        "properties/protectionStatus/status",
        lambda leaf: make_outcome({leaf.desired, leaf.live} <= _PROTECTED),
        name="a state of protection",
        evidence="The API specification: Azure alone sets it. Recorded: 'ProtectionConfigured' comes back "
        "'UpdatingProtection', which leads back to it.",
    ),
    _make_row(
        r"Microsoft\.ServiceBus/namespaces/(?:queues|topics(?:/subscriptions)?)",
        "properties/*",
        _compare_time_spans,
        name="a .NET TimeSpan",
        evidence="Recorded: 'P1Y2M3DT3H11M2S' comes back 'P428DT3H11M2S'. .NET counts a month as 30 days and a year "
        "as 365.",
    ),
    _make_row(
        r"Microsoft\.ServiceBus/namespaces/(?:queues|topics)",
        "properties/maxSizeInMegabytes",
        lambda leaf: (
            make_outcome(leaf.live == 16 * leaf.desired)
            if leaf.find_in_answer("properties", "enablePartitioning") is True
            else None
        ),
        both=int,
        name="the size of all partitions",
        evidence="Service Bus documents that a partitioned entity has 16 partitions of this size; the answer has their "
        "sum (hashicorp/terraform-provider-azurerm, servicebus_queue_resource.go).",
    ),
    *(
        _make_row(
            r"Microsoft\.EventGrid/(?:.+/)?eventSubscriptions",
            f"properties/{path}/properties/deliveryAttributeMappings/*/properties/value",
            lambda leaf: RuleOutcome.UNTOLD if leaf.live == "Hidden" else None,
            name="a secret header",
            evidence="Event Grid answers the value of a delivery property that is a secret with 'Hidden'.",
        )
        for path in ("destination", "deliveryWithResourceIdentity/destination")
    ),
    _make_row(
        r"Microsoft\.Insights/diagnosticSettings",
        "location",
        lambda leaf: RuleOutcome.UNTOLD if leaf.live == "global" else None,
        name="no region",
        evidence="Recorded: 'southcentralus' comes back 'global'. In the API specification a setting has no region.",
    ),
    _make_row(
        r"Microsoft\.Sql/servers/databases",
        "sku/name",
        _compare_service_objectives,
        reads_answer=True,
        name="a service objective",
        evidence="Recorded: 'P1', 'S0' and 'DW100c' come back 'Premium', 'Standard' and 'DataWarehouse', and the "
        "answer's currentServiceObjectiveName is the requested one.",
    ),
    _make_row(
        r"Microsoft\.Sql/servers/databases",
        "properties/readScale",
        _compare_read_scales,
        name="what follows from the replicas",
        evidence="Recorded: for the tier Hyperscale, no replica comes back 'Disabled' and two 'Enabled', regardless "
        "of the request.",
    ),
    _make_row(
        r"Microsoft\.Sql/(?:servers|managedInstances)(?:/databases)?",
        "properties/collation",
        compare_without_case,
        name="a collation",
        evidence="SQL answers a collation's name in its own case (hashicorp/terraform-provider-azurerm#3137).",
    ),
    _make_row(
        r"Microsoft\.Cache/redis/accessPolicies",
        "properties/permissions",
        _compare_all_keys,
        name="permissions for all keys",
        evidence="Recorded: '+get +set' comes back '+get +set allkeys', which is what no pattern means.",
    ),
    _make_row(
        r"Microsoft\.DocumentDB/databaseAccounts/\w+RoleDefinitions",
        "properties/type",
        _compare_role_numbers,
        both=None,
        name="a role's type by number",
        evidence="Recorded: 'CustomRole' comes back 1, its index among the values of the API specification.",
    ),
    _make_row(
        r"Microsoft\.DBforM(?:ySQL|ariaDB)/\w+/databases",
        "properties/charset",
        _compare_utf8,
        name="MySQL's UTF-8",
        evidence="MySQL 8.0 Reference Manual §12.9.2: utf8 is another name of utf8mb3.",
    ),
    _make_row(
        r"Microsoft\.DBforM(?:ySQL|ariaDB)/\w+/databases",
        "properties/collation",
        _compare_utf8,
        name="MySQL's UTF-8",
        evidence="MySQL 8.0 Reference Manual §12.9.2: collations named utf8_… are those of utf8mb3.",
    ),
    _make_row(
        r"Microsoft\.KeyVault/vaults",
        "properties/enableSoftDelete",
        lambda leaf: RuleOutcome.UNTOLD if leaf.desired is False and leaf.live is True else None,
        both=bool,
        name="soft delete, which is always on",
        evidence="Recorded: false comes back true. Key Vault documents that it cannot be switched off.",
    ),
    _make_row(
        r"Microsoft\.SignalRService/signalR",
        "properties/features/*/value",
        compare_without_case,
        name="a feature's value",
        evidence="The API specification lists the values: 'true', 'false', and the modes. People write 'False'.",
    ),
    _make_row(
        r"Microsoft\.OperationalInsights/workspaces",
        "properties/sku/name",
        lambda leaf: (
            RuleOutcome.UNTOLD
            if leaf.desired.casefold() == "standalone" and leaf.live.casefold() == "pergb2018"
            else None
        ),
        name="a pricing tier of the past",
        evidence="Recorded: 'Standalone' comes back 'PerGB2018', the tier that new workspaces have.",
    ),
    _make_row(
        r"Microsoft\.Kubernetes/connectedClusters",
        "properties/distribution",
        compare_without_case,
        name="a distribution",
        evidence="Recorded: 'aks' comes back 'AKS', a word of the service.",
    ),
    _make_row(
        r"Microsoft\.NetworkCloud/kubernetesClusters",
        "properties/kubernetesVersion",
        _compare_prefixed_versions,
        name="a version",
        evidence="Recorded: '1.24.9' comes back 'v1.24.9'.",
    ),
    _make_row(
        r"Microsoft\.OperationsManagement/solutions",
        "plan/name",
        _compare_solution_names,
        name="a solution's name",
        evidence="Recorded twice: 'Containers' comes back 'Containers(workspace)', which is the resource's name.",
    ),
    _make_row(
        r"Microsoft\.RecoveryServices/vaults/backupPolicies",
        "properties/protectedItemsCount",
        lambda _: RuleOutcome.UNTOLD,
        both=int,
        name="a count of the service",
        evidence="The API specification: the number of items that the policy protects. Recorded four times.",
    ),
)


def list_type_rules(path: JsonPath, hints: Hints) -> list[TypeRule]:
    """The rows for one leaf."""
    return [row for row in TYPE_RULES if _leads_to(row.path, path) and row.types.fullmatch(hints.arm_type)]


def _leads_to(pattern: JsonPath, path: JsonPath) -> bool:
    return len(pattern) == len(path) and all(step in (ANY, taken) for step, taken in zip(pattern, path, strict=True))


def fits(row: TypeRule, desired: Any, live: Any) -> bool:
    """Return whether both sides are of the sort that a row is about."""
    return row.both is None or (isinstance(desired, row.both) and isinstance(live, row.both))
