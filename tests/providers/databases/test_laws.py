"""Whatever git has one after the other: the server ends as git has last, and a second put sends nothing."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gitsync.model.provider import Provider
from gitsync.model.verdict import Verdict
from tests.providers.databases.rig import evaluate, make_rig
from tests.providers.databases.test_users import statements_since
from tests.support.hypothesis_profile import scale

roles = st.lists(st.sampled_from(["app", "other", "a,b", 'quo"ted']), unique=True)
options = st.fixed_dictionaries({"login": st.booleans(), "createDb": st.booleans(), "createRole": st.booleans()})
privileges = st.lists(st.sampled_from(["PROCESS", "reload", "Replication Client", "create user"]), unique=True)
of_databases = st.dictionaries(
    st.sampled_from(["app", "a_p", "a%", "a\\b"]),
    st.lists(st.sampled_from(["select", "INSERT", "Lock  Tables", "CREATE VIEW"]), unique=True, min_size=1),
)
postgresql_bodies = st.fixed_dictionaries({"roleOptions": options}, optional={"roles": roles})
mysql_bodies = st.fixed_dictionaries({}, optional={"privileges": privileges, "databasePrivileges": of_databases})


async def check(rig, server, bodies):
    await rig.delete(rig.prune("law"))
    applied = None
    for body in bodies:
        user = rig.user("law", applied=applied, **body)
        await rig.put(user)
        live = await rig.find(user)
        assert evaluate(user, live).differences == ()
        assert {name: value for name, value in live.items() if name != "localUser"} == body
        assert evaluate(user, live, live).verdict is Verdict.IN_SYNC
        start = len(server.log.read_text())
        await rig.put(user)
        assert statements_since(server, start) == []
        applied = user.body


@settings(max_examples=scale(10), deadline=None)
@given(bodies=st.lists(postgresql_bodies, min_size=1, max_size=3))
async def test_users_of_postgresql_end_as_git_says(postgresql, bodies):
    await check(make_rig(Provider.POSTGRESQL, postgresql), postgresql, bodies)


@settings(max_examples=scale(10), deadline=None)
@given(bodies=st.lists(mysql_bodies, min_size=1, max_size=3))
async def test_users_of_mysql_end_as_git_says(mariadb, bodies):
    await check(make_rig(Provider.MYSQL, mariadb), mariadb, bodies)
