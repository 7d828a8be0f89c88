"""Placeholders in braces: `{Location}`, as the documentation of Microsoft writes them.

YAML reads one as a mapping whose keys have no values.
"""

from __future__ import annotations

from typing import Any


def find_braced_text(value: Any) -> str:
    """Find what a file has for a value that is a placeholder in braces, such as `{Location}`; "" for any other."""
    is_braced = isinstance(value, dict) and bool(value) and all(inner is None for inner in value.values())
    return f"{{{', '.join(value)}}}" if is_braced else ""
