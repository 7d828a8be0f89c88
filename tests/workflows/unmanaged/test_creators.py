"""When strays were created, and by which identity: what is requested for it, and what of the answers counts."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gitsync.model.arm_id import ArmId
from gitsync.workflows.unmanaged.creators import list_creators
from gitsync.workflows.unmanaged.unmanaged_search import Stray
from tests.agent.attribution.rows import (
    AMY,
    GRAPH,
    LOG,
    OUR_OBJECT,
    OURS,
    ROB,
    SUBNET,
    TERRAFORM,
    VAULT,
    graph_row,
    log_rows,
)
from tests.agent.checks.asking import make_checks
from tests.support.arm_rig import StaticCredential, anonymous, jwt, rigged
from tests.support.scripted_server import Say

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
CREATED = {"subStatus": {"value": "Created"}}
SYSTEM_DATA = {"createdBy": ROB, "createdByType": "User", "createdAt": "2019-05-01T08:00:00.123Z"}


def make_stray(arm_id=VAULT, created="", **body) -> Stray:
    return Stray(arm_id=ArmId(arm_id), arm_type="Microsoft.KeyVault/vaults", kind="Vault", body=body, created=created)


def graph_says(*rows) -> Say:
    return Say(200, {"totalRecords": 1, "count": 1, "resultTruncated": "false", "facets": [], "data": [*rows]})


def log_says(*rows) -> Say:
    return Say(200, {"value": [row for some in rows for row in some]})


async def send_request(stray, graph=(), log=(), *, reads_authors=True, credential=None):
    """Return author, name and time of one stray, the doubts, and the methods that were sent."""
    access = None if credential else anonymous
    async with rigged(access=access, credential=credential) as rig:
        rig.server.on("POST", GRAPH, graph if isinstance(graph, Say) else graph_says(*graph))
        rig.server.on("GET", LOG, log if isinstance(log, Say) else log_says(*log))
        creations, doubts = await list_creators([stray], make_checks(rig), NOW, reads_authors=reads_authors)
        author = creations[stray.arm_id]
        return (author.author.value, author.name, author.at[:16]), doubts, [sent.method for sent in rig.server.seen]


CASES = [
    (make_stray(systemData=SYSTEM_DATA), (), (), ("person", ROB, "2019-05-01T08:00"), [], "it says so itself"),
    (
        make_stray(systemData={**SYSTEM_DATA, "createdByType": "Application"}), (), (),
        ("person", ROB, "2019-05-01T08:00"), [], "a name that looks like one of a person counts as one",
    ),
    (
        make_stray(systemData={**SYSTEM_DATA, "createdBy": TERRAFORM, "createdByType": "ManagedIdentity"}), (), (),
        ("application", TERRAFORM, "2019-05-01T08:00"), [], "a managed identity is an application",
    ),
    (
        make_stray(created="2026-02-28T09:00:00Z"), [graph_row(VAULT, 5, AMY, kind="Create")], (),
        ("person", AMY, "2026-02-28T09:00"), ["POST"], "Azure's own time is better than that of the row",
    ),
    (
        make_stray(), [graph_row(VAULT, 5, AMY, "properties.sku")], [log_rows(VAULT, 3, ROB, **CREATED)],
        ("person", ROB, "2026-03-01T11:03"), ["POST", "GET"], "who changed it did not create it",
    ),
    (
        make_stray(SUBNET), (), [log_rows(SUBNET, 3, ROB, **CREATED), log_rows(SUBNET, 9, AMY, **CREATED)],
        ("person", AMY, "2026-03-01T11:09"), ["POST", "GET"], "it was deleted between them",
    ),
    (
        make_stray(), (), [log_rows(VAULT, 3, ROB)],
        ("unknown", "", ""), ["POST", "GET"], "a write that did not create it says nothing",
    ),
    (
        make_stray(created="2020-01-01T00:00:00Z"), (), [log_rows(VAULT, 3, ROB, **CREATED)],
        ("unknown", "", "2020-01-01T00:00"), ["POST"], "the log does not reach so far, so it is not asked",
    ),
    (
        make_stray(created="<script>", systemData=[1]), (), (),
        ("unknown", "", ""), ["POST", "GET"], "an odd time is none",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("stray", "graph", "log", "creation", "sent", "why"), CASES, ids=[case[-1] for case in CASES])
async def test_who_created_it(stray, graph, log, creation, sent, why):
    found, doubts, methods = await send_request(stray, graph, log)
    assert (found, methods) == (creation, sent), why
    assert doubts == ()


async def test_nothing_is_asked_with_who_off():
    found, _, methods = await send_request(make_stray(created="2026-02-28T09:00:00Z"), reads_authors=False)
    assert (found, methods) == (("unknown", "", "2026-02-28T09:00"), [])


@pytest.mark.parametrize("caller", [OURS, OUR_OBJECT], ids=["application id", "object id"])
async def test_what_gitsync_created_itself_is_named_so(caller):
    token = StaticCredential(jwt(tid="t", appid=OURS, oid=OUR_OBJECT))
    data = {**SYSTEM_DATA, "createdBy": caller, "createdByType": "Application"}
    found, _, _ = await send_request(make_stray(systemData=data), credential=token)
    assert found == ("gitsync", "", "2019-05-01T08:00")


async def test_a_refusal_is_a_doubt():
    refusal = {"error": {"code": "AuthorizationFailed", "message": "No."}}
    found, doubts, _ = await send_request(make_stray(), Say(403, refusal), Say(403, refusal))
    assert found == ("unknown", "", "")
    assert doubts == ("Azure returned 403 AuthorizationFailed.",)
