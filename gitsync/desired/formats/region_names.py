"""Names of Azure's regions, which ARM takes as a code or as a display name."""

from __future__ import annotations

import re
from typing import Final

_REGION_ENDINGS: Final = ("location", "locations", "locationname", "region", "regions")
_BETWEEN_LETTERS: Final = re.compile(r"[ ()]")


def normalize_region(text: str) -> str:
    """The letters and digits of a region's code or display name, which are the same in both."""
    return _BETWEEN_LETTERS.sub("", text.casefold())


def is_region(name: str) -> bool:
    """Return whether a member, without case, holds a region's name."""
    return name.endswith(_REGION_ENDINGS)
