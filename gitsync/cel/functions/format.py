"""`"…%s…".format([…])`: clauses, each with the value that it shows.

`%s` shows everything, lists and maps included; `%d`, `%f`, `%e` numbers; `%b`, `%o`, `%x`, `%X` whole numbers in other
bases, and text and bytes in hexadecimal. `%.3f` gives a precision, which is 6 by itself; `%%` is the sign (cel-spec,
"strings", "Format"). Inside lists and maps text stands without quotes, and maps are sorted by their keys.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from gitsync.cel.budget import EvaluationBudget
from gitsync.cel.functions.conversions import decode_bytes, encode_text, format_plain_double
from gitsync.cel.functions.times import write_duration, write_timestamp
from gitsync.cel.values import EvaluationError, find_type, name_type

_CLAUSE: Final = re.compile(r"%(?:(%)|(?:\.([0-9]{1,9}))?([sdfebxXo])|())", re.ASCII)
_MOST_DIGITS: Final = 1000
_PRECISION: Final = 6


def format_text(budget: EvaluationBudget, template: str, values: Sequence[Any]) -> str:
    """Put values into a template. Raises EvaluationError for an unknown clause, and for one without its value."""
    shown: list[str] = []
    after = given = 0
    for clause in _CLAUSE.finditer(template):
        shown.append(template[after : clause.start()])
        after = clause.end()
        if clause[1]:
            shown.append("%")
            continue
        if given >= len(values):
            raise EvaluationError("format: there are more clauses than values")
        shown.append(_clause(budget, clause[3], clause[2], values[given]))
        given += 1
    text = "".join([*shown, template[after:]])
    budget.weigh(text)
    return text


def _clause(budget: EvaluationBudget, letter: str | None, digits: str | None, value: Any) -> str:
    if letter is None:
        raise EvaluationError("format: unrecognized clause; use %s %d %f %e %b %o %x %X, or %% for a percent sign")
    precision = _PRECISION if digits is None else int(digits)
    if precision > _MOST_DIGITS:
        raise EvaluationError(f"format: a precision is at most {_MOST_DIGITS}")
    budget.weigh(value)
    if letter == "s":
        return _show(budget, value)
    kind = name_type(value)
    write = _WRITERS.get((letter, kind))
    if write is None:
        raise EvaluationError(f"format: %{letter} cannot show a value of type {find_type(value).name}")
    return write(value, precision)


def _show(budget: EvaluationBudget, value: Any) -> str:
    budget.step()
    kind = name_type(value)
    if kind == "list":
        return f"[{', '.join(_show(budget, item) for item in value)}]"
    if kind == "map":
        return _show_map(budget, value)
    show = _SHOWN.get(kind)
    if show is None:
        raise EvaluationError(f"format: %s cannot show a value of type {find_type(value).name}")
    text = show(value)
    budget.weigh(text)
    return text


def _show_map(budget: EvaluationBudget, value: Mapping[Any, Any]) -> str:
    entries = sorted((_show(budget, key), _show(budget, entry)) for key, entry in value.items())
    return f"{{{', '.join(f'{key}: {entry}' for key, entry in entries)}}}"


def _endless(number: float) -> str:
    return "NaN" if math.isnan(number) else f"{'-' if number < 0 else ''}Infinity"


def _decimal(number: float, _precision: int = 0) -> str:
    return format_plain_double(number) if math.isfinite(number) else _endless(number)


def _fixed(number: float, precision: int) -> str:
    return f"{float(number):.{precision}f}" if math.isfinite(number) else _endless(number)


def _scientific(number: float, precision: int) -> str:
    return f"{float(number):.{precision}e}" if math.isfinite(number) else _endless(number)


def _in_base(letter: str) -> Callable[[int, int], str]:
    return lambda number, _precision: format(int(number), letter)


_SHOWN: Final[dict[str, Callable[[Any], str]]] = {
    "null_type": lambda _: "null",
    "bool": lambda truth: "true" if truth else "false",
    "int": str,
    "uint": str,
    "double": _decimal,
    "string": lambda text: text,
    "bytes": decode_bytes,
    "timestamp": write_timestamp,
    "duration": write_duration,
    "type": lambda named: named.name,
}

_WRITERS: Final[dict[tuple[str, str], Callable[[Any, int], str]]] = {
    ("d", "double"): _decimal,
    **{(letter, kind): _in_base(letter) for letter in "dboxX" for kind in ("int", "uint")},
    **{("f", kind): _fixed for kind in ("int", "uint", "double")},
    **{("e", kind): _scientific for kind in ("int", "uint", "double")},
    ("b", "bool"): lambda truth, _: "1" if truth else "0",
    ("x", "string"): lambda text, _: encode_text(text).hex(),
    ("X", "string"): lambda text, _: encode_text(text).hex().upper(),
    ("x", "bytes"): lambda raw, _: raw.hex(),
    ("X", "bytes"): lambda raw, _: raw.hex().upper(),
}

MEASURED: Final[dict[tuple[str, ...], Callable[..., Any]]] = {("format", "string", "list"): format_text}
