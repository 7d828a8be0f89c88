"""Resources that ARM does not have, in whole runs: users of databases as the emulator simulates them.

Users on real servers are in tests/providers/databases, groups in tests/providers/entra.
"""

from __future__ import annotations

import shutil
import textwrap
from contextlib import suppress

import pytest

from gitsync.model.provider import Kept
from gitsync.model.secret import Secret
from gitsync.model.verdict import Action, Verdict
from gitsync.planning.diff.secret_changes import CHANGED, NEVER_SET
from gitsync.planning.run_problems import DEFAULT_AGENT
from gitsync.repository.git.state.seal import RecordSeals
from gitsync.repository.git.state.state_folder import StatusFolder
from tests.support.hypothesis_profile import sample
from tests.support.world import GROUP, GROUP_ID, KilledError, World, of

KEY = Secret("k" * 40)
SERVER_ID = f"{GROUP_ID}/providers/Microsoft.DBforPostgreSQL/flexibleServers/orders"
USER_ID = f"{SERVER_ID}/users/app"
PASSWORD = "/localUser/password"

SERVER = """\
    apiVersion: dbforpostgresql.azure.com/v1api20230601preview
    kind: FlexibleServer
    metadata:
      name: orders
    spec:
      location: westeurope
      owner:
        name: core
      administratorLogin: ops
      administratorLoginPassword: {name: postgres, key: admin}
    """
USER = """\
    apiVersion: dbforpostgresql.azure.com/v1
    kind: User
    metadata:
      name: app
    spec:
      owner:
        name: orders
      roles: [reader]
      localUser:
        serverAdminUsername: ops
        serverAdminPassword: {name: postgres, key: admin}
        password: {name: app, key: password}
    """
MYSQL = {
    "mysql": SERVER.replace("dbforpostgresql.azure.com/v1api20230601preview", "dbformysql.azure.com/v1api20230630"),
    "user": USER.replace("dbforpostgresql", "dbformysql").replace(
        "roles: [reader]", "databasePrivileges: {app: [SELECT]}"
    ),
}
TEAM = """\
    apiVersion: entra.azure.com/v1
    kind: SecurityGroup
    metadata:
      name: team
    spec:
      displayName: The Team
      mailNickname: team
      operatorSpec:
        configmaps:
          entraID: {name: team-id, key: id}
    """
SQL_USER = """\
    apiVersion: sql.azure.com/v1
    kind: User
    metadata:
      name: app
    spec:
      owner:
        armId: /subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/core/providers/Microsoft.Sql/servers/s/databases/d
      localUser:
        serverAdminUsername: ops
        serverAdminPassword: {name: postgres, key: admin}
        password: {name: app, key: password}
    """


def secret(name: str, **values: str) -> str:
    lines = "".join(f"  {key}: {value!r}\n" for key, value in values.items())
    return f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: {name}\nstringData:\n{lines}"


ESTATE = {
    "group": GROUP,
    "server": SERVER,
    "user": USER,
    "postgres": secret("postgres", admin="Admin-0"),
    "app": secret("app", password="App-1"),
}


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


@pytest.fixture(scope="module")
def estate(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("estate"))
    assert world.says(**ESTATE).sync(digest_key=KEY).exit_code == 0
    return world


@pytest.fixture
def synced(estate, tmp_path):
    """A world in which the estate was synced."""
    return estate.copy(tmp_path)


def without(*names: str) -> dict[str, str]:
    return {name: text for name, text in ESTATE.items() if name not in names}


def records_of(world: World):
    with StatusFolder(world.state, RecordSeals(DEFAULT_AGENT, KEY)) as store:
        return {key.kind: record for key, record in store.load().records.items()}


def test_a_user_is_created_below_its_server_and_then_skipped(world):
    report = world.says(**ESTATE).sync(digest_key=KEY)
    user = of(report, "User")
    assert (user.action, user.arm_id, report.exit_code) == (Action.CREATE, USER_ID, 0)
    again = of(world.sync(digest_key=KEY), "User")
    assert (again.verdict, again.differences, world.writes) == (Verdict.IN_SYNC, (), [])


def test_a_record_reports_who_manages_a_user_and_has_no_secret(synced):
    assert records_of(synced)["User"].kept == Kept(administrator="ops", password_from=("postgres", "admin"))
    text = "".join(path.read_text() for path in synced.state.rglob("*") if path.is_file())
    assert "Admin-0" not in text
    assert "App-1" not in text


def test_a_changed_password_is_pending_and_a_change_of_the_administrators_is_not(synced):
    synced.says(**{**ESTATE, "app": secret("app", password="App-2")})
    planned = of(synced.plan(digest_key=KEY), "User")
    assert [(difference.path, difference.rule) for difference in planned.differences] == [(PASSWORD, CHANGED)]
    assert of(synced.sync(digest_key=KEY), "User").action is Action.UPDATE
    synced.says(**{**ESTATE, "app": secret("app", password="App-2"), "postgres": secret("postgres", admin="Admin-9")})
    assert of(synced.plan(digest_key=KEY), "User").verdict is Verdict.IN_SYNC


def test_an_adopted_user_gets_the_password_of_git(world):
    world.says(**without("user")).sync(digest_key=KEY)
    body = {
        "roles": ["reader"],
        "roleOptions": {"login": True, "createRole": False, "createDb": False, "replication": False},
    }
    world.outside("PUT", USER_ID, body, "2024-03-01")
    adopted = of(world.says(**ESTATE).sync(digest_key=KEY), "User")
    assert (adopted.verdict, adopted.action) == (Verdict.ADOPT, Action.UPDATE)
    assert [(difference.path, difference.rule) for difference in adopted.differences] == [(PASSWORD, NEVER_SET)]
    assert of(world.sync(digest_key=KEY), "User").verdict is Verdict.IN_SYNC


def test_a_user_that_is_not_to_be_adopted_stays_as_it_is(world):
    world.says(**without("user")).sync(digest_key=KEY)
    world.outside("PUT", USER_ID, {"roles": []}, "2024-03-01")
    found = of(world.says(**ESTATE).sync(digest_key=KEY, adopt="report"), "User")
    assert (found.verdict, found.action, world.writes) == (Verdict.ADOPT, Action.NONE, [])


def test_a_role_that_somebody_granted_is_drift_and_taken_away(synced):
    synced.outside("PUT", USER_ID, {**synced.read(USER_ID, "2024-03-01"), "roles": ["reader", "writer"]}, "2024-03-01")
    assert of(synced.plan(digest_key=KEY), "User").verdict is Verdict.DRIFTED
    synced.sync(digest_key=KEY)
    assert synced.read(USER_ID, "2024-03-01")["roles"] == ["reader"]


def test_a_privilege_on_a_database_that_git_does_not_name_is_drift_and_taken_away(world):
    user_id = USER_ID.replace("PostgreSQL", "MySQL")
    world.says(**{**ESTATE, **MYSQL}).sync(digest_key=KEY)
    extended = {**world.read(user_id, "2024-03-01"), "databasePrivileges": {"app": ["SELECT"], "other": ["DELETE"]}}
    world.outside("PUT", user_id, extended, "2024-03-01")
    found = of(world.sync(digest_key=KEY), "User")
    assert (found.verdict, [difference.path for difference in found.differences]) == (
        Verdict.DRIFTED,
        ["/databasePrivileges/other"],
    )
    assert world.read(user_id, "2024-03-01")["databasePrivileges"] == {"app": ["SELECT"]}
    assert of(world.sync(digest_key=KEY), "User").verdict is Verdict.IN_SYNC


def test_privileges_on_databases_are_skipped_if_git_does_not_speak_of_them(world):
    user_id = USER_ID.replace("PostgreSQL", "MySQL")
    silent = {**MYSQL, "user": MYSQL["user"].replace("databasePrivileges: {app: [SELECT]}", "privileges: []")}
    world.says(**{**ESTATE, **silent}).sync(digest_key=KEY)
    extended = {**world.read(user_id, "2024-03-01"), "databasePrivileges": {"other": ["DELETE"]}}
    world.outside("PUT", user_id, extended, "2024-03-01")
    assert of(world.sync(digest_key=KEY), "User").verdict is Verdict.IN_SYNC


def test_a_removed_user_is_deleted_without_the_secret_of_its_own_password(synced):
    report = synced.says(**without("user", "app")).sync(digest_key=KEY, prune=True)
    assert (of(report, "User").action, synced.sent("DELETE")) == (Action.DELETE, [USER_ID])


def test_a_removed_user_waits_for_the_secret_of_its_administrator(world):
    world.says(**{**ESTATE, "server": SERVER.replace("postgres, key", "boot, key"), "boot": secret("boot", admin="x")})
    world.sync(digest_key=KEY)
    documents = {**without("user", "app", "postgres"), "server": SERVER.replace("postgres, key", "boot, key")}
    report = world.says(**documents, boot=secret("boot", admin="x")).sync(digest_key=KEY, prune=True)
    user = of(report, "User")
    assert (user.verdict, user.condition.reason, world.sent("DELETE")) == (Verdict.BLOCKED, "SecretNotFound", [])


def test_users_go_with_their_server_whatever_they_own(synced):
    report = synced.says(group=GROUP).sync(digest_key=KEY, prune=True, max_deletes=2)
    assert synced.sent("DELETE") == [SERVER_ID]
    assert {result.key.kind for result in report.results if result.action is Action.DELETE} == {
        "User",
        "FlexibleServer",
    }


@pytest.mark.parametrize(
    ("before", "now", "field"),
    [
        ("name: app\n    spec:", "name: app\n    spec:\n      azureName: renamed", "spec.azureName"),
        ("name: orders\n      roles", "name: other\n      roles", "spec.owner.name"),
    ],
    ids=["a new name would make a second user", "a user cannot move to another server"],
)
def test_what_names_a_user_is_frozen(world, before, now, field):
    other = SERVER.replace("name: orders", "name: other")
    world.says(**ESTATE, other=other).sync(digest_key=KEY)
    changed = {**ESTATE, "user": textwrap.dedent(USER).replace(textwrap.dedent(before), now)}
    changed["user"] = USER.replace(before, now)
    user = of(world.says(**changed, other=other).sync(digest_key=KEY), "User")
    assert (user.verdict, user.condition.reason, world.writes) == (Verdict.BLOCKED, "Failed", [])
    assert f"updating '{field}' is not allowed" in user.message


def test_an_azure_sql_user_is_skipped_with_the_reason(world):
    secrets = {name: ESTATE[name] for name in ("postgres", "app")}
    report = world.says(group=GROUP, user=SQL_USER, **secrets).sync()
    user = of(report, "User")
    assert (user.verdict, user.condition.reason, report.exit_code) == (Verdict.BLOCKED, "NotSupported", 1)
    assert "another tool" in user.condition.advice
    skipped = SQL_USER.replace(
        "name: app", "name: app\n      annotations: {serviceoperator.azure.com/reconcile-policy: skip}", 1
    )
    assert world.says(group=GROUP, user=skipped, **secrets).sync().exit_code == 0
    pruned = world.says(group=GROUP).sync(prune=True, max_deletes=9)
    assert (pruned.exit_code, world.sent("DELETE")) == (0, [])


def test_a_plan_of_a_new_server_reports_that_its_users_do_not_exist(world):
    user = of(world.says(**ESTATE).plan(digest_key=KEY), "User")
    assert (user.verdict, user.action) == (Verdict.CREATE, Action.CREATE)


def id_of_team(world: World) -> str:
    return records_of(world)["SecurityGroup"].kept.given_id


def test_a_group_is_created_and_its_id_is_exported_and_kept(world):
    report = world.says(team=TEAM).sync()
    assert (of(report, "SecurityGroup").action, report.exit_code) == (Action.CREATE, 0)
    assert id_of_team(world) in (world.state / "default" / "ConfigMap" / "team-id.json").read_text()
    assert of(world.sync(), "SecurityGroup").verdict is Verdict.IN_SYNC
    assert world.writes == []


def test_a_group_whose_name_changes_in_git_stays_the_same_group(world):
    world.synced(team=TEAM)
    before = id_of_team(world)
    assert of(world.says(team=TEAM.replace("The Team", "Those")).sync(), "SecurityGroup").action is Action.UPDATE
    assert id_of_team(world) == before


def test_a_group_that_was_there_before_is_adopted_exported_and_never_deleted(world):
    world.synced(team=TEAM)
    group_id = id_of_team(world)
    shutil.rmtree(world.state)
    adopted = of(world.sync(), "SecurityGroup")
    assert (adopted.verdict, id_of_team(world)) == (Verdict.ADOPT, group_id)
    assert group_id in (world.state / "default" / "ConfigMap" / "team-id.json").read_text()
    gone = of(world.says(group=GROUP).sync(prune=True, max_deletes=9), "SecurityGroup")
    assert (gone.verdict, world.sent("DELETE")) == (Verdict.DETACH, [])
    assert "does not delete it" in gone.message


def test_a_group_that_gitsync_created_is_deleted(world):
    world.says(team=TEAM, group=GROUP).sync()
    group_id = id_of_team(world)
    world.says(group=GROUP).sync(prune=True, max_deletes=9)
    assert world.sent("DELETE") == [f"/v1.0/groups/{group_id}"]


def test_a_manifest_of_a_group_may_be_renamed(world):
    world.synced(team=TEAM)
    group_id = id_of_team(world)
    renamed = world.says(team=TEAM.replace("name: team\n", "name: crew\n")).sync(prune=True, max_deletes=9)
    assert (renamed.exit_code, world.sent("DELETE")) == (0, [])
    assert id_of_team(world) == group_id
    assert len(world.sync(prune=True, max_deletes=9).results) == 1


@pytest.mark.parametrize("requests", sample(range(1, 8)))
def test_a_run_that_is_killed_leaves_one_group(world, requests):
    world.says(team=TEAM)
    world.kill_after = requests
    with suppress(KilledError):
        world.sync()
    world.kill_after = None
    world.clock.elapsed += 3600
    assert world.sync().exit_code == 0
    assert [arm_id for arm_id in world.azure().ids() if "/groups/" in arm_id] == [f"/v1.0/groups/{id_of_team(world)}"]
