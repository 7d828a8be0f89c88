"""Pack what a PUT does to members that its body lacks into gitsync/desired/catalog/data/put_effects.tsv.

usage: build_put_effects.py RECORDINGS… [--file FILE]

RECORDINGS are folders of recordings, in the order in which they were made: JSON lines with `path`, `apiVersion`, `put`
(the body that was sent) and `get` (the answer to the read after it). Two in a row of one resource are evidence for a
member that the first body sets to what the first answer shows, and that the second body lacks:

- the second answer lacks it or shows another value: Azure reset it;
- the second answer shows the same value, though Azure gives another one, or none, to each resource that was created
  without the member: Azure kept it. A value of "nothing" (false, 0, empty) against none proves nothing.

An entry of a list that the second body lacks is one member, and so is a list that it lacks. A member counts if the
types of Azure Resource Manager let a body set it. Where there is evidence of both, it is reset. DERIVED names members
that look kept.

A line has the ARM type in lower case, the JSON pointer of the member (`*` stands for an entry of a list or a map),
`reset` or `kept`, the number of times, and the value after a reset as JSON, if it was always the same one (empty if
the member is gone). The same input gives the same bytes.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from build_azure_values import MADE, read_recordings
from build_catalog import DATA

from gitsync.desired.catalog.arm_types import ArmTypes, open_arm_types
from gitsync.desired.catalog.body_types import BodyType
from gitsync.desired.formats.json_pointer import format_pointer
from gitsync.model.arm_id import ArmId

ENDPOINTS = "microsoft.network/trafficmanagerprofiles/azureendpoints"
DATABASES = "microsoft.sql/servers/databases"
OVERRIDE = "/properties/rules/*/action/routeConfigurationOverride"
DERIVED = {
    ("microsoft.cdn/profiles/endpoints", "/properties/origins/*/properties/priority"): "a default of some SKUs",
    ("microsoft.cdn/profiles/endpoints", "/properties/origins/*/properties/weight"): "a default of some SKUs",
    ("microsoft.network/frontdoors/rulesengines", f"{OVERRIDE}/cacheConfiguration/dynamicCompression"): "a default",
    ("microsoft.network/frontdoors/rulesengines", f"{OVERRIDE}/forwardingProtocol"): "a default of some overrides",
    (ENDPOINTS, "/properties/endpointLocation"): "follows targetResourceId",
    (ENDPOINTS, "/properties/endpointMonitorStatus"): "a state",
    (ENDPOINTS, "/properties/target"): "follows targetResourceId",
    ("microsoft.network/trafficmanagerprofiles/externalendpoints", "/properties/endpointMonitorStatus"): "a state",
    ("microsoft.hybridcompute/machines/extensions", "/properties/instanceView/name"): "a state",
    ("microsoft.hybridcompute/machines/extensions", "/properties/instanceView/typeHandlerVersion"): "a state",
    (
        "microsoft.recoveryservices/vaults/backupfabrics/protectioncontainers/protecteditems",
        "/properties/protectionState",
    ): "a state",
    ("microsoft.network/bastionhosts", "/properties/dnsName"): "Azure makes it",
    ("microsoft.timeseriesinsights/environments", "/tags/*"): "a policy of that subscription sets the tag",
    (DATABASES, "/properties/autoPauseDelay"): "follows the name of the SKU",
    (DATABASES, "/properties/maxSizeBytes"): "follows the name of the SKU",
    (DATABASES, "/properties/readScale"): "follows the name of the SKU",
    (DATABASES, "/sku/capacity"): "follows the name of the SKU",
    (DATABASES, "/sku/tier"): "follows the name of the SKU",
}
"""Members that Azure sets by itself though its types let a body set them, and those that stay because others did."""

BIRTHS = frozenset(
    {"createdat", "createddate", "creationdate", "creationtime", "timecreated", "uniqueid", "vmid", "resourceguid"}
)
"""Members that differ if a resource was deleted and created again between two recordings."""

HEAD = frozenset({"id", "name", "type", "etag", "systemData", "apiVersion"})
"""Members of a body that are not part of the desired state."""

Path_ = tuple[str, ...]
Recording = Mapping[str, Any]
MISSING = object()


class Fact(NamedTuple):
    """One member of two recordings in a row."""

    arm_type: str  # in lower case
    pattern: Path_
    before: Any  # what the first answer shows
    after: Any  # MISSING if the second answer lacks it


@dataclass
class Effects:
    """The evidence for one member of a type."""

    kept: int = 0
    afters: list[Any] = field(default_factory=list)  # the values after each reset

    def format_columns(self) -> tuple[str, str, str]:
        if not self.afters:
            return "kept", str(self.kept), ""
        texts = {"" if after is MISSING or after is None else json.dumps(after) for after in self.afters}
        return "reset", str(len(self.afters)), texts.pop() if len(texts) == 1 else ""


def list_leaves(value: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    """The leaves of a body. Names tell the entries of a list apart; any other list is a leaf."""
    members = name_members(value)
    if not members:
        yield path, value
    for name, member in members.items():
        yield from list_leaves(member, (*path, name))


def name_members(value: Any) -> Mapping[str, Any]:
    """The members of an object, or the entries of a list by their names, as `[name]`; empty for any other value."""
    if isinstance(value, dict):
        return value
    if not isinstance(value, list) or not all(isinstance(entry, dict) and entry.get("name") for entry in value):
        return {}
    return {f"[{entry['name']}]": entry for entry in value}


def find(value: Any, path: Path_) -> Any:
    """The value at a path; MISSING if there is none."""
    for step in path:
        members = name_members(value)
        folded = next((name for name in members if name.casefold() == step.casefold()), None)
        if folded is None:
            return MISSING
        value = members[folded]
    return value


def describe(body: BodyType | None, path: Path_, value: Any) -> Path_ | None:
    """The pattern of a path, as Azure spells it; None for a member that a body cannot set."""
    pattern: list[str] = []
    for step in path:
        member = next(filter(None, (each.find_member(step) for each in list_shapes(body, value))), None)
        value = find(value, (step,))
        if member is not None and member.is_read_only:
            return None
        if step.startswith("["):
            pattern.append("*")
            body = body.item if body else None
        elif member is not None:
            pattern.append(member.name)
            body = member.type
        else:
            is_map = body is not None and body.others is not None
            pattern.append("*" if is_map else step)
            body = body.others if body else None
    return tuple(pattern)


def list_shapes(body: BodyType | None, value: Any) -> Iterator[BodyType]:
    """An object's type, and what its variant adds."""
    if body is None or not body.is_object:
        return
    yield body
    variant = body.choose_variant(value) if body.shape == "variants" and isinstance(value, dict) else None
    if variant is not None:
        yield variant


def list_facts(first: Recording, second: Recording, types: ArmTypes) -> Iterator[Fact]:
    """What two recordings of one resource in a row tell."""
    arm_type = ArmId(first["path"]).arm_type
    body = types.find_body(arm_type, second["apiVersion"]) or find_newest_body(arm_type, types)
    for path in sorted(set(list_lacking(first["put"], second["put"]))):
        before, after = find(first["get"], path), find(second["get"], path)
        if path[0] in HEAD or not is_shown(find(first["put"], path), before):
            continue
        pattern = describe(body, path, first["put"])
        if pattern is not None and (arm_type.casefold(), format_pointer(pattern)) not in DERIVED:
            is_entry = pattern[-1] == "*" and after is not MISSING
            yield Fact(arm_type.casefold(), pattern, before, before if is_entry else after)


def list_lacking(put: Any, later: Any) -> Iterator[Path_]:
    """The leaves of a body that a later one lacks; of a list, or of an entry of a list, itself."""
    for path, _ in list_leaves(put):
        depth = next((depth for depth in range(1, len(path) + 1) if find(later, path[:depth]) is MISSING), 0)
        while 0 < depth < len(path) and not path[depth - 1].startswith("[") and not path[depth].startswith("["):
            depth += 1
        if depth:
            yield path[:depth]


def is_shown(sent: Any, shown: Any) -> bool:
    """Return whether an answer shows what was sent, unless that is nothing; of a list with names, or an entry, any of
    it.
    """
    if shown is MISSING or sent in (None, "", [], {}):
        return False
    members = name_members(sent)
    return bool(members) or sent == shown


def find_newest_body(arm_type: str, types: ArmTypes) -> BodyType | None:
    found = types.find_type(arm_type)
    newest = found and (found.newest_stable or found.newest_preview)
    return types.find_body(arm_type, newest) if newest else None


def is_same_resource(first: Recording, second: Recording) -> bool:
    """Return whether nothing shows that the resource was created again in between."""
    births = [
        {path: value for path, value in list_leaves(each["get"]) if path and path[-1].casefold() in BIRTHS}
        for each in (first, second)
    ]
    return all(births[1].get(path, value) == value for path, value in births[0].items())


class Creates:
    """The first recording of each resource: what Azure shows where no body set anything."""

    def __init__(self, sequences: Iterable[list[Recording]]) -> None:
        self._first: dict[str, list[Recording]] = defaultdict(list)
        for recordings in sequences:
            self._first[ArmId(recordings[0]["path"]).arm_type.casefold()].append(recordings[0])

    def prove_kept(self, fact: Fact) -> bool:
        """Return whether a value that stayed cannot be Azure's own."""
        if fact.pattern[-1] == "*":
            return True  # Azure names no entries
        shown = [value for first in self._first[fact.arm_type] for value in list_unrequested(first, fact.pattern)]
        if made := [value for value in list_texts(fact.before) if MADE.fullmatch(value)]:
            return all(value.startswith("/") for value in made) and not any(shown)
        return bool(shown) and fact.before not in shown and not (not fact.before and None in shown)


def list_texts(value: Any) -> Iterator[str]:
    """All texts in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for member in value.values() if isinstance(value, dict) else value:
            yield from list_texts(member)


def list_unrequested(recording: Recording, pattern: Path_) -> Iterator[Any]:
    """The values that an answer shows at a pattern where the body has none; None where the answer has none either."""
    for path in expand(recording["put"], pattern):
        if find(recording["put"], path) is MISSING:
            shown = find(recording["get"], path)
            yield None if shown is MISSING else shown


def expand(value: Any, pattern: Path_, path: Path_ = ()) -> Iterator[Path_]:
    """The paths of a pattern in a body. A body has none for a list or a map that it lacks."""
    if not pattern:
        yield path
        return
    names = list(name_members(value)) if pattern[0] == "*" else [pattern[0]]
    for name in names:
        yield from expand(find(value, (name,)), pattern[1:], (*path, name))


def collect(folders: Iterable[Path], types: ArmTypes) -> dict[tuple[str, str], Effects]:
    """The evidence by ARM type and JSON pointer."""
    sequences: dict[tuple[Path, str], list[Recording]] = defaultdict(list)
    for folder in folders:
        for recording in read_recordings(folder):
            sequences[folder, recording["path"].casefold()].append(recording)
    creates = Creates(sequences.values())
    effects: dict[tuple[str, str], Effects] = defaultdict(Effects)
    for first, second in (pair for recordings in sequences.values() for pair in pairwise(recordings)):
        if not is_same_resource(first, second):
            continue
        for fact in list_facts(first, second, types):
            key = fact.arm_type, format_pointer(fact.pattern)
            if fact.after != fact.before:
                effects[key].afters.append(fact.after)
            elif creates.prove_kept(fact):
                effects[key].kept += 1
    return {key: found for key, found in effects.items() if found.kept or found.afters}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recordings", type=Path, nargs="+")
    parser.add_argument("--file", type=Path, default=DATA / "put_effects.tsv")
    options = parser.parse_args(arguments)
    effects = collect(options.recordings, open_arm_types())
    if not effects:
        raise SystemExit("The recordings show no member that a later body lacks.")
    lines = ["\t".join((*key, *found.format_columns())) for key, found in sorted(effects.items())]
    options.file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    kept = sum(not found.afters for found in effects.values())
    print(f"{len(effects) - kept} members that a PUT resets and {kept} that it keeps, in {options.file}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
