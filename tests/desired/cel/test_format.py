"""`format`: what each clause shows, of which types, and how exactly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.errors import EvaluationError
from tests.desired.cel.evaluating import row, value_of


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        row("'no clause'.format([])", "no clause", "text stands as it is"),
        row("'%s:%d'.format(['eastus', 7])", "eastus:7", "clauses take values in their order"),
        row("'100%%'.format([])", "100%", "the sign itself takes none"),
        row("'%s'.format([true])", "true", "a truth"),
        row("'%s'.format([null])", "null", "null"),
        row("'%s'.format([1.0])", "1", "a whole double has no point"),
        row("'%s'.format([1e21])", "1e+21", "and large ones an exponent"),
        row("'%s'.format([double('nan')])", "NaN", "no number"),
        row("'%s'.format([double('-inf')])", "-Inf", "without end, in a word"),
        row("'%s'.format([b'abc'])", "abc", "bytes that are text"),
        row("'%s'.format([type(1)])", "int", "the name of a type"),
        row("'%s'.format([duration('90m')])", "5400s", "a length of time, in seconds"),
        row("'%s'.format([timestamp('2024-01-02T03:04:05Z')])", "2024-01-02T03:04:05Z", "a point in time"),
        row("'%s'.format([[1, 'a', true, [2u]]])", '[1, "a", true, [2]]', "lists, with text in quotes"),
        row("'%s'.format([{'b': 1, 'a': [2]}])", '{"a":[2], "b":1}', "maps, sorted by their keys"),
        row("'%s'.format([{2: 'x', 1: 'y'}])", '{1:"y", 2:"x"}', "whatever these are"),
        row("'%d'.format([-5])", "-5", "a whole number"),
        row("'%d'.format([5u])", "5", "of either sort"),
        row("'%s'.format([[1.0, double('inf')]])", '[1.000000, "+Inf"]', "doubles inside a list have six digits"),
        row("'%s'.format([[b'a', null, type(1)]])", '[b"a", null, int]', "and bytes are a literal"),
        row(
            "'%s'.format([[duration('1h'), timestamp(0)]])",
            '[duration("3600s"), timestamp("1970-01-01T00:00:00Z")]',
            "times, too",
        ),
        row(r"'%s'.format([['\u00ad\n\u00e9\x7f']])", r'["\u00ad\né\x7f"]', "what is not printable is escaped"),
        row("'%f'.format([1.5])", "1.500000", "six digits by itself"),
        row("'%.2f'.format([1.005])", "1.00", "or as many as are asked for"),
        row("'%.0f'.format([2.5])", "2", "none, too; halves go to the even side"),
        row("'%.1f'.format([1234567.25])", "1,234,567.2", "thousands have a comma"),
        row("'%f'.format([-0.0])", "0.000000", "nothing has no sign"),
        row("'%f'.format(['-Infinity'])", "-∞", "some texts are numbers"),
        row("'%f'.format([double('nan')])", "NaN", "no number has no digits"),
        row("'%e'.format([1234.5])", "1.234500×10⁰³", "one digit before the point"),
        row("'%.16e'.format([-0.00012])", " -1.200000×10⁻⁰⁴", "with six after it, in a width"),
        row("'%e'.format([double('-inf')])", "    -∞", "without end"),
        row("'%b'.format([5])", "101", "in base two"),
        row("'%b'.format([-5])", "-101", "with a sign"),
        row("'%b'.format([true])", "1", "a truth is a bit"),
        row("'%b'.format([false])", "0", "or none"),
        row("'%o'.format([8])", "10", "in base eight"),
        row("'%x'.format([255])", "ff", "in base sixteen"),
        row("'%X'.format([255u])", "FF", "in capitals"),
        row("'%x'.format(['hé'])", "68c3a9", "the bytes of text"),
        row("'%X'.format([b'\\xff'])", "FF", "and bytes"),
        row("'%X'.format(['z'])", "7A", "in capitals, too"),
        row("'%s'.format(['a', 'b'])", "a", "values that no clause takes are left out"),
        row("'%s%s'.format(['%s', 1])", "%s1", "what is put in is not read again"),
    ],
)
def test_clauses(expression, expected):
    assert value_of(expression) == expected


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        row("'%s %s'.format(['a'])", "format: there are more clauses than values", "each clause takes one"),
        row("'%q'.format(['a'])", "format: unrecognized clause; use %s %d %f %e %b %o %x %X, or %% for a percent sign", "an unknown letter"),
        row("'%'.format(['a'])", "format: unrecognized clause; use %s %d %f %e %b %o %x %X, or %% for a percent sign", "no letter"),
        row("'%.f'.format([1.0])", "format: unrecognized clause; use %s %d %f %e %b %o %x %X, or %% for a percent sign", "a point without digits"),
        row("'%.99999999f'.format([1.0])", "the expression processes too much text", "nobody needs so many digits"),
        row("'%d'.format([2.5])", "format: %d cannot show a value of type double", "nor is a fraction whole"),
        row("'%f'.format([3])", "format: %f cannot show a value of type int", "a whole number is no fraction"),
        row("'%s'.format([{1.5: 'a'}])", "format: %s cannot show a key of type double", "nor a key"),
        row("'%d'.format(['a'])", "format: %d cannot show a value of type string", "text is no number"),
        row("'%f'.format(['a'])", "format: %f cannot show a value of type string", "nor is it a fraction"),
        row("'%e'.format([true])", "format: %e cannot show a value of type bool", "nor is a truth"),
        row("'%x'.format([1.5])", "format: %x cannot show a value of type double", "other bases are for whole numbers"),
        row("'%o'.format([true])", "format: %o cannot show a value of type bool", "and for nothing else"),
        row("'%b'.format(['a'])", "format: %b cannot show a value of type string", "text has no bits"),
        row("'%s'.format([optional.of(1)])", "format: %s cannot show a value of type optional_type", "what may not be there"),
        row("'%s'.format([[optional.none()]])", "format: %s cannot show a value of type optional_type", "in lists, too"),
        row("'%s'.format([b'\\xff'])", "string: the bytes are not UTF-8", "bytes that are no text"),
    ],
)  # fmt: skip
def test_clauses_refuse(expression, message):
    with pytest.raises(EvaluationError) as failed:
        value_of(expression)
    assert failed.value.message == message


@pytest.mark.parametrize(("letter", "base"), [("b", 2), ("o", 8), ("d", 10), ("x", 16), ("X", 16)])
@given(number=st.integers(-(2**63), 2**63 - 1))
def test_a_number_in_any_base_reads_back(letter, base, number):
    assert int(value_of(f"'%{letter}'.format([x])", x=number), base) == number


@given(st.text())
def test_a_template_is_shown_or_refused(template):
    try:
        assert isinstance(value_of("x.format(['a', 1, 2.0, true])", x=template), str)
    except EvaluationError as failed:
        assert failed.message.startswith("format: ")
