"""Entra ID users in MySQL, against a double of Azure's handshake: no other server speaks it."""

import pytest

from gitsync.errors import ProviderError
from gitsync.providers.arm.cloud import make_cloud
from tests.providers.databases.lines import EntraMysql
from tests.providers.databases.test_database_failures import assert_nothing_told
from tests.providers.databases.test_mysql import grants


@pytest.fixture
def double(mysql, mariadb):
    double = EntraMysql(mariadb)
    mysql.token = "eyJ.token"
    with double.run() as mysql.address:
        yield double


async def test_a_user_of_entra_id_is_created_by_its_alias_with_a_token(mysql, mariadb, double):
    aad_user = {"alias": "short", "serverAdminUsername": "the admins"}
    user = mysql.user(
        "a.very.long.name@tenant.onmicrosoft.com", aadUser=aad_user, databasePrivileges={"app": ["SELECT"]}
    )
    assert await mysql.find(user) is None
    await mysql.put(user)
    (created,) = [statement for statement in double.statements if statement.startswith("CREATE")]
    assert created == "CREATE AADUSER IF NOT EXISTS 'a.very.long.name@tenant.onmicrosoft.com' AS 'short'"
    assert await mysql.find(user) == {"aadUser": aad_user, "databasePrivileges": {"app": ["SELECT"]}}
    assert "GRANT SELECT ON `app`.*" in grants(mariadb, "short")
    count = len(double.statements)
    await mysql.put(user)
    assert not any(statement.startswith(("CREATE", "GRANT", "ALTER")) for statement in double.statements[count:])
    assert set(double.secrets) == {("the admins", "eyJ.token")}
    assert set(mysql.scopes) == {"https://ossrdbms-aad.database.windows.net/.default"}
    gone = mysql.prune(user.name, applied={"aadUser": aad_user}, has_password=False)
    await mysql.delete(gone, password=None)
    assert await mysql.find(user) is None


async def test_a_user_with_an_alias_is_dropped_although_its_create_was_not_seen(mysql, mariadb, double):
    user = mysql.user(
        "somebody@tenant.onmicrosoft.com", aadUser={"alias": "unseen", "serverAdminUsername": "the admins"}
    )
    await mysql.put(user)
    await mysql.delete(mysql.prune(user.name, alias="unseen", has_password=False), password=None)
    assert await mysql.find(user) is None


async def test_a_local_user_does_not_become_one_of_entra_id(mysql, mariadb, double):
    user = mysql.user("fixed", applied={"localUser": {}}, aadUser={"serverAdminUsername": "the admins"})
    with pytest.raises(ProviderError, match="created with `localUser`, which cannot change") as failure:
        await mysql.find(user)
    assert (failure.value.code, double.statements) == ("InvalidDatabaseUser", [])


async def test_a_local_user_without_a_password_of_its_administrator_is_made_with_a_token(mysql, mariadb, double):
    user = mysql.user("by_token")
    del user.body["localUser"]["serverAdminPassword"]
    await mysql.put(user)
    assert double.secrets == [("azadmin", "eyJ.token")]


async def test_a_password_is_not_sent_in_clear(mysql, double):
    """A server may request it. It is given tokens only, and only inside TLS."""
    with pytest.raises(ProviderError) as failure:
        await mysql.find(mysql.user("joe"))
    assert failure.value.code == "DatabaseLoginFailed"
    assert double.secrets == []
    assert_nothing_told(failure.value)


@pytest.mark.parametrize(
    ("endpoint", "scope"),
    [
        ("https://management.usgovcloudapi.net", "https://ossrdbms-aad.database.usgovcloudapi.net/.default"),
        ("https://management.chinacloudapi.cn", "https://ossrdbms-aad.database.chinacloudapi.cn/.default"),
    ],
)
async def test_the_scope_of_a_token_is_that_of_the_cloud(mysql, double, endpoint, scope):
    mysql.cloud = make_cloud(endpoint)
    await mysql.find(mysql.user("joe", aadUser={"serverAdminUsername": "admins"}))
    assert mysql.scopes == [scope]
