"""Resolves the values of YAML scalars as Kubernetes does.

Kubernetes converts YAML to JSON with Go's yaml.v2; PyYAML's own rules differ for `y`, `1e3`, `08`, `0o17`, `12:30`,
dates and more. The rules here are those of yaml.v2's resolver.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Callable, Mapping

Scalar = str | int | float | bool | None

TAG = "tag:yaml.org,2002:"
NULLS = ("", "~", "null", "Null", "NULL")
TRUES = ("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON")
FALSES = ("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF")
NANS = (".nan", ".NaN", ".NAN")
INFINITIES = (".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF")
MINUS_INFINITIES = ("-.inf", "-.Inf", "-.INF")

WORDS: Mapping[str, Scalar] = {
    **dict.fromkeys(NULLS),
    **dict.fromkeys(TRUES, True),
    **dict.fromkeys(FALSES, False),
    **dict.fromkeys(NANS, math.nan),
    **dict.fromkeys(INFINITIES, math.inf),
    **dict.fromkeys(MINUS_INFINITIES, -math.inf),
}

NUMBER_STARTS = frozenset("+-.0123456789")
INTEGER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|0[0-7]*|[1-9][0-9]*)")
FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
BASES: Mapping[str, int] = {"0x": 16, "0b": 2, "0o": 8}
LEAST, MOST = -(2**63), 2**64 - 1  # Go's int64, else its uint64
LONGEST = 100  # characters of an integer in any base; Python refuses to read thousands of digits
INTEGER_BELOW = 1e21  # Go writes a whole float as an integer below this


def resolve(text: str) -> Scalar:
    """Resolve the value of a plain scalar without a tag. Infinities and NaN are returned as floats, which JSON does not
    have.
    """
    if text in WORDS:
        return WORDS[text]
    # An empty text is a null above, so there is a first character.
    if text[0] not in NUMBER_STARTS:
        return text
    # yaml.v2 allows underscores in numbers, except in those that begin with a dot.
    number = _parse_number(text if text[0] == "." else text.replace("_", ""))
    return text if number is None else number


def resolve_tagged(tag: str, text: str) -> Scalar:
    """Resolve the value of a scalar with an explicit tag.

    Raises KeyError for an unknown tag, ValueError if the text does not fit the tag.
    """
    return TAGGED[tag.removeprefix(TAG)](text)


def format_key(value: Scalar) -> str | None:
    """Format a scalar key for JSON; None for null, which is not allowed as a key."""
    if value is None or isinstance(value, str):
        return value
    return str(value).lower() if isinstance(value, bool) else str(value)


def _parse_number(text: str) -> int | float | None:
    # An integer that fits into no type of Go is a float there, so it is tried below.
    if len(text) <= LONGEST and INTEGER.fullmatch(text):
        integer = _parse_integer(text)
        if LEAST <= integer <= MOST:
            return integer
    if not FLOAT.fullmatch(text):
        return None
    number = float(text)
    if math.isinf(number):
        return None
    return int(number) if number.is_integer() and abs(number) < INTEGER_BELOW else number


def _parse_integer(text: str) -> int:
    sign = -1 if text[0] == "-" else 1
    digits = text.lstrip("+-").lower()
    if digits[:2] in BASES:
        return sign * int(digits[2:], BASES[digits[:2]])
    # YAML 1.1 has octal numbers with a plain zero: 010 is 8. INTEGER leaves 08 to the floats.
    return sign * int(digits, 8 if digits[0] == "0" else 10)


def _make_reader(*kinds: type) -> Callable[[str], Scalar]:
    def read(text: str) -> Scalar:
        value = resolve(text)
        if type(value) not in kinds:
            raise ValueError(text)
        return value

    return read


def _decode_binary(text: str) -> str:
    try:
        # A long value has line breaks, which the decoder skips.
        return base64.b64decode(text, validate=False).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise ValueError(text) from error


TAGGED: Mapping[str, Callable[[str], Scalar]] = {
    "!": str,
    "str": str,
    "timestamp": str,
    "int": _make_reader(int),
    "float": _make_reader(int, float),
    "bool": _make_reader(bool),
    "null": _make_reader(type(None)),
    "binary": _decode_binary,
}
