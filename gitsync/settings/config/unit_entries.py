"""`units` in gitsync.yaml: the units that a source names, and their options.

It is the one key whose value is nested.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from gitsync.errors import ConfigError
from gitsync.model.unit import ChartRelease, Substitution, UnitEntry, UnitOptions
from gitsync.model.unit_kind import NAMED_KINDS
from gitsync.settings.config.yaml_file import YamlNode

MOST_UNITS = 2000

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_OF_RELEASES = frozenset({"values", "release", "namespace", "kubernetes"})


def read_unit_entries(node: YamlNode) -> tuple[tuple[UnitEntry, ...], list[str]]:
    """The entries of a value, and a sentence for each fault."""
    if node.is_null:
        return (), []
    if not node.is_list:
        return (), [node.wrong("expected a list of mappings with a path.").message]
    if len(node.items()) > MOST_UNITS:
        return (), [node.wrong(f"expected at most {MOST_UNITS} units.").message]
    entries: dict[str, UnitEntry] = {}
    faults: list[str] = []
    for member in node.items():
        values, complaints = _read_members(member)
        faults += complaints
        path = values.get("path")
        if path in entries:
            faults.append(f"{member.where}: {member.name}.path: {path} is named twice.")
        elif path is not None and not complaints:
            entries[path] = _make_entry(values, member.line)
    return tuple(entries.values()), faults


def _read_members(node: YamlNode) -> tuple[dict[str, Any], list[str]]:
    """The values of one entry by their keys, and its faults."""
    if not node.is_mapping:
        return {}, [node.wrong("expected a mapping with a path.").message]
    values: dict[str, Any] = {}
    faults = []
    for key, value in node.pairs():
        try:
            name = key.key(_READERS, values)
            values[name] = _READERS[name](value)
        except ConfigError as fault:
            faults.append(fault.message)
    # `substitute: false` has been read as None.
    if "variables" in values and values.get("substitute", True) is None:
        sentence = "variables and `substitute: false` contradict each other. Remove one of them."
        faults.append(node.wrong(sentence).message)
    if values.get("published") and (own := sorted(values.keys() & _OF_RELEASES)):
        sentence = f"the releases of a published chart have their own {own[0]}. Remove it."
        faults.append(node.wrong(sentence).message)
    if "path" not in values and not faults:
        faults.append(node.wrong("expected a path, the folder of the unit.").message)
    return values, faults


def _make_entry(values: Mapping[str, Any], line: int) -> UnitEntry:
    substitution = values.get("substitute")
    # `envsubst` replaces $NAME too, which Flux does not.
    if values.get("variables"):
        substitution = replace(substitution or Substitution(), takes_braceless=True)
    options = UnitOptions(
        is_restricted=values.get("loadRestrictor"),
        substitution=substitution,
        waits_for_owners=values.get("missingOwner", False),
        migrates_versions=values.get("migrateVersions", False),
        manages_capz=values.get("capz", False),
        is_published=values.get("published", False),
        release=ChartRelease(
            name=values.get("release", ""),
            namespace=values.get("namespace", ""),
            values=tuple(posixpath.normpath(posixpath.join(values["path"], path)) for path in values.get("values", ())),
            kubernetes=values.get("kubernetes", ()),
        ),
    )
    return UnitEntry(path=values["path"], kind=values.get("kind"), options=options, line=line)


def _read_path(node: YamlNode) -> str:
    path = posixpath.normpath(node.text_of_one_line())
    # What is outside of the source belongs to no revision.
    if path.startswith("/") or path.partition("/")[0] == "..":
        raise node.wrong(f"expected a folder inside the source, not {path!r}.")
    return "" if path == "." else path


def _read_list(node: YamlNode) -> tuple[str, ...]:
    """One text, or a list of them."""
    return tuple(item.text_of_one_line() for item in node.items())


def _choose(words: Mapping[str, Any]) -> Callable[[YamlNode], Any]:
    """A reader of one of some words, which stand for values."""
    return lambda node: words[node.choice(words)]


def _read_substitution(node: YamlNode) -> Substitution | None:
    """Variables: true for those of the operator alone, or values by name, all of which are texts."""
    if not node.is_mapping:
        return Substitution() if node.flag() else None
    values: dict[str, str] = {}
    for key, value in node.pairs():
        name = key.key((), values)
        if not _VARIABLE.fullmatch(name):
            raise key.wrong("expected a name of letters, digits and _.")
        values[name] = "" if value.is_null else value.text()
    return Substitution(values=values)


_READERS: Mapping[str, Callable[[YamlNode], Any]] = {
    "path": _read_path,
    "kind": _choose(NAMED_KINDS),
    "substitute": _read_substitution,
    "variables": _choose({"envsubst": True}),
    "loadRestrictor": _choose({"none": False, "rootOnly": True}),
    "missingOwner": _choose({"wait": True, "error": False}),
    "migrateVersions": YamlNode.flag,
    "capz": _choose({"manage": True, "skip": False}),
    "values": _read_list,
    "release": YamlNode.text_of_one_line,
    "namespace": YamlNode.text_of_one_line,
    "kubernetes": _read_list,
    "published": YamlNode.flag,
}

UNIT_KEYS = tuple(_READERS)
"""The keys of an entry."""
