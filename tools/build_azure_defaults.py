"""Pack the values that Azure gives to what a PUT leaves out into gitsync/desired/catalog/data/azure_defaults.xz.

usage: build_azure_defaults.py RECORDINGS… [--file FILE]

RECORDINGS are folders of recordings: JSON lines with `path`, `apiVersion`, `put` (the body that was sent) and `get`
(the answer to the read after it). Of each, the values count that a PUT of the same body may reset, as
`gitsync.planning.outside.resets` lists them before it drops Azure's own. Tags are those of people.

The file is {"types": {ARM type: {leaf: {value: resources}}}, "names": {member: [value]}}, all in lower case. A leaf is
a JSON pointer with `*` in place of indexes, a value is JSON of at most 80 characters, and "" stands for any: of a leaf
that no body of the type requests, and that has several free texts. A value under
`names` is one that members of that name have in most types that show it. The same input gives the same bytes.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from build_catalog import DATA, pack

from gitsync.desired.catalog.arm_types import open_arm_types
from gitsync.desired.catalog.azure_defaults import ANY_VALUE, FILE, LONGEST, name_leaf, write_value
from gitsync.desired.catalog.body_paths import find_facts, select_writable
from gitsync.desired.formats.json_pointer import JsonPath, format_pointer
from gitsync.desired.formats.leaf_changes import find
from gitsync.desired.formats.list_pairing import TAGS
from gitsync.model.arm_id import ArmId
from gitsync.planning.outside.resets import iterate_uncovered
from gitsync.planning.outside.silent_changes import generalize

TYPES = 2
"""In how many types a value must be that counts in all."""

GENERAL = frozenset(
    {
        "count",
        "enabled",
        "isenabled",
        "kind",
        "location",
        "mode",
        "name",
        "state",
        "status",
        "tenantid",
        "type",
        "value",
    }
)
"""Names that mean something else in each type."""

NAMED = re.compile(r"placeholder|cli-?test|/subscriptions/")
"""Texts that recordings have in place of names and secrets."""

PERSONAL = re.compile(r"login|user|mail|target|message", re.IGNORECASE)
"""Leaves with texts of people."""


class Shown(NamedTuple):
    """A value of a resource that no one requested."""

    arm_type: str
    resource: str
    path: JsonPath
    text: str  # the value as the table has it
    is_choice: bool  # the type names the value


class Recorded(NamedTuple):
    """What the table is made of."""

    arm_type: str
    put: Any
    shown: tuple[Shown, ...]


def read_recordings(folders: Iterable[Path]) -> Iterator[Recorded]:
    for file in (file for folder in folders for file in sorted(folder.glob("*.jsonl"))):
        yield from map(read_recording, map(json.loads, file.read_text(encoding="utf-8").splitlines()))


def read_recording(recording: Mapping[str, Any]) -> Recorded:
    return Recorded(ArmId(recording["path"]).arm_type.casefold(), recording["put"], tuple(list_shown(recording)))


def list_shown(recording: Mapping[str, Any]) -> Iterator[Shown]:
    """The values of a recording that no one requested; none of a type that the facts do not have."""
    arm_id, put = ArmId(recording["path"]), recording["put"] or {}
    body_type = open_arm_types().find_body(arm_id.arm_type, recording["apiVersion"])
    if body_type is None:
        return
    for leaf in iterate_uncovered(select_writable(recording["get"], body_type, name=arm_id.name), put):
        if leaf.path[0] != TAGS:
            facts, text = find_facts(body_type, leaf.path), write_value(leaf.value)
            is_choice = facts is not None and facts.has_no_case
            yield Shown(arm_id.arm_type.casefold(), arm_id.casefold(), generalize(leaf.path), text, is_choice)


def is_default(text: str, shown: Sequence[Shown]) -> bool:
    """Return whether a value may be a default: not an id, nor what one recording called something."""
    is_word = not text.startswith(('"', "[", "{")) or any(each.is_choice for each in shown)
    is_free = is_word or (count_resources(shown) > 1 and not PERSONAL.search(name_leaf(shown[0].path)))
    return is_free and len(text) <= LONGEST and not NAMED.search(text)


def is_made(by_text: Mapping[str, Sequence[Shown]]) -> bool:
    """Return whether each resource shows another text, which is none of a few words."""
    texts = [text for text in by_text if text[0] in '"[{']
    return 1 < len(texts) == len(by_text) and not any(each.is_choice for each in chain(*by_text.values()))


def is_general(text: str, by_text: Mapping[str, Sequence[Shown]]) -> bool:
    """Return whether members of a name have a value in most types that show one; a number, in all of at least three."""
    types, of_all = ({each.arm_type for each in shown} for shown in (by_text[text], chain(*by_text.values())))
    if text[0].isdigit():
        return types == of_all and len(types) > TYPES
    return len(types) >= TYPES and 2 * len(types) >= len(of_all)


def count_resources(shown: Iterable[Shown]) -> int:
    return len({each.resource for each in shown})


def is_requested(path: JsonPath, put: Any) -> bool:
    """Return whether a body sets a leaf; in a list, whether any entry does."""
    for location, step in enumerate(path):
        if step == "*":
            return isinstance(put, list) and any(is_requested(path[location + 1 :], entry) for entry in put)
        put = find(put, (step,), put)
    return put is not None


def build_table(recordings: Iterable[Recorded]) -> dict[str, Any]:
    """What is packed."""
    requested: dict[str, list[Any]] = defaultdict(list)
    of_leaf: dict[tuple[str, JsonPath], dict[str, list[Shown]]] = defaultdict(lambda: defaultdict(list))
    of_name: dict[str, dict[str, list[Shown]]] = defaultdict(lambda: defaultdict(list))
    for recording in recordings:
        requested[recording.arm_type].append(recording.put)
        for each in recording.shown:
            of_leaf[each.arm_type, each.path][each.text].append(each)
            of_name[name_leaf(each.path)][each.text].append(each)
    types: dict[str, dict[str, dict[str, int]]] = defaultdict(dict)
    for (arm_type, path), by_text in of_leaf.items():
        counts = {text: count_resources(shown) for text, shown in by_text.items() if is_default(text, shown)}
        if is_made(by_text) and not any(is_requested(path, put) for put in requested[arm_type]):
            counts = {ANY_VALUE: count_resources(chain(*by_text.values()))}
        if counts:
            types[arm_type][format_pointer(path).casefold()] = dict(sorted(counts.items()))
    names = {
        name: sorted(text for text, shown in by_text.items() if is_general(text, by_text) and is_default(text, shown))
        for name, by_text in of_name.items()
        if name not in GENERAL
    }
    return {
        "types": {arm_type: dict(sorted(leaves.items())) for arm_type, leaves in sorted(types.items())},
        "names": {name: values for name, values in sorted(names.items()) if values},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Pack the values that Azure gives to members that a PUT leaves out.")
    parser.add_argument("recordings", type=Path, nargs="+")
    parser.add_argument("--file", type=Path, default=DATA / FILE)
    options = parser.parse_args()
    table = build_table(read_recordings(options.recordings))
    if not table["types"]:
        raise SystemExit(f"{options.recordings[0]}: no recordings in there")
    options.file.write_bytes(pack(table))
    print(f"{sum(map(len, table['types'].values()))} leaves of {len(table['types'])} types in {options.file}")


if __name__ == "__main__":
    main()
