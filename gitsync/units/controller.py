"""A controller that applies what its objects name, in a cluster: how its objects are found and read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gitsync.manifests.yaml_documents import Document
from gitsync.units.declarations import Declarations

Reader = Callable[[Document], Declarations]
"""Returns what one object declares. InvalidFieldError if it cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Controller:
    """`mentions` matches a file that may have objects of it. `readers` are by the group and the kind of objects, and
    `invalid` is the code of problems of those that cannot be read.
    """

    name: str
    mentions: re.Pattern[bytes]
    readers: Mapping[tuple[str, str], Reader]
    invalid: str
