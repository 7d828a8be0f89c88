"""Rows with the meaning of refusals."""

import pytest

from gitsync.errors import ArmError
from gitsync.extensions.factories.error_rules import ANY_CODE, ErrorRule, Refusals, make_classifiers
from gitsync.planning.status.error_classes import Classification


def row(**more):
    return ErrorRule(**{"kind": "K", "code": "Mine"} | more)


def refused(code="Mine", message="It failed.\nBadly."):
    return ArmError(message, code=code, status=400)


@pytest.mark.parametrize(
    ("one", "error", "expected", "why"),
    [
        (row(), refused(), True, "the code alone"),
        (row(), refused("mine"), False, "codes have case"),
        (row(code=ANY_CODE), refused("Other"), True, "any code"),
        (row(says=("failed", "Badly")), refused(), True, "all of the texts"),
        (row(says=("failed", "well")), refused(), False, "one of the texts is missing"),
        (row(says=("FAILED",)), refused(), False, "texts have case"),
        (row(matches="It f.*d"), refused(), True, "a pattern"),
        (row(matches="It.*Badly"), refused(), False, "a dot crosses no line"),
        (row(matches="(?i)FAILED"), refused(), True, "a pattern may ignore case"),
    ],
)
def test_which_errors_a_row_speaks_of(one, error, expected, why):
    assert one.fits(error) is expected, why


@pytest.mark.parametrize(
    ("rows", "before", "after", "why"),
    [
        ([row()], Classification.FATAL, Classification.RETRYABLE, "another try may succeed"),
        ([row(becomes=Classification.FATAL)], Classification.RETRYABLE, Classification.FATAL, "no other try"),
        (
            [row(becomes=Classification.FATAL), row()],
            Classification.FATAL,
            Classification.RETRYABLE,
            "the last decides",
        ),
        ([row(code="Other")], Classification.FATAL, Classification.FATAL, "no row speaks of it"),
    ],
)
def test_what_rows_make_of_a_class(rows, before, after, why):
    assert Refusals(tuple(rows))(refused(), lambda _: before) is after, why


def test_the_rows_of_one_kind_make_one_classifier():
    made = make_classifiers("g", (row(kind="A"), row(kind="B", code="x"), row(kind="B", code="y")))
    assert [(extension.kind, len(extension.classify.rows)) for extension in made] == [("A", 1), ("B", 2)]
