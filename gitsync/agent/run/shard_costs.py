"""What the shards of an estate are expected to cost: requests of a run in which nothing changes but what is not there
yet, and the time for which ARM's limits hold it back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.catalog.collections import list_collections
from gitsync.model.gvk import Key
from gitsync.model.limits import ARM_LIMITS, Limit, RequestKind
from gitsync.model.provider import Provider
from gitsync.model.record import Record
from gitsync.model.resource import Prepared
from gitsync.model.shard import Account, Shard, ShardCost
from gitsync.planning.list_cover import ListedResource, choose_cover

_READS_OF_A_CREATE = 2  # before and after


def estimate_costs(
    shards: Collection[Shard], prepared: Collection[Prepared], records: Mapping[Key, Record], catalog: Catalog
) -> tuple[ShardCost, ...]:
    """Estimate the cost of each shard."""
    # The workers that share an account divide its limits.
    sharing = Counter(account for shard in shards for account in shard.sizes)
    shard_of = {key: shard.number for shard in shards for key in shard.keys}
    parts: dict[int, list[Prepared]] = {shard.number: [] for shard in shards}
    for resource in prepared:
        if catalog.provider(resource.key.group, resource.key.kind) is Provider.ARM:  # other providers have other limits
            parts[shard_of[resource.key]].append(resource)
    return tuple(_estimate(shard, parts[shard.number], records, catalog, sharing) for shard in shards)


def _estimate(
    shard: Shard,
    known: Collection[Prepared],
    records: Mapping[Key, Record],
    catalog: Catalog,
    sharing: Mapping[Account, int],
) -> ShardCost:
    creates = [resource for resource in known if resource.key not in records and resource.is_written]
    cover = choose_cover(_list_known(known, records, catalog))
    lists = {chain[0] for chain in cover.chains.values() if chain}
    covered = sum(bool(chain) for chain in cover.chains.values())
    reads = len(lists) + len(known) - len(creates) - covered + _READS_OF_A_CREATE * len(creates)
    held = [
        max(
            _hold(reads * size / shard.size, ARM_LIMITS[RequestKind.READS], sharing[account]),
            _hold(len(creates) * size / shard.size, ARM_LIMITS[RequestKind.WRITES], sharing[account]),
        )
        for account, size in shard.sizes.items()
    ]
    return ShardCost(reads, len(creates), max(held, default=0.0))


def _hold(requests: float, limit: Limit, workers: int) -> float:
    """Return for how many seconds a limit holds requests back, of which this worker has its part."""
    return max(0.0, (requests * workers - limit.burst) / limit.per_second)


def _list_known(
    prepared: Collection[Prepared], records: Mapping[Key, Record], catalog: Catalog
) -> Iterator[ListedResource]:
    """List the resources that lists may show: those that an earlier run has left Ready."""
    for entry in prepared:
        record, kind = records.get(entry.key), catalog.kind_of(entry.resource)
        is_ready = record is not None and record.condition is not None and record.condition.is_ready
        if is_ready and kind is not None and kind.can_get and entry.arm_id:
            yield ListedResource(
                key=entry.key,
                arm_id=entry.arm_id,
                api_version=kind.api_version,
                principal=entry.credential and (entry.key.namespace, entry.credential),
                collections=list_collections(kind, entry.arm_id),
            )
