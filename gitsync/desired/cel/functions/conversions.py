"""Converts from one type to another: `int("42")`, `string(1.5)`, `bytes("a")`, `type(x)`.

The formats are those of cel-go, which ASO uses: numbers as in Go's strconv, times as in RFC 3339, durations in seconds.
The error of a failed conversion names the types and not the value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from gitsync.desired.cel.functions.operators import LARGEST_INT, LARGEST_UINT, SMALLEST_INT, check_int, check_uint
from gitsync.desired.cel.functions.times import (
    SECOND,
    make_timestamp,
    parse_duration,
    parse_timestamp,
    write_duration,
    write_timestamp,
)
from gitsync.desired.cel.values import Uint, find_type
from gitsync.errors import EvaluationError

# Longer numbers do not fit 64 bits, and Python refuses to read thousands of digits.
_INT: Final = re.compile(r"[+-]?[0-9]{1,50}")
_UINT: Final = re.compile(r"[0-9]{1,50}")
_DIGITS: Final = r"\d+(?:_\d+)*"
_DOUBLE: Final = re.compile(
    rf"[+-]?({_DIGITS}\.?({_DIGITS})?|\.{_DIGITS})(e[+-]?{_DIGITS})?|[+-]?inf(inity)?|nan", re.ASCII | re.IGNORECASE
)
_HEX_DOUBLE: Final = re.compile(r"[+-]?0x([0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)p[+-]?\d+", re.ASCII | re.IGNORECASE)
_TRUTH: Final = {
    **dict.fromkeys(("true", "True", "TRUE", "t", "T", "1"), True),
    **dict.fromkeys(("false", "False", "FALSE", "f", "F", "0"), False),
}


def _make_refusal(source: str, target: str) -> EvaluationError:
    return EvaluationError(f"{target}: the {source} cannot be read as {target}")


def _convert_double_to_int(number: float) -> int:
    # Both bounds are refused, as in cel-go.
    if not SMALLEST_INT < number < LARGEST_INT:
        raise EvaluationError("integer overflow")
    return int(number)


def _convert_double_to_uint(number: float) -> Uint:
    if not 0 <= number < LARGEST_UINT:
        raise EvaluationError("unsigned integer overflow")
    return Uint(number)


def _make_parser(
    form: re.Pattern[str],
    kind: str,
    check: Callable[[int], Any],
) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        if not form.fullmatch(text):
            raise _make_refusal("string", kind)
        return check(int(text))

    return parse


def _parse_double(text: str) -> float:
    if _HEX_DOUBLE.fullmatch(text):
        try:
            return float.fromhex(text)
        except OverflowError:
            raise EvaluationError("double: the number is too large") from None
    if not _DOUBLE.fullmatch(text):
        raise _make_refusal("string", "double")
    number = float(text)
    # Python reads 1e400 as an infinity.
    if math.isinf(number) and "inf" not in text.casefold():
        raise EvaluationError("double: the number is too large")
    return number


def _parse_bool(text: str) -> bool:
    if text not in _TRUTH:
        raise _make_refusal("string", "bool")
    return _TRUTH[text]


def encode_text(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise _make_refusal("string", "bytes") from None


def decode_bytes(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise EvaluationError("string: the bytes are not UTF-8") from None


def format_double(number: float) -> str:
    """Write a double as Go's %g: the shortest digits that read back, with an exponent if it is below -4 or above 5
    (1e+06).
    """
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else f"{'+' if number > 0 else '-'}Inf"
    sign, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    power = len(digits) + int(exponent) - 1
    if -4 <= power <= 5:
        return format_plain_double(number)
    first, *rest = map(str, digits)
    return f"{'-' if sign else ''}{first}{'.' if rest else ''}{''.join(rest)}e{power:+03}"


def format_plain_double(number: float) -> str:
    """Write the shortest digits without an exponent: 1.5, 1, 100000000000000000000000."""
    text = f"{Decimal(repr(number)):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


FUNCTIONS: Final[dict[tuple[str, ...], Callable[..., Any]]] = {
    **{
        (kind, kind): lambda value: value
        for kind in ("bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration")
    },
    ("dyn", "any"): lambda value: value,
    ("type", "any"): find_type,
    ("int", "uint"): check_int,
    ("int", "double"): _convert_double_to_int,
    ("int", "string"): _make_parser(_INT, "int", check_int),
    ("int", "timestamp"): lambda time: time.nanoseconds // SECOND,
    ("int", "duration"): lambda length: length.nanoseconds,
    ("uint", "int"): check_uint,
    ("uint", "double"): _convert_double_to_uint,
    ("uint", "string"): _make_parser(_UINT, "uint", check_uint),
    ("double", "int"): float,
    ("double", "uint"): float,
    ("double", "string"): _parse_double,
    ("bool", "string"): _parse_bool,
    ("bytes", "string"): encode_text,
    ("string", "bool"): lambda truth: "true" if truth else "false",
    ("string", "int"): str,
    ("string", "uint"): str,
    ("string", "double"): format_double,
    ("string", "bytes"): decode_bytes,
    ("string", "timestamp"): write_timestamp,
    ("string", "duration"): write_duration,
    ("timestamp", "string"): parse_timestamp,
    ("timestamp", "int"): lambda seconds: make_timestamp(seconds * SECOND),
    ("duration", "string"): parse_duration,
}
