"""JSON from outside: what is read as it is, and what is malformed."""

import json

import pytest

from gitsync.desired.formats.strict_json import DEEPEST, MOST_DIGITS, read_json


@pytest.mark.parametrize(
    ("content", "value"),
    [
        (b'{"a": [1, -2.5, 1e3, true, null, "x"]}', {"a": [1, -2.5, 1000.0, True, None, "x"]}),
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        (str(2**70).encode(), 2**70),
        (b"9" * MOST_DIGITS, 10**MOST_DIGITS - 1),
        (b"[" * DEEPEST + b"]" * DEEPEST, json.loads("[" * DEEPEST + "]" * DEEPEST)),
        (b'"\\ud83d\\ude00"', "😀"),
        (b'"\\\\ud800"', "\\ud800"),
    ],
)
def test_what_is_json_is_read_as_it_is(content, value):
    assert read_json(content) == value


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b'{"a": NaN}', "NaN is not JSON"),
        (b'{"a": Infinity}', "nor is an infinity"),
        (b'{"a": -Infinity}', "nor is the other one"),
        (b'{"a": 1e400}', "a float of Python would be infinite"),
        (b'{"a": -1e400}', "the same below zero"),
        (b"9" * 5000, "Python refuses to print it"),
        (b"9" * (MOST_DIGITS + 1), "one digit too many"),
        (b"0." + b"1" * 5000, "nobody means so many digits"),
        (b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1), "one level too many"),
        (b'{"a":' * 200 + b"1" + b"}" * 200, "objects nest too"),
        (b"[" * 1_000_000, "Python's own recursion ends before"),
        (b'"\\ud800"', "half of a surrogate pair can be written to no file"),
        (b'{"\\uDC00": 1}', "nor can it as a name"),
        (b"\xff\xfe", "not UTF-8"),
        (b"", "nothing at all"),
        (b'{"a": 1', "cut off"),
    ],
    ids=lambda value: None if isinstance(value, bytes) else value,
)
def test_what_is_malformed_is_refused(content, why):
    with pytest.raises(ValueError):
        read_json(content)
