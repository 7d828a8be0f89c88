"""Pack the values that Azure gives to leaves by itself into gitsync/desired/catalog/data/azure_values.xz.

usage: build_azure_values.py RECORDINGS [MANIFESTS…] [--file FILE]

RECORDINGS is a folder of recordings: JSON lines with `path`, `apiVersion`, `put` (the body that was sent) and `get`
(the answer to the read after it). MANIFESTS are folders of manifests. A leaf of a type is packed if nothing sets it, in
a recording or a manifest (such a leaf is intended), and if at least LEAST recorded resources show it, either

- always with one value: that one is packed, or
- each with another one, which a machine made: an id, a GUID, a time, a URL or an address. Then any is Azure's own.

Types and leaves with fewer recordings are not packed. Tags are those of people. The same input gives the same bytes.

The file is {ARM type in lower case: {"same": {leaf: value}, "made": [leaf]}}. A leaf is a JSON pointer; `*` stands for
the index of an entry.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from build_catalog import DATA, pack

from gitsync.desired.catalog.catalog import Catalog, open_catalog
from gitsync.desired.formats.json_pointer import JsonPath, format_pointer
from gitsync.desired.formats.leaf_changes import find
from gitsync.model.arm_id import ArmId
from gitsync.workflows.imports.conversion.live_body import ConversionContext, convert_body

LEAST = 3

MADE = re.compile(
    r"/subscriptions/.+|https?://.+|\d{4}-\d\d-\d\dT.+"
    r"|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d+(?:\.\d+){3}|[0-9a-f]*:[0-9a-f:]+",
    re.IGNORECASE,
)
"""Values that a machine makes."""

KEPT = re.compile(r".*/osDisk/managedDisk/id|.*/privateIPAddress")
"""Leaves that are kept anyway: a disk that is attached is set by its id, a static address by itself."""


def read_recordings(folder: Path) -> Iterator[Mapping[str, Any]]:
    for file in sorted(folder.glob("*.jsonl")):
        yield from map(json.loads, file.read_text(encoding="utf-8").splitlines())


def list_leaves(recording: Mapping[str, Any], catalog: Catalog) -> tuple[str, list[tuple[JsonPath, Any]]]:
    """The ARM type of a recording, and the leaves of its answer that a manifest may set; none without a kind."""
    arm_type, leaves = ArmId(recording["path"]).arm_type, []
    kind = catalog.by_arm_type(arm_type, recording["apiVersion"])

    def note(path: JsonPath, value: Any) -> bool:
        leaves.append((path, value))
        return False

    if kind:
        convert_body(
            kind, recording["get"], ConversionContext(refer=lambda arm_id: {"armId": arm_id}, is_azures_own=note)
        )
    return arm_type.casefold(), leaves


def is_requested(path: JsonPath, put: Any) -> bool:
    """Return whether a body sets a leaf; in a list, whether any entry does."""
    for location, step in enumerate(path):
        if step == "*":
            return isinstance(put, list) and any(is_requested(path[location + 1 :], entry) for entry in put)
        put = find(put, (step,), put)
    return put is not None


def render(manifests: Path) -> Iterator[tuple[str, Any]]:
    """The ARM type and the body of each manifest in a folder."""
    command = [sys.executable, "-m", "gitsync", "render", str(manifests), "--output=json"]
    done = subprocess.run(command, capture_output=True, check=False)
    for resource in json.loads(done.stdout)["resources"]:
        if "body" in resource:
            yield ArmId(resource["armId"]).arm_type.casefold(), resource["body"]


def find_values(recordings: list[Mapping[str, Any]], bodies: Mapping[str, list[Any]]) -> dict[str, dict[str, Any]]:
    """What is packed. `bodies` are those that somebody asks for, by type."""
    catalog = open_catalog()
    shown: dict[tuple[str, JsonPath], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for recording in recordings:
        arm_type, leaves = list_leaves(recording, catalog)
        for path, value in leaves:
            shown[arm_type, path][recording["path"].casefold()].add(json.dumps(value, sort_keys=True))
    packed: dict[str, dict[str, Any]] = defaultdict(lambda: {"same": {}, "made": []})
    for (arm_type, path), by_resource in sorted(shown.items()):
        leaf = format_pointer(path)
        is_wanted = any(is_requested(path, body) for body in bodies[arm_type])
        if path[0] == "tags" or KEPT.fullmatch(leaf) or is_wanted or len(by_resource) < LEAST:
            continue
        values = [json.loads(text) for text in set().union(*by_resource.values())]
        if all(isinstance(value, str) and MADE.fullmatch(value) for value in values):
            packed[arm_type]["made"].append(leaf)
        elif len(values) == 1:
            packed[arm_type]["same"][leaf] = values[0]
    return dict(packed)


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(description="Pack the values that Azure gives to leaves by itself.")
    parser.add_argument("recordings", type=Path)
    parser.add_argument("manifests", type=Path, nargs="*")
    parser.add_argument("--file", type=Path, default=DATA / "azure_values.xz")
    options = parser.parse_args(argv)
    recordings = list(read_recordings(options.recordings))
    bodies: dict[str, list[Any]] = defaultdict(list)
    for arm_type, body in (pair for folder in options.manifests for pair in render(folder)):
        bodies[arm_type].append(body)
    for recording in recordings:
        bodies[ArmId(recording["path"]).arm_type.casefold()].append(recording["put"])
    values = find_values(recordings, bodies)
    if not values:
        raise SystemExit(f"{options.recordings}: no recordings in there")
    options.file.write_bytes(pack(values))
    leaves = sum(len(type_values["same"]) + len(type_values["made"]) for type_values in values.values())
    print(f"{leaves} leaves of {len(values)} types in {options.file}")


if __name__ == "__main__":
    main(sys.argv[1:])
