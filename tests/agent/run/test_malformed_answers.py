"""One resource's unexpected answer is that resource's failure: the records of the others are written."""

from __future__ import annotations

import pytest

from gitsync.emulator.faults import Canned, FaultRule, Match
from tests.support.world import GROUP, VNET, World, of

OTHER = VNET.replace("hub", "other")


def deep(levels: int) -> dict:
    body: dict = {}
    for _ in range(levels):
        body = {"properties": body}
    return body


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Canned(status=200, body=deep(300)), "too deep"),
        (Canned(status=200, body={"id": 5, "name": [], "properties": 5, "etag": {}}), "members of other types"),
        (Canned(status=200, body={"properties": {"addressSpace": {"addressPrefixes": 10**90}}}), "a number"),
        (Canned(status=200, body={"properties": {"provisioningState": ["Succeeded"]}}), "a state that is a list"),
        (Canned(status=200, body={"properties": {"a": "\ud800"}}), "half of a surrogate pair"),
        (Canned(status=200, body={"properties": {"a": float("inf")}}), "an infinity"),
        (Canned(status=200, body={"properties": {"a": "\x00\x1b[2J\u2028"}}), "control characters"),
        (Canned(status=200, body=[]), "a list"),
        (Canned(status=400, body={"error": {"code": "Deep", "details": [deep(300)]}}), "a deep error"),
        (Canned(status=400, body={"error": {"code": {"a": 1}, "message": 5, "details": 5}}), "an odd error"),
        (Canned(status=503, headers={"Retry-After": "Sun, 01 Mar 2026 12:00:10 +99999999"}), "an odd date"),
        (Canned(status=429, headers={"Retry-After": "9" * 5000}), "an odd count of seconds"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_an_unexpected_answer_costs_the_others_nothing(tmp_path, method, answer, why):
    rule = FaultRule(match=Match(methods=(method,), path="*/virtualnetworks/hub"), answer=answer)
    world = World(tmp_path, rules=(rule,)).says(group=GROUP, hub=VNET, other=OTHER)
    report = world.sync(resource_timeout=60)
    assert [result.ending.fault for result in report.results if result.ending.fault] == [], why
    assert of(report, "VirtualNetwork", "other").is_fine, why
    for name in ("core", "other"):
        assert '"claim": "created"' in next(world.state.rglob(f"{name}.json")).read_text(), why
    assert next(world.state.rglob("hub.json")).exists()
