"""Which release of ASO a checkout is, and the file that states it in the catalog."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

FILE = "CATALOG"
_TAG = re.compile(r"v(2\.\d+\.\d+)")
_RELEASE = re.compile(r"2\.\d+(\.\d+)?")
_SOURCE = ("v2/api", "v2/azure-arm", "v2/azure-arm.yaml")
"""Where the facts are in a checkout."""


class Release(NamedTuple):
    """A release of ASO, or the tree of a day that leads to it."""

    number: str  # such as 2.21.1, or 2.21 of a tree
    date: str  # of the commit, such as 2026-08-21
    tag: str = ""  # "" for a tree that no tag of a release names


def find_release(checkout: Path, named: str = "") -> Release:
    """The release that HEAD of a checkout is tagged as, else the one that its tree leads to, by `named`. SystemExit if
    there is neither, if both differ, or if the files are not those of HEAD.
    """
    if named and not _RELEASE.fullmatch(named):
        raise SystemExit(f"RELEASE={named}: not a release of ASO, such as 2.21")
    date = _run_git(checkout, "log", "-1", "--format=%cs")
    _check_files(checkout)
    tags = filter(None, map(_TAG.fullmatch, _run_git(checkout, "tag", "--points-at", "HEAD").split()))
    tag = max(tags, key=lambda found: parse_number(found[1]), default=None)
    if tag and named not in {"", tag[1], shorten(tag[1])}:
        raise SystemExit(f"{checkout}: HEAD is {tag[0]}, not ASO {named}. Leave RELEASE out")
    if tag:
        return Release(tag[1], date, tag[0])
    if not named:
        raise SystemExit(
            f"{checkout}: HEAD has no tag of a release, such as v2.21.0. Check one out, or name the release that the "
            "tree leads to: RELEASE=2.21"
        )
    return Release(named, date)


def check_order(release: Release, last: str) -> None:
    """SystemExit if a release is older than `last`, that of the catalog: what is newer would count as removed."""
    if last and parse_number(shorten(release.number)) < parse_number(shorten(last)):
        raise SystemExit(
            f"The catalog is of ASO {last}, which is newer than {release.number}. Check out a later release"
        )


def _check_files(checkout: Path) -> None:
    """SystemExit if a file of the source differs from HEAD or is absent: its facts would count as the release's."""
    if _run_git(checkout, "rev-parse", "--show-prefix"):
        raise SystemExit(f"{checkout}: not the root of a git checkout")
    changed = _run_git(checkout, "status", "--porcelain", "--no-renames", "--", *_SOURCE).splitlines()
    left_out = [line for line in _run_git(checkout, "ls-files", "-t", "--", *_SOURCE).splitlines() if line[0] == "S"]
    if files := [line.split(maxsplit=1)[1] for line in (*changed, *left_out)]:
        more = f", and {len(files) - 1} more" if files[1:] else ""
        raise SystemExit(f"{checkout}: {files[0]} is not as HEAD has it{more}. Restore it, or clone again")


def parse_number(number: str) -> tuple[int, ...]:
    """(2, 21, 1) of 2.21.1."""
    return tuple(map(int, number.split(".")))


def shorten(number: str) -> str:
    """The release that a patch release is of: 2.21 of 2.21.1."""
    return ".".join(number.split(".")[:2])


def read_catalog_file(data: Path) -> dict[str, Any]:
    """The content of CATALOG; nothing if there is none yet."""
    file = data / FILE
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def update_catalog_file(data: Path, part: str, content: Any) -> None:
    """Replace one part of CATALOG, such as `aso`."""
    text = json.dumps(read_catalog_file(data) | {part: content}, indent=2, sort_keys=True)
    (data / FILE).write_text(f"{text}\n", encoding="utf-8")


def describe(release: Release) -> dict[str, str]:
    """The part of CATALOG for a release of ASO."""
    return {"release": release.number, "date": release.date, **({"tag": release.tag} if release.tag else {})}


def _run_git(checkout: Path, *arguments: str) -> str:
    ended = subprocess.run(["git", "-C", checkout, *arguments], capture_output=True, text=True, check=False)
    if ended.returncode:
        raise SystemExit(f"{checkout}: not a git checkout: {ended.stderr.strip()}")
    return ended.stdout.strip()
