"""What only PostgreSQL has: roles, owned objects, transactions."""

import pytest

from gitsync.errors import ProviderError
from tests.providers.databases.rig import PASSWORD
from tests.providers.databases.test_users import statements_since
from tests.support.database_servers import ADMIN, log_in


async def test_two_roles_at_once_are_two_grants(postgres, postgresql):
    """ASO joins them to one name, which does not exist."""
    user = postgres.user("two", roles=["app", "other", 'quo"ted'])
    await postgres.put(user)
    assert (await postgres.find(user))["roles"] == ["app", "other", 'quo"ted']
    await postgres.put(postgres.user("two", roles=[]))
    assert (await postgres.find(postgres.user("two", roles=[])))["roles"] == []


async def test_a_role_that_may_not_log_in_is_found_again(postgres, postgresql):
    """It is not in pg_user, where ASO looks, and then creates it a second time."""
    user = postgres.user("nologin", roleOptions={"login": False})
    await postgres.put(user)
    assert (await postgres.find(user))["roleOptions"] == {"login": False}
    await postgres.put(user)
    assert not await log_in(postgresql, "nologin", PASSWORD, is_postgresql=True)


async def test_a_missing_role_is_an_error_before_anything_is_written(postgres, postgresql):
    """ASO grants nothing then, and reports success."""
    with pytest.raises(ProviderError) as failure:
        await postgres.put(postgres.user("hasty", roles=["app", "missing", "x" * 80]))
    assert failure.value.code == "DatabaseRoleNotFound"
    assert "'missing'" in failure.value.message
    assert "'app'" not in failure.value.message
    assert await postgres.find(postgres.user("hasty")) is None


async def test_roles_that_several_have_granted_are_one(postgres, postgresql):
    await postgres.put(postgres.user("member", roles=["app"]))
    postgresql.run("GRANT app TO member")
    assert (await postgres.find(postgres.user("member", roles=["app"])))["roles"] == ["app"]


async def test_a_change_that_is_refused_in_the_middle_leaves_nothing_done(postgres, postgresql):
    postgresql.run("CREATE ROLE strong SUPERUSER")
    with pytest.raises(ProviderError) as failure:
        await postgres.put(postgres.user("halfway", roles=["app", "strong"]))
    assert failure.value.code == "DatabaseNotAllowed"
    assert "42501" in failure.value.message
    assert await postgres.find(postgres.user("halfway")) is None


async def test_replication_needs_more_than_an_administrator_of_azure_has(postgres, postgresql):
    """The options that are not asked for are not mentioned: who may not grant this one may not even deny it."""
    await postgres.put(postgres.user("plain", roleOptions={"login": True, "replication": False}))
    with pytest.raises(ProviderError) as failure:
        await postgres.put(postgres.user("copier", roleOptions={"login": True, "replication": True}))
    assert failure.value.code == "DatabaseNotAllowed"


async def test_only_options_that_differ_are_changed(postgres, postgresql):
    await postgres.put(postgres.user("optional", roleOptions={"login": True, "createDb": True}))
    start = len(postgresql.log.read_text())
    await postgres.put(postgres.user("optional", roleOptions={"login": True, "createDb": False}))
    (line,) = statements_since(postgresql, start)
    assert line.endswith('ALTER ROLE "optional" WITH NOCREATEDB')


async def test_a_drop_that_is_refused_says_what_the_user_owns_and_where(postgres, postgresql):
    await postgres.put(postgres.user("owner_of_things", roles=[]))
    postgresql.run("CREATE DATABASE shop")
    postgresql.run('CREATE SCHEMA stock AUTHORIZATION owner_of_things; CREATE TABLE stock."my items" (); ALTER TABLE stock."my items" OWNER TO owner_of_things', "shop")  # fmt: skip
    postgresql.run("CREATE TABLE prices (); GRANT SELECT ON prices TO owner_of_things")
    with pytest.raises(ProviderError) as failure:
        await postgres.delete(postgres.prune("owner_of_things"))
    assert failure.value.code == "DatabaseUserOwnsObjects"
    assert 'owns table stock."my items" (database shop)' in failure.value.message
    assert "has rights on table prices (database postgres)" in failure.value.message
    assert 'DROP OWNED BY "owner_of_things"` in postgres, shop' in failure.value.hint
    for database in ("shop", "postgres"):
        postgresql.run(f"GRANT owner_of_things TO {ADMIN}; REASSIGN OWNED BY owner_of_things TO {ADMIN}; DROP OWNED BY owner_of_things", database)  # fmt: skip
    await postgres.delete(postgres.prune("owner_of_things"))
    assert await postgres.find(postgres.user("owner_of_things")) is None


async def test_a_reader_cannot_write(postgres):
    """Whatever is wrong with a plan, its connection changes nothing."""
    connector = await postgres.databases.reader(postgres.user("joe"), postgres.begin())._make_connector(
        postgres.address
    )
    users = await connector.open(reads_only=True)
    with pytest.raises(ProviderError) as failure:
        await users.write(postgres.user("sneaky"))
    await users.close()
    assert failure.value.code == "DatabaseReadOnly"
    assert not failure.value.outcome_unknown
