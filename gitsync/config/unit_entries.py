"""`units` in gitsync.yaml: the units that a source names, and their options.

It is the one key whose value is nested. It is read from the composer's nodes, as the rest of the file, so that every
error names its line and its key.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from gitsync.config.values import OFF, ON
from gitsync.model.unit import ChartRelease, Substitution, UnitEntry, UnitKind, UnitOptions

MOST_UNITS = 2000

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_OF_RELEASES = frozenset({"values", "release", "namespace", "kubernetes"})
_NULL = "tag:yaml.org,2002:null"


class _Fault(Exception):  # noqa: N818 - it ends one value, and becomes a line of a ConfigError
    """Ends the reading of one value, in this module: what was expected, at the line of a node."""

    def __init__(self, node: Any, text: str) -> None:
        super().__init__(text)
        self.line, self.text = node.start_mark.line + 1, text


def read_unit_entries(node: Any, place: Callable[[int], str]) -> tuple[tuple[UnitEntry, ...], list[str]]:
    """The entries of a node, and a sentence for each fault. `place` gives the place of a line, for messages."""
    if node.id == "scalar" and node.tag == _NULL:
        return (), []
    if node.id != "sequence":
        return (), [f"{place(node.start_mark.line + 1)}: units: expected a list of mappings with a path."]
    if len(node.value) > MOST_UNITS:
        return (), [f"{place(node.start_mark.line + 1)}: units: expected at most {MOST_UNITS} units."]
    entries: dict[str, UnitEntry] = {}
    faults: list[str] = []
    for index, member in enumerate(node.value):
        values, found = _read_members(member, f"units[{index}]", place)
        faults += found
        path = values.get("path")
        if path in entries:
            faults.append(f"{place(member.start_mark.line + 1)}: units[{index}].path: {path} is named twice.")
        elif path is not None and not found:
            entries[path] = _make_entry(values, member.start_mark.line + 1)
    return tuple(entries.values()), faults


def _read_members(node: Any, name: str, place: Callable[[int], str]) -> tuple[dict[str, Any], list[str]]:
    """The values of one entry by their keys, and its faults."""
    if node.id != "mapping":
        return {}, [f"{place(node.start_mark.line + 1)}: {name}: expected a mapping with a path."]
    values: dict[str, Any] = {}
    faults = []
    for key, value in node.value:
        try:
            parser = _find_parser(key, values)
            values[str(key.value)] = parser(value)
        except _Fault as fault:
            faults.append(
                f"{place(fault.line)}: {name}.{key.value}: {fault.text}{'' if fault.text.endswith('?') else '.'}"
            )
    if "variables" in values and values.get("substitute", ON) is None:
        line = place(node.start_mark.line + 1)
        faults.append(f"{line}: {name}: variables and `substitute: false` contradict each other. Remove one of them.")
    if values.get("published") and (own := sorted(values.keys() & _OF_RELEASES)):
        line = place(node.start_mark.line + 1)
        faults.append(f"{line}: {name}: the releases of a published chart have their own {own[0]}. Remove it.")
    if "path" not in values and not faults:
        faults.append(f"{place(node.start_mark.line + 1)}: {name}: expected a path, the folder of the unit.")
    return values, faults


def _make_entry(values: Mapping[str, Any], line: int) -> UnitEntry:
    substitution = values.get("substitute")
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
            values=tuple(posixpath.normpath(posixpath.join(values["path"], one)) for one in values.get("values", ())),
            kubernetes=values.get("kubernetes", ()),
        ),
    )
    return UnitEntry(path=values["path"], kind=values.get("kind"), options=options, line=line)


def _find_parser(key: Any, values: Mapping[str, Any]) -> Callable[[Any], Any]:
    """The parser of a key's value; `values` are those of the keys before."""
    if key.value in values:
        raise _Fault(key, "is given twice. Remove one of them")
    if key.id == "scalar" and key.value in _PARSERS:
        return _PARSERS[key.value]
    near = next(iter(get_close_matches(str(key.value), _PARSERS, n=1)), None)
    raise _Fault(key, "there is no such key" + (f". Did you mean {near}?" if near else ""))


def _read_text(node: Any) -> str:
    if node.id != "scalar" or not node.value.strip() or not node.value.isprintable():
        raise _Fault(node, "expected a text of one line")
    return str(node.value).strip()


def _read_list(node: Any) -> tuple[str, ...]:
    """One text, or a list of them."""
    return tuple(map(_read_text, node.value)) if node.id == "sequence" else (_read_text(node),)


def _read_path(node: Any) -> str:
    path = posixpath.normpath(_read_text(node))
    if path.startswith("/") or path.partition("/")[0] == "..":
        raise _Fault(node, f"expected a folder inside the source, not {path!r}")
    return "" if path == "." else path


def _read_switch(node: Any) -> bool:
    word = _read_text(node)
    if word.casefold() not in ON | OFF:
        raise _Fault(node, f"expected true or false, not {word!r}")
    return word.casefold() in ON


def _choose(words: Mapping[str, Any]) -> Callable[[Any], Any]:
    """A parser of one of some words, which stand for values."""

    def parse(node: Any) -> Any:
        word = _read_text(node)
        if word not in words:
            raise _Fault(node, f"expected {' or '.join(words)}, not {word!r}")
        return words[word]

    return parse


def _read_substitution(node: Any) -> Substitution | None:
    """Variables: true for those of the operator alone, or values by name, all of which are texts."""
    if node.id != "mapping":
        return Substitution() if _read_switch(node) else None
    values: dict[str, str] = {}
    for key, value in node.value:
        if key.id != "scalar" or not _VARIABLE.fullmatch(key.value):
            raise _Fault(key, f"expected names of variables (letters, digits and _), not {str(key.value)!r}")
        if value.id != "scalar":
            raise _Fault(value, f"expected a text as the value of {key.value}")
        if key.value in values:
            raise _Fault(key, f"{key.value} is given twice. Remove one of them")
        values[key.value] = "" if value.tag == _NULL else str(value.value)
    return Substitution(values=values)


_PARSERS: Mapping[str, Callable[[Any], Any]] = {
    "path": _read_path,
    "kind": _choose({kind.value: kind for kind in (UnitKind.FOLDER, UnitKind.KUSTOMIZATION, UnitKind.CHART)}),
    "substitute": _read_substitution,
    "variables": _choose({"envsubst": True}),
    "loadRestrictor": _choose({"none": False, "rootOnly": True}),
    "missingOwner": _choose({"wait": True, "error": False}),
    "migrateVersions": _read_switch,
    "capz": _choose({"manage": True, "skip": False}),
    "values": _read_list,
    "release": _read_text,
    "namespace": _read_text,
    "kubernetes": _read_list,
    "published": _read_switch,
}

UNIT_KEYS = tuple(_PARSERS)
"""The keys of an entry."""
