"""Pack the types of Azure Resource Manager into gitsync/desired/catalog/data/arm_types, at every api-version.

usage: build_arm_types.py CHECKOUT [DATA]

CHECKOUT is a checkout of https://github.com/Azure/bicep-types-az, whose `generated/<service>/<namespace>/<version>/`
each have a types.json. DATA is gitsync/desired/catalog/data/arm_types by default. The same checkout gives the same
bytes. Files of namespaces that the checkout no longer has are removed. NOTICE is given the commit, and the file
`revision` its start: records name the types that they were made with. CATALOG, beside the folder, is given its day.
A commit that changes no type leaves all three as they are.

`index.xz` has the names of all types, one a line, sorted without case. A name is that of the newest stable version,
since versions differ in case.

`<namespace>.jsonl.xz` has a line with the names of its types; a line for each of them, with an object of its versions:
{api-version: [body, readable, writable, action, …]}; and a line for each different type of its bodies. `body` is the
number of such a line, from 0 for the first, and null if the version can only be read. `readable` and `writable` are
sums of scopes as in the source.

Equal types of bodies are stored once, whichever version has them, and without descriptions. A type that another one
holds is the distance of its line, so that the lines of two versions look alike: 0 is the type itself, -1 the line
before it. Lines are objects with a `shape`:

| shape | members of the line |
|---|---|
| object | `name`; `members`: the distance of each, or [distance, flags]; `others`: that of other members; `sensitive` |
| variants | as an object, with `by`: the member whose value selects one of `variants`, which add members; never empty |
| list | `item`, `minItems`, `maxItems` |
| string | `minLength`, `maxLength`, `pattern`, `sensitive`; `known`: some of its values |
| choice | `values`: all of them |
| integer | `minimum`, `maximum` |
| boolean, any | |

The members `id`, `type` and `apiVersion` of a resource are left out: they are equal for all types but for the literals
of its own name and version. Without them, versions that differ in nothing else have one body.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from build_catalog import DATA, compress, pack
from extract_facts.release import update_catalog_file

from gitsync.desired.catalog.body_types import REQUIRED

ROOT = Path(__file__).resolve().parent.parent
NOTICE = ROOT / "NOTICE"

LIMITS = {
    "StringType": ("string", {"minLength": "minLength", "maxLength": "maxLength", "pattern": "pattern"}),
    "IntegerType": ("integer", {"minValue": "minimum", "maxValue": "maximum"}),
    "ArrayType": ("list", {"minLength": "minItems", "maxLength": "maxItems"}),
    "BooleanType": ("boolean", {}),
    "AnyType": ("any", {}),
}
"""The shape of a type of the source, and the names of its limits in the source and here."""

OWN = {"id": "StringType", "type": "StringLiteralType", "apiVersion": "StringLiteralType"}
"""Members that each resource has, and their types in the source."""

Source = tuple[str, int, bool]
"""A type of the source: its file, its index there, and whether it is the body of a resource."""


@dataclass
class Type:
    """A type of one namespace, before equal ones are united."""

    facts: dict[str, Any]  # what the line has, without other types
    flags: dict[str, int] = field(default_factory=dict)  # of members
    inner: dict[tuple[str, str], Source] = field(
        default_factory=dict
    )  # other types, by their part and name of the line


def read_files(checkout: Path) -> Iterator[tuple[str, list[Any]]]:
    """The files of types of a checkout, sorted. SystemExit if it has none."""
    generated = checkout / "generated"
    files = sorted(generated.glob("*/*/*/types.json"))
    if not files:
        raise SystemExit(f"{checkout}: no generated/*/*/*/types.json in there")
    for file in files:
        yield str(file.relative_to(generated)), json.loads(file.read_text(encoding="utf-8"))


def collect_actions(files: Mapping[str, list[Any]]) -> Mapping[str, set[str]]:
    """The names of actions by `type@version` without case. Those of one version may be in several files."""
    actions = defaultdict(set)
    for types in files.values():
        for entry in types:
            if entry["$type"] == "ResourceFunctionType":
                actions[f"{entry['resourceType']}@{entry['apiVersion']}".casefold()].add(entry["name"])
    return actions


def find_index(reference: Mapping[str, str]) -> int:
    return int(reference["$ref"].removeprefix("#/"))


class Namespace:
    """The types that the bodies of one namespace reach."""

    def __init__(self, files: Mapping[str, list[Any]]) -> None:
        self._files = files
        self.types: dict[Source, Type] = {}

    def add(self, source: Source) -> None:
        """Add a type and all that it reaches."""
        waiting = [source]
        while waiting:
            source = waiting.pop()
            if source not in self.types:
                self.types[source] = self._convert(source)
                waiting.extend(self.types[source].inner.values())

    def _convert(self, source: Source) -> Type:
        file, index, _ = source
        entry = self._files[file][index]
        kind = entry["$type"]
        if kind in LIMITS:
            shape, limits = LIMITS[kind]
            facts = {"shape": shape, **{ours: entry[theirs] for theirs, ours in limits.items() if theirs in entry}}
            converted = Type(facts | _keep(entry, "sensitive"))
            if shape == "list":
                converted.inner["", "item"] = (file, find_index(entry["itemType"]), False)
            return converted
        if kind == "StringLiteralType":
            return Type({"shape": "choice", "values": [entry["value"]]})
        if kind == "UnionType":
            return self._convert_union(file, entry)
        if kind == "ObjectType":
            return self._convert_object(source, entry)
        if kind != "DiscriminatedObjectType":
            raise SystemExit(f"{file}#{index}: unknown type {kind}")
        return self._convert_variants(source, entry)

    def _convert_variants(self, source: Source, entry: Mapping[str, Any]) -> Type:
        """An object whose discriminator selects further members."""
        file, _, is_body = source
        converted = self._convert_object(source, {**entry, "properties": entry["baseProperties"]})
        if not entry["elements"]:  # the source leaves them out, so any value may choose one, with any members
            converted.inner["members", entry["discriminator"]] = self._find_plain(file, "StringType")
            converted.flags[entry["discriminator"]] = REQUIRED
            converted.inner["", "others"] = self._find_plain(file, "AnyType")
            return converted
        converted.facts |= {"shape": "variants", "by": entry["discriminator"]}
        for value, reference in entry["elements"].items():
            converted.inner["variants", value] = (file, find_index(reference), is_body)
        return converted

    def _find_plain(self, file: str, kind: str) -> Source:
        """Find the type of a kind without limits in a file, which gets it if it has none."""
        types, plain = self._files[file], {"$type": kind}
        if plain not in types:
            types.append(plain)
        return file, types.index(plain), False

    def _convert_union(self, file: str, entry: Mapping[str, Any]) -> Type:
        """Texts, of which the source lists all, or some if one of them is any string."""
        parts = [self._files[file][find_index(reference)] for reference in entry["elements"]]
        values = [part["value"] for part in parts if part["$type"] == "StringLiteralType"]
        others = [index for index, part in enumerate(parts) if part["$type"] != "StringLiteralType"]
        if not others:
            return Type({"shape": "choice", "values": values})
        string = self._convert((file, find_index(entry["elements"][others[0]]), False))
        if len(others) > 1 or string.facts["shape"] != "string":
            raise SystemExit(f"{file}: a union of more than texts: {entry}")
        return Type(string.facts | {"known": values})

    def _convert_object(self, source: Source, entry: Mapping[str, Any]) -> Type:
        file, _, is_body = source
        converted = Type({"shape": "object", "name": entry["name"]} | _keep(entry, "sensitive"))
        for name, member in entry["properties"].items():
            index = find_index(member["type"])
            if is_body and self._files[file][index]["$type"] == OWN.get(name):
                continue
            converted.inner["members", name] = (file, index, False)
            converted.flags[name] = member["flags"]
        if "additionalProperties" in entry:
            converted.inner["", "others"] = (file, find_index(entry["additionalProperties"]), False)
        return converted


def _keep(entry: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: entry[name] for name in names if name in entry}


def unite(types: Mapping[Source, Type]) -> dict[Source, int]:
    """A number for each type, the same for equal ones.

    Types are divided until nothing divides them further, as the states of an automaton: types that reach each other are
    equal if no path from them shows a difference.
    """
    numbers = _number({source: _describe(found) for source, found in types.items()})
    count = 0
    while count < (count := len(set(numbers.values()))):
        numbers = _number(
            {
                source: (numbers[source], *(numbers[inner] for inner in found.inner.values()))
                for source, found in types.items()
            }
        )
    return numbers


def _describe(found: Type) -> str:
    return json.dumps([found.facts, found.flags, list(found.inner)], sort_keys=True)


def _number(keys: Mapping[Source, Any]) -> dict[Source, int]:
    seen: dict[Any, int] = {}
    return {source: seen.setdefault(key, len(seen)) for source, key in keys.items()}


def order(
    bodies: list[Source], types: Mapping[Source, Type], numbers: Mapping[Source, int]
) -> tuple[list[Source], dict[int, int]]:
    """One type for each number, those that a type holds before it, and the line of each number."""
    found: list[Source] = []
    lines: dict[int, int] = {}
    begun: set[int] = set()

    def visit(source: Source) -> None:
        if numbers[source] in begun:
            return
        begun.add(numbers[source])
        for inner in types[source].inner.values():
            visit(inner)
        lines[numbers[source]] = len(found)
        found.append(source)

    for body in bodies:
        visit(body)
    return found, lines


def write_line(line: int, found: Type, lines: Mapping[Source, int]) -> dict[str, Any]:
    """The line of a type."""
    written = dict(found.facts)
    for (part, name), inner in found.inner.items():
        distance = lines[inner] - line
        if part == "members":
            flags = found.flags[name]
            written.setdefault(part, {})[name] = [distance, flags] if flags else distance
        elif part:
            written.setdefault(part, {})[name] = distance
        else:
            written[name] = distance
    return written


Resources = dict[str, dict[str, list[Any]]]
"""[body, readable, writable, action, …] of each version, by type, as the newest version spells it, and by version."""


def gather(files: Mapping[str, list[Any]]) -> Resources:
    """All resources. Of a version that several files have, the last one counts."""
    found: dict[str, dict[str, tuple[str, list[Any]]]] = defaultdict(dict)
    actions = collect_actions(files)
    for file, types in files.items():
        for entry in types:
            if entry["$type"] == "ResourceType":
                arm_type, _, version = entry["name"].partition("@")
                readable, writable = entry["readableScopes"], entry["writableScopes"]
                body = (file, find_index(entry["body"]), True) if writable else None
                row = [body, readable, writable, *sorted(actions.get(entry["name"].casefold(), ()))]
                found[arm_type.casefold()][version.lower()] = (arm_type, row)
    return {
        versions[max(versions, key=make_age)][0]: {version: row for version, (_, row) in sorted(versions.items())}
        for _, versions in sorted(found.items())
    }


def make_age(version: str) -> tuple[bool, str]:
    """Sort key: previews first, then by date."""
    return "-" not in version[len("2019-05-01") :], version


def pack_all(files: Mapping[str, list[Any]]) -> dict[str, bytes]:
    """The packed files by name."""
    resources = gather(files)
    namespaces = defaultdict(list)
    for arm_type in resources:
        namespaces[arm_type.partition("/")[0].casefold()].append(arm_type)
    packed = {"index.xz": compress("\n".join(resources).encode())}
    for namespace, names in namespaces.items():
        versions = [resources[name] for name in names]
        bodies = place_bodies([row for rows in versions for row in rows.values() if row[0]], files)
        packed[f"{namespace}.jsonl.xz"] = pack(names, *versions, *bodies)
    return packed


def place_bodies(rows: list[list[Any]], files: Mapping[str, list[Any]]) -> list[Any]:
    """The lines of a namespace; rows get the line of their body in place of the type of the source."""
    namespace = Namespace(files)
    for row in rows:
        namespace.add(row[0])
    numbers = unite(namespace.types)
    found, lines = order([row[0] for row in rows], namespace.types, numbers)
    line_of = {source: lines[number] for source, number in numbers.items()}
    for row in rows:
        row[0] = line_of[row[0]]
    return [write_line(line, namespace.types[source], line_of) for line, source in enumerate(found)]


def find_commit(checkout: Path) -> tuple[str, str]:
    """The commit of a checkout and its day. SystemExit if it is not one of git."""
    command = ["git", "-C", checkout, "log", "-1", "--format=%H %cs"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise SystemExit(f"{checkout}: not a git checkout: {ended.stderr.strip()}")
    commit, _, day = ended.stdout.strip().partition(" ")
    return commit, day


def write_packed(packed: Mapping[str, bytes], data: Path) -> bool:
    """Write the packed files. Returns whether any differs from what was there."""
    data.mkdir(exist_ok=True)
    before = {file.name: file.read_bytes() for file in data.glob("*.xz")}
    for name in before.keys() - packed.keys():
        (data / name).unlink()
    for name, content in packed.items():
        (data / name).write_bytes(content)
    return before != packed


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=Path)
    parser.add_argument("data", type=Path, nargs="?", default=DATA / "arm_types")
    options = parser.parse_args(argv)
    commit, day = find_commit(options.checkout)
    packed = pack_all(dict(read_files(options.checkout)))
    has_changed = write_packed(packed, options.data)
    print(f"{sum(map(len, packed.values()))} bytes in {options.data}")
    if not has_changed:
        return  # records of the same types stay comparable
    (options.data / "revision").write_text(f"{commit[:12]}\n", encoding="utf-8")
    update_catalog_file(options.data.parent, "armTypes", {"date": day})
    if options.data == DATA / "arm_types":
        notice = NOTICE.read_text(encoding="utf-8")
        NOTICE.write_text(re.sub(r"(?<=bicep-types-az at commit )[0-9a-f]{40}", commit, notice), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
