"""The fields that Azure fixes when it creates a resource: facts from Microsoft's descriptions of its APIs and from
refusals that users reported, packed by tools/build_immutable_fields.py.

A field that is not in the table may be fixed as well: nothing is known of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from gitsync.catalog import data

_FILE = "immutable_fields.tsv"


def is_immutable(arm_type: str, pointer: str) -> bool:
    """Tell whether Azure is known to fix a field of a type (in any case), given as a JSON pointer into the body."""
    fixed = _read_table().get(arm_type.casefold(), frozenset())
    return any(pointer == one or pointer.startswith(f"{one}/") for one in fixed)


@cache
def _read_table() -> Mapping[str, frozenset[str]]:
    """The pointers of each ARM type in lower case."""
    table: defaultdict[str, set[str]] = defaultdict(set)
    for line in data.read(_FILE).decode().splitlines():
        arm_type, pointer, _ = line.split("\t")
        table[arm_type].add(pointer)
    return MappingProxyType({arm_type: frozenset(pointers) for arm_type, pointers in table.items()})
