"""The first release of each version of a kind, and the release that removed it: releases.tsv of the catalog.

The table only grows. ASO states the first release of some kinds ($supportedFrom in v2/azure-arm.yaml and below
v2/azure-arm); of all others it is the first one whose facts the catalog has. A release is a number such as 2.21. A row
with the kind "*" is of all kinds of a version that the catalog never had; its first release is not known.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from extract_facts.group_facts import Groups
from extract_facts.release import parse_number, shorten

FILE = "releases.tsv"
_NONE = "-"
"""Stands for a release that there is none of, or that is not known."""
_SUPPORTED = re.compile(r"v(2\.\d+)\.\d+")


class Name(NamedTuple):
    """A version of a kind, as manifests spell it."""

    group: str
    version: str
    kind: str


class Lifetime(NamedTuple):
    """The releases that serve a version of a kind."""

    served: str  # the first one; "" if not known
    removed: str = ""  # the first one without it; "" if there is none


History = Mapping[Name, Lifetime]


def read_history(data: Path) -> dict[Name, Lifetime]:
    """The table of the catalog; nothing if there is none yet."""
    file = data / FILE
    if not file.exists():
        return {}
    with file.open(encoding="utf-8", newline="") as table:
        rows = [
            {column: "" if text == _NONE else text for column, text in row.items()}
            for row in csv.DictReader(table, delimiter="\t")
        ]
    return {Name(row["group"], row["version"], row["kind"]): Lifetime(row["served"], row["removed"]) for row in rows}


def write_history(history: History, data: Path) -> None:
    """Write the table, sorted."""
    lines = (
        "\t".join((*name, *(number or _NONE for number in lifetime))) for name, lifetime in sorted(history.items())
    )
    text = "\n".join(("\t".join((*Name._fields, *Lifetime._fields)), *lines, ""))
    (data / FILE).write_text(text, encoding="utf-8")


def list_names(groups: Groups) -> dict[Name, str]:
    """All versions of all kinds, in both spellings, and their api-versions in ARM."""
    return dict(_list_names(groups))


def _list_names(groups: Groups) -> Iterator[tuple[Name, str]]:
    for group, facts in groups.items():
        for version, content in facts["versions"].items():
            for kind, fact in content["kinds"].items():
                yield Name(group, version, kind), fact["apiVersion"]
        for version, alias in facts["aliases"].items():
            for kind in alias["kinds"]:
                yield Name(group, version, kind), facts["versions"][alias["of"]]["kinds"][kind]["apiVersion"]


def extend(history: History, names: Iterable[Name], release: str, stated: Mapping[Name, str]) -> dict[Name, Lifetime]:
    """The history with what a release serves. A kind that it serves again is no longer removed."""
    number, served = shorten(release), set(names)
    extended = dict(history)
    for name in served:
        known = history.get(name)
        extended[name] = Lifetime(known.served if known else stated.get(name, number))
    for name, lifetime in history.items():
        if name not in served and name.kind != "*" and not lifetime.removed:
            extended[name] = lifetime._replace(removed=number)
    return extended


def read_stated(checkout: Path, names: Mapping[Name, str], last: str, release: str) -> dict[Name, str]:
    """The first releases that ASO states, of those later than the release `last` and not later than `release`: others
    are of another spelling of the version, or plans.
    """
    stated = {key: number for file in _list_configurations(checkout) for key, number in _read_configuration(file)}
    found = {name: stated.get((_fold(name.group), api_version, name.kind)) for name, api_version in names.items()}
    first = parse_number(shorten(last)) if last else ()
    return {
        name: number
        for name, number in found.items()
        if number and first < parse_number(number) <= parse_number(shorten(release))
    }


def _list_configurations(checkout: Path) -> list[Path]:
    top = checkout / "v2"
    return [file for file in (top / "azure-arm.yaml", *sorted((top / "azure-arm").glob("*.yaml"))) if file.exists()]


def _read_configuration(file: Path) -> Iterator[tuple[tuple[str, str, str], str]]:
    """((group, api-version, kind), release) of each kind whose first release a file states."""
    content = _load(file)
    groups = content.get("objectModelConfiguration") or {file.stem: content.get("groupModelConfiguration") or {}}
    for group, versions in groups.items():
        for version, types in _list_sections(versions):
            for name, options in _list_sections(types):
                match = _SUPPORTED.fullmatch(str(options.get("$supportedFrom", "")))
                if match:
                    yield (_fold(group), str(version), options.get("$exportAs", name)), match[1]


def _load(file: Path) -> Mapping[str, Any]:
    """The content of a file. SystemExit, with its line, if it cannot be read as a map."""
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{file}:{mark.line + 1}" if mark else str(file)
        raise SystemExit(f"{where}: not YAML: {getattr(error, 'problem', None) or error}") from error
    if not isinstance(content, Mapping):
        raise SystemExit(f"{file}:1: not a map")
    return content


def _list_sections(content: Any) -> list[tuple[str, Mapping[str, Any]]]:
    return [(name, inner) for name, inner in content.items() if isinstance(inner, Mapping)]


def _fold(group: str) -> str:
    return group.removesuffix(".azure.com").casefold()
