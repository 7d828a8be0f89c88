"""Rows of Azure's logs that are none: any JSON is a change of the row or none, in short texts, without the bodies of
requests, and soon.
"""

from __future__ import annotations

from dataclasses import astuple, replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.agent.attribution.activity_log import is_key_action, read_log, read_operations
from gitsync.agent.attribution.resource_graph import read_graph
from gitsync.model.arm_id import ArmId
from gitsync.model.attribution import AuthorKind
from gitsync.report.author_texts import format_change, format_creation
from tests.agent.attribution.rows import AMY, GRAPH, LOG, ROB, VAULT, graph_row, log_rows
from tests.agent.checks.asking import make_checks
from tests.support.arm_rig import anonymous, rigged
from tests.support.hostile_texts import HOSTILE
from tests.support.scripted_server import Say

SINCE = datetime(2026, 3, 1, tzinfo=UTC)
SECRET = "hunter2"
LONGEST = 1000

unexpected = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30) | st.sampled_from([*HOSTILE.values()]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
ROW = log_rows(VAULT, 1, ROB)[0]
rows = st.lists(
    st.dictionaries(st.sampled_from([*ROW]), unexpected, max_size=5).map(lambda cells: ROW | cells), max_size=6
)


def list_texts(changes):
    """All texts of changes, as a report may show them."""
    for change in changes:
        yield from (text for text in astuple(change.said) if isinstance(text, str))
        yield format_change(change.said, names=True)
        yield format_creation(change.said, names=True)


@given(rows)
def test_any_row_is_a_change_in_short_texts_or_none(found):
    changes = list(read_operations(found))
    assert all(SECRET not in text and len(text) < LONGEST for text in list_texts(changes))
    assert all(change.arm_id.startswith("/") and change.at.tzinfo for change in changes)
    assert len(changes) <= len(found)


@given(rows)
def test_a_name_is_left_out_whatever_the_row_has(found):
    for change in read_operations(found):
        if change.said.author is AuthorKind.PERSON:
            assert ROB not in format_change(replace(change.said, client="", operation=""), names=False)


@pytest.mark.parametrize(
    ("states", "is_change", "why"),
    [
        (["Succeeded"], True, "it was done"),
        (["Accepted"], True, "it was accepted"),
        (["Started"], False, "it may not have been done"),
        (["Succeeded", "Failed"], False, "two ends say nothing"),
        (["FAILED"], False, "it failed, in any case"),
        ([7], False, "no state"),
        ([None], False, "no state either"),
        ([["Succeeded"]], False, "a list is no state"),
        ([{"Succeeded": 1}], False, "an object is none"),
    ],
)
def test_only_what_was_done_is_a_change(states, is_change, why):
    found = [ROW | {"status": {"value": state}} for state in states]
    assert bool([*read_operations(found)]) is is_change, why


@pytest.mark.parametrize(
    "time",
    [
        "",
        "soon",
        7,
        None,
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "2026-13-01",
        "2026-03-01T00:00:00Z" * 99,
    ],
)
def test_a_row_without_a_time_is_none(time):
    assert [*read_operations([ROW | {"eventTimestamp": time}])] == []


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_text_in_any_cell_stays_short(text):
    claims = dict.fromkeys([*ROW["claims"], "xms_mirid", "idtyp"], text)
    found = [ROW | {"caller": text, "claims": claims, "operationName": {"value": f"{text}/write"}, "properties": text}]
    assert all(len(text) < LONGEST and "\n" not in text for text in list_texts(read_operations(found)))


@pytest.mark.parametrize(
    "operation", ["/" + "list" * 50_000 + "/action", "a" * 1_000_000, "/" * 300_000, "keys" * 99_999]
)
def test_a_long_operation_is_cut_before_it_is_looked_at(operation):
    """The patterns of operations would take minutes for it."""
    found = [ROW | {"operationName": {"value": operation}} for _ in range(200)]
    assert all(len(text) < LONGEST for text in list_texts(read_operations(found)))
    assert not is_key_action("a" * 200)


def test_policies_that_are_nested_deeply_are_none():
    effect = ROW | {
        "category": {"value": "Policy"},
        "operationName": {"value": "Microsoft.Authorization/policies/modify/action"},
        "properties": {"policies": "[" * 100_000},
    }
    (change,) = read_operations([effect])
    assert (change.said.author, change.said.name) == (AuthorKind.POLICY, "")


ANSWERS = [
    (Say(200, {"value": [7]}), "an entry that is no object"),
    (Say(200, {"value": {}}), "no list"),
    (Say(200, {}), "nothing"),
    (Say(200, {"value": [], "nextLink": "https://evil.example/"}), "a link to another host"),
    (Say(500, {"error": {"code": "x", "message": SECRET * 10_000}}), "a long error"),
]


@pytest.mark.parametrize(("say", "why"), ANSWERS, ids=[row[-1] for row in ANSWERS])
async def test_a_log_that_cannot_be_read_is_a_gap(say, why):
    async with rigged(access=anonymous) as rig:
        rig.server.on("GET", LOG, say)
        found = await read_log([ArmId(VAULT)], SINCE, SINCE + timedelta(days=1), make_checks(rig))
    assert found.changes == (), why
    assert found.gap
    assert len(found.gap) < LONGEST


GRAPH_ANSWERS = [
    {"data": {}},
    {"data": [], "$skipToken": 7},
    {"data": None},
    {},
    {"data": [], "$skipToken": "the same for ever"},
]


@pytest.mark.parametrize("body", GRAPH_ANSWERS, ids=map(str, GRAPH_ANSWERS))
async def test_a_graph_that_cannot_be_read_is_a_gap(body):
    async with rigged(access=anonymous) as rig:
        rig.server.on("POST", GRAPH, Say(200, body))
        found = await read_graph([ArmId(VAULT)], SINCE, make_checks(rig))
        assert len(rig.server.seen) <= 5
    assert (found.changes, bool(found.gap)) == ((), True)


async def test_a_row_of_another_resource_is_not_taken_for_this_one():
    async with rigged(access=anonymous) as rig:
        rig.server.on("POST", GRAPH, Say(200, {"data": [graph_row(VAULT + "2", 1, AMY, "tags")]}))
        found = await read_graph([ArmId(VAULT)], SINCE, make_checks(rig))
    assert {change.arm_id for change in found.changes} <= {VAULT.lower() + "2"}
