"""Azure's built-in roles by name: those that manifests of ASO kinds assign, from Azure's documentation of April 2026
(https://learn.microsoft.com/azure/role-based-access-control/built-in-roles).

A run reads the roles from Azure, so a role that is not in the table works as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from gitsync.formats.arm_path import find_subscription
from gitsync.problems.suggest import suggest


def find_built_in_role(name: str) -> str | None:
    """Return the id (a UUID) of a role by its name, in any case; None if the table does not have it."""
    found = _read_roles().get(name.casefold())
    return found[1] if found else None


def name_built_in_role(arm_id: str) -> str | None:
    """Return the name of a role by its ARM id; None if the table does not have it."""
    return _read_names().get(arm_id.rpartition("/")[2].casefold())


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


def make_role_id(arm_id: str, role: str) -> str:
    """Return the ARM id of a role in the subscription of an assignment; above subscriptions, in the tenant."""
    subscription = find_subscription(arm_id)
    scope = f"/subscriptions/{subscription}" if subscription else ""
    return f"{scope}/providers/Microsoft.Authorization/roleDefinitions/{role}"


@cache
def _read_names() -> Mapping[str, str]:
    """The name of each role by its id in lower case."""
    return MappingProxyType({role.casefold(): name for name, role in _read_roles().values()})


@cache
def _read_roles() -> Mapping[str, tuple[str, str]]:
    """The name and id of each role by its name in lower case."""
    text = (files("gitsync.catalog.data") / "built_in_roles.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in text.splitlines())
    return MappingProxyType({name.casefold(): (name, role) for name, role in rows})
