"""Problems that many resources share are reported once, and no others."""

import pytest

from gitsync.model.problem import Problem
from gitsync.planning.run_problems import merge_shared


def problem(message: str, path: str, code: str = "CredentialNotUsable") -> Problem:
    return Problem(code=code, message=message, path=path)


ROLE, OTHER = "No Role in red.", "No Role in blue."
A, B, C = "a.yaml", "b.yaml", "c.yaml"


@pytest.mark.parametrize(
    ("problems", "expected", "why"),
    [
        ([], [], "none"),
        ([problem(ROLE, A)], [problem(ROLE, A)], "one resource has it: nothing to count"),
        (
            [problem(ROLE, A), problem(OTHER, B), problem(ROLE, C)],
            [problem(f"2 resources: {ROLE}", A), problem(OTHER, B)],
            "where the first is, with the count",
        ),
        (
            [problem("Missing.", A, "MissingField"), problem("Missing.", B, "MissingField")],
            [problem("Missing.", A, "MissingField"), problem("Missing.", B, "MissingField")],
            "each of these is fixed in its own file",
        ),
    ],
)
def test_what_a_credential_hinders_is_one_problem(problems, expected, why):
    assert list(merge_shared(problems)) == expected, why
