"""Values that Azure shows in recordings although no one requested them: defaults, by type and by name.

Unlike `packed_tables.find_azure_values`, which an import relies on, one recording is enough, and a value counts
although another body requests it: they only decide which values are worth a word (planning.outside).
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from gitsync.desired.catalog import data
from gitsync.desired.formats.json_pointer import JsonPath, format_pointer
from gitsync.errors import CatalogError

FILE: Final = "azure_defaults.xz"

LONGEST: Final = 80
"""How many characters of JSON a value has at most that is kept."""


@dataclass(frozen=True, slots=True)
class AzureDefaults:
    """The defaults of one type."""

    own: Mapping[str, Any]  # of the type: by leaf, the number of resources that show each value
    everywhere: Mapping[str, Any]  # of at least two types: by the name of a member, the values

    def is_default(self, path: JsonPath, value: Any, *, is_usual: bool = False) -> bool:
        """Return whether Azure gave a leaf this value in a recorded resource of the type, or a member of that name in
        two types. `*` in the path stands for the index of an entry. With `is_usual`, the leaf must have the value in
        most of at least two resources: another client may have set it in one of them by other means.
        """
        text, shown = write_value(value), self.own.get(format_pointer(path).casefold(), {})
        count, of_all = max(shown.get(text, 0), shown.get(ANY_VALUE, 0)), sum(shown.values())
        is_shown = count >= _USUAL and 2 * count >= of_all if is_usual else count > 0
        return is_shown or text in self.everywhere.get(name_leaf(path), ())


_USUAL: Final = 2
"""How many resources must show a value, so that it is usual."""

ANY_VALUE: Final = ""
"""In place of a value: each resource shows another one, and no body requests any."""


def find_azure_defaults(arm_type: str) -> AzureDefaults:
    """Return the defaults that are known of an ARM type, in any case."""
    table = _read_table()
    return AzureDefaults(table["types"].get(arm_type.casefold(), {}), table["names"])


def write_value(value: Any) -> str:
    """Write a value as the table has it; ARM compares most texts without case."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).casefold()


def name_leaf(path: JsonPath) -> str:
    """Return the name of the member that has a value, or of its list, in lower case."""
    return next((step.casefold() for step in reversed(path) if isinstance(step, str) and step != "*"), "")


@cache
def _read_table() -> Mapping[str, Any]:
    try:
        table: Mapping[str, Any] = json.loads(lzma.decompress(data.read(FILE)))
    except (OSError, lzma.LZMAError, ValueError) as error:
        message = f"The packed Azure defaults cannot be read: {error}."
        raise CatalogError(message, hint="Install gitsync again.") from error
    return table
