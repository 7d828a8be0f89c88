"""The check `quota`: what a plan needs against what is left, by region (docs/checks.md).

It only warns, since a limit may rise, except of a size that the region or its zones do not offer. An update needs no
more than its difference to what Azure has. What the plan deletes is not counted: it is not free for certain when the
rest is created, and Azure shows it some minutes later.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from gitsync.agent.checks.check_requests import UNKNOWN_VALUE, UNUSABLE_ANSWER, CheckRequests, Unanswered, shorten_text
from gitsync.agent.checks.machines import (
    MachineGroup,
    MachineSize,
    read_cluster,
    read_machine,
    read_pool,
    read_scale_set,
    read_size,
)
from gitsync.desired.formats.arm_path import normalize_region
from gitsync.desired.formats.json_members import read_mapping
from gitsync.errors import UnknownSizeError
from gitsync.model.check import CheckFinding, CheckName, CheckVerdict, Findings, PlannedChange

EXCEEDED: Final = "QuotaExceeded"
NOT_OFFERED: Final = "SkuNotAvailable"
NOTHING_LISTED: Final = "NothingListed"
"""The code of a resource of whose limit, or in whose region, Azure lists nothing."""

_USAGES: Final = {
    "Microsoft.Compute": "2024-07-01",
    "Microsoft.Network": "2025-01-01",
    "Microsoft.Storage": "2025-08-01",
}
_SKUS: Final = "2021-07-01"
_COMPUTE, _NETWORK, _STORAGE = _USAGES
_CLUSTER: Final = "microsoft.containerservice/managedclusters"
_POOL: Final = "microsoft.containerservice/managedclusters/agentpools"


class QuotaRegion(NamedTuple):
    """A region of a subscription, in lower case: each has its own limits."""

    subscription: str
    region: str


class QuotaLimit(NamedTuple):
    """A limit of a provider, such as `cores` of Microsoft.Compute. Azure writes its name in any case."""

    provider: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    used: int
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What a change needs beyond what it has."""

    change: PlannedChange
    quota_region: QuotaRegion  # where the quota is
    counted: Mapping[QuotaLimit, int]  # how many of each limit
    machines: tuple[tuple[MachineGroup, MachineGroup | None], ...] = ()
    """Those that are new, or of another size or zone, each with the one before."""


class Demand(NamedTuple):
    """What a change needs of each limit, and to what its autoscalers may go."""

    change: PlannedChange
    surely: Counter[QuotaLimit]
    most: Counter[QuotaLimit]


async def check_quota(changes: Sequence[PlannedChange], requests: CheckRequests) -> Findings:
    """Compare what a plan needs with the limits of each region."""
    findings: Findings = []
    needs: list[Need] = []
    frees = any(change.deletes and change.arm_type.casefold() in KINDS for change in changes)
    for change in changes:
        if change.body is None or change.arm_type.casefold() not in KINDS:
            continue
        region = await _decide_region(change, changes, requests)
        if isinstance(region, CheckFinding):
            findings.append((change.key, region))
            continue
        try:
            needs.append(_measure(change, region))
        except UnknownSizeError as error:
            findings.append((change.key, _make_unknown(str(error))))
    by_region: defaultdict[QuotaRegion, list[Need]] = defaultdict(list)
    for need in needs:
        by_region[need.quota_region].append(need)
    runs = [_check_region(quota_region, same, requests, frees=frees) for quota_region, same in by_region.items()]
    return findings + [finding for found in await asyncio.gather(*runs) for finding in found]


async def _decide_region(
    change: PlannedChange, changes: Sequence[PlannedChange], requests: CheckRequests
) -> str | CheckFinding:
    """Decide the region of a change."""
    if change.doubt or "<" in (change.arm_id.subscription or "<"):
        return _leave(UNKNOWN_VALUE, change.id_gap)
    body: Mapping[str, Any] = change.body or {}
    # An agent pool is where its cluster is: in this plan, or in Azure.
    if change.arm_type.casefold() == _POOL:
        cluster_id = change.arm_id.parent
        body = next((each.body for each in changes if each.body and each.arm_id.is_same(cluster_id)), {})
        if not body:
            answer = await requests.read(cluster_id, change.api_version)
            if isinstance(answer, Unanswered):
                return answer.as_finding(CheckName.QUOTA)
            body = answer
    location = body.get("location")
    return location if isinstance(location, str) and location else _make_unknown("/location")


def _measure(change: PlannedChange, region: str) -> Need:
    """Measure what a change needs beyond what Azure has of it. Raises UnknownSizeError if the body does not say."""
    quota_region = QuotaRegion((change.arm_id.subscription or "").casefold(), normalize_region(region))
    # The old resource may still count while the new one is created.
    live = {} if change.replaces else change.live_body or {}
    kind = KINDS[change.arm_type.casefold()]
    wanted, present = kind.count(change.body or {}), kind.count(live) if live else Counter()
    counted = {limit: count - present[limit] for limit, count in wanted.items() if count > present[limit]}
    if kind.find_machines is None:
        return Need(change=change, quota_region=quota_region, counted=counted)
    before = {machines.name: machines for machines in kind.find_machines(live)} if live else {}
    pairs = [(machines, before.get(machines.name)) for machines in kind.find_machines(change.body or {})]
    changed = tuple((now, then) for now, then in pairs if now.exceed(then))
    return Need(change=change, quota_region=quota_region, counted=counted, machines=changed)


async def _check_region(
    quota_region: QuotaRegion, needs: Sequence[Need], requests: CheckRequests, *, frees: bool
) -> Findings:
    """Check the needs of one region together."""
    findings: Findings = []
    answer = await _read_sizes(quota_region, requests) if any(need.machines for need in needs) else {}
    sizes: Mapping[str, MachineSize] = {} if isinstance(answer, CheckFinding) else answer
    demands: list[Demand] = []
    for need in needs:
        if isinstance(answer, CheckFinding) and need.machines:
            findings.append((need.change.key, answer))
        elif refusals := [
            finding
            for machines, _ in need.machines
            for finding in evaluate_size(machines, sizes.get(machines.size.casefold()), quota_region)
        ]:
            findings += [(need.change.key, finding) for finding in refusals]
        else:
            demands.append(_count_cores(need, sizes))
    return findings + await _compare_with_limits(quota_region, demands, requests, frees=frees)


async def _compare_with_limits(
    quota_region: QuotaRegion, demands: Sequence[Demand], requests: CheckRequests, *, frees: bool
) -> Findings:
    """Compare the sum of the demands in a region with what is left of each limit."""
    providers = sorted({limit.provider for demand in demands for limit in demand.most})
    answers = await asyncio.gather(*(_read_usages(quota_region, provider, requests) for provider in providers))
    usages = dict(zip(providers, answers, strict=True))
    total: Counter[QuotaLimit] = sum((demand.surely for demand in demands), Counter())
    most: Counter[QuotaLimit] = sum((demand.most for demand in demands), Counter())
    findings: Findings = []
    for demand in demands:
        found: list[CheckFinding] = []
        unlisted: list[QuotaLimit] = []
        for limit in sorted(demand.most):
            listed = usages[limit.provider]
            if isinstance(listed, CheckFinding):
                found.append(listed)
            elif (usage := listed.get(limit.name.casefold())) is None:
                unlisted.append(limit)
            elif finding := evaluate(limit, total[limit], most[limit], usage, quota_region, frees=frees):
                found.append(finding)
        if unlisted:
            names = ", ".join(limit.name for limit in unlisted)
            found.append(_leave(NOTHING_LISTED, f"Azure lists no limit {names} in {quota_region.region}."))
        fine = CheckFinding(check=CheckName.QUOTA, verdict=CheckVerdict.FINE)
        findings += [(demand.change.key, finding) for finding in dict.fromkeys(found or [fine])]
    return findings


def _count_cores(need: Need, sizes: Mapping[str, MachineSize]) -> Demand:
    """Add the cores of the machines to what a change needs."""
    surely, most = Counter(need.counted), Counter(need.counted)
    for machines, before in need.machines:
        size, then = sizes[machines.size.casefold()], sizes.get(before.size.casefold()) if before else None
        _add_cores(surely, machines, machines.count, size, before, then)
        _add_cores(most, machines, machines.most, size, before, then)
    return Demand(need.change, surely, +most)


def _add_cores(
    counted: Counter[QuotaLimit],
    machines: MachineGroup,
    count: int,
    size: MachineSize,
    before: MachineGroup | None,
    then: MachineSize | None,
) -> None:
    """Add the cores that machines need beyond those that Azure has of them."""
    cores = count * size.cores
    # Spot machines have a limit of their own, so a change between the two frees nothing there.
    present = before.count * then.cores if before and then and before.is_spot == machines.is_spot else 0
    if machines.is_spot:
        counted[QuotaLimit(_COMPUTE, "lowPriorityCores")] += max(0, cores - present)
        return
    counted[QuotaLimit(_COMPUTE, "cores")] += max(0, cores - present)
    # Each family has its own limit, so cores of another family count in full.
    is_same_family = then is not None and then.family.casefold() == size.family.casefold()
    counted[QuotaLimit(_COMPUTE, size.family)] += max(0, cores - present) if is_same_family else cores


def evaluate(
    limit: QuotaLimit, needed: int, most: int, usage: Usage, quota_region: QuotaRegion, *, frees: bool = False
) -> CheckFinding | None:
    """Compare what a plan needs with one limit; None if it is left. `most` is what autoscalers may need. `frees`: the
    plan deletes something as well.
    """
    left = max(0, usage.limit - usage.used)
    if most <= left:
        return None
    need = (
        f"The plan needs {needed} more"
        if needed > left
        else f"With its autoscalers, the plan may need up to {most} more"
    )
    deletes = " Quota that the plan's deletes release is not counted: it may be released too late." if frees else ""
    return CheckFinding(
        check=CheckName.QUOTA,
        verdict=CheckVerdict.WARNING,
        code=EXCEEDED,
        message=(
            f"{need} of {limit.name} in {quota_region.region}, but {left} of {usage.limit} are left in subscription "
            f"{quota_region.subscription}.{deletes}"
        ),
        advice=f"Request a higher limit of {limit.name}, or use another size or region.",
        contact="Ask an owner of the subscription to request a higher limit.",
    )


def evaluate_size(
    machines: MachineGroup, size: MachineSize | None, quota_region: QuotaRegion
) -> Iterator[CheckFinding]:
    """Check whether the region and the wanted zones offer a size."""
    if size is None or size.is_closed:
        why = "is not offered" if size is None else "is not available to the subscription"
        yield _refuse(f"{shorten_text(machines.size)} {why} in {quota_region.region}.", machines.path)
        return
    for zone in machines.zones:
        if zone not in size.zones:
            offered = ", ".join(sorted(size.zones)) or "none"
            refused = f"{size.name} is not offered in zone {shorten_text(zone)} of {quota_region.region}."
            message = f"{refused} Its zones: {offered}."
            yield _refuse(message, machines.path)


def _refuse(message: str, path: str) -> CheckFinding:
    return CheckFinding(
        check=CheckName.QUOTA,
        verdict=CheckVerdict.REFUSED,
        code=NOT_OFFERED,
        message=message,
        advice="Use another size, region or zone: `az vm list-skus --location REGION --all` shows what is offered.",
        path=path,
    )


async def _read_sizes(quota_region: QuotaRegion, requests: CheckRequests) -> Mapping[str, MachineSize] | CheckFinding:
    """Read the sizes that a region offers, by their name in lower case."""
    path = f"/subscriptions/{quota_region.subscription}/providers/Microsoft.Compute/skus"
    answer = await requests.list(path, _SKUS, {"$filter": f"location eq '{quota_region.region}'"})
    if isinstance(answer, Unanswered):
        return answer.as_finding(CheckName.QUOTA)
    sizes = [size for row in answer if (size := read_size(row, quota_region.region))]
    # An empty list proves nothing: by it, every size would be refused as not offered.
    if not sizes:
        return _leave(NOTHING_LISTED, f"Azure lists no machine sizes in {quota_region.region}.")
    return {size.name.casefold(): size for size in sizes}


async def _read_usages(
    quota_region: QuotaRegion, provider: str, requests: CheckRequests
) -> Mapping[str, Usage] | CheckFinding:
    """Read what is used of the limits of a provider, by their name in lower case."""
    path = f"/subscriptions/{quota_region.subscription}/providers/{provider}/locations/{quota_region.region}/usages"
    answer = await requests.list(path, _USAGES[provider])
    if isinstance(answer, Unanswered):
        return answer.as_finding(CheckName.QUOTA)
    if not answer:
        return _leave(NOTHING_LISTED, f"Azure lists no limits for {provider} in {quota_region.region}.")
    usages = {}
    for row in answer:
        name, used, limit = row.get("name"), row.get("currentValue"), row.get("limit")
        value = name.get("value") if isinstance(name, Mapping) else None
        # The unreadable entry may be the limit that the plan exceeds, so none of the list counts.
        if not isinstance(value, str) or not isinstance(used, int) or not isinstance(limit, int):
            return _leave(
                UNUSABLE_ANSWER,
                f"Azure's list of usages of {provider} in {quota_region.region} has an entry that cannot be read.",
            )
        usages[value.casefold()] = Usage(used=used, limit=limit)
    return usages


# What each kind needs, by its body.


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedKind:
    """How to find what one type needs of its quotas."""

    count: Callable[[Mapping[str, Any]], Counter[QuotaLimit]]  # counts what is limited by number
    find_machines: Callable[[Mapping[str, Any]], list[MachineGroup]] | None = None  # finds what needs cores


def _count_one(provider: str, name: str) -> Callable[[Mapping[str, Any]], Counter[QuotaLimit]]:
    return lambda _: Counter({QuotaLimit(provider, name): 1})


def _count_address(body: Mapping[str, Any]) -> Counter[QuotaLimit]:
    counted = Counter({QuotaLimit(_NETWORK, "PublicIPAddresses"): 1})
    if str(read_mapping(body, "properties").get("publicIPAllocationMethod")).casefold() == "static":
        counted[QuotaLimit(_NETWORK, "StaticPublicIPAddresses")] = 1
    return counted


def _count_none(_: Mapping[str, Any]) -> Counter[QuotaLimit]:
    return Counter()


KINDS: Final[Mapping[str, CountedKind]] = {
    "microsoft.compute/virtualmachines": CountedKind(
        count=_count_one(_COMPUTE, "virtualMachines"), find_machines=read_machine
    ),
    "microsoft.compute/virtualmachinescalesets": CountedKind(
        count=_count_one(_COMPUTE, "virtualMachineScaleSets"), find_machines=read_scale_set
    ),
    _CLUSTER: CountedKind(count=_count_none, find_machines=read_cluster),
    _POOL: CountedKind(count=_count_none, find_machines=read_pool),
    "microsoft.network/publicipaddresses": CountedKind(count=_count_address),
    "microsoft.storage/storageaccounts": CountedKind(count=_count_one(_STORAGE, "StorageAccounts")),
}


def _make_unknown(field: str) -> CheckFinding:
    return CheckFinding(
        check=CheckName.QUOTA,
        verdict=CheckVerdict.NOT_CHECKED,
        code=UNKNOWN_VALUE,
        message=f"The required quota is not known: the value of {field} is not set, or not known yet.",
        path=field if field.startswith("/") else "",
    )


def _leave(code: str, message: str) -> CheckFinding:
    return CheckFinding(check=CheckName.QUOTA, verdict=CheckVerdict.NOT_CHECKED, code=code, message=message)
