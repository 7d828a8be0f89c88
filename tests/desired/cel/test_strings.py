"""Functions of text, and conversions from one type to another."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.cel.values import Uint, name_type
from tests.desired.cel.evaluating import failure_of, row, value_of


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        row("'héllo'.size()", 5, "characters are counted, and not bytes"),
        row("size('🙂')", 1, "beyond the first plane too"),
        row("size(b'h\\303\\251')", 3, "of bytes, the bytes"),
        row("size([1, 2])", 2, "of a list, the items"),
        row("size({'a': 1})", 1, "of a map, the entries"),
        row("'hello'.contains('ell')", True, "a part"),
        row("'hello'.contains('')", True, "nothing is a part of all"),
        row("'hello'.startsWith('he')", True, "at the start"),
        row("'hello'.endsWith('lo')", True, "at the end"),
        row("'hello'.endsWith('he')", False, "and not elsewhere"),
        row("'hello'.charAt(4)", "o", "one character"),
        row("'hello'.charAt(5)", "", "none behind the last"),
        row("'hello'.indexOf('l')", 2, "where a part stands first"),
        row("'hello'.indexOf('l', 3)", 3, "from some place on"),
        row("'hello'.indexOf('z')", -1, "or nowhere"),
        row("'hello'.indexOf('')", 0, "nothing stands at the start"),
        row("'hello'.indexOf('o', 9)", -1, "behind the end there is nothing"),
        row("'hello'.lastIndexOf('l')", 3, "where a part stands last"),
        row("'hello'.lastIndexOf('l', 2)", 2, "up to some place"),
        row("'hello'.lastIndexOf('')", 5, "nothing stands at the end"),
        row("'hello'.lastIndexOf('lo', 3)", 3, "a part may go on behind the place"),
        row("'hello'.lastIndexOf('h', 9)", -1, "the place must be in the text"),
        row("'HÉllo'.lowerAscii()", "hÉllo", "letters of ASCII alone"),
        row("'hélLO'.upperAscii()", "HéLLO", "the other way too"),
        row("' \\t\\u00a0x\\u3000\\n'.trim()", "x", "blanks of Unicode go"),
        row("'\\u001cx'.trim()", "\x1cx", "separators of ASCII are none"),
        row("'gums'.reverse()", "smug", "from the end to the start"),
        row("'a-b-c'.replace('-', '+')", "a+b+c", "every part"),
        row("'a-b-c'.replace('-', '+', 1)", "a+b-c", "some of them"),
        row("'a-b'.replace('-', '+', 0)", "a-b", "none of them"),
        row("'a-b-c'.replace('-', '+', -1)", "a+b+c", "below zero means all"),
        row("'ab'.replace('', '.')", ".a.b.", "nothing stands between all letters"),
        row("'a,b,c'.split(',')", ["a", "b", "c"], "in parts"),
        row("'a,b,c'.split(',', 2)", ["a", "b,c"], "in at most so many"),
        row("'a,b,c'.split(',', 0)", [], "in none"),
        row("'a,b,c'.split(',', -1)", ["a", "b", "c"], "below zero means all"),
        row("'abc'.split('')", ["a", "b", "c"], "into characters"),
        row("'abc'.split('', 2)", ["a", "bc"], "some of them"),
        row("''.split(',')", [""], "of nothing there is one part"),
        row("['a', 'b'].join()", "ab", "put together"),
        row("['a', 'b'].join('-')", "a-b", "with something between"),
        row("[].join('-')", "", "nothing of nothing"),
        row("'hello'.substring(2)", "llo", "from a place on"),
        row("'hello'.substring(1, 3)", "el", "up to another"),
        row("'hello'.substring(5)", "", "nothing at the end"),
        row("strings.quote('a\"b\\\\c\\n')", '"a\\"b\\\\c\\n"', "as a literal"),
        row("strings.quote('\\a\\b\\f\\r\\t\\v')", '"\\a\\b\\f\\r\\t\\v"', "with all escapes"),
    ],
)
def test_functions_of_text(expression, expected):
    assert value_of(expression) == expected


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        row("'abc'.charAt(4)", "index out of range", "two behind the last"),
        row("'abc'.charAt(-1)", "index out of range", "before the first"),
        row("'abc'.indexOf('a', -1)", "index out of range", "a search starts in the text"),
        row("'abc'.lastIndexOf('a', -1)", "index out of range", "backwards as well"),
        row("'abc'.substring(4)", "index out of range", "a part lies in the text"),
        row("'abc'.substring(-1)", "index out of range", "not before it"),
        row("'abc'.substring(0, 4)", "index out of range", "nor behind it"),
        row("'abc'.substring(2, 1)", "substring: the start is after the end", "it does not run backwards"),
        row("[dyn('a'), 1].join()", "join: the list contains a value that is not a string", "only text is joined"),
        row("dyn(1).trim()", "no such overload: trim(int)", "a number has no blanks"),
    ],
)
def test_functions_of_text_refuse(expression, message):
    assert failure_of(expression) == message


def test_what_is_not_a_character_is_quoted_as_one_that_shows_it():
    assert value_of("strings.quote(x)", x="a\ud800") == '"a\ufffd"'


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        row("int('42')", 42, "digits"),
        row("int('-42')", -42, "with a sign"),
        row("int('+7')", 7, "either one"),
        row("int(3.9)", 3, "what is behind the point is dropped"),
        row("int(-3.9)", -3, "towards zero"),
        row("int(3u)", 3, "of a uint"),
        row("int(3)", 3, "of itself"),
        row("int(timestamp('1970-01-01T00:01:00Z'))", 60, "seconds since 1970"),
        row("int(timestamp('1969-12-31T23:59:59.5Z'))", -1, "downwards before"),
        row("int(duration('1s'))", 10**9, "nanoseconds of a length of time"),
        row("uint('42')", Uint(42), "digits"),
        row("uint(42)", Uint(42), "of an int"),
        row("uint(3.9)", Uint(3), "without what is behind the point"),
        row("uint(3u)", Uint(3), "of itself"),
        row("double('1.5')", 1.5, "a decimal fraction"),
        row("double('-1e3')", -1000.0, "with an exponent"),
        row("double('.5')", 0.5, "without a zero before the point"),
        row("double('Infinity')", math.inf, "without end"),
        row("double('-inf')", -math.inf, "in short"),
        row("double(2)", 2.0, "of an int"),
        row("double(2u)", 2.0, "of a uint"),
        row("bool('true')", True, "a word"),
        row("bool('F')", False, "or a letter"),
        row("bool('1')", True, "or a digit"),
        row("bool(true)", True, "of itself"),
        row("bytes('é')", b"\xc3\xa9", "text is UTF-8"),
        row("string(b'\\303\\251')", "é", "and back"),
        row("string(true)", "true", "in lower case"),
        row("string(-7)", "-7", "digits with a sign"),
        row("string(7u)", "7", "without the letter"),
        row("string('a')", "a", "of itself"),
        row("string(1.0)", "1", "a whole double has no point"),
        row("string(-1.5)", "-1.5", "another has one"),
        row("string(0.1)", "0.1", "the shortest digits that read back"),
        row("string(100000.0)", "100000", "six digits before the point"),
        row("string(1000000.0)", "1e+06", "as Go writes it, more get an exponent"),
        row("string(1234567.5)", "1.2345675e+06", "with all digits"),
        row("string(1e21)", "1e+21", "of two digits at least"),
        row("string(1e100)", "1e+100", "or three"),
        row("string(0.0001)", "0.0001", "small ones too"),
        row("string(0.00001)", "1e-05", "from some point on"),
        row("string(0.0)", "0", "nothing"),
        row("string(-0.0)", "-0", "has a sign"),
        row("string(double('inf'))", "+Inf", "without end"),
        row("string(double('-inf'))", "-Inf", "in either direction"),
        row("string(double('nan'))", "NaN", "no number"),
        row("dyn(1)", 1, "dyn changes nothing"),
        row("type('a') == string", True, "the type is a value"),
    ],
)
def test_conversions(expression, expected):
    found = value_of(expression)
    assert (found, name_type(found)) == (expected, name_type(expected))


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        row("int('4 2')", "int: the string cannot be read as int", "blanks are no digits"),
        row("int('4_2')", "int: the string cannot be read as int", "nor is what Python allows between them"),
        row("int('٤')", "int: the string cannot be read as int", "digits are those of ASCII"),
        row("int('')", "int: the string cannot be read as int", "nothing is no number"),
        row("int('9223372036854775808')", "integer overflow", "64 bits"),
        row("int(9223372036854775807.0)", "integer overflow", "rounded upwards it does not fit"),
        row("int(double('nan'))", "integer overflow", "no number is no int"),
        row("int(18446744073709551615u)", "integer overflow", "nor is a large uint"),
        row("uint(-1)", "unsigned integer overflow", "below zero there is none"),
        row("uint(-0.5)", "unsigned integer overflow", "not a bit"),
        row("uint('-1')", "uint: the string cannot be read as uint", "nor in text"),
        row("uint(1e20)", "unsigned integer overflow", "64 bits"),
        row("double('1_.5')", "double: the string cannot be read as double", "no signs between digits"),
        row("double('1e999')", "double: the number is too large", "an end there must be"),
        row("double('x')", "double: the string cannot be read as double", "text is none"),
        row("bool('yes')", "bool: the string cannot be read as bool", "only some words count"),
        row("string(b'\\377')", "string: the bytes are not UTF-8", "not all bytes are text"),
        row("string(dyn([1]))", "no such overload: string(list)", "a list is no text"),
        row("string(dyn(null))", "no such overload: string(null_type)", "nor is null"),
        row("int(dyn(true))", "no such overload: int(bool)", "a truth is no number"),
    ],
)
def test_conversions_refuse(expression, message):
    assert failure_of(expression) == message


def test_text_that_is_not_unicode_has_no_bytes():
    assert failure_of("bytes(x)", x="\ud800") == "bytes: the string cannot be read as bytes"


@given(st.integers(-(2**63), 2**63 - 1))
def test_an_int_reads_back_from_its_text(number):
    assert value_of("int(string(x))", x=number) == number


@given(st.floats(allow_nan=False))
def test_a_double_reads_back_from_its_text(number):
    assert value_of("double(string(x))", x=number) == number


@given(st.lists(st.text(st.characters(exclude_characters=",")), min_size=1))
def test_what_is_joined_splits_again(parts):
    assert value_of("x.join(',').split(',')", x=parts) == parts


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_bytes_of_a_text_are_the_text_again(text):
    assert value_of("string(bytes(x)) == x", x=text) is True


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_what_is_quoted_reads_as_the_same_literal(text):
    assert value_of(value_of("strings.quote(x)", x=text)) == text


@given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1).filter(bool))
def test_quotient_and_remainder_make_the_whole(left, right):
    if (left, right) != (-(2**63), -1):
        assert value_of("x / y * y + x % y", x=left, y=right) == left
