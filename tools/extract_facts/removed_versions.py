"""Versions that a release removed, which stay in the packed facts until the next one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from extract_facts.group_facts import LEGACY, Groups
from extract_facts.release_history import History


def drop_removed(groups: Groups) -> Groups:
    """The facts without the versions that the release before had removed already."""
    return {
        group: {
            part: {
                version: facts for version, facts in content[part].items() if version not in content.get("removed", ())
            }
            for part in ("versions", "aliases")
        }
        for group, content in groups.items()
    }


def keep_removed(groups: Groups, old: Groups, history: History, release: str) -> Groups:
    """The facts with the versions that `release` removed, as `old` has them, and their names as "removed".

    Kept are kinds that the release serves at another version. A version that it serves in the other spelling needs
    none: manifests with either one are read.
    """
    gone = {(name.group, name.version) for name, lifetime in history.items() if lifetime.removed == release}

    def is_gone(group: str, version: str) -> bool:
        return (group, version) in gone and not _has(groups[group], version)

    return {
        group: _add(facts, dict(_find_removed(facts, old[group], is_gone))) if group in old else facts
        for group, facts in groups.items()
    }


def _has(facts: Mapping[str, Any], version: str) -> bool:
    """Return whether a group has a version, in any spelling."""
    date = version.removeprefix(LEGACY).removeprefix("v")
    return any(spelling in facts[part] for spelling in (f"v{date}", LEGACY + date) for part in ("versions", "aliases"))


def _find_removed(
    facts: Mapping[str, Any], old: Mapping[str, Any], is_gone: Callable[[str, str], bool]
) -> Iterator[tuple[str, Any]]:
    """The versions that are gone, and their facts; aliases have those of the version that they are of."""
    served = {kind for content in facts["versions"].values() for kind in content["kinds"]}
    aliases = {version: old["versions"][alias["of"]] for version, alias in old["aliases"].items()}
    for version, content in {**old["versions"], **aliases}.items():
        names = old["aliases"].get(version, {"kinds": content["kinds"]})["kinds"]
        kinds = {kind: content["kinds"][kind] for kind in names if kind in served}
        if kinds and is_gone(facts["group"], version):
            yield version, {"kinds": kinds, "types": content["types"]}


def _add(facts: Mapping[str, Any], removed: Mapping[str, Any]) -> dict[str, Any]:
    versions = {**facts["versions"], **removed}
    return {**facts, "versions": versions, **({"removed": sorted(removed)} if removed else {})}
