"""What manifests set for other resources, as far as it hands their fields over to Azure (catalog.handed_over): a
cluster with an upgrade channel about its pools, an autoscale setting about its target.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from gitsync.desired.catalog.handed_over import AUTOSCALE_SETTING, UPGRADE_CHANNEL
from gitsync.desired.problems.field_path import find_member
from gitsync.desired.request.draft import Draft
from gitsync.model.arm_id import NO_ID
from gitsync.model.gvk import Key
from gitsync.model.template import ResourceRef

Told = tuple[tuple[str, str], ...]

_CLUSTER: Final = ("containerservice.azure.com", "ManagedCluster")
_POOL: Final = ("containerservice.azure.com", "ManagedClustersAgentPool")
_SETTINGS: Final = ("insights.azure.com", "AutoscaleSetting")


def collect_told(drafts: Iterable[Draft]) -> Mapping[Key, Told]:
    """Find what other manifests set for each resource: names of `catalog.handed_over`, with their values."""
    by_kind: dict[tuple[str, str], list[Draft]] = {_CLUSTER: [], _POOL: [], _SETTINGS: []}
    ids: dict[str, Key] = {}
    for draft in drafts:
        if draft.kind is not None and draft.kind.rule_key in by_kind:
            by_kind[draft.kind.rule_key].append(draft)
    if by_kind[_SETTINGS] or by_kind[_POOL]:
        # Most sources have neither pools nor autoscale settings, and then no index of ids is made.
        ids = {draft.known_id.key: draft.resource.key for draft in drafts if draft.known_id}
    channels = {draft.resource.key: _find_channel(draft) for draft in by_kind[_CLUSTER]}
    told: dict[Key, Told] = {}
    for pool in by_kind[_POOL]:
        owner = pool.owner
        cluster = (owner.key or ids.get((owner.arm_id or NO_ID).key)) if owner else None
        if cluster and (channel := channels.get(cluster)):
            told[pool.resource.key] = ((UPGRADE_CHANNEL, channel),)
    for setting in by_kind[_SETTINGS]:
        target = _find_target(setting)
        scaled = target.key if isinstance(target, ResourceRef) else ids.get(target.casefold())
        if scaled:
            told[scaled] = (*told.get(scaled, ()), (AUTOSCALE_SETTING, setting.resource.key.name))
    return told


def _find_channel(cluster: Draft) -> str:
    channel = _find_in_body(cluster, "properties", "autoUpgradeProfile", "upgradeChannel")
    return channel if isinstance(channel, str) else ""


def _find_target(setting: Draft) -> ResourceRef | str:
    """The resource that an enabled setting scales; "" for none. A setting is enabled only with `enabled: true`."""
    if _find_in_body(setting, "properties", "enabled") is not True:
        return ""
    target = _find_in_body(setting, "properties", "targetResourceUri")
    return target if isinstance(target, ResourceRef | str) else ""


def _find_in_body(draft: Draft, *path: str) -> Any:
    return find_member(draft.converted.body, *path) if draft.converted else None
