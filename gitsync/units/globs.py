"""Globs as Argo CD reads them, as patterns that match in linear time: their texts are not trusted."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

LONGEST: Final = 1000
"""Characters of a glob."""

Matcher = Callable[[str], bool]
"""Tells whether a glob matches a path."""

_TOKEN: Final = re.compile(
    r"\\(?P<escaped>.)|(?P<stars>\*+)|(?P<one>\?)|\[(?P<negated>[!^]?)(?P<set>[^\[\]\\^]+)\]|(?P<brace>[{},])|(?P<text>.)",
    re.DOTALL,
)


@lru_cache(maxsize=1024)
def compile_glob(glob: str, *, crosses_folders: bool, has_braces: bool = False) -> Matcher:
    """Return what matches a glob with `*`, `?` and `[…]`. A `*` of one that `crosses_folders` matches "/" too, and
    one that `has_braces` may have `{a,b}`. ValueError if it is no glob.
    """
    import re2  # noqa: PLC0415 - most sources have no globs

    if len(glob) > LONGEST:
        raise ValueError(f"it has more than {LONGEST} characters")
    parts, depth = [], 0
    for token in _TOKEN.finditer(glob):
        text, is_brace = token["text"], has_braces and token["brace"] is not None
        if text in {"[", "]", "\\"}:
            raise ValueError(f"{text} has no counterpart")
        depth += {"{": 1, "}": -1}.get(token[0], 0) if is_brace else 0
        if depth < 0:
            raise ValueError("} has no counterpart")
        parts.append(_translate(token, is_grouped=is_brace and (depth > 0 or token[0] == "}"), crosses=crosses_folders))
    if depth:
        raise ValueError("{ has no counterpart")
    options = re2.Options()
    options.log_errors = False
    options.dot_nl = True
    try:
        pattern = re2.compile("".join(parts), options)
    except re2.error as error:
        raise ValueError("it cannot be read") from error
    return lambda path: pattern.fullmatch(path) is not None


def _translate(token: re.Match[str], *, is_grouped: bool, crosses: bool) -> str:
    """One token of a glob as a part of a pattern. `is_grouped`: it is a brace, or a comma inside of them."""
    if is_grouped:
        return {"{": "(?:", ",": "|", "}": ")"}[token[0]]
    if token["stars"]:
        return ".*" if crosses else "[^/]*"
    if token["one"]:
        return "." if crosses else "[^/]"
    if token["set"]:
        return f"[{'^' if token['negated'] else ''}{token['set']}]"
    return re.escape(token["escaped"] or token[0])
