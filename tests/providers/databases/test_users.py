"""What holds for users of both services, on real servers."""

import subprocess
import sys

import pytest

import gitsync.providers.databases
from gitsync.errors import ProviderError
from gitsync.model.provider import Provider
from gitsync.model.secret import Placeholder, Secret
from gitsync.model.verdict import Verdict
from tests.providers.databases.rig import PASSWORD, evaluate
from tests.support.database_servers import ADMIN, ADMIN_PASSWORD, log_in

WANTED = {
    Provider.POSTGRESQL: {
        "roles": ["app", "a,b"],
        "roleOptions": {"login": True, "createRole": False, "createDb": True, "replication": False},
    },
    Provider.MYSQL: {
        "privileges": ["process", "Replication  client"],
        "databasePrivileges": {"app_9": ["select", "INSERT"], "b%c": ["Lock Tables"]},
    },
}
DRIFTS = {
    Provider.POSTGRESQL: {
        "an option changed": ('ALTER ROLE "{name}" NOCREATEDB CREATEROLE', {"/roleOptions/createDb", "/roleOptions/createRole"}),
        "a role granted": ('GRANT other TO "{name}"', {"/roles"}),
        "a role revoked": ('REVOKE "a,b" FROM "{name}"', {"/roles"}),
    },
    Provider.MYSQL: {
        "a privilege of the server granted": ("GRANT RELOAD ON *.* TO '{name}'", {"/privileges"}),
        "a privilege of a database granted": ("GRANT DELETE ON `app\\_9`.* TO '{name}'", {"/databasePrivileges/app_9"}),
        "another database opened": ("GRANT SELECT ON other.* TO '{name}'", {"/databasePrivileges/other"}),
        "databases by a pattern opened": ("GRANT SELECT ON `o_`.* TO '{name}'", {"/databasePrivileges/LIKE o_"}),
        "a privilege revoked": ("REVOKE PROCESS ON *.* FROM '{name}'; REVOKE SELECT ON `app\\_9`.* FROM '{name}'", {"/privileges", "/databasePrivileges/app_9"}),
    },
}  # fmt: skip
SERVICES = {"postgresql": Provider.POSTGRESQL, "mariadb": Provider.MYSQL}


def is_postgresql(rig):
    return rig.service is Provider.POSTGRESQL


def statements_since(server, start):
    """What was sent that changes something, except what begins and ends a transaction."""
    lines = server.log.read_text()[start:].splitlines()
    return [
        line for line in lines if any(f"{verb} " in line for verb in ("CREATE", "ALTER", "GRANT", "REVOKE", "DROP"))
    ]


async def test_a_user_is_created_as_its_manifest_says_and_then_left_alone(rig, server):
    user = rig.user("created", **WANTED[rig.service])
    assert await rig.find(user) is None
    await rig.put(user)
    live = await rig.find(user)
    expected = {name: value for name, value in user.body.items() if name != "localUser"}
    assert live == expected | {"localUser": {"serverAdminUsername": ADMIN}}, "in the words and the order of git"
    assert evaluate(user, live).differences == ()
    assert await log_in(server, "created", PASSWORD, is_postgresql=is_postgresql(rig))
    start = len(server.log.read_text())
    await rig.put(user)
    assert statements_since(server, start) == []


@pytest.mark.parametrize(
    ("server", "what"),
    [(name, what) for name, service in SERVICES.items() for what in DRIFTS[service]],
    indirect=["server"],
)
async def test_drift_behind_the_back_is_seen_and_repaired(rig, server, what):
    sql, paths = DRIFTS[rig.service][what]
    user = rig.user("drifted", **WANTED[rig.service])
    await rig.put(user)
    before = await rig.find(user)
    assert evaluate(user, before, before).verdict is Verdict.IN_SYNC
    server.run(sql.format(name="drifted"))
    seen = evaluate(user, await rig.find(user), before)
    assert seen.verdict is Verdict.DRIFTED
    assert {difference.path for difference in seen.differences} == paths
    start = len(server.log.read_text())
    await rig.put(user)
    assert 0 < len(statements_since(server, start)) <= 2
    assert await rig.find(user) == before


async def test_a_user_that_was_dropped_is_created_again(rig, server):
    user = rig.user("dropped", **WANTED[rig.service])
    await rig.put(user)
    server.run("DROP USER dropped")
    assert await rig.find(user) is None
    await rig.put(user)
    assert await log_in(server, "dropped", PASSWORD, is_postgresql=is_postgresql(rig))


async def test_a_password_is_set_when_it_changed_and_at_no_other_time(rig, server):
    await rig.put(rig.user("rotated"))
    await rig.put(rig.user("rotated", password="second"))
    assert await log_in(server, "rotated", PASSWORD, is_postgresql=is_postgresql(rig)), "it was not to be set"
    await rig.put(rig.user("rotated", password="second", sets_password=True))
    assert await log_in(server, "rotated", "second", is_postgresql=is_postgresql(rig))
    assert not await log_in(server, "rotated", PASSWORD, is_postgresql=is_postgresql(rig))


async def test_a_rename_is_another_user_and_the_old_one_is_deleted_by_its_record(rig, server):
    await rig.put(rig.user("before"))
    await rig.put(rig.user("after"))
    await rig.delete(rig.prune("before"))
    assert await rig.find(rig.user("before")) is None
    assert await rig.find(rig.user("after")) is not None


async def test_a_delete_of_what_is_gone_is_done(rig, server):
    start = len(server.log.read_text())
    await rig.delete(rig.prune("never there"))
    assert statements_since(server, start) == []


async def test_a_delete_needs_no_connection_if_the_server_is_gone(rig):
    rig.server, rig.address = None, None
    await rig.delete(rig.prune("whoever"), password=None)


async def test_a_prune_shows_what_is_there(rig):
    await rig.put(rig.user("pruned", **WANTED[rig.service]))
    live = await rig.find(rig.prune("pruned"), Secret(ADMIN_PASSWORD))
    first = "roles" if is_postgresql(rig) else "databasePrivileges"
    expected = ["a,b", "app"] if is_postgresql(rig) else {"app_9": ["INSERT", "SELECT"], "b%c": ["LOCK TABLES"]}
    assert live is not None
    assert live[first] == expected


async def test_a_list_that_git_does_not_state_loses_only_what_gitsync_granted(rig, server):
    first = "roles" if is_postgresql(rig) else "privileges"
    granted, other = ("app", "other") if is_postgresql(rig) else ("PROCESS", "RELOAD")
    await rig.put(rig.user("partly", **{first: [granted]}))
    on = "" if is_postgresql(rig) else "ON *.*"
    server.run(f"GRANT {other} {on} TO partly")
    user = rig.user("partly", applied={first: [granted]})
    assert (await rig.find(user) or {})[first] == [granted], "the other is not of git"
    await rig.put(user)
    assert first not in (await rig.find(user) or {})
    assert (await rig.find(rig.prune("partly"), Secret(ADMIN_PASSWORD)) or {})[first] == [other]


async def test_an_empty_list_takes_everything(rig, server):
    first = "roles" if is_postgresql(rig) else "databasePrivileges"
    await rig.put(rig.user("emptied", **WANTED[rig.service]))
    user = rig.user(
        "emptied", **({"roles": []} if is_postgresql(rig) else {"privileges": [], "databasePrivileges": {}})
    )
    expected = (
        {"/roles"} if is_postgresql(rig) else {"/privileges", "/databasePrivileges/app_9", "/databasePrivileges/b%c"}
    )
    assert {difference.path for difference in evaluate(user, await rig.find(user)).differences} == expected
    await rig.put(user)
    live = await rig.find(user) or {}
    assert not live[first]
    assert evaluate(user, live).differences == ()
    assert evaluate(user, live, live).verdict is Verdict.IN_SYNC


@pytest.mark.parametrize("secret", ["serverAdminPassword", "password"])
async def test_a_plan_that_reads_no_secrets_connects_to_no_database(rig, secret):
    rig.address = rig.address._replace(port=1)  # where nothing listens
    user = rig.user("unknown")
    user.body["localUser"][secret] = Placeholder("<secret admin>", why="a plan reads no Key Vault")
    send_request = rig.find if secret == "serverAdminPassword" else rig.put
    with pytest.raises(ProviderError) as failure:
        await send_request(user)
    assert failure.value.code == "SecretNotRead"
    assert "--plan-secrets" in failure.value.hint
    assert "<secret admin>" in failure.value.message
    assert rig.session.requests == 0


async def test_a_user_is_read_without_its_own_password(rig):
    user = rig.user("unread")
    user.body["localUser"]["password"] = Placeholder("<secret user>")
    assert await rig.find(user) is None


async def test_the_administrator_is_no_user_of_a_manifest(rig):
    for send_request in (rig.find, rig.put):
        with pytest.raises(ProviderError) as failure:
            await send_request(rig.user(ADMIN))
        assert failure.value.code == "InvalidDatabaseUser"
    with pytest.raises(ProviderError):
        await rig.delete(rig.prune(ADMIN))


@pytest.mark.parametrize(
    ("server", "name"),
    [
        *[("postgresql", name) for name in ("", "pg_x", "public", "none", "azuresu", "x" * 64, "ü" * 32, "nul\0", "\ud800")],
        *[("mariadb", name) for name in ("", "root", "mysql.sys", "blank ", "😀", "nul\0", "\ud800", "x" * 129)],
    ],
    indirect=["server"],
)  # fmt: skip
async def test_a_name_that_a_server_would_misunderstand_is_refused(rig, server, name):
    with pytest.raises(ProviderError) as failure:
        await rig.put(rig.user(name))
    assert failure.value.code == "InvalidDatabaseUser"
    assert "azureName" in failure.value.hint


@pytest.mark.parametrize("password", ["", "nul\0", "half\ud800"])
async def test_a_password_that_cannot_be_one_is_refused_and_not_shown(rig, password):
    with pytest.raises(ProviderError) as failure:
        await rig.put(rig.user("joe", password=password))
    assert failure.value.code == "InvalidDatabaseUser"
    assert "half" not in str(failure.value)
    assert await rig.find(rig.user("joe")) is None


async def test_a_prune_without_the_secret_of_its_administrator_says_which(rig):
    with pytest.raises(ProviderError) as failure:
        await rig.delete(rig.prune("joe"), password=None)
    assert failure.value.code == "SecretNotFound"
    assert "admin" in failure.value.message


async def test_a_missing_driver_is_named_with_the_command_that_installs_it(rig, monkeypatch):
    module, driver = ("postgresql", "asyncpg") if is_postgresql(rig) else ("mysql", "pymysql")
    monkeypatch.setitem(sys.modules, driver, None)
    monkeypatch.delitem(sys.modules, f"gitsync.providers.databases.{module}", raising=False)
    monkeypatch.delattr(gitsync.providers.databases, module, raising=False)
    with pytest.raises(ProviderError) as failure:
        await rig.find(rig.user("joe"))
    assert failure.value.code == "PackageMissing"
    assert failure.value.hint == "Run `pip install 'gitsync-azure[databases]'`."


def test_a_driver_is_loaded_only_when_a_user_is_read():
    code = "import sys, gitsync.providers.databases.users; sys.exit(bool({'asyncpg', 'pymysql'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
