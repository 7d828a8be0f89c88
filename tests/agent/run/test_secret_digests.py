"""Secrets in whole runs: what changes of them is seen and sent, and nothing of them is left anywhere."""

from __future__ import annotations

import json
import re

import pytest
from loguru import logger

from gitsync.errors import UnsafePlanError
from gitsync.model.secret import Secret
from gitsync.model.verdict import Action, Verdict
from gitsync.planning.diff.secret_changes import CHANGED, MADE_WITH_ANOTHER_KEY, MADE_WITHOUT_KEY, NO_KEY
from gitsync.report import json as report_json
from gitsync.report import markdown, text
from gitsync.repository.git.state.plan_file import encode_plan
from tests.support.world import GROUP, GROUP_ID, World, of

KEY, OTHER_KEY = Secret("k" * 40), Secret("o" * 40)
MARKER = "Marker-7f3a-Pa55"
SERVER_ID = f"{GROUP_ID}/providers/Microsoft.DBforPostgreSQL/flexibleServers/orders"
PASSWORD = "/properties/administratorLoginPassword"

SERVER = """\
    apiVersion: dbforpostgresql.azure.com/v1api20230601preview
    kind: FlexibleServer
    metadata:
      name: orders
    spec:
      location: westeurope
      owner:
        name: core
      version: "16"
      administratorLogin: ops
      administratorLoginPassword:
        name: postgres
        key: password
    """


def secret(value: str) -> str:
    return f"""\
    apiVersion: v1
    kind: Secret
    metadata:
      name: postgres
    stringData:
      password: "{value}"
    """


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def estate(world: World, value: str, server: str = SERVER) -> World:
    return world.says(group=GROUP, server=server, secret=secret(value))


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("first"))
    assert estate(world, "one").sync(digest_key=KEY).exit_code == 0
    return world


@pytest.fixture
def synced(first, tmp_path):
    """A world in which the secret was sent by a run with the key."""
    return first.copy(tmp_path)


def server_of(report):
    return of(report, "FlexibleServer")


def stored(world: World) -> str:
    """The password that Azure was sent; it shows it to no one."""
    found = world.store.resource(SERVER_ID.lower())
    return found.body["properties"]["administratorLoginPassword"]


def test_an_unchanged_secret_causes_no_write(synced):
    report = synced.sync(digest_key=KEY)
    assert (server_of(report).verdict, server_of(report).differences) == (Verdict.IN_SYNC, ())
    assert synced.writes == []


def test_a_changed_secret_is_pending_and_sent(synced):
    planned = server_of(estate(synced, "two").plan(digest_key=KEY))
    assert (planned.verdict, planned.action) == (Verdict.PENDING, Action.UPDATE)
    assert [(d.path, d.desired, d.live, d.rule) for d in planned.differences] == [
        (PASSWORD, "<secret>", "<secret>", CHANGED)
    ]
    report = synced.sync(digest_key=KEY)
    assert (server_of(report).action, stored(synced)) == (Action.UPDATE, "two")
    assert (server_of(synced.sync(digest_key=KEY)).verdict, synced.writes) == (Verdict.IN_SYNC, [])


def test_a_record_that_moves_to_another_manifest_keeps_what_is_known_of_its_secrets(synced):
    renamed = SERVER.replace("name: orders", "name: sales", 1).replace("spec:", "spec:\n      azureName: orders")
    for value, verdict in (("one", Verdict.IN_SYNC), ("two", Verdict.PENDING), ("two", Verdict.IN_SYNC)):
        server = of(estate(synced, value, renamed).sync(digest_key=KEY, prune=True), "FlexibleServer", "sales")
        assert (server.verdict, server.comparison.because) == (verdict, {})
    estate(synced, "two", SERVER).sync(digest_key=KEY, prune=True)
    planned = of(estate(synced, "three", renamed).plan(digest_key=KEY), "FlexibleServer", "sales")
    assert planned.verdict is Verdict.PENDING, "the secret changed with the name"


def test_a_changed_secret_beside_drift_is_a_conflict(synced):
    body = synced.read(SERVER_ID, "2023-06-01-preview")
    body["properties"]["version"] = "15"
    synced.outside("PUT", SERVER_ID, body, "2023-06-01-preview")
    assert server_of(estate(synced, "two").plan(digest_key=KEY)).verdict is Verdict.CONFLICT


def test_without_a_key_it_is_reported_that_a_change_cannot_be_seen(world):
    estate(world, "one").sync()
    report = estate(world, "two").sync()
    server = server_of(report)
    assert (server.verdict, server.comparison.because, world.writes) == (Verdict.IN_SYNC, {PASSWORD: NO_KEY}, [])
    assert PASSWORD in server.comparison.unverified
    assert [p.code for p in report.problems] == ["SecretsNotCompared"]
    assert report.exit_code == 0


@pytest.mark.parametrize(
    "first, reason, why",
    [
        (OTHER_KEY, MADE_WITH_ANOTHER_KEY, "digests by two keys differ whatever the secret is"),
        (None, MADE_WITHOUT_KEY, "nothing is known of what was sent without a key"),
    ],
)
def test_another_key_writes_nothing_and_reports_it(world, first, reason, why):
    estate(world, "one").sync(digest_key=first)
    if first is None:
        world.sign(KEY)
    for _ in range(2):
        server = server_of(world.sync(digest_key=KEY, previous_digest_key=first))
        assert (server.verdict, server.comparison.because, world.writes) == (Verdict.IN_SYNC, {PASSWORD: reason}, []), (
            why
        )


def test_a_plan_without_the_key_cannot_compare_and_a_sync_is_refused(synced):
    server = server_of(synced.plan())
    assert (server.verdict, server.comparison.because) == (Verdict.IN_SYNC, {PASSWORD: NO_KEY})
    with pytest.raises(UnsafePlanError, match="this run has no key"):
        synced.sync()


def test_the_next_write_makes_digests_with_the_new_key(synced):
    estate(synced, "one", SERVER.replace('"16"', '"15"')).sync(digest_key=OTHER_KEY, previous_digest_key=KEY)
    assert server_of(synced.sync(digest_key=OTHER_KEY)).comparison.because == {}
    assert server_of(estate(synced, "two", SERVER.replace('"16"', '"15"')).plan(digest_key=OTHER_KEY)).differences


def test_all_can_be_digested_again_at_once(synced):
    synced.sync(digest_key=OTHER_KEY, previous_digest_key=KEY, always_put=True)
    assert server_of(synced.sync(digest_key=OTHER_KEY)).comparison.because == {}
    assert server_of(estate(synced, "two").plan(digest_key=OTHER_KEY)).verdict is Verdict.PENDING


def test_an_adopted_resource_is_held_to_the_secret_of_its_adoption(world):
    world.outside("PUT", GROUP_ID, {"location": "westeurope"})
    properties = {"version": "16", "administratorLogin": "ops", "administratorLoginPassword": "elsewhere"}
    body = {"location": "westeurope", "properties": properties}
    world.outside("PUT", SERVER_ID, body, "2023-06-01-preview")
    assert server_of(estate(world, "one").sync(digest_key=KEY)).verdict is Verdict.ADOPT
    assert stored(world) == "elsewhere"  # what Azure does not return justifies no write
    estate(world, "two").sync(digest_key=KEY)
    assert stored(world) == "two"


def test_equal_secrets_have_unequal_digests_and_none_shows_the_value(world):
    other = SERVER.replace("name: orders\n", "name: orders2\n")
    world.says(group=GROUP, server=SERVER, other=other, secret=secret(MARKER)).sync(digest_key=KEY)
    lines = [
        line.strip()
        for path in world.state.rglob("default/**/*.json")
        for line in path.read_text().splitlines()
        if "$secret" in line
    ]
    assert len(lines) == len(set(lines)) == 2
    assert all(line.startswith('"$secret": "hmac-sha256:') for line in lines)


def test_a_record_of_the_first_release_is_taken_for_one_without_a_key(world):
    estate(world, "one").sync()
    location = next(world.state.rglob("FlexibleServer/orders.json"))
    changed, count = re.subn(
        r'("administratorLoginPassword":) \{\s*"\$secret": ""\s*\}', r'\1 "<secret>"', location.read_text()
    )
    assert count == 1
    location.write_text(changed)
    server = server_of(world.sign(KEY).sync(digest_key=KEY))
    assert (server.verdict, server.comparison.because, world.writes) == (
        Verdict.IN_SYNC,
        {PASSWORD: MADE_WITHOUT_KEY},
        [],
    )


def test_no_value_of_a_secret_is_left_anywhere(world, tmp_path):
    heard: list[str] = []
    sink = logger.add(heard.append, level="DEBUG", serialize=True)
    try:
        plan_file = {"plan_out": str(tmp_path / "plan.json"), "digest_key": KEY}
        told = [
            estate(world, MARKER).plan(**plan_file),
            world.sync(digest_key=KEY),
            estate(world, MARKER + "-2").plan(**plan_file),
            world.sync(digest_key=KEY),
            world.plan(),
        ]
        world.outside("PATCH", SERVER_ID, {"properties": {"version": "15"}}, "2023-06-01-preview")
        told.append(world.sync(digest_key=KEY))
    finally:
        logger.remove(sink)
    shown = [render(report) for report in told for render in (report_json.render, markdown.render, text.render)]
    plans = [encode_plan(report.plan.review) for report in told if report.plan.review]
    tree = [path.read_text() for path in world.state.rglob("*") if path.is_file()]
    kept = [repr(result) for report in told for result in report.results]
    assert (stored(world), len(plans)) == (MARKER + "-2", 2)
    assert not [plan for plan in (*shown, *plans, *tree, *kept, *heard) if MARKER in plan]
    assert json.dumps(KEY.reveal())[1:-1] not in "".join((*shown, *plans, *tree, *kept, *heard))
