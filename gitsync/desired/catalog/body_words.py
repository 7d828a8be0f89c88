"""The words in the body of an `AzureResource`: the only key of an object that stands for a value; how one is escaped.

Separate from the words themselves (`aso_types`), since the walk, the checks and the request read them alike.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from gitsync.desired.catalog.aso_types import BODY_WORDS, EXPRESSION

WORDS: Final = frozenset({*BODY_WORDS, EXPRESSION})

_ESCAPED: Final = re.compile(rf"\$\$+(?:{'|'.join(sorted(word.removeprefix('$') for word in WORDS))})")


def find_word(value: Mapping[str, Any]) -> str:
    """Find the word of an object of a body that has one key; "" for any other object."""
    if len(value) != 1:
        return ""
    (key,) = value
    return key if key in WORDS else ""


def unescape(key: str) -> str:
    """Return a key of a body as it is sent: one `$` less in front of a word that has more of them."""
    return key[1:] if _ESCAPED.fullmatch(key) else key


def escape(key: str) -> str:
    """Return a key of a body as a manifest writes it, so that it is sent as it is."""
    return f"${key}" if key in WORDS or _ESCAPED.fullmatch(key) else key
