"""A policy token is sent to Azure, and in no output of runs whose Azure repeats it in every spelling."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import pytest

from gitsync.emulator.governance.external_evaluation import ExternalEvaluation
from gitsync.emulator.governance.policies import Effect, EmulatedPolicy, PolicyCondition
from tests.leaks.hunting import Hunt, files, spellings
from tests.support.command_line import SUBSCRIPTION, azure, run_here
from tests.support.fault_rules import rules
from tests.support.git_repositories import commit_all, init_repository
from tests.support.world import GROUP, VNET

TOKEN = 'PoP issued"for/this+write&only-9f8e7d6c5b4a'
HUNT = Hunt(token=TOKEN)
ECHO = " and ".join(spellings(TOKEN).values())
POLICY = EmulatedPolicy(
    name="window",
    scope=f"/subscriptions/{SUBSCRIPTION}",
    effect=Effect.DENY,
    conditions=(PolicyCondition(types=("Microsoft.Network/virtualNetworks",)),),
    external=ExternalEvaluation(),
)


def make_rule(number: int, status: int, body: Any) -> str:
    match = {"method": "POST", "path": "*/acquirePolicyToken", "nth": number}
    headers = {"x-ms-request-id": TOKEN} if number > 1 else {}
    return json.dumps({"match": match, "answer": {"status": status, "headers": headers, "body": body}})


ISSUED = {"result": "Succeeded", "token": TOKEN, "message": ECHO, "claims": {"a": ECHO}}
ENDS = [
    ({"result": "Failed", "message": ECHO, "results": [{"result": "Failed", "message": ECHO}]}, 200, "a failure"),
    ({"error": {"code": "Broken", "message": ECHO, "details": [{"message": ECHO}]}}, 400, "an error"),
    ({"error": {"code": "AuthorizationFailed", "message": ECHO}}, 403, "a missing right"),
    (ISSUED, 200, "a token that is not accepted"),
]


@pytest.mark.parametrize(("body", "status", "why"), ENDS, ids=[row[-1] for row in ENDS])
def test_a_token_is_in_no_stream_and_no_file(tmp_path: Path, body: Any, status: int, why: str):
    repository = tmp_path / "repository"
    repository.mkdir()
    init_repository(repository)
    for name, text in (("group", GROUP), ("network", VNET)):
        (repository / f"{name}.yaml").write_text(textwrap.dedent(text))
    commit_all(repository)
    where = ("--status-dir", str(tmp_path / "status"))
    outputs = ("--report", str(tmp_path / "report"), "--metrics", str(tmp_path / "metrics.prom"))
    script = rules(make_rule(1, 200, ISSUED), make_rule(2, status, body), make_rule(3, 200, ISSUED))
    with azure(policies=(POLICY,), rules=script) as served:
        more = {**served.variables, "GITSYNC_LOG_LEVEL": "debug"}
        ended = [
            run_here("sync", str(repository), *where, *outputs, "--log-format", "json", folder=tmp_path, **more),
            run_here("status", str(repository), *where, "--output", "json", folder=tmp_path, **more),
        ]
        writes = [status for method, path, status in served.sent("PUT") if path.endswith("/hub")]
    assert ended[0].code == 1, ended[0].err
    assert set(writes) == {403}, why
    assert len(writes) >= 2, "the token was sent"
    streams = {f"{number} {name}": getattr(each, name) for number, each in enumerate(ended) for name in ("out", "err")}
    assert HUNT.everywhere(streams) == {}, why
    assert HUNT.everywhere(files(tmp_path, but=(repository,))) == {}, why
