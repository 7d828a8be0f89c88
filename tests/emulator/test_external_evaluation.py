"""Policies that are evaluated outside Azure Resource Manager, as the emulator has them: refusals, tokens, waits."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import read_settings
from gitsync.errors import ConfigError
from tests.support.fake_clock import FakeClock

SUB = "/subscriptions/11111111-2222-3333-4444-555555555555"
GROUP = f"{SUB}/resourceGroups/rg"
VNET = f"{GROUP}/providers/Microsoft.Network/virtualNetworks/hub"
ACQUIRE = f"{SUB}/providers/Microsoft.Authorization/acquirePolicyToken"
HEADER = "x-ms-policy-external-evaluations"
BODY = {"location": "westus", "properties": {"addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}}}


def policy(effect: str = "deny", **external: Any) -> dict[str, Any]:
    return {
        "name": "window",
        "displayName": "Change window",
        "scope": SUB,
        "effect": effect,
        "message": "The window is closed.",
        "if": {"type": "Microsoft.Network/virtualNetworks"},
        "externalEvaluation": external,
    }


class Azure:
    def __init__(self, emulator: Emulator, session: aiohttp.ClientSession, clock: FakeClock) -> None:
        self.url, self.clock, self._session = emulator.url, clock, session

    async def send(
        self, method: str, path: str, body: Any = None, version: str = "2024-05-01", **headers: str
    ) -> tuple[int, Any, Any]:
        url = path if path.startswith("http") else f"{self.url}{path}?api-version={version}"
        async with self._session.request(method, url, json=body, headers=headers) as answer:
            return answer.status, await answer.json(content_type=None), answer.headers

    async def acquire(
        self, body: Any = BODY, method: str = "PUT", path: str = VNET, **more: Any
    ) -> tuple[int, Any, Any]:
        operation = {"uri": f"{self.url}{path}?api-version=2024-05-01", "httpMethod": method}
        operation |= {} if body is None else {"content": body}
        return await self.send("POST", ACQUIRE, {"operation": operation, **more}, "2025-03-01")


@asynccontextmanager
async def governed(folder: Path, *policies: dict[str, Any]) -> AsyncIterator[Azure]:
    file = folder / "settings.yaml"
    file.write_text(json.dumps({"settings": {"policies": policies, "operations": {"polls": 0}}}))
    clock = FakeClock()
    async with Emulator(read_settings(file), clock=clock) as emulator, aiohttp.ClientSession() as session:
        azure = Azure(emulator, session, clock)
        await azure.send("PUT", GROUP, {"location": "westus"}, "2021-04-01")
        yield azure


async def test_a_write_without_a_token_is_refused_and_one_with_it_is_done(tmp_path: Path):
    async with governed(tmp_path, policy()) as azure:
        status, refusal, _ = await azure.send("PUT", VNET, BODY)
        details = refusal["error"]["additionalInfo"][0]["info"]["evaluationDetails"]["missingPolicyTokenDetails"]
        assert (status, refusal["error"]["code"]) == (403, "RequestDisallowedByPolicy")
        assert (details["shouldDeny"], details["isChangeReferenceRequired"]) == (True, False)
        _, answer, _ = await azure.acquire(changeReference="a commit")
        assert (answer["result"], answer["changeReference"]) == ("Succeeded", "a commit")
        assert answer["results"][0]["policyAction"] == "Allow"
        status, *_ = await azure.send("PUT", VNET, BODY, **{HEADER: answer["token"]})
        assert status == 201


@pytest.mark.parametrize(
    ("method", "body", "why"),
    [
        ("PUT", {**BODY, "tags": {"env": "dev"}}, "another body"),
        ("PUT", dict(reversed(BODY.items())), "the same members in another order"),
        ("PATCH", BODY, "another method"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_token_is_for_one_write_only(tmp_path: Path, method: str, body: Any, why: str):
    async with governed(tmp_path, policy()) as azure:
        _, answer, _ = await azure.acquire()
        assert (await azure.send("PUT", VNET, BODY, **{HEADER: answer["token"]}))[0] == 201
        status, refusal, _ = await azure.send(method, VNET, body, **{HEADER: answer["token"]})
        assert (status, refusal["error"]["code"]) == (403, "RequestDisallowedByPolicy"), why


async def test_a_token_expires(tmp_path: Path):
    async with governed(tmp_path, policy(tokenSeconds=60)) as azure:
        _, answer, _ = await azure.acquire()
        await azure.clock.sleep(60)
        assert (await azure.send("PUT", VNET, BODY, **{HEADER: answer["token"]}))[0] == 403


@pytest.mark.parametrize(
    ("external", "result", "action", "message"),
    [
        ({"answer": "deny"}, "Succeeded", "Deny", "The window is closed."),
        ({"answer": "fail"}, "Failed", "Error", "The window is closed."),
        ({"changeReference": True}, "Failed", "Error", "The change reference is required."),
        ({"failures": 1}, "Failed", "Error", "The external endpoint is busy."),
    ],
    ids=["deny", "fail", "no reference", "busy"],
)
async def test_no_token_is_issued(tmp_path: Path, external: Any, result: str, action: str, message: str):
    async with governed(tmp_path, policy(**external)) as azure:
        status, answer, _ = await azure.acquire()
        assert (status, answer["result"], "token" in answer) == (200, result, False)
        assert (answer["results"][0]["policyAction"], answer["results"][0]["message"]) == (action, message)
        assert ("retryAfter" in answer) == ("failures" in external)


async def test_an_evaluation_may_take_some_polls(tmp_path: Path):
    async with governed(tmp_path, policy(polls=1)) as azure:
        status, _, headers = await azure.acquire()
        assert status == 202
        assert (await azure.send("GET", headers["Location"]))[0] == 202
        status, answer, _ = await azure.send("GET", headers["Location"])
        assert (status, answer["token"][:4]) == (200, "PoP ")


async def test_a_delete_needs_a_token_too(tmp_path: Path):
    async with governed(tmp_path, policy("denyAction")) as azure:
        assert (await azure.send("PUT", VNET, BODY))[0] == 201
        assert (await azure.send("DELETE", VNET))[0] == 403
        _, answer, _ = await azure.acquire(None, "DELETE")
        assert (await azure.send("DELETE", VNET, **{HEADER: answer["token"]}))[0] == 202


async def test_only_a_policy_that_denies_can_be_evaluated_outside(tmp_path: Path):
    with pytest.raises(ConfigError, match="audit has no 'externalEvaluation'"):
        async with governed(tmp_path, policy("audit")):
            pass
