"""Reads the packed tables of facts about Azure: the values that it gives by itself, the fields that it fixes, what a
PUT does to members that its body lacks, for how long Azure works on writes, and its built-in roles.

The first is made of recordings by tools/build_azure_values.py, the second of Microsoft's descriptions of its APIs and
of refusals that users reported, by tools/build_immutable_fields.py, the third of recordings by
tools/build_put_effects.py, and the fourth of recordings by tools/build_durations.py. Beside it stand creates of slow
types that no recording shows, each with its source: a statement of Microsoft, or the median of public logs of
Terraform. The roles are those that ASO manifests assign, from Azure's documentation of April 2026
(https://learn.microsoft.com/azure/role-based-access-control/built-in-roles). A run reads roles from Azure, so one that
is not in the table works as well.
"""

from __future__ import annotations

import json
import lzma
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from gitsync.desired.catalog import data
from gitsync.desired.formats.json_pointer import JsonPath, format_pointer
from gitsync.desired.problems.suggest import suggest
from gitsync.errors import CatalogError
from gitsync.model.arm_id import ArmId
from gitsync.model.schedule import TypicalDuration


@dataclass(frozen=True, slots=True)
class AzureValues:
    """The values that Azure gives to leaves of one type by itself, where no one asks for them. An import leaves them
    out.
    """

    same: Mapping[str, Any] = field(default_factory=dict)  # leaves with the one value that Azure gives them
    made: frozenset[str] = frozenset()  # leaves that get another value each time, such as an id

    def is_own(self, path: JsonPath, value: Any) -> bool:
        """Return whether Azure gives a leaf this value by itself. `*` in the path stands for the index of an entry."""
        leaf = format_pointer(path)
        return leaf in self.made or (leaf in self.same and self.same[leaf] == value)


def find_azure_values(arm_type: str) -> AzureValues:
    """Return the values that Azure gives to leaves of an ARM type (in any case); none with few recordings of it."""
    entry = _read_azure_values().get(arm_type.casefold())
    return AzureValues(entry["same"], frozenset(entry["made"])) if entry else AzureValues()


@cache
def _read_azure_values() -> Mapping[str, Any]:
    try:
        table: Mapping[str, Any] = json.loads(lzma.decompress(data.read("azure_values.xz")))
    except (OSError, lzma.LZMAError, ValueError) as error:
        message = f"The packed Azure values cannot be read: {error}."
        raise CatalogError(message, hint="Install gitsync again.") from error
    return table


def is_immutable(arm_type: str, pointer: str) -> bool:
    """Return whether Azure is known to fix a field of a type (in any case) when it creates a resource. `pointer` is a
    JSON pointer into the body. A field that is not in the table may be fixed as well: nothing is known of it.
    """
    fixed = _read_immutable_fields().get(arm_type.casefold(), frozenset())
    # What is inside of a fixed object is fixed with it.
    return any(pointer == path or pointer.startswith(f"{path}/") for path in fixed)


@cache
def _read_immutable_fields() -> Mapping[str, frozenset[str]]:
    """The pointers of each ARM type in lower case."""
    table: defaultdict[str, set[str]] = defaultdict(set)
    for line in data.read("immutable_fields.tsv").decode().splitlines():
        arm_type, pointer, _ = line.split("\t")
        table[arm_type].add(pointer)
    # Cached for the whole process, so no caller may change it.
    return MappingProxyType({arm_type: frozenset(pointers) for arm_type, pointers in table.items()})


@dataclass(frozen=True, slots=True)
class PutEffect:
    """What a PUT does to a member that its body lacks, by recordings."""

    is_kept: bool
    count: int  # recordings that show it
    default: Any = None  # the value that Azure resets it to; None if the member is gone, or its values differ


def read_put_effects(arm_type: str) -> Mapping[str, PutEffect]:
    """Return the recorded effects on members of an ARM type (in any case) by JSON pointer, in which `*` stands for an
    entry of a list or a map. A PUT removes what is not in the table, or resets it to its default.
    """
    return _read_put_effects().get(arm_type.casefold(), {})


@cache
def _read_put_effects() -> Mapping[str, Mapping[str, PutEffect]]:
    table: defaultdict[str, dict[str, PutEffect]] = defaultdict(dict)
    for line in data.read("put_effects.tsv").decode().splitlines():
        arm_type, pointer, effect, count, default = line.split("\t")
        table[arm_type][pointer] = PutEffect(effect == "kept", int(count), json.loads(default) if default else None)
    return MappingProxyType(table)


@cache
def read_typical_durations() -> Mapping[str, TypicalDuration]:
    """Read for how long Azure works on the writes of each ARM type in lower case, as far as recordings show it, and
    creates of slow types as they are published.
    """
    rows = (line.split("\t") for line in data.read("durations.tsv").decode().splitlines())
    table = {
        arm_type: TypicalDuration(*(float(text) if text else None for text in seconds)) for arm_type, *seconds in rows
    }
    for line in data.read("published_durations.tsv").decode().splitlines():
        arm_type, published, _ = line.split("\t")
        table[arm_type] = table.get(arm_type, TypicalDuration())._replace(published=float(published))
    return MappingProxyType(table)


def find_built_in_role(name: str) -> str | None:
    """Return the id (a UUID) of a role by its name, in any case; None if the table does not have it."""
    found = _read_roles().get(name.casefold())
    return found[1] if found else None


def name_built_in_role(arm_id: ArmId) -> str | None:
    """Return the name of a role by its ARM id; None if the table does not have it."""
    return _read_names().get(arm_id.name.casefold())


def list_built_in_roles() -> tuple[str, ...]:
    """Return the names of all roles of the table, sorted."""
    return tuple(sorted(name for name, _ in _read_roles().values()))


def suggest_role(name: str) -> str | None:
    """Return the role that a misspelt name may mean; None for a name in the table, and for one like no other."""
    roles = _read_roles()
    if name.casefold() in roles:
        return None
    near = suggest(name.casefold(), tuple(roles))
    return roles[near][0] if near else None


def make_role_id(arm_id: ArmId, role: str) -> str:
    """Return the ARM id of a role in the subscription of an assignment; above subscriptions, in the tenant."""
    subscription = arm_id.subscription
    scope = f"/subscriptions/{subscription}" if subscription else ""
    return f"{scope}/providers/Microsoft.Authorization/roleDefinitions/{role}"


@cache
def _read_names() -> Mapping[str, str]:
    """The name of each role by its id in lower case."""
    return MappingProxyType({role.casefold(): name for name, role in _read_roles().values()})


@cache
def _read_roles() -> Mapping[str, tuple[str, str]]:
    """The name and id of each role by its name in lower case."""
    text = (files("gitsync.desired.catalog.data") / "built_in_roles.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in text.splitlines())
    return MappingProxyType({name.casefold(): (name, role) for name, role in rows})
