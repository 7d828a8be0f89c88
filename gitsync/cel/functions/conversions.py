"""From one type to another: `int("42")`, `string(1.5)`, `bytes("a")`, `type(x)`.

The formats are those of cel-go, which ASO uses: numbers as Go's strconv writes and reads them, times as RFC 3339,
durations in seconds. What cannot be converted is an error that names the types and not the value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from gitsync.cel.functions.arithmetic import LARGEST_INT, LARGEST_UINT, SMALLEST_INT, check_int, check_uint
from gitsync.cel.functions.times import (
    SECOND,
    make_timestamp,
    parse_duration,
    parse_timestamp,
    write_duration,
    write_timestamp,
)
from gitsync.cel.values import EvaluationError, Uint, find_type

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


def _refusal(source: str, target: str) -> EvaluationError:
    return EvaluationError(f"{target}: the {source} cannot be read as {target}")


def _int_of_double(number: float) -> int:
    if not SMALLEST_INT < number < LARGEST_INT:
        raise EvaluationError("integer overflow")
    return int(number)


def _uint_of_double(number: float) -> Uint:
    if not 0 <= number < LARGEST_UINT:
        raise EvaluationError("unsigned integer overflow")
    return Uint(number)


def _int_of_text(text: str) -> int:
    if not _INT.fullmatch(text):
        raise _refusal("string", "int")
    return check_int(int(text))


def _uint_of_text(text: str) -> Uint:
    if not _UINT.fullmatch(text):
        raise _refusal("string", "uint")
    return check_uint(int(text))


def _double_of_text(text: str) -> float:
    if _HEX_DOUBLE.fullmatch(text):
        return _double_of_hex(text)
    if not _DOUBLE.fullmatch(text):
        raise _refusal("string", "double")
    number = float(text)
    if math.isinf(number) and "inf" not in text.casefold():
        raise EvaluationError("double: the number is too large")
    return number


def _double_of_hex(text: str) -> float:
    try:
        return float.fromhex(text)
    except OverflowError:
        raise EvaluationError("double: the number is too large") from None


def _bool_of_text(text: str) -> bool:
    if text not in _TRUTH:
        raise _refusal("string", "bool")
    return _TRUTH[text]


def encode_text(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise _refusal("string", "bytes") from None


def decode_bytes(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise EvaluationError("string: the bytes are not UTF-8") from None


def format_double(number: float) -> str:
    """As Go's %g: the shortest digits that read back, with an exponent where it is below -4 or above 5 (1e+06)."""
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else f"{'+' if number > 0 else '-'}Inf"
    sign, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    power = len(digits) + int(exponent) - 1
    if -4 <= power <= 5:
        return format_plain_double(number)
    first, *rest = map(str, digits)
    return f"{'-' if sign else ''}{first}{'.' if rest else ''}{''.join(rest)}e{power:+03}"


def format_plain_double(number: float) -> str:
    """The shortest digits without an exponent: 1.5, 1, 100000000000000000000000."""
    text = f"{Decimal(repr(number)):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _same(value: Any) -> Any:
    return value


FUNCTIONS: Final[dict[tuple[str, ...], Callable[..., Any]]] = {
    **{(kind, kind): _same for kind in ("bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration")},
    ("dyn", "any"): _same,
    ("type", "any"): find_type,
    ("int", "uint"): check_int,
    ("int", "double"): _int_of_double,
    ("int", "string"): _int_of_text,
    ("int", "timestamp"): lambda time: time.nanoseconds // SECOND,
    ("int", "duration"): lambda length: length.nanoseconds,
    ("uint", "int"): check_uint,
    ("uint", "double"): _uint_of_double,
    ("uint", "string"): _uint_of_text,
    ("double", "int"): float,
    ("double", "uint"): float,
    ("double", "string"): _double_of_text,
    ("bool", "string"): _bool_of_text,
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
