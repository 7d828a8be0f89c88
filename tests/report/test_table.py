"""Columns: what fits, what is wrapped, what is never cut."""

import pytest

from gitsync.report.terminal import format_table, indent

HEADER = ("NAME", "READY", "MESSAGE")
ROWS = [("ResourceGroup/core", "True", ""), ("VirtualNetwork/hub", "False", "The prefix " + "is wrong " * 5)]

TABLES = [
    (
        None,
        [
            "NAME                 READY   MESSAGE",
            "ResourceGroup/core   True",
            "VirtualNetwork/hub   False   The prefix is wrong is wrong is wrong is wrong is wrong",
        ],
        "no terminal, no limit",
    ),
    (
        64,
        [
            "NAME                 READY   MESSAGE",
            "ResourceGroup/core   True",
            "VirtualNetwork/hub   False   The prefix is wrong is wrong is",
            "                             wrong is wrong is wrong",
        ],
        "the last column wraps inside itself",
    ),
    (
        50,
        [
            "NAME                 READY",
            "ResourceGroup/core   True",
            "VirtualNetwork/hub   False",
            "    The prefix is wrong is wrong is wrong is wrong",
            "    is wrong",
        ],
        "without room for it, it goes below",
    ),
]


@pytest.mark.parametrize(("width", "lines", "why"), TABLES, ids=[t[-1] for t in TABLES])
def test_a_table_fits_its_width(width, lines, why):
    assert format_table(HEADER, [(*row[:-1], row[-1].strip()) for row in ROWS], width=width) == lines, why


def test_a_table_without_rows_is_its_header():
    assert format_table(HEADER, []) == ["NAME   READY   MESSAGE"]


def test_a_word_that_is_too_long_is_not_cut():
    assert indent("see /subscriptions/" + "x" * 90, 40, by=2)[-1] == "  /subscriptions/" + "x" * 90
    assert indent("", 40, by=2) == [""]
