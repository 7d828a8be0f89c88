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


METHODS = ("GET", "PUT")
ANSWERS = [
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
]
THROTTLES = [
    (Canned(status=503, headers={"Retry-After": "Sun, 01 Mar 2026 12:00:10 +99999999"}), "an odd date"),
    (Canned(status=429, headers={"Retry-After": "9" * 5000}), "an odd count of seconds"),
]
"""Answers that the requests of other resources may wait for."""


@pytest.mark.parametrize(
    "rows",
    [
        [(method, answer, why) for method in METHODS for answer, why in ANSWERS],
        *[[(method, answer, why)] for method in METHODS for answer, why in THROTTLES],
    ],
    ids=["answers", *[f"{why}-{method}" for method in METHODS for _, why in THROTTLES]],
)
def test_an_unexpected_answer_costs_the_others_nothing(tmp_path, rows):
    """Each row has a network of its own, and there is one that gets no such answer."""
    names = {f"hub{number}": f"{why} of a {method}" for number, (method, _, why) in enumerate(rows)}
    rules = tuple(
        FaultRule(match=Match(methods=(method,), path=f"*/virtualnetworks/{name}"), answer=answer)
        for name, (method, answer, _) in zip(names, rows, strict=True)
    )
    networks = {name: VNET.replace("hub", name) for name in names}
    world = World(tmp_path, rules=rules).says(group=GROUP, other=OTHER, **networks)
    report = world.sync(resource_timeout=60)
    assert {names[r.key.name]: r.ending.fault for r in report.results if r.ending.fault} == {}
    assert of(report, "VirtualNetwork", "other").is_fine
    for name in ("core", "other"):
        assert '"claim": "created"' in next(world.state.rglob(f"{name}.json")).read_text()
    for name, why in names.items():
        assert next(world.state.rglob(f"{name}.json")).exists(), why
