"""The names by which parts of the page are linked: the same for a resource in every report, and safe in a URL."""

from __future__ import annotations

import hashlib

from gitsync.model.gvk import Key


def make_anchor(key: Key) -> str:
    """The id of the element that shows a resource."""
    return f"r-{hashlib.sha256(str(key).encode('utf-8', 'backslashreplace')).hexdigest()[:12]}"
