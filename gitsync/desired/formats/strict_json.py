"""Reads untrusted JSON: limited in depth and digits, and strict (RFC 8259).

Python's own reader takes NaN and infinities, turns 1e400 into one, and raises RecursionError for deeply nested arrays.
None of these may reach a comparison, a record or a report.
"""

from __future__ import annotations

import codecs
import json
from typing import Any, NoReturn

DEEPEST = 100
"""Levels of objects and arrays. Azure's deepest bodies have some 30."""

MOST_DIGITS = 100
"""Characters of one number. Python refuses to print an integer of more than 4,300."""


def read_json(content: bytes | str, *, are_names_unique: bool = False) -> Any:
    """Return the value of JSON content. Raises ValueError if it is malformed, too deep, or has an impossible number.

    A text that UTF-8 cannot write (half of a surrogate pair) is malformed too: no file could hold it. With
    `are_names_unique`, so is an object that has a name twice: people may read the other value than programs do.
    """
    # Some services and editors begin with a byte order mark, which Python's reader refuses.
    text = content if isinstance(content, str) else content.removeprefix(codecs.BOM_UTF8).decode()
    try:
        value = (_UNIQUE_DECODER if are_names_unique else _DECODER).decode(text)
    except RecursionError as error:
        raise _make_too_deep() from error
    if text.count("{") + text.count("[") > DEEPEST:  # with fewer, no value is as deep
        _check_depth(value)
    if "\\ud" in text or "\\uD" in text:
        # Half of a surrogate pair cannot be written. It would fail only later, in a record or a report.
        json.dumps(value, ensure_ascii=False).encode()
    return value


def _check_depth(value: Any) -> None:
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(DEEPEST):
        if not level:
            return
        children = (value.values() if isinstance(value, dict) else value for value in level)
        level = [child for each in children for child in each if isinstance(child, (dict, list))]
    if level:
        raise _make_too_deep()


def _make_too_deep() -> ValueError:
    return ValueError(f"more than {DEEPEST} levels deep")


def _parse_number(text: str) -> float:
    value = float(_check_length(text))
    if value in {float("inf"), float("-inf")}:
        raise ValueError("a number is out of range")
    return value


def _check_length(text: str) -> str:
    if len(text) > MOST_DIGITS:
        raise ValueError(f"a number has more than {MOST_DIGITS} digits")
    return text


def _refuse_word(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def _collect_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for number, name in enumerate(names) if name in names[:number])
        raise ValueError(f"{json.dumps(twice)} is there twice")
    return members


def _make_decoder(**more: Any) -> json.JSONDecoder:
    return json.JSONDecoder(
        parse_int=lambda text: int(_check_length(text)), parse_float=_parse_number, parse_constant=_refuse_word, **more
    )


_DECODER = _make_decoder()
_UNIQUE_DECODER = _make_decoder(object_pairs_hook=_collect_members)
