"""Singletons: resources of one fixed name that Azure makes with their parent, and that only go with it.

The recordings have PUTs of these, and no DELETE. What each one shows before its first PUT is in `provider_fields`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gitsync.emulator.http.target import Target
from gitsync.emulator.patch import find_value
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.stored import StoredResource, make_implied

_COSMOS: Final = "microsoft.documentdb/databaseaccounts"
_ACCOUNT: Final = "microsoft.storage/storageaccounts"

_NAMES: Final[Mapping[str, str]] = {
    "microsoft.dbforpostgresql/flexibleservers/advancedthreatprotectionsettings": "Default",
    **{f"{_ACCOUNT}/{service}services": "default" for service in ("blob", "file", "queue", "table")},
}
"""Singletons of every parent, by type in lower case."""

_THROUGHPUTS: Final = frozenset(
    f"{_COSMOS}/{parent}/throughputsettings"
    for parent in (
        "cassandrakeyspaces",
        "cassandrakeyspaces/tables",
        "gremlindatabases",
        "gremlindatabases/graphs",
        "mongodbdatabases",
        "mongodbdatabases/collections",
        "sqldatabases",
        "sqldatabases/containers",
        "tables",
    )
)
"""Settings that a database or container has if its own `options` give a throughput."""


def list_singletons(cloud: EmulatedCloud, target: Target) -> list[StoredResource]:
    """The singleton of the type that `target` names, unless its parent does not exist or it was PUT already."""
    parent = target.parent
    owner = cloud.find(parent) if parent is not None else None
    if parent is None or owner is None:
        return []
    kind = target.type.casefold()
    if kind in _NAMES:
        return [_make_singleton(owner, parent, target, _NAMES[kind], {})]
    options = find_value(owner.body, ("properties", "options")) if kind in _THROUGHPUTS else None
    return [_make_singleton(owner, parent, target, "default", {"properties": {"resource": options}})] if options else []


def _make_singleton(
    owner: StoredResource, parent: Target, target: Target, name: str, body: Mapping[str, Any]
) -> StoredResource:
    return make_implied(owner, f"{parent.path}/{target.types[-1]}/{name}", body)
