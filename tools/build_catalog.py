"""Pack the facts about kinds into gitsync/desired/catalog/data: one compressed file a group, and an index over all of
them.

usage: build_catalog.py FACTS [DATA]

FACTS is a folder with one JSON file a group ("<group>.json"), and `lists.tsv` with the lists of each ARM type; DATA is
gitsync/desired/catalog/data by default. other_kinds.json has the kinds that are not ARM's, by their group and version,
which FACTS lacks: they are added to those of their group. The same facts give the same bytes. Files of groups that the
facts no longer have are removed.

A group's file has one line of JSON for its name, its aliases and the names of its versions, and one for each version,
so that only the versions that manifests use are parsed. The facts are packed as they are, except that they hold the
choices of a number as text, which no number equals: they are packed as numbers.

The index is what listings, look-ups by ARM type and "did you mean" need, so that none of them opens a group:
{group: {kind: {"armType", "versions": {manifest spelling: ARM api-version}, "lists": the levels at which the type has a
list, "provider": who has its resources, "removed": as "versions", those that the release removed}}}. A type whose lists
are unknown has no "lists", one of ARM no "provider", and most have no "removed".
"""

from __future__ import annotations

import argparse
import csv
import json
import lzma
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parent.parent / "gitsync" / "desired" / "catalog" / "data"

# xz makes half of what zlib does (189 KB against 308 KB for the 46 groups) and unpacks the largest group in about a
# millisecond. The dictionary covers the largest group; a larger one would only cost memory.
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 20}]

OTHER_KINDS = Path(__file__).resolve().parent / "other_kinds.json"

NUMBERS = ("integer", "number")

LEVELS = {"group": "group", "parent": "parent", "scope_list": "scope", "subscription": "subscription"}
"""The columns of `lists.tsv` for the levels at which a type has a list, and the words of the index for them."""


def pack(*values: Any) -> bytes:
    """Sorted, compact JSON in xz, one line for each value, with settings that do not depend on the machine."""
    lines = (json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False) for value in values)
    return compress("\n".join(lines).encode())


def compress(content: bytes) -> bytes:
    """Content in xz, with settings that do not depend on the machine."""
    return lzma.compress(content, format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC32, filters=FILTERS)


def pack_group(facts: Mapping[str, Any]) -> bytes:
    versions = sorted(facts["versions"])
    return pack({**facts, "versions": versions}, *(facts["versions"][version] for version in versions))


def convert_choices(value: Any) -> Any:
    """The facts with the choices of integers and numbers as numbers. ValueError for a choice that is not one."""
    if isinstance(value, list):
        return [convert_choices(item) for item in value]
    if not isinstance(value, dict):
        return value
    converted = {name: convert_choices(item) for name, item in value.items()}
    if "enum" in value and value.get("base") in NUMBERS:
        converted["enum"] = [json.loads(str(choice)) for choice in value["enum"]]
    return converted


def spellings(facts: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """(version as manifests spell it, kind, what the facts say of the kind) of one group, aliases too."""
    for version, content in facts["versions"].items():
        for kind, fact in content["kinds"].items():
            yield version, kind, fact
    for version, alias in facts["aliases"].items():
        for kind in alias["kinds"]:
            yield version, kind, facts["versions"][alias["of"]]["kinds"][kind]


def index(groups: Mapping[str, Mapping[str, Any]], lists: Mapping[str, list[str]]) -> dict[str, Any]:
    """The index over all groups. `lists` has the levels of the lists of each ARM type."""
    found: dict[str, Any] = {}
    for group, facts in groups.items():
        kinds = found.setdefault(group, {})
        for version, kind, fact in spellings(facts):
            entry = kinds.setdefault(kind, {"armType": fact["armType"], "versions": {}})
            if provider := fact.get("provider"):
                entry["provider"] = provider
            if levels := lists.get(fact["armType"].casefold()):
                entry["lists"] = levels
            if entry["armType"] != fact["armType"]:
                raise SystemExit(f"{group}/{kind}: two ARM types, which the index cannot say")
            lifetime = "removed" if version in facts.get("removed", ()) else "versions"
            entry.setdefault(lifetime, {})[version] = fact["apiVersion"]
    return found


def read_lists(path: Path) -> dict[str, list[str]]:
    """The levels at which each ARM type has a list. SystemExit if the table is absent or lacks a column."""
    try:
        with path.open(encoding="utf-8", newline="") as table:
            rows = list(csv.DictReader(table, delimiter="\t"))
            return {
                row["arm_type"].casefold(): [word for column, word in LEVELS.items() if row[column]] for row in rows
            }
    except (OSError, KeyError) as error:
        raise SystemExit(f"{path}: not a table of lists: {error}") from error


def build(facts: Path, data: Path) -> int:
    """Write the packed files of a folder of facts and return their size in bytes."""
    groups = {content["group"]: content for content in map(read_facts, sorted(facts.glob("*.json")))}
    if not groups:
        raise SystemExit(f"{facts}: no *.json in there")
    return write_packed(groups, read_lists(facts / "lists.tsv"), data)


def write_packed(groups: Mapping[str, Mapping[str, Any]], lists: Mapping[str, list[str]], data: Path) -> int:
    """Write the packed files of groups and return their size in bytes."""
    every = {name: {**facts, "versions": dict(facts["versions"])} for name, facts in groups.items()}
    add_other_kinds(every, json.loads(OTHER_KINDS.read_text(encoding="utf-8")))
    packed = {f"{group}.jsonl.xz": pack_group(content) for group, content in every.items()}
    packed["index.json.xz"] = pack(index(every, lists))
    for stale in data.glob("*.json*.xz"):
        if stale.name not in packed:
            stale.unlink()
    for name, content in packed.items():
        (data / name).write_bytes(content)
    return sum(map(len, packed.values()))


def add_other_kinds(groups: dict[str, Any], others: Mapping[str, Mapping[str, Any]]) -> None:
    """Add versions to groups, each made if the facts lack it. SystemExit if a group has the version already."""
    for group, versions in others.items():
        known = groups.setdefault(group, {"group": group, "versions": {}, "aliases": {}})["versions"]
        if both := known.keys() & versions.keys():
            raise SystemExit(f"{group}: {', '.join(sorted(both))} is in {OTHER_KINDS.name} and in the facts")
        known.update(versions)


def read_facts(path: Path) -> Any:
    return convert_choices(json.loads(path.read_text(encoding="utf-8")))


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(description="Pack the facts about kinds into gitsync/desired/catalog/data.")
    parser.add_argument("facts", type=Path)
    parser.add_argument("data", type=Path, nargs="?", default=DATA)
    options = parser.parse_args(argv)
    print(f"{build(options.facts, options.data)} bytes in {options.data}")


if __name__ == "__main__":
    main(sys.argv[1:])
