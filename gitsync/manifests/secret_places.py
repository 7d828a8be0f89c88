"""The fields in which a value from a Secret is plain text: without them nothing could be named, found or ordered.

They are ids, names, locations and owners: the header, `azureName`, `location`, `owner`, `operatorSpec` and every field
whose name says that it is one. A record, a report and a delete show them.
"""

from __future__ import annotations

import re
from typing import Final

from gitsync.problems.field_path import FieldPath

_SHOWN_PARTS: Final = frozenset({"azureName", "azureNameFromConfig", "location", "operatorSpec", "owner"})
_SHOWN_FIELD: Final = re.compile(r"name|group|kind|wellKnownName|locationName|locations?|.*Locations?|id|.*I[dD]s?")
"""The members of a reference, locations, and ids."""


_ANNOTATIONS: Final = ("serviceoperator.azure.com/", "gitsync/")
"""The beginnings of annotations that decide what is done with a resource."""


def identifies(path: FieldPath) -> bool:
    """Tell whether a field decides which resource a manifest stands for, or which others it refers to. All fields of
    documents that are no resources do.
    """
    if path[:2] in {("metadata", "labels"), ("metadata", "annotations")} and len(path) > 2:
        return str(path[2]).startswith(_ANNOTATIONS)
    return path[:1] != ("spec",) or is_shown(path) or path[-1] == "key"


def is_shown(path: FieldPath) -> bool:
    """Tell whether a value from a Secret is plain text at a path of a manifest."""
    if path[:1] in {("data",), ("stringData",)}:
        return False
    if path[:1] != ("spec",) or (len(path) > 1 and path[1] in _SHOWN_PARTS):
        return True
    named = [step for step in path if isinstance(step, str)]
    return _SHOWN_FIELD.fullmatch(named[-1]) is not None
