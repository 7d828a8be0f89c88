"""Whole runs against policies that are evaluated outside Azure Resource Manager."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gitsync.emulator.settings import read_settings
from gitsync.model.check import CheckName, CheckVerdict
from gitsync.model.result import Outcome, Result
from gitsync.report.json import render
from tests.support.world import GROUP, SUBSCRIPTION, VNET, VNET_ID, World, of

ACQUIRE = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Authorization/acquirePolicyToken"
ALL = tuple(name.value for name in CheckName)


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    world.synced(group=GROUP)
    return world.says(group=GROUP, network=VNET)


def govern(world: World, *, effect: str = "deny", rules: Any = (), **external: Any) -> World:
    """Set the one policy of the emulator, as its settings file does."""
    return set_policies(world, [make_policy(effect, **external)], rules)


def make_policy(effect: str = "deny", name: str = "window", **external: Any) -> dict[str, Any]:
    return {
        "name": name,
        "displayName": "Change window",
        "scope": f"/subscriptions/{SUBSCRIPTION}",
        "effect": effect,
        "if": {"type": "Microsoft.Network/virtualNetworks"},
        "externalEvaluation": {name: value for name, value in external.items() if name != "message"},
        "message": external.get("message", "The window is closed."),
    }


def set_policies(world: World, policies: Sequence[Mapping[str, Any]], rules: Any = ()) -> World:
    file = world.folder.parent / "settings.yaml"
    file.write_text(json.dumps({"settings": {"policies": policies}, "rules": list(rules)}))
    world.settings = replace(read_settings(file), limits=None)
    return world


def list_answers(world: World, method: str = "PUT", path: str = VNET_ID) -> list[int]:
    """The statuses of the writes of a network, in order."""
    return [request.status for request in world.requests if (request.method, request.path) == (method, path)]


def count_taken(world: World, path: str = VNET_ID) -> int:
    return sum(200 <= status < 300 for status in list_answers(world, path=path))


def canned(status: int, body: Any = None, times: int = 1, **headers: str) -> dict[str, Any]:
    answer: dict[str, Any] = {"status": status, "headers": headers}
    if body is not None:
        answer["body"] = body
    match = {"method": "POST", "path": ACQUIRE, "times": times}
    return {"match": match, "answer": answer}


BOGUS = {"result": "Succeeded", "token": "PoP a-token-that-azure-does-not-know"}
FORBIDDEN = {"error": {"code": "AuthorizationFailed", "message": "The client has no right."}}


class Outcomes(NamedTuple):
    """What becomes of the write of a network, and the requests for its token."""

    reason: str  # "" if it is written
    says: str
    statuses: list[int]  # of its writes
    requested: int  # times


ANSWERS = [
    ({}, Outcomes("", "", [403, 201], 1), "allow"),
    ({"polls": 3}, Outcomes("", "", [403, 201], 1), "a wait"),
    ({"failures": 2, "retryAfter": 20}, Outcomes("", "", [403, 201], 3), "a failure that passes"),
    ({"changeReference": True}, Outcomes("", "", [403, 201], 1), "the reference of the change"),
    (
        {"tokenSeconds": 0},
        Outcomes(
            "RequestDisallowedByPolicy",
            "issued 2 policy tokens for the write, and accepted neither",
            [403, 403, 403],
            2,
        ),
        "tokens that always have expired",
    ),
    (
        {"answer": "deny"},
        Outcomes(
            "RequestDisallowedByPolicy",
            'The policy assignment "Change window" does not allow it: The window is closed.',
            [403],
            1,
        ),
        "deny",
    ),
    (
        {"answer": "fail"},
        Outcomes("RequestDisallowedByPolicy", "does not allow it", [403], 1),
        "an endpoint that fails",
    ),
    (
        {"failures": 9, "retryAfter": 99999},
        Outcomes("DeadlineExceeded", "evaluates it again at", [403], 1),
        "a long wait",
    ),
]
"""What the endpoint of a policy answers, with the outcome, and why."""
INSTEAD = [
    (canned(200, BOGUS), Outcomes("", "", [403, 403, 201], 2), "a token that expired"),
    (canned(503), Outcomes("", "", [403, 201], 2), "an outage"),
    (
        canned(403, FORBIDDEN),
        Outcomes("AuthorizationFailed", "Azure issued no policy token", [403], 1),
        "a missing right",
    ),
    (
        canned(200, "a page"),
        Outcomes("RequestDisallowedByPolicy", "gives no reason", [403], 1),
        "a malformed answer",
    ),
]
"""What Azure answers to the first request for a token, likewise."""


def check_outcome(world: World, network: Result, outcomes: Outcomes, why: str) -> None:
    path = str(network.arm_id)
    tokens = [request.body["operation"]["uri"] for request in world.requests if request.path == ACQUIRE]
    assert list_answers(world, path=path) == outcomes.statuses, why
    assert len([uri for uri in tokens if f"{path}?" in uri]) == outcomes.requested, why
    if not outcomes.reason:
        assert network.outcome is Outcome.CHANGED, why
        assert 403 not in {attempt.status for attempt in network.attempts}, f"what Azure demanded is no failure: {why}"
    else:
        assert (network.condition.reason, network.condition.is_ready) == (outcomes.reason, False), why
        assert outcomes.says in network.condition.message, why
    assert count_taken(world, path) == (0 if outcomes.reason else 1), f"no write that Azure took is sent twice: {why}"


def test_each_answer_of_the_endpoint_has_its_outcome(tmp_path: Path):
    """Each row has a network and a policy of its own."""
    names = [f"hub{row}" for row in range(len(ANSWERS))]
    policies = []
    for name, (external, _, _) in zip(names, ANSWERS, strict=True):
        policy = make_policy(name=f"window-{name}", **external)
        policies.append({**policy, "if": {**policy["if"], "field": "name", "equals": name}})
    world = World(tmp_path)
    world.synced(group=GROUP)
    world.says(group=GROUP, **{name: VNET.replace("name: hub", f"name: {name}") for name in names})
    report = set_policies(world, policies).sync()
    for name, (_, outcomes, why) in zip(names, ANSWERS, strict=True):
        check_outcome(world, of(report, "VirtualNetwork", name), outcomes, why)
    again = world.sync()
    for name, (_, outcomes, why) in zip(names, ANSWERS, strict=True):
        network = of(again, "VirtualNetwork", name)
        if not outcomes.reason:
            assert count_taken(world, str(network.arm_id)) == 0, f"the next run has nothing to do: {why}"


@pytest.mark.parametrize(("rule", "outcomes", "why"), INSTEAD, ids=[row[-1] for row in INSTEAD])
def test_each_answer_instead_of_a_token_has_its_outcome(world: World, rule: Any, outcomes: Outcomes, why: str):
    report = govern(world, rules=[rule]).sync()
    check_outcome(world, of(report, "VirtualNetwork"), outcomes, why)
    assert (report.exit_code == 0) is (not outcomes.reason), why
    if not outcomes.reason:
        world.sync()
        assert count_taken(world) == 0, "the next run has nothing to do"


def test_a_plan_requests_no_token(world: World):
    report = govern(world, answer="deny").plan(checks=ALL)
    [finding] = [f for f in of(report, "VirtualNetwork").change.checks if f.verdict is CheckVerdict.WARNING]
    assert (finding.code, finding.check) == ("PolicyTokenNeeded", CheckName.PREFLIGHT)
    assert ACQUIRE not in world.sent("POST")
    assert world.writes == []


def test_the_checks_of_a_sync_hold_no_write_that_needs_a_token(world: World):
    report = govern(world).sync(checks=ALL)
    assert of(report, "VirtualNetwork").outcome is Outcome.CHANGED
    assert list_answers(world) == [403, 201]


def test_a_delete_has_its_token_too(world: World):
    world.sync()
    report = govern(world.says(group=GROUP), effect="denyAction").sync(prune=True)
    assert report.exit_code == 0
    assert list_answers(world, "DELETE") == [403, 202]
    body = next(request.body for request in world.requests if request.path == ACQUIRE)
    assert body["operation"].keys() == {"uri", "httpMethod"}


def test_a_delete_that_is_denied_stays_for_the_next_run(world: World):
    world.sync()
    govern(world.says(group=GROUP), effect="denyAction", answer="deny")
    report = world.sync(prune=True)
    network = of(report, "VirtualNetwork")
    assert (report.exit_code, network.condition.reason) == (1, "RequestDisallowedByPolicy")
    assert "The window is closed." in network.condition.message
    assert govern(world, effect="denyAction").sync(prune=True).exit_code == 0


def test_the_change_is_the_commit_and_in_a_pipeline_the_page_of_the_job(world: World, monkeypatch: pytest.MonkeyPatch):
    govern(world)
    commit = world.git("rev-parse", "HEAD")
    world.sync()
    assert _read_reference(world) == commit
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://github.com")
    monkeypatch.setenv("GITHUB_REPOSITORY", "contoso/estate")
    monkeypatch.setenv("GITHUB_RUN_ID", "7")
    world.says(group=GROUP, network=VNET.replace("10.0.0.0/16", "10.0.0.0/15")).sync()
    commit = world.git("rev-parse", "HEAD")
    assert _read_reference(world) == f"{commit} https://github.com/contoso/estate/actions/runs/7"


def test_files_that_are_not_those_of_a_commit_have_no_reference(world: World):
    govern(world, changeReference=True)
    (world.folder / "network.yaml").write_text(textwrap.dedent(VNET).replace("10.0.0.0/16", "10.0.0.0/15"))
    report = world.sync(allow_dirty=True)
    network = of(report, "VirtualNetwork")
    assert "needs the reference of a change" in network.condition.message
    assert network.condition.advice == "Sync a commit of a git repository."
    assert ACQUIRE not in world.sent("POST")


def test_a_missing_right_is_named(world: World):
    report = govern(world, rules=[canned(403, FORBIDDEN)]).sync()
    condition = of(report, "VirtualNetwork").condition
    assert condition.advice == (
        "Grant Microsoft.Authorization/acquirePolicyToken/action on "
        f"/subscriptions/{SUBSCRIPTION} to gitsync's identity."
    )


def test_the_token_is_in_no_report(world: World):
    report = govern(world, tokenSeconds=0).sync()
    assert "PoP" not in render(report)
    assert all("PoP" not in file.read_text() for file in world.state.rglob("*") if file.is_file())


def _read_reference(world: World) -> str:
    return next(request.body["changeReference"] for request in world.requests if request.path == ACQUIRE)
