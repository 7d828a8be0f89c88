"""Texts for people have no placeholders: a missing value, an open quote, a preposition with nothing after it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gitsync.desired.problems.problem_codes import load_codes
from gitsync.planning.status.advice import BY_CODE, BY_TYPE

BAD = Path(__file__).parents[1] / "validation" / "bad"
GOLDEN = Path(__file__).parents[2] / "report" / "golden"

_NOTHING = r" +(?:[,;:)]|\.?$|\. )"

_HOLES = {
    "a value that is missing": r"\b(?:is|in|of|by|to|from|at|with|named) None\b|\bNone[,.:;]",
    "a preposition or a flag with nothing after it": rf"(?:\b(?:in|of|by|from|with|to|named)|--[a-z-]+){_NOTHING}",
    "a colon with nothing after it": r": +$|: *[,;]|: \d+ *$|^: ",
    "an empty pair": r"(?<=\s)\(\s*\)|(?<=\s)(?:\"\"|''|``)(?=\s)",
    "two blanks": r"(?<=\S)  +(?=\S)",
    "two commas or stops": r" *, *,|(?<=\w)\.\.(?=\s|$)|,\.(?=\s|$)",
}


def find_holes(text):
    """What is wrong with a text, in words."""
    found = [what for what, pattern in _HOLES.items() if re.search(pattern, text)]
    if any(text.count(quote) % 2 for quote in '"`'):
        found.append("an open quote")
    if re.search(r"(?<![\w'])'(?=\S)", re.sub(r"(?<![\w'])'[^']*'", "", text)):
        found.append("an open quote")
    return found


@pytest.mark.parametrize(
    ("text", "hole"),
    [
        ("The plan file is incomplete or was changed: its schema is None; this gitsync reads 2.", "a value"),
        ("no commit since 1a2b3c has its manifest in --path ", "a preposition"),
        ("Removed from git: its folder apps is not in --path .", "a preposition"),
        ("passed over: 3 ", "a colon"),
        ("Secret default/keys was not removed from the sink kubernetes: ", "a colon"),
        (": error: MissingField", "a colon"),
        ("updating 'spec.azureName' is not allowed for 'ResourceGroup : core", "an open quote"),
        ('credential Secret "default/team has no key', "an open quote"),
        ("Run `gitsync validate.", "an open quote"),
        ("It is  here.", "two blanks"),
        ("Names: a, , b.", "two commas"),
        ("The key () is missing.", "an empty pair"),
    ],
)
def test_the_search_finds_the_placeholders_that_were_seen(text, hole):
    assert any(what.startswith(hole) for what in find_holes(text)), find_holes(text)


@pytest.mark.parametrize(
    "text",
    [
        "Azure's answer to the owner's request is 'spec.location', in ../apps.",
        "Set annotation 'serviceoperator.azure.com/reconcile-policy: detach-on-delete' to permit it.",
        "3 resources in 2 files: 1 warning; the last is in --path apps.",
    ],
)
def test_a_whole_text_has_none(text):
    assert find_holes(text) == []


def test_the_tables_have_no_placeholders():
    texts = [text for code in load_codes() for text in (code.cause, code.fix, code.shown)]
    texts += [*BY_CODE.values(), *BY_TYPE.values()]
    assert {text: found for text in texts if (found := find_holes(text))} == {}


def test_the_problems_of_bad_manifests_have_no_placeholders():
    rows = [line.strip() for file in BAD.glob("*.txt") for line in file.read_text(encoding="utf-8").splitlines()]
    sentences = [row for row in rows if row.endswith(".") and not re.search(r' must match |"" has', row)]
    assert {row: found for row in sentences if (found := find_holes(row))} == {}
    assert len(sentences) > 100


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("*.txt")), ids=lambda file: file.name)
def test_the_reports_have_no_placeholders(file):
    sentences = [line.strip() for line in file.read_text(encoding="utf-8").splitlines() if line.strip().endswith(".")]
    holes = {sentence: found for sentence in sentences if (found := set(find_holes(sentence)) - {"two blanks"})}
    assert holes == {}
