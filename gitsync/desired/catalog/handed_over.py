"""Fields that a manifest hands over to Azure: an autoscaler counts nodes, a channel upgrades, storage grows.

The rules of single types accept other spellings of one value; here the values differ, and git's is no longer meant. A
row holds for a manifest that sets this itself, or for which another manifest sets it. Each has its source in the
documentation, since a wrong one would hide drift.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from gitsync.desired.formats.json_members import is_number
from gitsync.desired.formats.json_pointer import ANY, JsonPath

UPGRADE_CHANNEL: Final = "upgradeChannel"
AUTOSCALE_SETTING: Final = "autoscaleSetting"
"""What other manifests may set for a resource: the channel of the cluster of a pool, the setting that scales it."""


@dataclass(frozen=True, slots=True)
class FieldPair:
    """A value that git sets and Azure has."""

    body: Mapping[str, Any]
    path: JsonPath  # its location in git's body
    live_body: Mapping[str, Any]
    live_path: JsonPath  # its location in Azure's body
    told: Mapping[str, str]  # what other manifests set for the resource, by the names above

    @property
    def git(self) -> Any:
        return _find(self.body, self.path)

    @property
    def live(self) -> Any:
        return _find(self.live_body, self.live_path)

    def desired(self, path: str) -> Any:
        """What git sets at another location; `*` is the entry that the field is in."""
        return _find(self.body, _fill(path, self.path))

    def has(self, path: str) -> Any:
        """What Azure has at another location."""
        return _find(self.live_body, _fill(path, self.live_path))


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedOver:
    """A row: a value that Azure owns in some types."""

    types: re.Pattern[str]  # matches them
    path: JsonPath  # of the value
    by: str  # names what hands it over
    applies: Callable[[FieldPair], bool]  # returns whether this one is Azure's
    choose: Callable[[FieldPair], Any]
    """Gives the value to send: Azure's, or git's where that counts anyway, as an upgrade does."""

    evidence: str  # where Microsoft describes it, or a recording that shows it
    both: type  # what both sides must be: int for any number, object for anything
    needs: str = ""  # what another manifest must set; "" if this one sets it

    def fits(self, pair: FieldPair) -> bool:
        """Return whether both sides are of the sort that the row is about."""
        if self.both is int:
            return is_number(pair.git) and is_number(pair.live)
        return isinstance(pair.git, self.both) and isinstance(pair.live, self.both)


def _find(value: Any, path: JsonPath) -> Any:
    for step in path:
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def _fill(path: str, beside: JsonPath) -> JsonPath:
    """Put the indexes of one place into the pattern of another in the same entries."""
    indexes = (step for step in beside if isinstance(step, int))
    return tuple(next(indexes) if step == ANY else step for step in path.split("/"))


def _is(path: str, *values: Any) -> Callable[[FieldPair], bool]:
    """Return whether git sets one of these values; texts without case."""
    folded = [value.casefold() if isinstance(value, str) else value for value in values]

    def applies(pair: FieldPair) -> bool:
        value = pair.desired(path)
        # The types count too: in Python, True equals 1.
        return any(
            type(value) is type(expected) and (value.casefold() if isinstance(value, str) else value) == expected
            for expected in folded
        )

    return applies


def _is_set(path: str) -> Callable[[FieldPair], bool]:
    return lambda pair: pair.desired(path) is not None


def _take(pair: FieldPair) -> Any:
    return pair.live


def _take_within(lowest: str, highest: str) -> Callable[[FieldPair], Any]:
    """Choose Azure's value, within git's limits: providers refuse another one."""

    def choose(pair: FieldPair) -> Any:
        value, low, high = pair.live, pair.desired(lowest), pair.desired(highest)
        value = max(value, low) if is_number(low) else value
        return min(value, high) if is_number(high) else value

    return choose


def _take_grown(unit: int = 1, highest: str = "") -> Callable[[FieldPair], Any]:
    """Choose Azure's value where it is larger, in complete units and within git's limit; git may enlarge it, too."""

    def choose(pair: FieldPair) -> Any:
        most = pair.desired(highest) if highest else None
        # Beyond git's limit the service has not grown the value by itself: somebody set it.
        is_within = not is_number(most) or pair.live <= most
        return pair.live if pair.live >= pair.git and pair.live % unit == 0 and is_within else pair.git

    return choose


def _take_below(highest: str) -> Callable[[FieldPair], Any]:
    """Choose Azure's value, unless it is above git's limit, which Azure keeps."""

    def choose(pair: FieldPair) -> Any:
        most = pair.desired(highest)
        return pair.git if is_number(most) and pair.live > most else pair.live

    return choose


# Few and short numbers: Python refuses to read one with thousands of digits.
_VERSION: Final = re.compile(r"\d{1,9}(?:\.\d{1,9}){0,9}")


def _take_later(pair: FieldPair) -> Any:
    """A later version of Azure's: none goes back to an earlier one. An upgrade by git counts."""
    git, live = pair.git, pair.live
    if not (_VERSION.fullmatch(git) and _VERSION.fullmatch(live)):
        return git
    return live if _read_version(live) >= _read_version(git) else git


def _read_version(text: str) -> list[int]:
    return [int(number) for number in text.split(".")]


def _has_grown(pair: FieldPair) -> bool:
    """Return whether storage has grown by itself."""
    size = "properties/storage/storageSizeGB"
    git, live = pair.desired(size), pair.has(size)
    grows = _is("properties/storage/autoGrow", "Enabled")(pair)
    return grows and is_number(git) and is_number(live) and bool(live > git)


def _take_higher_tier(pair: FieldPair) -> Any:
    """P15 is above P10."""
    levels = [re.fullmatch(r"P(\d+)", tier, re.IGNORECASE) for tier in (pair.git, pair.live)]
    git, live = (int(level[1]) if level else None for level in levels)
    return pair.live if git is not None and live is not None and live >= git else pair.git


_KEY_VERSION: Final = re.compile(r"[0-9a-f]{32}", re.IGNORECASE)
"""How Key Vault names the versions of keys and certificates."""


def _take_key_version(pair: FieldPair) -> Any:
    """Another version in the vault."""
    return pair.live if _KEY_VERSION.fullmatch(pair.live) else pair.git


def _take_key_url(pair: FieldPair) -> Any:
    """Another version of the key that git names, and of no other key."""
    git, live = (url.casefold().split("/") for url in (pair.git, pair.live))
    names = slice(0, 5)  # https://VAULT/keys/KEY, with or without a version
    return pair.live if git[names] == live[names] and _KEY_VERSION.fullmatch(live[-1]) else pair.git


_IMAGE_VERSION: Final = re.compile(r".+-\d{6}\.\d+\.\d+")


def _take_image(pair: FieldPair) -> Any:
    """Any image, as in 'AKSUbuntu-2204gen2containerd-202401.17.0'."""
    return pair.live if _IMAGE_VERSION.fullmatch(pair.live) else pair.git


_OF_TEXTS: Final = frozenset({_take_later, _take_higher_tier, _take_key_version, _take_key_url, _take_image})


def _make_row(types: str, path: str, by: str, applies: Callable[[FieldPair], bool], **more: Any) -> HandedOver:
    return HandedOver(
        types=re.compile(types, re.IGNORECASE),
        path=tuple(path.split("/")),
        by=by,
        applies=applies,
        choose=more.get("choose", _take),
        evidence=more["evidence"],
        both=more.get("both", str if more.get("choose") in _OF_TEXTS else int),
        needs=more.get("needs", ""),
    )


_CHANNELS: Final = ("patch", "stable", "rapid")
_CHANNEL: Final = "properties/autoUpgradeProfile/upgradeChannel"
_CLUSTERS: Final = r"Microsoft\.ContainerService/managedClusters"
_POOL: Final = "properties/agentPoolProfiles/*"
_COUNTED: Final = "AKS documentation, cluster autoscaler: it sets the number of nodes, from minCount to maxCount."
_UPGRADED: Final = (
    "AKS documentation, automatic upgrades: patch, stable and rapid upgrade the cluster and its pools, and AKS itself "
    "what would fall out of support. No version is ever downgraded."
)
_IMAGED: Final = "AKS documentation, automatic upgrades: every channel but none keeps the images of nodes up to date."
_EXTENDED: Final = "Virtual machine documentation, automatic extension upgrade: Azure installs later versions."
_EXTENSION_SWITCHES: Final = ("enableAutomaticUpgrade", "autoUpgradeMinorVersion")

HANDED_OVER_FIELDS: Final = (
    *(
        _make_row(
            types,
            f"{path}/count",
            "enableAutoScaling",
            _is(f"{path}/enableAutoScaling", True),
            choose=_take_within(f"{path}/minCount", f"{path}/maxCount"),
            evidence=_COUNTED,
        )
        for types, path in ((_CLUSTERS, _POOL), (rf"{_CLUSTERS}/agentPools", "properties"))
    ),
    *(
        _make_row(
            _CLUSTERS,
            path,
            "autoUpgradeProfile.upgradeChannel",
            _is(_CHANNEL, *_CHANNELS),
            choose=_take_later,
            evidence=_UPGRADED,
        )
        for path in ("properties/kubernetesVersion", f"{_POOL}/orchestratorVersion")
    ),
    _make_row(
        rf"{_CLUSTERS}/agentPools",
        "properties/orchestratorVersion",
        "autoUpgradeProfile.upgradeChannel of its cluster",
        lambda pair: pair.told.get(UPGRADE_CHANNEL, "").casefold() in _CHANNELS,
        needs=UPGRADE_CHANNEL,
        choose=_take_later,
        evidence=_UPGRADED,
    ),
    *(
        _make_row(
            _CLUSTERS,
            f"{_POOL}/nodeImageVersion",
            f"autoUpgradeProfile.{name}",
            _is(f"properties/autoUpgradeProfile/{name}", *channels),
            choose=_take_image,
            evidence=_IMAGED,
        )
        for name, channels in (
            (UPGRADE_CHANNEL, (*_CHANNELS, "node-image")),
            ("nodeOSUpgradeChannel", ("NodeImage", "SecurityPatch")),
        )
    ),
    _make_row(
        r".+",
        "sku/capacity",
        "an AutoscaleSetting in git",
        lambda pair: AUTOSCALE_SETTING in pair.told,
        needs=AUTOSCALE_SETTING,
        evidence="Azure Monitor documentation, autoscale: an enabled setting sets the instances of its target.",
    ),
    *(
        _make_row(
            r"Microsoft\.DocumentDB/databaseAccounts/.+",
            f"properties/{name}/throughput",
            f"{name}.autoscaleSettings",
            _is_set(f"properties/{name}/autoscaleSettings/maxThroughput"),
            choose=_take_below(f"properties/{name}/autoscaleSettings/maxThroughput"),
            evidence="Azure Cosmos DB documentation, autoscale: it sets the throughput, up to the maximum.",
        )
        for name in ("options", "resource")
    ),
    _make_row(
        r"Microsoft\.DocumentDB/databaseAccounts/.+",
        "properties/resource/autoscaleSettings/maxThroughput",
        "autoUpgradePolicy.throughputPolicy",
        _is("properties/resource/autoscaleSettings/autoUpgradePolicy/throughputPolicy/isEnabled", True),
        choose=_take_grown(),
        evidence="Azure Cosmos DB's API specification: the policy raises the maximum throughput with the storage.",
    ),
    _make_row(
        r"Microsoft\.EventHub/namespaces",
        "sku/capacity",
        "isAutoInflateEnabled",
        _is("properties/isAutoInflateEnabled", True),
        choose=_take_grown(highest="properties/maximumThroughputUnits"),
        evidence="Event Hubs documentation, auto-inflate: it adds throughput units, and never takes one away.",
    ),
    _make_row(  # before the size, which then has Azure's value
        r"Microsoft\.DBforPostgreSQL/flexibleServers",
        "properties/storage/tier",
        "storage.autoGrow",
        _has_grown,
        choose=_take_higher_tier,
        evidence="Azure Database for PostgreSQL documentation, storage: larger storage has a higher performance tier.",
    ),
    _make_row(
        r"Microsoft\.DBforPostgreSQL/flexibleServers",
        "properties/storage/storageSizeGB",
        "storage.autoGrow",
        _is("properties/storage/autoGrow", "Enabled"),
        choose=_take_grown(),
        evidence="Azure Database for PostgreSQL documentation, storage: autogrow adds storage; none is taken away.",
    ),
    _make_row(
        r"Microsoft\.DBforMySQL/flexibleServers",
        "properties/storage/storageSizeGB",
        "storage.autoGrow",
        _is("properties/storage/autoGrow", "Enabled"),
        choose=_take_grown(),
        evidence="Azure Database for MySQL documentation, storage auto-grow: it adds storage; none is taken away.",
    ),
    _make_row(
        r"Microsoft\.DBforMySQL/flexibleServers",
        "properties/storage/iops",
        "storage.autoIoScaling",
        _is("properties/storage/autoIoScaling", "Enabled"),
        evidence="Azure Database for MySQL documentation, autoscale IOPS: the server scales them with the workload.",
    ),
    _make_row(
        r"Microsoft\.DBforMariaDB/servers",
        "properties/storageProfile/storageMB",
        "storageProfile.storageAutogrow",
        _is("properties/storageProfile/storageAutogrow", "Enabled"),
        choose=_take_grown(unit=1024),
        evidence="Azure Database for MariaDB documentation, storage auto-grow: it adds storage; none is taken away.",
    ),
    _make_row(
        r"Microsoft\.Sql/servers/databases",
        "sku/*",
        "elasticPoolId",
        lambda pair: pair.desired("properties/elasticPoolId") is not None and pair.has("sku/name") == "ElasticPool",
        both=object,
        evidence="Azure SQL documentation, elastic pools: a database in a pool has the size of the pool.",
    ),
    _make_row(
        r"Microsoft\.Kusto/clusters",
        "sku/capacity",
        "optimizedAutoscale",
        _is("properties/optimizedAutoscale/isEnabled", True),
        choose=_take_within("properties/optimizedAutoscale/minimum", "properties/optimizedAutoscale/maximum"),
        evidence="Azure Data Explorer documentation, optimized autoscale: it sets the instances, within limits.",
    ),
    _make_row(
        r"Microsoft\.Synapse/workspaces/bigDataPools",
        "properties/nodeCount",
        "autoScale",
        _is("properties/autoScale/enabled", True),
        choose=_take_within("properties/autoScale/minNodeCount", "properties/autoScale/maxNodeCount"),
        evidence="Azure Synapse documentation, autoscale of Spark pools: it sets the number of nodes, within limits.",
    ),
    _make_row(
        r"Microsoft\.Network/applicationGateways",
        "properties/sku/capacity",
        "autoscaleConfiguration",
        _is_set("properties/autoscaleConfiguration/minCapacity"),
        evidence="Application Gateway documentation, autoscaling: the gateway sets its number of instances.",
    ),
    _make_row(
        r"Microsoft\.Web/serverfarms",
        "sku/capacity",
        "elasticScaleEnabled",
        _is("properties/elasticScaleEnabled", True),
        evidence="App Service documentation, automatic scaling: the platform sets the number of instances of the plan.",
    ),
    _make_row(
        r"Microsoft\.KubernetesConfiguration/extensions",
        "properties/version",
        "autoUpgradeMinorVersion",
        _is("properties/autoUpgradeMinorVersion", True),
        choose=_take_later,
        evidence="Cluster extensions documentation: with automatic upgrades, versions follow the release train.",
    ),
    *(
        _make_row(
            r"Microsoft\.Compute/virtualMachine(?:s|ScaleSets)/extensions",
            "properties/typeHandlerVersion",
            name,
            _is(f"properties/{name}", True),
            choose=_take_later,
            evidence=_EXTENDED,
        )
        for name in _EXTENSION_SWITCHES
    ),
    _make_row(
        r"Microsoft\.Compute/diskEncryptionSets",
        "properties/activeKey/keyUrl",
        "rotationToLatestKeyVersionEnabled",
        _is("properties/rotationToLatestKeyVersionEnabled", True),
        choose=_take_key_url,
        evidence="Azure managed disks documentation, key rotation: the set follows the latest version of its key.",
    ),
    _make_row(
        r"Microsoft\.Cdn/profiles/secrets",
        "properties/parameters/secretVersion",
        "useLatestVersion",
        _is("properties/parameters/useLatestVersion", True),
        choose=_take_key_version,
        evidence="Azure Front Door documentation, certificates: the secret follows the latest version in the vault.",
    ),
)


@cache
def select_rows(arm_type: str, told: tuple[str, ...] = ()) -> tuple[HandedOver, ...]:
    """The rows for a type. `told` has what other manifests state about the resource."""
    return tuple(row for row in HANDED_OVER_FIELDS if row.types.fullmatch(arm_type) and row.needs in ("", *told))
