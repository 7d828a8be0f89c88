"""The lines of an ignore file against pathspec's own way to match them, which takes few lines at a time."""

from __future__ import annotations

import re
import warnings

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec
from pathspec._backends.simple.gitignore import SimpleGiBackend

from gitsync.repository.git.source.file_selection import IgnorePatterns, InvalidPatternError
from tests.support.hypothesis_profile import scale


def in_order(patterns):
    """pathspec's default tries patterns in no order (re2) or in reverse (simple), and then differs from git: `!?` and
    `?/` ignore a/a.
    """
    return SimpleGiBackend(patterns, no_reverse=True)


PATHS = ["a", "b", "ab", "a/a", "a/b", "b/a", "a/b/c", "a/a/a", "ab/c.yaml", "c", "b/ab/a"]


@settings(max_examples=scale(200))
@given(
    st.lists(st.text(alphabet="ab/*?!", min_size=1, max_size=6) | st.sampled_from(["a", "a/", "/a", "!a", "a/b"])),
    st.sampled_from(PATHS),
)
@example(["a/", "!a/b"], "a/b")
@example(["a", "!a", "a"], "a")
@example(["a"], "a/a")
@example(["/a/", "!b"], "a/b")
@example(["*/"], "a/a")
@example(["?", "!/"], "a/a")
@example(["!?", "?/"], "a/a")
def test_lines_decide_as_those_of_pathspec(lines, path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        try:
            expected = GitIgnoreSpec.from_lines(lines, _test_backend_factory=in_order).check_file(path).include
        except (ValueError, re.error):
            with pytest.raises(InvalidPatternError):
                IgnorePatterns(lines)
            return
    assert IgnorePatterns(lines).find_verdict(path) == expected


@pytest.mark.parametrize(
    ("line", "path", "ignored", "why"),
    [
        ("*a*a*a*a*a*a*a*a*a*a*a*a*b", "a" * 5000, None, "a matcher that backtracks would not end"),
        ("**/**/**/**/**/**/**/x/**/**/**/y", "x/" * 2000, None, "nor here"),
        ("x" * 100_000, "a", None, "a long line is a name"),
    ],
)
def test_a_hostile_line_is_matched(line, path, ignored, why):
    assert IgnorePatterns([line]).find_verdict(path) is ignored, why


def test_there_may_be_more_lines_than_are_kept_compiled():
    lines = [f"*.{number}" for number in range(6000)]
    assert IgnorePatterns(lines).find_verdict("a.5") is True
    assert IgnorePatterns([*lines, "!a.5"]).find_verdict("a.5") is False
