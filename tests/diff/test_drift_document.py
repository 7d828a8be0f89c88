"""docs/drift.md has every rule, with its evidence, as the tables in the code do."""

from pathlib import Path

import pytest

from gitsync.diff.equivalence import SPELLING_RULES
from gitsync.diff.list_pairing import KEY_FIELDS, OPEN_LISTS, ORDERED
from gitsync.diff.rules.handed_over import HANDED_OVER_FIELDS
from gitsync.diff.rules.own_entries import OWN_ENTRIES
from gitsync.diff.rules.quantities import MIXED_RULES
from gitsync.diff.rules.single_types import TYPE_RULES

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "drift.md").read_text(encoding="utf-8")
ROWS = [
    *(f"| {rule.name} | {rule.evidence} |" for rule in (*SPELLING_RULES, *MIXED_RULES)),
    *(
        "| {} | `{}` | `{}` | {} |".format(
            row.rule.name, row.types.pattern.replace("|", "\\|"), "/".join(map(str, row.path)), row.rule.evidence
        )
        for row in TYPE_RULES
    ),
    *(
        "| {} | `{}` | `{}` | {} |".format(
            row.by, row.types.pattern.replace("|", "\\|"), "/".join(map(str, row.path)), row.evidence
        )
        for row in HANDED_OVER_FIELDS
    ),
    *(f"| `{row.arm_type}` | `{'/'.join(map(str, row.path))}` | {row.evidence} |" for row in OWN_ENTRIES),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[:60])
def test_a_rule_is_reported(row):
    assert row in TEXT, f"docs/drift.md lacks the row: {row}"


def test_no_rule_is_reported_that_is_not_there():
    told = [line for line in TEXT.splitlines() if line.startswith("| ") and line.endswith(". |")]
    assert sorted(told) == sorted(ROWS)


@pytest.mark.parametrize("names", [KEY_FIELDS, sorted(ORDERED), sorted(OPEN_LISTS)], ids=["keys", "ordered", "open"])
def test_the_lists_are_reported(names):
    assert ", ".join(f"`{name}`" for name in names) in " ".join(TEXT.split())
