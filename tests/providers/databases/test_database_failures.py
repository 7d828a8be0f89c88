"""What a server refuses, or does not answer: the code of each, its time, and no secret in any of it."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import time
import traceback
import warnings
from contextlib import contextmanager

import pytest

from gitsync.errors import DeadlineError, ProviderError
from gitsync.model.provider import Provider
from gitsync.model.secret import Secret
from gitsync.providers.databases.address import ServerAddress
from tests.providers.databases.lines import EntraMysql, cutting_proxy, silent_server
from tests.providers.databases.rig import PASSWORD, make_rig
from tests.support.database_servers import ADMIN, ADMIN_PASSWORD, PATIENCE
from tests.support.fake_clock import FakeClock


@pytest.fixture(autouse=True)
def forget_cut_connections():
    """A connection that was cut while TLS was set up closes once the server has answered, which is after the loop of a
    test has ended. Without this, some later test would fail with its ResourceWarning.
    """
    gc.freeze()  # so that only what the test has left is looked through
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def assert_nothing_told(error: BaseException, *more: str) -> None:
    """No secret and no statement is in an error, nor in what it comes from."""
    assert error.__cause__ is None
    assert error.__context__ is None
    told = "".join(traceback.format_exception(error)) + repr(error) + repr(vars(error))
    for secret in (PASSWORD, ADMIN_PASSWORD, "SCRAM-SHA", "IDENTIFIED", *more):
        assert secret not in told


async def refuse(rig, code, send_request=None):
    with pytest.raises(ProviderError) as failure:
        await (send_request or rig.find)(
            rig.user("joe", roles=[]) if rig.service is Provider.POSTGRESQL else rig.user("joe")
        )
    assert failure.value.code == code, failure.value
    assert_nothing_told(failure.value)
    return failure.value


async def test_a_refused_connection_is_tried_five_times_and_names_the_firewall(rig):
    rig.clock, rig.address = FakeClock(), ServerAddress("localhost", 1)
    failure = await refuse(rig, "DatabaseNotReachable")
    assert rig.clock.slept == [1, 2, 4, 8]
    assert [attempt.code for attempt in rig.session.failures] == ["DatabaseNotReachable"] * 5
    assert "FlexibleServersFirewallRule (dbfor" in failure.hint
    assert failure.is_outage


async def test_a_refused_connection_ends_with_the_deadline(rig):
    rig.address, rig.seconds = ServerAddress("localhost", 1), 0.5  # on a busy machine, a first refusal takes a while
    failure = await refuse(rig, "DeadlineExceeded")
    assert isinstance(failure, DeadlineError)
    assert "does not accept the connection" in failure.message


async def test_a_server_that_says_nothing_ends_with_the_time_to_connect(rig):
    async with silent_server() as address:
        rig.address, rig.timeout = address, 0.05
        failure = await refuse(rig, "DatabaseTimeout")
    assert failure.is_outage
    assert not failure.outcome_unknown


async def test_a_server_that_says_nothing_ends_with_the_deadline(rig):
    async with silent_server() as address:
        rig.address, rig.seconds = address, 0.05
        failure = await refuse(rig, "DeadlineExceeded", rig.put)
    assert isinstance(failure, DeadlineError)
    assert not failure.outcome_unknown


async def test_a_stopped_run_ends_what_is_under_way(rig):
    async with silent_server() as address:
        rig.address = address
        requesting = asyncio.ensure_future(rig.find(rig.user("joe")))
        for _ in range(1000):
            await asyncio.sleep(0)
            if rig.session and rig.session.requests:
                break
        rig.session.end(rig.clock.monotonic(), patience=0.01)
        with pytest.raises(DeadlineError) as failure:
            await requesting
    assert failure.value.code == "Interrupted"


async def test_a_statement_that_takes_too_long_ends(rig, server):
    """Somebody else holds what it needs."""
    is_postgresql = rig.service is Provider.POSTGRESQL
    user = rig.user("locked", **({"roleOptions": {"createDb": True}} if is_postgresql else {}))
    await rig.put(rig.user("locked"))
    lock = (
        "BEGIN; ALTER ROLE locked CREATEROLE; SELECT pg_sleep(30)"
        if is_postgresql
        else "LOCK TABLES mysql.global_priv WRITE; SELECT SLEEP(30)"
    )
    words = [word.replace("{database}", "postgres") for word in server.root]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as holder:
        holder.stdin.write(lock)
        holder.stdin.close()
        is_held = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(30)' AND wait_event = 'PgSleep'" if is_postgresql else "SELECT count(*) FROM information_schema.processlist WHERE state = 'User sleep'"  # fmt: skip
        wait_until(lambda: server.run(is_held) == "1")
        rig.timeout = 0.2
        with pytest.raises(ProviderError) as failure:
            await rig.put(user)
        holder.kill()
    if is_postgresql:
        server.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(30)'")
    else:
        sleeper = server.run("SELECT id FROM information_schema.processlist WHERE state = 'User sleep'")
        server.run(f"KILL {sleeper}")
    assert failure.value.code == "DatabaseTimeout"
    assert not failure.value.outcome_unknown, "PostgreSQL gave up itself, MariaDB was still being read"
    assert_nothing_told(failure.value)


def wait_until(is_so):
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, "the server did not do it"


async def test_a_wrong_password_asks_for_another_secret_and_is_not_tried_again(rig):
    user = rig.user("joe")
    user.body["localUser"]["serverAdminPassword"] = Secret("wr0ng-secret")
    with pytest.raises(ProviderError) as failure:
        await rig.find(user)
    assert failure.value.code == "DatabaseLoginFailed"
    assert "serverAdminPassword" in failure.value.hint
    assert not failure.value.is_outage
    assert_nothing_told(failure.value, "wr0ng-secret")
    assert len(rig.session.failures) == 1


async def test_a_certificate_of_an_unknown_authority_is_refused(rig):
    rig.ca = None
    failure = await refuse(rig, "DatabaseNotTrusted")
    assert "--ca-bundle" in failure.hint


async def test_a_certificate_of_another_name_is_refused(rig):
    rig.address = rig.address._replace(host="127.0.0.1")
    await refuse(rig, "DatabaseNotTrusted")


async def test_a_name_that_does_not_exist_is_told(rig):
    rig.clock, rig.address = FakeClock(), ServerAddress("no such name", 5432)
    failure = await refuse(rig, "DatabaseNotReachable")
    assert "private DNS zone" in failure.hint


@contextmanager
def altered(server, sql, back):
    server.run(sql)
    try:
        yield
    finally:
        server.run(back)


async def test_postgresql_without_tls_is_sent_no_password(postgres, postgresql):
    with altered(postgresql, "ALTER SYSTEM SET ssl = off; SELECT pg_reload_conf()", "ALTER SYSTEM RESET ssl; SELECT pg_reload_conf()"):  # fmt: skip
        wait_until(lambda: postgresql.run("SHOW ssl") == "off")
        await refuse(postgres, "DatabaseWithoutTls")


async def test_mysql_without_tls_is_sent_no_password(mysql, mariadb):
    double = EntraMysql(mariadb, offers_tls=False)
    with double.run() as mysql.address:
        await refuse(mysql, "DatabaseWithoutTls")
    assert double.secrets == []


async def test_a_read_only_server_is_read_and_not_written(rig, server):
    sql, back = (
        ("ALTER SYSTEM SET default_transaction_read_only = on; SELECT pg_reload_conf()", "ALTER SYSTEM RESET default_transaction_read_only; SELECT pg_reload_conf()")
        if rig.service is Provider.POSTGRESQL
        else ("SET GLOBAL read_only = 1", "SET GLOBAL read_only = 0")
    )  # fmt: skip
    with altered(server, sql, back):
        assert await rig.find(rig.user("joe")) is None
        failure = await refuse(rig, "DatabaseReadOnly", rig.put)
    assert "primary" in failure.hint
    assert not failure.outcome_unknown


async def test_a_server_with_too_many_connections_is_tried_again(rig, server):
    rig.clock = FakeClock()
    limit, free = ("CONNECTION LIMIT 1", "CONNECTION LIMIT -1") if rig.service is Provider.POSTGRESQL else ("WITH MAX_USER_CONNECTIONS 1", "WITH MAX_USER_CONNECTIONS 0")  # fmt: skip
    with altered(server, f"ALTER USER {ADMIN} {limit}", f"ALTER USER {ADMIN} {free}"):
        holder = await rig.databases.reader(rig.user("joe"), rig.begin())._connect(rig.address, reads_only=True)
        await refuse(rig, "DatabaseBusy")
        await holder.close()
    assert len(rig.session.failures) == 5


async def put_at_last(rig, user):
    """Put as the next runs do: a server may still work on what came over a connection that was cut."""
    for _ in range(50):
        try:
            return await rig.put(user)
        except ProviderError as failure:
            assert failure.code == "DatabaseUserChanged", failure
    raise AssertionError("the server never ended what it was at")


@pytest.mark.parametrize("passes_last", [False, True], ids=["before it arrives", "after it arrived"])
async def test_a_cut_at_any_point_ends_right_in_the_next_run(rig, server, passes_last):
    """With each piece that the client sends, until one more is not needed."""
    first = {"roles": ["app", "other"]} if rig.service is Provider.POSTGRESQL else {"privileges": ["PROCESS"], "databasePrivileges": {"app": ["SELECT"]}}  # fmt: skip
    user = rig.user("cut", **first)
    straight, uncertain = make_rig(rig.service, server), 0
    for pieces in range(1, 60):
        await straight.delete(straight.prune("cut"))
        async with cutting_proxy(server, pieces, passes_last=passes_last) as rig.address:
            try:
                await rig.put(user)
            except ProviderError as failure:
                assert failure.code == "DatabaseConnectionLost", failure
                assert_nothing_told(failure)
                uncertain += failure.outcome_unknown
                if rig.service is Provider.POSTGRESQL and not failure.outcome_unknown:
                    assert await straight.find(user) is None, "all of it is one transaction"
            else:
                break
        await put_at_last(straight, user)
        assert {**(await straight.find(user) or {})}.items() >= first.items()
    else:
        raise AssertionError("no put got through")
    assert uncertain
