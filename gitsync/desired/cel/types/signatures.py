"""Lists the argument and result types of every operator and function (CEL's standard definitions; its string extension
3, optional values, numbers of different types compared; ASO's parseResourceId:
docs/reference/reconciliation.md#export-expressions).

A line is one overload: `function(types) -> type`, or `type.method(types) -> type`. A to C stand for any type.
`cel.functions` implements the functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from gitsync.desired.cel.types.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    RESOURCE_ID,
    STRING,
    TIMESTAMP,
    UINT,
    Type,
    make_type_parameter,
)  # fmt: skip

_OPERATORS: Final = """
_&&_(bool, bool) -> bool
_||_(bool, bool) -> bool
!_(bool) -> bool
_?_:_(bool, A, A) -> A
-_(int) -> int
-_(double) -> double
_+_(NUMBER, NUMBER) -> NUMBER
_+_(string, string) -> string
_+_(bytes, bytes) -> bytes
_+_(list(A), list(A)) -> list(A)
_+_(duration, duration) -> duration
_+_(timestamp, duration) -> timestamp
_+_(duration, timestamp) -> timestamp
_-_(NUMBER, NUMBER) -> NUMBER
_-_(timestamp, duration) -> timestamp
_-_(timestamp, timestamp) -> duration
_-_(duration, duration) -> duration
_*_(NUMBER, NUMBER) -> NUMBER
_/_(NUMBER, NUMBER) -> NUMBER
_%_(int, int) -> int
_%_(uint, uint) -> uint
@in(A, list(A)) -> bool
@in(A, map(A, B)) -> bool
_[_](list(A), int) -> A
_[_](map(A, B), A) -> B
_[_](optional_type(list(A)), int) -> optional_type(A)
_[_](optional_type(map(A, B)), A) -> optional_type(B)
_[?_](list(A), int) -> optional_type(A)
_[?_](map(A, B), A) -> optional_type(B)
_[?_](optional_type(list(A)), int) -> optional_type(A)
_[?_](optional_type(map(A, B)), A) -> optional_type(B)
"""

_STANDARD: Final = """
size(string) -> int
size(bytes) -> int
size(list(A)) -> int
size(map(A, B)) -> int
string.size() -> int
bytes.size() -> int
list(A).size() -> int
map(A, B).size() -> int
matches(string, string) -> bool
string.matches(string) -> bool
string.contains(string) -> bool
string.startsWith(string) -> bool
string.endsWith(string) -> bool
dyn(A) -> dyn
type(A) -> type(A)
bool(bool) -> bool
bool(string) -> bool
bytes(bytes) -> bytes
bytes(string) -> bytes
double(NUMBER) -> double
double(string) -> double
int(NUMBER) -> int
int(string) -> int
int(timestamp) -> int
int(duration) -> int
uint(NUMBER) -> uint
uint(string) -> uint
string(NUMBER) -> string
string(string) -> string
string(bool) -> string
string(bytes) -> string
string(timestamp) -> string
string(duration) -> string
timestamp(timestamp) -> timestamp
timestamp(string) -> timestamp
timestamp(int) -> timestamp
duration(duration) -> duration
duration(string) -> duration
"""

_OF_TIME: Final = """
timestamp.getFullYear(ZONE) -> int
timestamp.getMonth(ZONE) -> int
timestamp.getDayOfYear(ZONE) -> int
timestamp.getDayOfMonth(ZONE) -> int
timestamp.getDate(ZONE) -> int
timestamp.getDayOfWeek(ZONE) -> int
timestamp.getHours(ZONE) -> int
timestamp.getMinutes(ZONE) -> int
timestamp.getSeconds(ZONE) -> int
timestamp.getMilliseconds(ZONE) -> int
duration.getHours() -> int
duration.getMinutes() -> int
duration.getSeconds() -> int
duration.getMilliseconds() -> int
"""

_OF_STRINGS: Final = """
string.charAt(int) -> string
string.indexOf(string) -> int
string.indexOf(string, int) -> int
string.lastIndexOf(string) -> int
string.lastIndexOf(string, int) -> int
list(string).join() -> string
list(string).join(string) -> string
string.lowerAscii() -> string
string.upperAscii() -> string
strings.quote(string) -> string
string.replace(string, string) -> string
string.replace(string, string, int) -> string
string.reverse() -> string
string.split(string) -> list(string)
string.split(string, int) -> list(string)
string.substring(int) -> string
string.substring(int, int) -> string
string.trim() -> string
string.format(list(dyn)) -> string
"""

_OF_OPTIONALS: Final = """
optional.of(A) -> optional_type(A)
optional.ofNonZeroValue(A) -> optional_type(A)
optional.none() -> optional_type(A)
optional.unwrap(list(optional_type(A))) -> list(A)
list(optional_type(A)).unwrapOpt() -> list(A)
list(A).first() -> optional_type(A)
list(A).last() -> optional_type(A)
optional_type(A).hasValue() -> bool
optional_type(A).value() -> A
optional_type(A).or(optional_type(A)) -> optional_type(A)
optional_type(A).orValue(A) -> A
"""

_FURTHER: Final = """
aso.parseResourceId(string) -> RESOURCEID
base64.encode(bytes) -> string
base64.decode(string) -> bytes
math.greatest(list(NUMBER)) -> NUMBER
math.least(list(NUMBER)) -> NUMBER
sets.contains(list(A), list(A)) -> bool
sets.equivalent(list(A), list(A)) -> bool
sets.intersects(list(A), list(A)) -> bool
"""

VARIADIC: Final = frozenset({"math.greatest", "math.least"})
"""Functions that take any number of arguments, as well as one list of them."""

_NUMBERS: Final = ("int", "uint", "double")
_ORDERED: Final = ("bool", "string", "bytes", "timestamp", "duration")
_TYPES: Final = {type_.name: type_ for type_ in (DYN, BOOL, INT, UINT, DOUBLE, STRING, BYTES, TIMESTAMP, DURATION)} | {
    "RESOURCEID": RESOURCE_ID
}
_LINE: Final = re.compile(
    r"(?:(?P<target>(?:[a-z]+|optional_type)(?:\(.*?\))?)\.)?(?P<name>[^\s(]+)\((?P<args>.*)\) -> (?P<result>.+)"
)

_GENERIC: Final = re.compile(r"\b[A-C]\b")


@dataclass(frozen=True, slots=True)
class Overload:
    """One way to call a function."""

    args: tuple[Type, ...]  # a method's first one is its target
    result: Type
    is_method: bool  # it is called on its target
    is_generic: bool  # it has types to be inferred


@cache
def list_overloads() -> Mapping[str, tuple[Overload, ...]]:
    """List every function and operator by its name, with its overloads in the order of the table."""
    found: dict[str, list[Overload]] = {}
    for line in _iterate_lines():
        name, overload = _parse_line(line)
        found.setdefault(name, []).append(overload)
    return {name: tuple(rows) for name, rows in found.items()}


@cache
def list_namespaced() -> frozenset[str]:
    """List the functions that have a namespace: `strings.quote`."""
    return frozenset(name for name in list_overloads() if re.fullmatch(r"\w+\.\w+", name))


def _iterate_lines() -> Iterator[str]:
    for table in (_OPERATORS, _STANDARD, _OF_TIME, _OF_STRINGS, _OF_OPTIONALS, _FURTHER):
        for line in table.strip().splitlines():
            yield from _spell_out(line)
    yield from _iterate_comparisons()


def _spell_out(line: str) -> Iterator[str]:
    if "NUMBER" in line:
        yield from (line.replace("NUMBER", number) for number in _NUMBERS)
    elif "ZONE" in line:
        yield from (line.replace("ZONE", ""), line.replace("ZONE", "string"))
    else:
        yield line


def _iterate_comparisons() -> Iterator[str]:
    # Numbers compare with numbers of other types, but are never equal to them: the checker refuses `1 == 1.0`.
    mixed = [(first, other) for first in _NUMBERS for other in _NUMBERS if first != other]
    for sign in ("_<_", "_<=_", "_>_", "_>=_"):
        alike = ((type_, type_) for type_ in (*_NUMBERS, *_ORDERED))
        yield from (f"{sign}({first}, {other}) -> bool" for first, other in (*alike, *mixed))
    for sign in ("_==_", "_!=_"):
        yield f"{sign}(A, A) -> bool"


def _parse_line(line: str) -> tuple[str, Overload]:
    found = _LINE.fullmatch(line)
    # A mistake in the tables above.
    if found is None:
        raise AssertionError(line)
    target, name = found["target"], found["name"]
    is_method = target is not None and (target.partition("(")[0] in {*_TYPES, "list", "map", "optional_type"})
    if target is not None and not is_method:
        name = f"{target}.{name}"
    args = (target, *_split_types(found["args"])) if is_method and target else tuple(_split_types(found["args"]))
    return name, Overload(
        tuple(map(_parse_type, args)), _parse_type(found["result"]), is_method, _GENERIC.search(line) is not None
    )


def _split_types(text: str) -> Iterator[str]:
    """Split types at commas; those inside brackets belong to a type."""
    depth, start = 0, 0
    for index, letter in enumerate(f"{text},"):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            if word := text[start:index].strip():
                yield word
            start = index + 1


def _parse_type(text: str) -> Type:
    name, _, inside = text.partition("(")
    if inside:
        return Type(name, tuple(map(_parse_type, _split_types(inside.removesuffix(")")))))
    return _TYPES.get(name) or make_type_parameter(name)
