"""Whether files may have manifests of ASO, before they are built."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_ASO_GROUP: Final = re.compile(rb"\b[a-z0-9]+\.azure\.com(?:/v|[\"'\s,}]|\Z)", re.IGNORECASE)


def mentions_aso(contents: Iterable[bytes]) -> bool:
    """Tell whether one of these files names a group of ASO."""
    return any(_ASO_GROUP.search(content) for content in contents)
