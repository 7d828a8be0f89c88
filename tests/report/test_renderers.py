"""One problem of a file that several units render."""

import pytest

from gitsync.model.problem import Problem
from gitsync.report.wording import format_renderers, join_renderers


def problem(path, *units):
    return Problem(code="A", message="b", path=path, line=1, rendered_by=units)


def test_a_problem_of_a_shared_file_is_one_problem_with_all_units():
    found = join_renderers([problem("b"), problem("base", "prod"), problem("base", "dev"), problem("base", "prod")])
    assert found == (problem("b"), problem("base", "dev", "prod"))


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        ([""], ""),
        (["a"], "rendered by a"),
        (["a", "b", "c"], "rendered by a, b, c"),
        (["a", "b", "c", "d", "e"], "rendered by a, b, c and 2 more"),
    ],
)
def test_few_units_are_named(names, text):
    assert format_renderers(names) == text
