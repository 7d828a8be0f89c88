"""Patterns of others, matched in linear time.

Azure's patterns are written for several engines. With Python's, some take exponential time for a text of 30 letters,
and manifests are untrusted.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any


def may_match(text: str, pattern: str) -> bool:
    """Return whether a pattern matches a part of a text; True for one that RE2 does not support, with a look-ahead."""
    compiled = _compile(pattern)
    return compiled is None or compiled.search(text.encode("utf-8", "surrogatepass")) is not None


@lru_cache(maxsize=512)
def _compile(pattern: str) -> Any:
    import re2  # noqa: PLC0415 - few runs have such patterns

    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    try:
        return re2.compile(pattern.encode("utf-8", "surrogatepass"), options)
    # A pattern that cannot be checked must not refuse a text that Azure may accept.
    except re2.error:
        return None
    finally:
        re2.purge()  # re2 itself would keep 128 patterns of any size
