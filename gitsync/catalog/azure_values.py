"""The values that Azure gives to leaves of a type by itself, where no one asks for them: facts from recordings, packed
by tools/build_azure_values.py.

An import leaves them out. A type with few recordings is not in the table.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from gitsync.catalog import data
from gitsync.errors import CatalogError
from gitsync.formats.json_pointer import JsonPath, format_pointer

_FILE = "azure_values.xz"


@dataclass(frozen=True, slots=True)
class AzureValues:
    """Those of one type: `same` has leaves with the one value that Azure gives them, `made` those that get another one
    each time, such as an id.
    """

    same: Mapping[str, Any] = field(default_factory=dict)
    made: frozenset[str] = frozenset()

    def is_own(self, path: JsonPath, value: Any) -> bool:
        """Tell whether Azure gives a leaf this value by itself. `*` in the path stands for the index of an entry."""
        leaf = format_pointer(path)
        return leaf in self.made or (leaf in self.same and self.same[leaf] == value)


def find_azure_values(arm_type: str) -> AzureValues:
    """The values of an ARM type, in any case; none for a type that is not in the table."""
    entry = _read_table().get(arm_type.casefold())
    return AzureValues(entry["same"], frozenset(entry["made"])) if entry else AzureValues()


@cache
def _read_table() -> Mapping[str, Any]:
    try:
        table: Mapping[str, Any] = json.loads(lzma.decompress(data.read(_FILE)))
    except (OSError, lzma.LZMAError, ValueError) as error:
        message = f"The packed values of Azure cannot be read: {error}."
        raise CatalogError(message, hint="Install gitsync again.") from error
    return table
