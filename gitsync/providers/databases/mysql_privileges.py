"""Privileges of MySQL and MariaDB: what git states, compared with what a server shows, in its words.

Servers write privileges in capitals, spell ALL out, and take the name of a database for a pattern.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from gitsync.model.provider import ProvidedResource
from gitsync.providers.databases.grants import Grants
from gitsync.providers.databases.quoting import escape_database, fold_privilege, quote_backticks, unescape_database

Held = Mapping[str, bool]
"""Privileges that a server shows → whether the user may pass them on."""

_NOTHING, _ALL, _PASS_ON = "USAGE", "ALL", "GRANT OPTION"
_OF_DATABASES: Final = frozenset(
    (
        *("SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "REFERENCES", "INDEX", "ALTER", "EXECUTE", "EVENT"),
        *("CREATE TEMPORARY TABLES", "LOCK TABLES", "CREATE VIEW", "SHOW VIEW", "CREATE ROUTINE", "ALTER ROUTINE"),
        "TRIGGER",
    )
)
_OF_SERVERS: Final = _OF_DATABASES | {
    *("RELOAD", "PROCESS", "SHOW DATABASES", "REPLICATION SLAVE", "REPLICATION CLIENT", "CREATE USER"),
}
"""What ALL stands for, at the least."""

_MARIADB_WORDS: Final[Mapping[str, str]] = {
    "REPLICATION CLIENT": "BINLOG MONITOR",
    "REPLICATION REPLICA": "REPLICATION SLAVE",
    "REPLICATION REPLICA ADMIN": "REPLICATION SLAVE ADMIN",
    "REPLICA MONITOR": "SLAVE MONITOR",
    "DELETE VERSIONING ROWS": "DELETE HISTORY",
}
"""What a manifest may call a privilege → what MariaDB shows."""


class Dialect(NamedTuple):
    """What differs between servers."""

    is_mariadb: bool
    has_wildcards: bool = True  # names of databases may be patterns
    folds_names: bool = False  # names of databases are kept in lower case

    def fold(self, privilege: str) -> str:
        """Return a privilege as the server shows it."""
        folded = fold_privilege(privilege).removesuffix(" PRIVILEGES")
        return _MARIADB_WORDS.get(folded, folded) if self.is_mariadb else folded

    def spell(self, database: str) -> str:
        """Return how GRANT and the server's own tables have a database."""
        pattern = escape_database(database) if self.has_wildcards else database
        return pattern.lower() if self.folds_names else pattern

    def name(self, pattern: str) -> str:
        """Name the database of a pattern; a pattern for several is shown as what it is."""
        name = unescape_database(pattern) if self.has_wildcards else pattern
        return f"LIKE {pattern}" if name is None else name


class Privileges(NamedTuple):
    """The privileges of one user."""

    server: Grants  # those on the server
    databases: Mapping[str, Grants]  # those by patterns of databases
    names: Mapping[str, str]  # how the patterns are shown

    def show(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return them in the words of a manifest, databases that it does not have at the end."""
        server, stated = self.server.show(), body.get("databasePrivileges") or {}
        shown = {self.names[pattern]: grants.show() for pattern, grants in self.databases.items()}
        ordered = [*stated, *sorted(name for name, entries in shown.items() if entries and name not in stated)]
        databases = {name: shown.get(name, []) for name in ordered}
        return {
            **({"privileges": server} if server or "privileges" in body else {}),
            **({"databasePrivileges": databases} if databases or body.get("databasePrivileges") is not None else {}),
        }

    def list_statements(self, account: str) -> Iterator[str]:
        """Yield the statements that make a user have them. `account` is quoted, with its host: without, GRANT and
        REVOKE mean the one of any host.
        """
        levels = [(f"{quote_backticks(pattern)}.*", grants) for pattern, grants in self.databases.items()]
        for level, grants in (("*.*", self.server), *levels):
            if grants.missing:
                yield f"GRANT {', '.join(grants.missing)} ON {level} TO {account}"
            if grants.surplus:
                yield f"REVOKE {', '.join(grants.surplus)} ON {level} FROM {account}"


def compare_privileges(
    user: ProvidedResource, server: Held, databases: Mapping[str, Held], dialect: Dialect
) -> Privileges:
    """Compare what git states with what a server shows."""
    # Of a prune, all that the server shows is shown.
    body, applied = user.body if user.body is not None else _NOTHING_WANTED, user.applied or {}
    stated, before = body.get("databasePrivileges"), applied.get("databasePrivileges") or {}
    stated_lists = {dialect.spell(name): entries or [] for name, entries in (stated or {}).items()}
    lists_before = {dialect.spell(name): entries or [] for name, entries in before.items()}
    patterns = sorted({*stated_lists, *databases, *lists_before})
    return Privileges(
        server=_compare(body.get("privileges"), applied.get("privileges") or (), server, _OF_SERVERS, dialect.fold),
        databases={
            pattern: _compare(
                None if stated is None else stated_lists.get(pattern, []),
                lists_before.get(pattern, ()),
                databases.get(pattern, {}),
                _OF_DATABASES,
                dialect.fold,
            )
            for pattern in patterns
        },
        names={pattern: dialect.name(pattern) for pattern in patterns}
        | {dialect.spell(name): name for name in stated or {}},
    )


_NOTHING_WANTED: Final[Mapping[str, Any]] = {"privileges": [], "databasePrivileges": {}}


def _compare(
    stated: Sequence[str] | None,
    before: Sequence[str],
    held: Held,
    all_of_it: frozenset[str],
    fold: Callable[[str], str],
) -> Grants:
    named = {fold(entry) for entry in (*(stated or ()), *before)}
    has = set(held) - {_NOTHING}
    has |= {_PASS_ON} & named if any(held.values()) else set()
    has |= {_NOTHING} & named  # which every user has
    if _ALL in {fold(entry) for entry in (before if stated is None else stated)}:
        has_all = {fold(entry) for entry in all_of_it} <= has
        if has_all:
            has = {fold(entry) for entry in stated or [_ALL]}
        elif stated is None:
            before = sorted(all_of_it)
        else:
            stated, has = [_ALL], set()  # ALL cannot be granted beside others, and includes them
    return Grants(stated, before, frozenset(has), fold)
