"""Whether texts mention groups of ASO: files that are not built, rendered or parsed yet, or that cannot be."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

ASO_GROUP: Final = rb"(?:\b[a-z0-9]+|\})\.azure\.com(?:/(?:v|\$|\{\{)|[\"'\s,}]|\Z)"
"""A pattern, without regard to case. Group or version may be variables or templates. URLs of Azure and annotations have
other texts after the slash.
"""

_MENTION: Final = re.compile(ASO_GROUP, re.IGNORECASE)


def mentions_aso(contents: Iterable[bytes]) -> bool:
    """Tell whether one of these files names a group of ASO."""
    return any(_MENTION.search(content) for content in contents)
