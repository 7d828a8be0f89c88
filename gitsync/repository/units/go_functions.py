"""The functions that templates of Go have themselves (https://pkg.go.dev/text/template#hdr-Functions), as far as they
are pure and make texts, numbers or truths. A wrong argument is a TypeError or a ValueError: Go ends there, or writes
`%!d(…)`.
"""

from __future__ import annotations

import html
import json
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote_plus

_WIDEST: Final = 1000
_VERB: Final = re.compile(r"%(?P<flags>[-0]*)(?P<width>\d{0,4})(?:\.(?P<precision>\d{1,4}))?(?P<verb>.)", re.DOTALL)


def is_true(value: Any) -> bool:
    """Return whether a value counts as true in Go's templates: anything that is there and not empty."""
    return bool(value) and not is_missing(value)


class Missing:
    """What a field without a value is."""


MISSING: Final = Missing()


def is_missing(value: Any) -> bool:
    return isinstance(value, Missing)


def index(value: Any, *keys: Any) -> Any:
    """The entry of a mapping or a list, at any depth; `MISSING` if there is none."""
    for key in keys:
        if isinstance(value, Mapping):
            value = value.get(key, MISSING)
        elif isinstance(value, list) and isinstance(key, int) and 0 <= key < len(value):
            value = value[key]
        else:
            return MISSING
    return value


def count_widths(form: Any) -> int:
    """Count the most characters that the widths in a printf format may add."""
    verbs = _VERB.finditer(form) if isinstance(form, str) else ()
    return sum(int(verb["width"] or 0) + int(verb["precision"] or 0) for verb in verbs)


def _printf(form: str, *values: Any) -> str:
    left, parts, position = list(values), list[str](), 0
    for verb in _VERB.finditer(form):
        parts += [form[position : verb.start()], _format_verb(verb, left)]
        position = verb.end()
    rest = form[position:]
    if left or "%" in rest:
        raise ValueError(form)
    return "".join((*parts, rest))


def _format_verb(verb: re.Match[str], left: list[Any]) -> str:
    """Format the next of the values that are left."""
    if verb["verb"] == "%":
        return "%"
    value = left.pop(0) if left else MISSING
    form, width = _VERBS.get((verb["verb"], type(value))), int(verb["width"] or 0)
    if form is None or width > _WIDEST or (verb["precision"] and verb["verb"] != "s"):
        raise ValueError(verb[0])
    text = form(value)[: int(verb["precision"])] if verb["precision"] else form(value)
    if "-" in verb["flags"]:
        return text.ljust(width)
    return text.zfill(width) if "0" in verb["flags"] else text.rjust(width)


def _write(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int):
        return str(value)
    # Go writes a whole float without its point.
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    raise TypeError(value)


_VERBS: Final[Mapping[tuple[str, type], Callable[[Any], str]]] = {
    ("s", str): str,
    ("q", str): lambda text: json.dumps(text, ensure_ascii=False),
    ("x", str): lambda text: text.encode().hex(),
    ("X", str): lambda text: text.encode().hex().upper(),
    ("d", int): str,
    ("x", int): lambda number: f"{number:x}",
    ("X", int): lambda number: f"{number:X}",
    ("t", bool): _write,
    **{("v", kind): _write for kind in (str, int, bool, float)},
}


def _print(*values: Any) -> str:
    return "".join(_join(values, lambda first, other: not (isinstance(first, str) or isinstance(other, str))))


def _join(values: Sequence[Any], has_blank: Callable[[Any, Any], bool]) -> Iterator[str]:
    for position, value in enumerate(values):
        yield " " if position and has_blank(values[position - 1], value) else ""
        yield _write(value)


def _is_equal(first: Any, *others: Any) -> bool:
    if not others:
        raise TypeError(first)
    return any(_compare(operator.eq, first, other) for other in others)


def _compare(holds: Callable[[Any, Any], bool], first: Any, other: Any) -> bool:
    """Compare two values of one basic type: Go compares no others."""
    kinds = {type(value) for value in (first, other)}
    if not kinds <= {str, bool, int, float} or (len(kinds) > 1 and kinds != {int, float}):
        raise TypeError(first, other)
    return holds(first, other)


def _make_comparison(holds: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def compare(first: Any, other: Any) -> bool:
        # Go compares truths for equality alone.
        if isinstance(first, bool) and holds is not operator.ne:
            raise TypeError(first)
        return _compare(holds, first, other)

    return compare


def _count(value: Any) -> int:
    if isinstance(value, str):
        # Go counts the bytes of a text, not its characters.
        return len(value.encode())
    if isinstance(value, list | Mapping):
        return len(value)
    raise TypeError(value)


def _slice(value: Any, *bounds: int) -> Any:
    # Go cuts a text by its bytes. A cut inside of a character fails in `decode`, as a ValueError.
    content = value.encode() if isinstance(value, str) else value
    start, end = (*bounds, *(0, len(content))[len(bounds) :])
    if not isinstance(content, bytes | list) or not 0 <= start <= end <= len(content):
        raise TypeError(value)
    part = content[start:end]
    return part.decode() if isinstance(part, bytes) else part


def _choose(values: tuple[Any, ...], *, wanted: bool) -> Any:
    if not values:
        raise TypeError(values)
    return next((value for value in values if is_true(value) is wanted), values[-1])


BUILTINS: Final[Mapping[str, Callable[..., Any]]] = {
    "and": lambda *values: _choose(values, wanted=False),
    "eq": _is_equal,
    "ge": _make_comparison(operator.ge),
    "gt": _make_comparison(operator.gt),
    "html": lambda *values: html.escape(_print(*values)).replace("&quot;", "&#34;").replace("&#x27;", "&#39;"),
    "index": index,
    "le": _make_comparison(operator.le),
    "len": _count,
    "lt": _make_comparison(operator.lt),
    "ne": _make_comparison(operator.ne),
    "not": lambda value: not is_true(value),
    "or": lambda *values: _choose(values, wanted=True),
    "print": _print,
    "printf": _printf,
    "println": lambda *values: "".join(_join(values, lambda _, __: True)) + "\n",
    "slice": _slice,
    "urlquery": lambda *values: quote_plus(_print(*values), safe="-_.~"),
}
