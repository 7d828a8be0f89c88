"""The rules of what is not ARM's: names and fields that a database refuses, or reads otherwise
(docs/reference/reconciliation.md#kinds-that-are-not-arms).

Separate from the constraints of facts, which are those of ASO's schemas: these are of the servers behind them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from gitsync.desired.catalog.type_words import join_with_and, quote_scalar
from gitsync.desired.problems.field_path import FieldPath, format_field
from gitsync.desired.problems.finding import Finding
from gitsync.desired.validation.directory_rules import check_directory_object
from gitsync.desired.validation.name_rules import find_azure_name
from gitsync.desired.validation.references import is_arm_id
from gitsync.model.facts import Kind
from gitsync.model.problem import Level
from gitsync.model.provider import Provider
from gitsync.model.resource import Resource

_POSTGRESQL_BYTES, _MYSQL_CHARACTERS, _SQL_CHARACTERS = 63, 32, 128
_POSTGRESQL_WORDS: Final = frozenset({"public", "none"})


def check_provided(resource: Resource, kind: Kind) -> Iterator[Finding]:
    """Check the rules of the provider of a kind; ARM has none here."""
    rule = _RULES.get(kind.provider)
    if rule is not None:
        yield from rule(resource, kind)


def _check_postgresql(resource: Resource, kind: Kind) -> Iterator[Finding]:
    yield from _check_owner(resource)
    yield from _check_user_name(resource, kind, _find_postgresql_fault)
    yield from _check_entries(resource, "roles")


def _check_mysql(resource: Resource, kind: Kind) -> Iterator[Finding]:
    yield from _check_owner(resource)
    yield from _check_mysql_type(resource)
    aad = resource.spec.get("aadUser")
    has_alias = isinstance(aad, Mapping) and bool(aad.get("alias"))
    yield from _check_user_name(resource, kind, _find_nul if has_alias else _find_mysql_fault)
    yield from _check_hostname(resource)
    yield from _check_entries(resource, "privileges")
    databases = resource.spec.get("databasePrivileges")
    for database in databases if isinstance(databases, Mapping) else ():
        yield from _check_entries(resource, "databasePrivileges", str(database))


def _check_sql(resource: Resource, kind: Kind) -> Iterator[Finding]:
    yield from _check_user_name(resource, kind, _find_sql_fault)
    yield from _check_entries(resource, "roles")


def _check_owner(resource: Resource) -> Iterator[Finding]:
    """Check the name of an owner that can only be named: its shape is checked elsewhere."""
    owner = resource.spec.get("owner")
    name = owner.get("name") if isinstance(owner, Mapping) else None
    if name == "" or (isinstance(name, str) and is_arm_id(name)):
        yield Finding(
            code="OwnerForm",
            path=("spec", "owner", "name"),
            message=f"spec.owner.name must be the name of a manifest, but is {quote_scalar(name)}.",
            hint="Declare the server in a manifest of this namespace, and set its name.",
        )


def _check_mysql_type(resource: Resource) -> Iterator[Finding]:
    """Check that there is one type of user: what it signs in with."""
    types = [name for name in ("aadUser", "localUser") if resource.spec.get(name) is not None]
    # Without a spec, only that is reported.
    if len(types) != 1 and resource.spec:
        count = f"it sets {join_with_and(types)}" if types else "it sets neither"
        yield Finding(
            code="UnionMembers",
            path=("spec",),
            message=f"spec must set exactly one of aadUser and localUser; {count}.",
            hint="Keep localUser for a user with a password, or aadUser for an Entra ID user.",
        )


def _check_user_name(resource: Resource, kind: Kind, find_fault: Callable[[str], str]) -> Iterator[Finding]:
    path_and_name = find_azure_name(resource, kind)
    fault = find_fault(path_and_name[1]) if path_and_name else ""
    if path_and_name and fault:
        path, name = path_and_name
        message = f"{format_field(path)} is the name of the user and {fault}, but is {quote_scalar(name)}."
        hint = "" if path[0] == "spec" else "Set spec.azureName to a valid name, or rename the manifest."
        yield Finding(code="AzureName", path=path, message=message, hint=hint)


def _find_nul(name: str) -> str:
    return "must not have a NUL character" if "\0" in name else ""


def _find_postgresql_fault(name: str) -> str:
    if name.startswith("pg_") or name in _POSTGRESQL_WORDS:
        return "must not begin with pg_, nor be public or none, which PostgreSQL reserves"
    # A lone surrogate in a name cannot be encoded.
    if len(name.encode("utf-8", "replace")) > _POSTGRESQL_BYTES:
        return f"must have at most {_POSTGRESQL_BYTES} bytes, since PostgreSQL cuts a longer one"
    return _find_nul(name)


def _find_mysql_fault(name: str) -> str:
    if len(name) > _MYSQL_CHARACTERS:
        return f"must have at most {_MYSQL_CHARACTERS} characters in MySQL (an Entra ID user may have an alias)"
    return _find_nul(name)


def _find_sql_fault(name: str) -> str:
    if len(name) > _SQL_CHARACTERS:
        return f"must have at most {_SQL_CHARACTERS} characters in Azure SQL"
    return _find_nul(name)


def _check_hostname(resource: Resource) -> Iterator[Finding]:
    host = resource.spec.get("hostname")
    if isinstance(host, str) and _find_nul(host):
        message = f"spec.hostname {_find_nul(host)}."
        yield Finding(code="AzureName", path=("spec", "hostname"), message=message, hint="Remove it.")


def _check_entries(resource: Resource, *path: str) -> Iterator[Finding]:
    """Warn of what a list of roles or privileges cannot mean. No list of all privileges is complete, so an unknown one
    is left to the server.
    """
    entries: Any = resource.spec
    for step in path:
        entries = entries.get(step) if isinstance(entries, Mapping) else None
    for index, entry in enumerate(entries) if isinstance(entries, list) else ():
        if isinstance(entry, str) and not entry.strip():
            at: FieldPath = ("spec", *path, index)
            yield _make_warning(
                at, f"{format_field(at)} is empty, which is not a valid name on any server.", "Remove it."
            )


def _make_warning(path: FieldPath, message: str, hint: str) -> Finding:
    return Finding(code="NoEffect", path=path, message=message, hint=hint, level=Level.WARNING)


_RULES: Final[Mapping[Provider, Callable[[Resource, Kind], Iterator[Finding]]]] = {
    Provider.ENTRA: check_directory_object,
    Provider.POSTGRESQL: _check_postgresql,
    Provider.MYSQL: _check_mysql,
    Provider.SQL: _check_sql,
}
