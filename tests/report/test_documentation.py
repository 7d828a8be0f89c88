"""Addresses of the documentation."""

from __future__ import annotations

import pytest

from gitsync.desired.problems.problem_codes import find_code_meaning
from gitsync.report.sarif import find_help_page

MEANING = find_code_meaning("OwnerNotFound")
HOME = "https://example.com/acme/gitsync"

CASES = [
    ({"Homepage": HOME, "Issues": "x"}, f"{HOME}/blob/main/docs/problems.md#ownernotfound", "built by a pipeline"),
    ({}, "", "built elsewhere"),
    ({"Homepage": "ftp://example.com"}, "", "no address of the web"),
]


@pytest.mark.parametrize(("addresses", "expected", "why"), CASES, ids=[row[-1] for row in CASES])
def test_the_page_of_a_code(addresses, expected, why):
    assert find_help_page(MEANING, addresses) == expected, why
