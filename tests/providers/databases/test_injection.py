# ruff: noqa: RUF001 - letters that look alike are what is tested
"""Hostile names and passwords: each is exactly the user of that name, and nothing else happened on the server."""

import json

import pytest

from gitsync.errors import ProviderError
from gitsync.model.provider import Provider
from tests.providers.databases.test_users import is_postgresql
from tests.support.database_servers import create_owned_roles, drop_roles, log_in

HOSTILE = [
    # ends of quotes, and statements behind them
    "'", '"', "`", "\\", "%", "_", "''", '""', "``", "\\\\", "\\'", '\\"', "'\\", '"\\', "`\\", "%s", "%(x)s", "%%", "{0}", "$1", "$$", "$tag$", ":x", "?",
    "'; DROP USER victim; --", '"; DROP ROLE victim; --', "`; DROP USER victim; --", "'@'%", "x'@'localhost", "x@y", "x'@'%' IDENTIFIED BY 'y",
    '" SUPERUSER "', '" WITH SUPERUSER; --', "' OR '1'='1", "admin'--", "admin'#", "a/*b*/c", "/*!50000 x */", "-- x", "# x", ";", ";;", "\\g", "\\q", "\\! ls",
    "victim\\", "victim'", 'victim"', "E'\\x27'", "U&'\\0027'", "X'27'", "N'x'", "_utf8mb4'x'", "CURRENT_USER", "SESSION_USER", "CURRENT_ROLE", "DEFAULT", "ALL", "NULL",
    # letters that something folds, cuts or takes for others
    "ʼ", "ʹ", "＇", "ＵＳＥＲ", "ｖictim", "VICTIM", "victim\t", "\nvictim", "vic\rtim", "vic\x1atim", "vic\x7ftim", "vic\u200btim", "vic\u202etim", "ﬁ", "ß", "İ", "é", "e\u0301", "名前",
    "n" * 63, "'" * 63, "😀", "victim ", " victim", "a b", "x" * 80,
]  # fmt: skip


def list_users(server, service):
    if service is Provider.POSTGRESQL:
        return set(server.run("SELECT json_build_array(rolname, rolsuper, rolcreaterole, rolcreatedb, rolcanlogin, (SELECT count(*) FROM pg_auth_members m WHERE m.member = r.oid)) FROM pg_roles r").splitlines())  # fmt: skip
    return set(server.run("SET sql_log_off = 1; SELECT HEX(User), Host, HEX(Priv) FROM mysql.global_priv; SELECT HEX(User), Db FROM mysql.db").splitlines())  # fmt: skip


def spell(name, service):
    """How the list of users begins the line of a name."""
    if service is Provider.POSTGRESQL:
        return json.dumps(name, ensure_ascii=False).replace("\\u007f", "\x7f")
    return name.encode().hex().upper() + "\t"


async def test_a_hostile_name_is_that_user_and_nothing_else(rig, server):
    await rig.put(rig.user("victim"))
    before, passwords, refused = list_users(server, rig.service), {}, []
    for number, name in enumerate(HOSTILE):
        password = HOSTILE[-number - 1] + "Pa55word"
        try:
            await rig.put(rig.user(name, password=password))
            passwords[name] = password
        except ProviderError as failure:
            assert failure.code == "InvalidDatabaseUser", (name, failure)
            refused.append(name)
    made = list_users(server, rig.service) - before
    assert len(made) == len(passwords)
    for name, password in passwords.items():
        assert [line for line in made if spell(name, rig.service) in line], name
        # MySQL takes quotes around the name off at a login, so no one can sign in as such a user.
        is_quoted = not is_postgresql(rig) and len(name) > 1 and name[0] == name[-1] == "'"
        assert await log_in(server, name, password, is_postgresql=is_postgresql(rig)) is not is_quoted, name
        await rig.delete(rig.prune(name))
    assert list_users(server, rig.service) == before
    assert len(passwords) >= 60
    assert set(refused) <= {"😀", "victim ", "x" * 80}
    assert "Pa55word" not in server.log.read_text(), "the log of statements has a password"


async def test_hostile_names_of_roles_are_names(postgres, postgresql):
    await postgres.put(postgres.user("listed"))
    before = list_users(postgresql, postgres.service)
    with pytest.raises(ProviderError) as failure:
        await postgres.put(postgres.user("listed", roles=HOSTILE))
    assert failure.value.code == "DatabaseRoleNotFound"
    assert [name for name in HOSTILE if repr(name) not in failure.value.message] == [], (
        "each is a role that is not there"
    )
    names = [name for name in HOSTILE if len(name.encode()) <= 63]  # PostgreSQL cuts a longer one off
    assert list_users(postgresql, postgres.service) == before
    create_owned_roles(postgresql, *names)
    granted = postgres.user("listed", roles=names)
    await postgres.put(granted)
    assert sorted((await postgres.find(granted) or {})["roles"]) == sorted(names)
    drop_roles(postgresql, *names)
    assert list_users(postgresql, postgres.service) == before


NO_DATABASES = {"😀": "InvalidDatabaseUser", "victim ": "InvalidDatabaseUser", "x" * 80: "DatabaseRefused"}
"""Names that no database has, and the codes of their refusals."""


async def test_hostile_names_of_databases_are_names(mysql, mariadb):
    await mysql.put(mysql.user("listed"))
    before = list_users(mariadb, mysql.service)
    for name, code in NO_DATABASES.items():
        with pytest.raises(ProviderError) as failure:
            await mysql.put(mysql.user("listed", databasePrivileges={name: ["SELECT"]}))
        assert failure.value.code == code, name
    granted = {name: ["SELECT"] for name in HOSTILE if name not in NO_DATABASES}
    user = mysql.user("listed", databasePrivileges=granted)
    await mysql.put(user)
    assert (await mysql.find(user) or {})["databasePrivileges"] == granted
    await mysql.put(mysql.user("listed", databasePrivileges={}))
    assert list_users(mariadb, mysql.service) == before
