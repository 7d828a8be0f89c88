"""Write the reference pages that are made from tables: settings, commands, kinds, rules, man pages, and a picture.

usage: python tools/build_reference.py [--check]

`--check` names the files that are out of step, and exits with 1 if there are any. A row of TABLES is a function that
returns the text of each of its files, by path. A folder of FOLDERS has generated files alone: any other is removed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from reference.commands_page import build_commands_page
from reference.kinds_page import build_kinds_page
from reference.man_pages import MAN_FOLDER, build_man_pages
from reference.problems_page import build_problems_page
from reference.rules_page import build_rules_page
from reference.settings_page import build_settings_page
from reference.wings_picture import build_wings_picture

ROOT = Path(__file__).resolve().parent.parent

TABLES: tuple[Callable[[], Mapping[str, str]], ...] = (
    build_settings_page,
    build_commands_page,
    build_kinds_page,
    build_rules_page,
    build_man_pages,
    build_problems_page,
    build_wings_picture,
)
"""Each returns its files: the path from the top folder, and the text."""

FOLDERS = (MAN_FOLDER,)


def build_files() -> dict[str, str]:
    """Every generated file: its path from the top folder, and its text."""
    return {path: text for build in TABLES for path, text in build().items()}


def find_strays(files: Mapping[str, str]) -> list[str]:
    """Files in the generated folders that no table makes any more."""
    there = (str(path.relative_to(ROOT)) for folder in FOLDERS for path in (ROOT / folder).glob("*"))
    return sorted(set(there) - set(files))


def find_differences(files: Mapping[str, str]) -> list[str]:
    """Paths of files that are missing, out of step, or strays."""
    wrong = [path for path, text in files.items() if not (ROOT / path).is_file() or (ROOT / path).read_text() != text]
    return sorted([*wrong, *find_strays(files)])


def write_files(files: Mapping[str, str]) -> None:
    for path, text in files.items():
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(text, encoding="utf-8")
    for path in find_strays(files):
        (ROOT / path).unlink()


def main(arguments: list[str]) -> int:
    files = build_files()
    if "--check" not in arguments:
        write_files(files)
        return 0
    wrong = find_differences(files)
    for path in wrong:
        print(f"{path} is out of step. Run make reference.", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
