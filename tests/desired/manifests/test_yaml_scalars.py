"""Plain scalars as Kubernetes reads them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.manifests.yaml_scalars import format_key, resolve, resolve_tagged

TAG = "tag:yaml.org,2002:"


@pytest.mark.parametrize(
    ("text", "value", "why"),
    [
        ("", None, "nothing is null"),
        ("~", None, "the old null"),
        ("Null", None, "null, capitalised"),
        ("nULL", "nULL", "null in no spelling of YAML's"),
        ("y", True, "YAML 1.1's short yes"),
        ("Off", False, "YAML 1.1's off"),
        ("yEs", "yEs", "yes in no spelling of YAML's"),
        ("tRue", "tRue", "true in no spelling of YAML's"),
        ("12", 12, "an integer"),
        ("+12", 12, "with a sign"),
        ("-0", 0, "JSON has no negative zero of integers"),
        ("1_000", 1000, "underscores part digits"),
        ("017", 15, "a leading zero is octal"),
        ("0o17", 15, "octal as in YAML 1.2"),
        ("08", 8, "no octal, so a decimal fraction that is whole"),
        ("0x1F", 31, "hexadecimal"),
        ("-0b11", -3, "binary"),
        ("0b12", "0b12", "no binary, and nothing else"),
        ("18446744073709551615", 2**64 - 1, "the largest of Go's unsigned integers"),
        ("18446744073709551616", 2**64, "beyond, a float that is whole"),
        ("-9223372036854775809", -(2**63), "beyond on the other side, a float that has lost a digit"),
        ("0x1FFFFFFFFFFFFFFFF", "0x1FFFFFFFFFFFFFFFF", "too large for Go's integers, and no float"),
        ("1e3", 1000, "a float without a point"),
        ("6E5", 600000, "in capitals"),
        ("1e-3", 0.001, "a fraction"),
        ("8.0", 8, "Go writes a whole float as an integer"),
        ("1e21", 1e21, "but not this large"),
        ("9" * 5000, "9" * 5000, "more digits than any number has"),
        (".5", 0.5, "no digit before the point"),
        ("-.5", -0.5, "the same with a sign"),
        ("5.", 5, "no digit behind the point"),
        (".", ".", "a point alone"),
        ("-", "-", "a sign alone"),
        ("1e400", "1e400", "too large for a float"),
        ("._5", "._5", "underscores do not part fractions"),
        ("1.2.3", "1.2.3", "a version"),
        ("12:30:45", "12:30:45", "no numbers to the base of 60"),
        ("2020-01-01", "2020-01-01", "a date is text"),
        ("2020-13-45", "2020-13-45", "and so is what is none"),
        ("=", "=", "an equals sign"),
        ("<<", "<<", "a merge that is no key"),
        ("westeurope", "westeurope", "a word"),
    ],
)
def test_a_plain_scalar(text, value, why):
    found = resolve(text)
    assert (found, type(found)) == (value, type(value)), why


@pytest.mark.parametrize("text", [".inf", "+.Inf", "-.INF", ".nan"])
def test_what_json_cannot_say_comes_back_as_a_float_that_is_not_finite(text):
    assert not math.isfinite(resolve(text))


@given(st.text(max_size=12))
def test_any_text_has_a_value_of_json(text):
    assert resolve(text) is None or isinstance(resolve(text), str | int | float | bool)


@given(st.integers(min_value=-(2**63), max_value=2**64 - 1))
def test_an_integer_reads_as_itself(number):
    assert resolve(str(number)) == number


@pytest.mark.parametrize(
    ("tag", "text", "value", "why"),
    [
        ("!", "5", "5", "the tag that says no more than text"),
        (TAG + "str", "5", "5", "text by its tag"),
        (TAG + "int", "0x10", 16, "an integer, though it was quoted"),
        (TAG + "float", "5", 5, "a number"),
        (TAG + "bool", "yes", True, "a boolean"),
        (TAG + "null", "~", None, "null"),
        (TAG + "timestamp", "2020-01-01", "2020-01-01", "a date is text"),
        (TAG + "binary", "aGk=", "hi", "text in base64"),
    ],
)
def test_a_tag_decides(tag, text, value, why):
    assert resolve_tagged(tag, text) == value, why


@pytest.mark.parametrize(
    ("tag", "text", "error", "why"),
    [
        ("!vault", "x", KeyError, "a tag that Kubernetes does not know"),
        (TAG + "int", "1.5", ValueError, "not of its tag"),
        (TAG + "int", "yes", ValueError, "a boolean is no integer"),
        (TAG + "binary", "/w==", ValueError, "bytes that are no text"),
        (TAG + "binary", "a", ValueError, "no base64"),
    ],
)
def test_a_tag_that_does_not_fit(tag, text, error, why):
    with pytest.raises(error):
        resolve_tagged(tag, text)


@pytest.mark.parametrize(
    ("value", "key", "why"),
    [
        ("a", "a", "text stays"),
        (True, "true", '`y:` is the key "true" to Kubernetes'),
        (8, "8", "a number becomes text"),
        (1.5, "1.5", "a fraction too"),
        (None, None, "null is no key"),
    ],
)
def test_a_key_is_text(value, key, why):
    assert format_key(value) == key, why
