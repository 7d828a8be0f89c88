"""The facts of all groups of a checkout, each with its versions and their other spellings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from extract_facts.not_supported import NotSupportedError
from extract_facts.version_facts import read_version

API = Path("v2") / "api"
_GROUP = re.compile(r'Group: *"([^"]+)"')
LEGACY = "v1api"

Groups = dict[str, dict[str, Any]]
"""{"group", "versions", "aliases"} of each group by its name."""


def read_groups(checkout: Path, left_out: Iterable[tuple[str, str]] = ()) -> Groups:
    """The facts of a checkout, without the versions in `left_out`: (group, version), where "*" is any version.
    SystemExit lists all that is not supported.
    """
    without = set(left_out)
    groups: dict[str, dict[str, Any]] = {}
    problems: list[str] = []
    for group, folder in _find_versions(checkout):
        if {(group, folder.name), (group, "*")} & without:
            continue
        try:
            facts = read_version(folder, checkout)
        except NotSupportedError as error:
            problems.append(str(error))
            continue
        if facts["kinds"]:
            groups.setdefault(group, {})[folder.name] = facts
    if problems:
        raise SystemExit("\n".join(["The extractor does not support what is in the checkout:", *problems]))
    return {group: {"group": group, **unite_spellings(versions)} for group, versions in sorted(groups.items())}


def _find_versions(checkout: Path) -> Iterator[tuple[str, Path]]:
    """The group and folder of each version of ARM kinds. SystemExit if there is none."""
    files = sorted((checkout / API).glob("*/*/groupversion_info_gen.go"))
    if not files:
        raise SystemExit(f"{checkout}: no {API}/*/*/groupversion_info_gen.go in there")
    for file in files:
        named = _GROUP.search(file.read_text(encoding="utf-8", errors="replace"))
        if named is None:
            raise SystemExit(f"{file}: names no group")
        if (file.parent / "arm").is_dir():
            yield named[1], file.parent


def unite_spellings(versions: Mapping[str, Any]) -> dict[str, Any]:
    """{"versions", "aliases"} of a group: a version that is as the one with the newer spelling, kind by kind and type
    by type, is its alias.
    """
    kept: dict[str, Any] = {}
    aliases: dict[str, Any] = {}
    for version, facts in sorted(versions.items(), key=lambda item: (item[0].startswith(LEGACY), item[0])):
        newer = "v" + version.removeprefix(LEGACY)
        if version.startswith(LEGACY) and newer in kept and _is_part(facts, kept[newer]):
            aliases[version] = {"of": newer, "kinds": sorted(facts["kinds"])}
        else:
            kept[version] = facts
    return {"versions": kept, "aliases": aliases}


def _is_part(facts: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return all(other[part].get(name) == value for part in ("kinds", "types") for name, value in facts[part].items())
