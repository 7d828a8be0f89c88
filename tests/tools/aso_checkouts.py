"""Changes to the small checkout in tests/tools/aso, which has every form of Go that the extractor supports."""

from __future__ import annotations

import shutil
from pathlib import Path

from extract_facts.group_facts import Groups, read_groups

ASO = Path(__file__).resolve().parent / "aso"
THINGS = "v2/api/things/v20240101"
THING = f"{THINGS}/thing_types_gen.go"
PART = f"{THINGS}/things_part_types_gen.go"
TIE = f"{THINGS}/tie_types_gen.go"
ARM = f"{THINGS}/arm/thing_types_gen.go"
GROUP = "things.azure.com"


def copy_checkout(folder: Path) -> Path:
    """A copy of the checkout that a test may change."""
    return Path(shutil.copytree(ASO, folder / "aso"))


def change(checkout: Path, file: str, *changes: tuple[str, str]) -> None:
    """Replace texts in a file of a checkout, each of which it has once."""
    path = checkout / file
    text = path.read_text()
    for old, new in changes:
        assert text.count(old) == 1, f"{file} has {text.count(old)} times: {old}"
        text = text.replace(old, new)
    path.write_text(text)


def add_version(checkout: Path, version: str) -> None:
    """Copy the version of the checkout to another one."""
    source, target = checkout / THINGS, checkout / "v2/api/things" / version
    shutil.copytree(source, target)
    file = target / "groupversion_info_gen.go"
    file.write_text(file.read_text().replace("v20240101", version))


def read_facts(checkout: Path = ASO) -> Groups:
    return read_groups(checkout)
