"""The files of imported manifests: a folder for each resource group, and in it a file for each topic."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from typing import Final

from gitsync.formats.arm_path import find_resource_group, find_subscription
from gitsync.imports.found import GROUPS
from gitsync.imports.manifests import ImportedManifest
from gitsync.imports.names import clean_name


class Layout(StrEnum):
    TOPIC = "topic"
    RESOURCE = "resource"
    GROUP = "group"


_TOPICS: Final[Mapping[str, str]] = {
    "authorization": "identity",
    "managedidentity": "identity",
    "alertsmanagement": "monitoring",
    "insights": "monitoring",
    "monitor": "monitoring",
    "operationalinsights": "monitoring",
    "containerservice": "cluster",
    "kubernetesconfiguration": "cluster",
    "dbformariadb": "database",
    "dbformysql": "database",
    "dbforpostgresql": "database",
    "documentdb": "database",
    "sql": "database",
    "eventgrid": "messaging",
    "eventhub": "messaging",
    "notificationhubs": "messaging",
    "servicebus": "messaging",
    "resources": "resource-group",
}
"""By the first word of an API group; any other word is a topic itself."""

_DNS: Final = ("Dns", "PrivateDns", "TrafficManager")


def place_manifests(
    manifests: Iterable[ImportedManifest], layout: Layout, taken: Collection[str] = ()
) -> dict[str, list[ImportedManifest]]:
    """The manifests of each file, by its path in the folder of the import. No path is among those that are `taken`, nor
    differs from one in case alone: such a file gets a number.
    """
    together: dict[str, list[ImportedManifest]] = {}
    manifests = tuple(manifests)
    subscriptions = {found for one in manifests if (found := find_subscription(one.resource.arm_id))}
    for one in manifests:
        folder = _name_folder(one, is_one=len(subscriptions) < 2)
        together.setdefault(f"{folder}/{_name_file(one, layout)}", []).append(one)
    used = {path.casefold() for path in taken}
    placed = {}
    for stem, members in sorted(together.items()):
        path = next(path for path in _list_paths(stem) if path.casefold() not in used)
        used.add(path.casefold())
        placed[path] = sorted(members, key=_make_order)
    return placed


def _list_paths(stem: str) -> Iterable[str]:
    yield f"{stem}.yaml"
    number = 2
    while True:
        yield f"{stem}-{number}.yaml"
        number += 1


def _name_folder(one: ImportedManifest, *, is_one: bool) -> str:
    folder = clean_name(find_resource_group(one.resource.arm_id) or "subscription")
    return folder if is_one else f"{find_subscription(one.resource.arm_id) or 'tenant'}/{folder}"


def _name_file(one: ImportedManifest, layout: Layout) -> str:
    if layout is Layout.RESOURCE:
        return f"{one.key.kind.lower()}-{one.key.name}"
    if layout is Layout.GROUP:
        return "resources"
    if one.key.kind.startswith(_DNS):
        return "dns"
    word = one.key.group.partition(".")[0]
    return _TOPICS.get(word, word)


def _make_order(one: ImportedManifest) -> tuple[bool, str]:
    """A resource group first, then by ARM id: a resource is followed by what is below it."""
    return one.resource.kind.arm_type != GROUPS, one.resource.arm_id.casefold()
