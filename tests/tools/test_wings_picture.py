"""The picture of the wings: it has what the contracts have, and the page describes it."""

import re
import tomllib
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "images" / "wings.svg"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
CONTRACTS = {
    contract["name"]: contract
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
}
FLOORS = [[name.strip() for name in layer.split("|")] for layer in CONTRACTS["wings import downwards"]["layers"]]
SVG = "{http://www.w3.org/2000/svg}"


def test_the_picture_has_the_wings_of_the_contract_floor_by_floor():
    names = [text for text in ET.parse(PICTURE).getroot().iter(f"{SVG}text") if text.get("class") == "name"]
    drawn: dict[int, list[str]] = {}
    for name in sorted(names, key=lambda text: (int(text.attrib["y"]), float(text.attrib["x"]))):
        drawn.setdefault(int(name.attrib["y"]), []).append((name.text or "").removesuffix("/").removesuffix(".py"))
    assert list(drawn.values()) == FLOORS


@pytest.mark.parametrize(
    ("look", "contract"),
    [
        ("pure", "desired, planning and model decide and do no I/O"),
        ("apart", "the emulator shares no conversion with the client"),
    ],
)
def test_the_picture_marks_the_wings_that_a_contract_names(look, contract):
    elements = list(ET.parse(PICTURE).getroot())
    wings = [
        name.text
        for box, name in pairwise(elements)
        if look in box.get("class", "").split() and name.get("class") == "name"
    ]
    named = [module.removeprefix("gitsync.") for module in CONTRACTS[contract]["source_modules"]]
    assert sorted(wings) == sorted(f"{name}/" for name in named if "." not in name)


def test_every_wing_has_a_paragraph_with_where_to_begin_in_the_order_of_the_picture():
    section = PAGE.partition("## The wings\n")[2].partition("\n## ")[0]
    paragraphs = re.findall(r"^\*\*`(\w+)(?:/|\.py)`\*\* (.+?)\n$", section, flags=re.MULTILINE | re.DOTALL)
    assert [name for name, _ in paragraphs] == [name for floor in FLOORS for name in floor]
    assert [name for name, text in paragraphs if "](" not in text.partition("Begin with")[2]] == []


def test_the_page_opens_with_the_picture():
    assert re.search(r"\A# .+\n\n[^!#]+\n\n!\[[^\]]+\]\(images/wings\.svg\)\n", PAGE)
