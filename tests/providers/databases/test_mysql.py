"""What only MySQL and MariaDB have: hosts, privileges by name, databases as patterns."""

import pytest

from gitsync.errors import ProviderError
from tests.providers.databases.test_users import statements_since
from tests.support.database_servers import DATABASE_PRIVILEGES, log_in


def grants(server, account):
    return server.run(f"SHOW GRANTS FOR {account}")


async def test_privileges_in_lower_case_are_kept(mysql, mariadb):
    """ASO grants `select`, then revokes SELECT, which it does not find in its list."""
    user = mysql.user("lower", databasePrivileges={"app": ["select"]})
    await mysql.put(user)
    await mysql.put(user)
    assert "GRANT SELECT ON `app`.*" in grants(mariadb, "lower")


async def test_a_host_is_named_everywhere(mysql, mariadb):
    """ASO names it in CREATE USER only: GRANT and DROP mean the user of any host then."""
    user = mysql.user("hosted", hostname="LocalHost", privileges=["PROCESS"], databasePrivileges={"app": ["SELECT"]})
    await mysql.put(mysql.user("hosted"))
    await mysql.put(user)
    assert await mysql.find(user) == {
        "hostname": "LocalHost",
        "localUser": {"serverAdminUsername": "azadmin"},
        "privileges": ["PROCESS"],
        "databasePrivileges": {"app": ["SELECT"]},
    }
    assert "PROCESS" not in grants(mariadb, "'hosted'@'%'")
    await mysql.put(mysql.user("hosted", hostname="localhost", privileges=[], databasePrivileges={}))
    assert "SELECT" not in grants(mariadb, "'hosted'@'localhost'")
    await mysql.delete(mysql.prune("hosted", applied={"hostname": "localhost"}))
    assert await mysql.find(user) is None
    assert await mysql.find(mysql.user("hosted")) is not None, "the user of any host is another one"


@pytest.mark.parametrize(
    ("applied", "suffix"),
    [({"hostname": "10.0.0.%"}, ""), (None, "@10.0.0.%25")],
    ids=["by the record", "by the id"],
)
async def test_a_delete_finds_the_host(mysql, mariadb, applied, suffix):
    await mysql.put(mysql.user("far", hostname="10.0.0.%"))
    await mysql.put(mysql.user("far"))
    await mysql.delete(mysql.prune("far", applied=applied, suffix=suffix))
    assert await mysql.find(mysql.user("far", hostname="10.0.0.%")) is None
    assert await mysql.find(mysql.user("far")) is not None


@pytest.mark.parametrize("host", ["a'b", "x y", "`", "h\0", "ü", "x" * 256])
async def test_a_host_that_cannot_be_one_is_refused(mysql, host):
    with pytest.raises(ProviderError) as failure:
        await mysql.put(mysql.user("joe", hostname=host))
    assert failure.value.code == "InvalidDatabaseUser"


async def test_wildcards_in_the_name_of_a_database_are_letters(mysql, mariadb):
    """ASO's grant on app_9 opens appX9 too."""
    names = ["wild_9", "wild%9", "wild\\9", "wild`9", "wild'9"]
    for name in [*names, "wildX9"]:
        quoted = name.replace("`", "``")
        mariadb.run(f"CREATE DATABASE `{quoted}`")
    user = mysql.user("wild", databasePrivileges={name: ["SELECT"] for name in names})
    await mysql.put(user)
    assert (await mysql.find(user))["databasePrivileges"] == {name: ["SELECT"] for name in names}
    seen = mariadb.run("SET sql_log_off = 1; SELECT Db FROM mysql.db WHERE User = 'wild'").splitlines()
    assert len(seen) == len(names)
    visible = set()
    import ssl

    import pymysql

    tls = ssl.create_default_context(cafile=str(mariadb.ca))
    with pymysql.connect(host="localhost", port=mariadb.port, user="wild", password="first password", ssl=tls) as line, line.cursor() as cursor:  # fmt: skip
        cursor.execute("SHOW DATABASES")
        visible = {row[0] for row in cursor.fetchall()}
    assert visible - {"information_schema"} == set(names)


async def test_a_grant_with_wildcards_of_somebody_else_is_replaced(mysql, mariadb):
    """What ASO granted, taken over."""
    user = mysql.user("taken", databasePrivileges={"app_7": ["SELECT"]})
    mariadb.run("CREATE USER taken; GRANT SELECT ON `app_7`.* TO taken")
    assert (await mysql.find(user))["databasePrivileges"] == {"app_7": [], "LIKE app_7": ["SELECT"]}
    await mysql.put(user)
    assert (await mysql.find(user))["databasePrivileges"] == {"app_7": ["SELECT"]}
    assert "`app\\_7`" in grants(mariadb, "taken")


async def test_databases_that_git_does_not_name_are_closed(mysql, mariadb):
    """By name and by pattern. The comparison of a run adds them to what git states, with no privileges."""
    user = mysql.user("closed", databasePrivileges={"app": ["SELECT"]})
    await mysql.put(user)
    mariadb.run("GRANT SELECT ON other.* TO closed; GRANT SELECT ON `o_`.* TO closed")
    live = await mysql.find(user)
    assert live["databasePrivileges"] == {"app": ["SELECT"], "LIKE o_": ["SELECT"], "other": ["SELECT"]}
    await mysql.put(mysql.user("closed", databasePrivileges={"app": ["SELECT"], "LIKE o_": [], "other": []}))
    assert (await mysql.find(user))["databasePrivileges"] == {"app": ["SELECT"]}


@pytest.mark.parametrize("word", ["ALL", "all", "All  Privileges"])
async def test_all_stands_for_what_there_is(mysql, mariadb, word):
    """ASO sends it each time, and does not know its longer form."""
    user = mysql.user("mighty", databasePrivileges={"app": [word]})
    mariadb.run(f"CREATE OR REPLACE USER mighty; GRANT {', '.join(DATABASE_PRIVILEGES)} ON app.* TO mighty")
    assert (await mysql.find(user))["databasePrivileges"] == {"app": [word]}
    start = len(mariadb.log.read_text())
    await mysql.put(user)
    assert statements_since(mariadb, start) == []
    mariadb.run("REVOKE INSERT ON app.* FROM mighty")
    assert (await mysql.find(user))["databasePrivileges"] == {"app": []}
    with pytest.raises(ProviderError) as failure:  # MariaDB counts one more to ALL than the administrator has
        await mysql.put(user)
    assert failure.value.code == "DatabaseNotAllowed"
    assert "SELECT" in grants(mariadb, "mighty"), "nothing is revoked"


async def test_the_right_to_pass_on_is_kept_unless_git_has_it(mysql, mariadb):
    mariadb.run("CREATE USER passing; GRANT SELECT ON app.* TO passing WITH GRANT OPTION")
    user = mysql.user("passing", databasePrivileges={"app": ["SELECT"]})
    await mysql.put(user)
    assert "WITH GRANT OPTION" in grants(mariadb, "passing")
    stated = mysql.user("passing", databasePrivileges={"app": ["SELECT", "Grant Option", "usage"]})
    assert (await mysql.find(stated))["databasePrivileges"] == {"app": ["SELECT", "Grant Option", "usage"]}
    dropped = mysql.user("passing", databasePrivileges={"app": ["SELECT"]}, applied=stated.body)
    await mysql.put(dropped)
    assert "WITH GRANT OPTION" not in grants(mariadb, "passing")


@pytest.mark.parametrize(
    "privilege",
    ["", "SELECT; DROP USER x", "SELECT ON *.* TO x", "SELECT, INSERT", "SELECT (a)", "`SELECT`", "a\nwith grant option", "SÉLECT"],
)  # fmt: skip
async def test_what_is_no_privilege_is_refused_before_a_connection(mysql, privilege):
    for body in ({"privileges": [privilege]}, {"databasePrivileges": {"app": [privilege]}}):
        with pytest.raises(ProviderError) as failure:
            await mysql.put(mysql.user("joe", **body))
        assert failure.value.code == "InvalidDatabasePrivilege"
        assert mysql.session.requests == 0


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"privileges": ["FLY"]}, "InvalidDatabasePrivilege"),
        ({"databasePrivileges": {"app": ["PROCESS"]}}, "InvalidDatabasePrivilege"),
        ({"privileges": ["SUPER"]}, "DatabaseNotAllowed"),
        ({"privileges": ["ALL"]}, "DatabaseNotAllowed"),
    ],
    ids=["unknown", "of the server on a database", "not the administrator's", "all of a server"],
)
async def test_a_grant_that_the_server_refuses_says_why(mysql, body, code):
    with pytest.raises(ProviderError) as failure:
        await mysql.put(mysql.user("refused", **body))
    assert failure.value.code == code
    assert not failure.value.outcome_unknown


async def test_names_of_users_differ_by_case(mysql, mariadb):
    await mysql.put(mysql.user("Case", privileges=["PROCESS"]))
    assert await mysql.find(mysql.user("case")) is None
    await mysql.put(mysql.user("case", privileges=[]))
    assert (await mysql.find(mysql.user("Case", privileges=[])))["privileges"] == ["PROCESS"]
    assert await log_in(mariadb, "case", "first password", is_postgresql=False)
