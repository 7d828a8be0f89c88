"""Laws of attribution, over random changes by several people."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gitsync.agent.attribution.drift_authors import Drift, OwnWrites, find_authors
from gitsync.agent.attribution.resource_graph import PATH
from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import Key
from tests.agent.attribution.rows import AMY, ROB, SAM, VAULT, graph_row, log_rows

FIELDS = ("properties.sku.name", "tags.team", "tags.cost", "location")
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)

changes = st.tuples(st.sampled_from([ROB, AMY, SAM]), st.sets(st.sampled_from(FIELDS), max_size=3))
histories = st.lists(changes, max_size=8)
unexpected = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.sampled_from(["@", VAULT, "2026-03-01", "System"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


class Answers:
    """What both sources answer, without a server: a law is tried with many."""

    def __init__(self, graph: Any, log: Any) -> None:
        self._graph, self._log = graph, log

    async def find_principal(self) -> None:
        return None

    async def send(self, path: str, _version: str, _body: Any) -> Any:
        assert path == PATH
        return {"data": self._graph}

    async def list(self, _path: str, _version: str, _query: Any, *, most: int) -> Any:
        return self._log[:most]


def find(graph, log, **more):
    drifted = Drift(key=Key("g", "K", "default", "a"), arm_id=ArmId(VAULT), requests=Answers(graph, log), **more)
    return asyncio.run(find_authors([drifted], OwnWrites(), NOW))[drifted.key]


def pointer(field: str) -> str:
    return "/" + field.replace(".", "/")


@given(histories, st.sets(st.sampled_from(FIELDS), min_size=1))
def test_each_path_is_of_the_last_person_who_changed_it_and_no_one_else_is_named(history, differing):
    rows = [graph_row(VAULT, minute, by, *fields) for minute, (by, fields) in enumerate(history) if fields]
    found = find(rows, [], paths=tuple(sorted(map(pointer, differing))))
    last = {field: by for by, fields in history for field in sorted(fields)}
    expected = {pointer(field): last[field] for field in differing if field in last}
    assert {path: attribution.name for attribution in found for path in attribution.paths} == expected
    assert [attribution.at for attribution in found] == sorted((attribution.at for attribution in found), reverse=True)
    assert all(bool(author.doubt) is not bool(author.paths) for author in found)


@given(histories)
def test_neither_the_order_of_rows_nor_the_source_decides_who_is_named(history):
    rows = [graph_row(VAULT, minute, by, "tags.team") for minute, (by, _) in enumerate(history)]
    logged = [row for minute, (by, _) in enumerate(history) for row in log_rows(VAULT, minute, by)]
    by_graph = find(rows[::-1], [], paths=("/tags/team",))
    assert by_graph == find(rows, [], paths=("/tags/team",))
    by_log = find([], logged, paths=("/tags/team",))
    assert by_log == find([], logged[::-1], paths=("/tags/team",))
    assert (by_graph[0].name, by_graph[0].at) == (by_log[0].name, by_log[0].at)


@given(
    st.lists(st.dictionaries(st.sampled_from([*graph_row(VAULT, 1), *log_rows(VAULT, 1)[0]]), unexpected), max_size=4),
    unexpected,
)
def test_unexpected_rows_fail_nothing(rows, cell):
    graph = [*rows, graph_row(VAULT, 1) | {"attrs": cell, "changes": cell}]
    log = [*rows, log_rows(VAULT, 1)[0] | {"claims": cell, "caller": cell, "properties": cell, "status": cell}]
    for is_missing in (False, True):
        assert find(graph, log, paths=("/tags/team",), is_missing=is_missing)
