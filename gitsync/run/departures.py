"""How resources were removed from git: path and policy of their last manifests, and why they are no longer read.

If one commit sets detach-on-delete and the next removes the manifest, with no run in between, the resource must stay
(docs/reference/design.md#prune). So the last manifest counts, which may have changed since the last run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from gitsync.config.config import Config
from gitsync.config.source_settings import find_source_settings
from gitsync.errors import ConfigError
from gitsync.git.source.checkout import Checkout
from gitsync.manifests.policy import find_policy
from gitsync.manifests.reader import read_manifests
from gitsync.manifests.units import find_unit, is_inside
from gitsync.model.gvk import Key
from gitsync.model.plan import Departure
from gitsync.model.policy import Policy
from gitsync.model.record import Record

FURTHEST = 50
"""Number of revisions that are read, newest first; beyond them the recorded policy counts."""


class _Last(NamedTuple):
    """The last manifest of a resource: its policy (None for an unknown one), and its file."""

    policy: Policy | None
    path: str


def find_departures(
    source: Checkout, gone: Mapping[Key, Record], since: str | None, config: Config, namespace: str
) -> dict[Key, Departure]:
    """Return how each of these resources was removed from git, as far as that is known.

    `since` is the revision that the records speak of, None where that is not known; `namespace` is that of manifests
    which name none.
    """
    last = _last_manifests(source, gone, since, config, namespace)
    return {
        key: Departure(
            policy=last[key].policy if key in last else None,
            path=last[key].path if key in last else "",
            reason=_reason(source, record, last[key].path if key in last else ""),
        )
        for key, record in gone.items()
    }


def _last_manifests(
    source: Checkout, gone: Mapping[Key, Record], since: str | None, config: Config, namespace: str
) -> Mapping[Key, _Last]:
    if not gone or since is None:
        return {}
    found: dict[Key, _Last] = {}
    for revision in (*source.revisions_since(since)[:FURTHEST], since):
        if len(found) == len(gone):
            break
        files = source.files_at(revision)
        if files is not None:
            then = _namespace_at(source, revision, config, namespace)
            found = {**_stated(files, gone, config, then), **found}
    return found


def _namespace_at(source: Checkout, revision: str, config: Config, namespace: str) -> str:
    """The namespace of manifests that name none at a revision, which had settings of its own. `namespace`, that of now,
    where they give what a source may not give.
    """
    try:
        return find_source_settings(config, source.settings_at(revision)).namespace
    except ConfigError:
        return namespace


def _stated(files: Mapping[str, bytes], gone: Mapping[Key, Record], config: Config, namespace: str) -> dict[Key, _Last]:
    manifests = read_manifests(files, namespace=namespace)
    default = Policy(config.default_policy)
    return {
        one.key: _Last(find_policy(one, manifests.namespaces, default), one.source.path)
        for one in manifests.resources
        if one.key in gone
    }


def _reason(source: Checkout, record: Record, path: str) -> str:
    """A sentence for people; the plain one where nothing more is known."""
    unit = find_unit(path) if path else record.unit
    if unit and not is_inside(unit, source.wanted.path):
        return f"Removed from git: its folder {unit} is not in --path {source.wanted.path}."
    if path in source.ignored:
        return f"Removed from git: its file {path} is now ignored by .gitsyncignore."
    if path and path not in source.files:
        return f"Removed from git: its file {path} is gone."
    if path:
        return f"Removed from git: {path} no longer declares it."
    if unit and _all_ignored(source, unit):
        return f"Removed from git: the files of its folder {unit} are now ignored."
    return Departure().reason


def _all_ignored(source: Checkout, unit: str) -> bool:
    return _any_in(unit, source.ignored) and not _any_in(unit, source.files)


def _any_in(unit: str, paths: Iterable[str]) -> bool:
    return any(find_unit(path) == unit for path in paths)
