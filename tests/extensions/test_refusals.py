"""Rows with the meaning of refusals."""

import pytest

from gitsync.errors import ArmError
from gitsync.extensions.factories.error_rules import ANY_CODE, Class, ErrorRule, Refusals, make_classifiers
from gitsync.model.condition import Retry
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
    ("becomes", "before", "after", "why"),
    [
        (Class.RETRYABLE, Retry.VERY_SLOW, Retry.VERY_SLOW, "its speed is kept"),
        (Class.RETRYABLE, Retry.NEVER, Retry.SLOW, "what was fatal has no speed"),
        (Class.SLOW, Retry.VERY_SLOW, Retry.SLOW, "a speed of its own"),
        (Class.FATAL, Retry.SLOW, Retry.NEVER, "no other try"),
    ],
)
def test_what_a_row_makes_of_a_class(becomes, before, after, why):
    found = Refusals((row(becomes=becomes),))(refused(), lambda _: Classification(before))
    assert found.retry is after, why


def test_an_error_that_no_row_speaks_of_stays_as_it_is():
    assert Refusals((row(),))(refused("Other"), lambda _: Classification(Retry.NEVER)).is_fatal


def test_the_rows_of_one_kind_make_one_classifier():
    made = make_classifiers("g", (row(kind="A"), row(kind="B", code="x"), row(kind="B", code="y")))
    assert [(extension.kind, len(extension.classify.rows)) for extension in made] == [("A", 1), ("B", 2)]
