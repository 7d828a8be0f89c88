"""Evaluates `"…%s…".format([…])`: clauses, each with the value that it shows, as in cel-go's string extension, version
3.

`%s` shows everything except objects: lists and maps as literals, with text in quotes and keys sorted. `%d` shows whole
numbers, `%f` and `%e` doubles in English (`1,234.500000`, `1.234500×10⁰³`), `%b`, `%o`, `%x`, `%X` whole numbers in
other bases, and text and bytes in hexadecimal. `%.3f` gives a precision, 6 by default; for `%e` it is a width.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from gitsync.desired.cel.budget import EvaluationBudget
from gitsync.desired.cel.functions.conversions import decode_bytes, encode_text, format_double
from gitsync.desired.cel.functions.strings import quote_printable
from gitsync.desired.cel.functions.times import write_duration, write_timestamp
from gitsync.desired.cel.types.format_strings import Clause, split_clauses
from gitsync.desired.cel.values import find_type, name_type
from gitsync.errors import EvaluationError

_MISSING: Final = object()
_PRECISION: Final = 6
_RAISED: Final = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_ENDLESS: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
"""Texts that represent a double: JSON has no number for them."""


def format_text(budget: EvaluationBudget, template: str, values: Sequence[Any]) -> str:
    """Put values into a template. Raises EvaluationError for an unknown clause, and for one without a value."""
    rest = iter(values)
    try:
        parts = [
            part if isinstance(part, str) else _format_clause(budget, part, rest) for part in split_clauses(template)
        ]
    except ValueError as error:
        raise EvaluationError(f"format: {error}") from None
    text = "".join(parts)
    budget.charge_value(text)
    return text


def _format_clause(budget: EvaluationBudget, clause: Clause, rest: Iterator[Any]) -> str:
    value = next(rest, _MISSING)
    if value is _MISSING:
        raise EvaluationError("format: there are more clauses than values")
    precision = _PRECISION if clause.precision is None else clause.precision
    # `%.1000000000f` would make a text of that length.
    budget.charge_characters(precision)
    budget.charge_value(value)
    if clause.letter == "s":
        return _show(budget, value)
    given = _ENDLESS.get(value, value) if clause.letter in "fe" and isinstance(value, str) else value
    write = _WRITERS.get((clause.letter, name_type(given)))
    if write is None:
        raise _make_refusal(clause.letter, value)
    return write(given, precision)


def _make_refusal(letter: str, value: Any) -> EvaluationError:
    return EvaluationError(f"format: %{letter} cannot show a value of type {find_type(value).name}")


def _show(budget: EvaluationBudget, value: Any, inner: bool = False) -> str:  # noqa: FBT001, FBT002 - inside a list or map
    budget.step()
    match name_type(value):
        case "list":
            return f"[{', '.join(_show(budget, item, inner=True) for item in value)}]"
        case "map":
            return _show_map(budget, value)
        case kind:
            show = _INNER.get(kind) if inner else None
            show = show or _SHOWN.get(kind)
    if show is None:
        raise _make_refusal("s", value)
    text = show(value)
    budget.charge_value(text)
    return text


def _show_map(budget: EvaluationBudget, value: Mapping[Any, Any]) -> str:
    if any(name_type(key) == "double" for key in value):
        raise EvaluationError("format: %s cannot show a key of type double")
    entries = [(_show(budget, key, inner=True), _show(budget, entry, inner=True)) for key, entry in value.items()]
    return f"{{{', '.join(f'{key}:{entry}' for key, entry in sorted(entries))}}}"


def _format_endless(number: float) -> str:
    return "NaN" if math.isnan(number) else f"{'-' if number < 0 else ''}∞"


def _format_scientific(number: float, width: int) -> str:
    # Six digits always follow the point; the number after the point of a clause is a width.
    if not math.isfinite(number):
        return _format_endless(number).rjust(width)
    digits, _, power = f"{number or 0.0:.{_PRECISION}e}".partition("e")
    return f"{digits}×10{power.removeprefix('+').translate(_RAISED)}".rjust(width)


def _make_base_writer(letter: str) -> Callable[[int, int], str]:
    return lambda number, _precision: format(int(number), letter)


_SHOWN: Final[dict[str, Callable[[Any], str]]] = {
    "null_type": lambda _: "null",
    "bool": lambda truth: "true" if truth else "false",
    "int": str,
    "uint": str,
    "double": format_double,
    "string": lambda text: text,
    "bytes": decode_bytes,
    "timestamp": write_timestamp,
    "duration": write_duration,
    "type": lambda named: named.name,
}
_INNER: Final[dict[str, Callable[[Any], str]]] = {
    "double": lambda number: f"{number:.6f}" if math.isfinite(number) else f'"{format_double(number)}"',
    "string": quote_printable,
    "bytes": lambda raw: f"b{quote_printable(decode_bytes(raw))}",
    "timestamp": lambda time: f'timestamp("{write_timestamp(time)}")',
    "duration": lambda length: f'duration("{write_duration(length)}")',
}
"""Values that are shown differently inside a list or a map: as a literal."""

_WRITERS: Final[dict[tuple[str, str], Callable[[Any, int], str]]] = {
    **{(letter, kind): _make_base_writer(letter) for letter in "dboxX" for kind in ("int", "uint")},
    ("f", "double"): lambda number, precision: (
        f"{number or 0.0:,.{precision}f}" if math.isfinite(number) else _format_endless(number)
    ),
    ("e", "double"): _format_scientific,
    ("b", "bool"): lambda truth, _: "1" if truth else "0",
    ("x", "string"): lambda text, _: encode_text(text).hex(),
    ("X", "string"): lambda text, _: encode_text(text).hex().upper(),
    ("x", "bytes"): lambda raw, _: raw.hex(),
    ("X", "bytes"): lambda raw, _: raw.hex().upper(),
}

MEASURED: Final[dict[tuple[str, ...], Callable[..., Any]]] = {("format", "string", "list"): format_text}
