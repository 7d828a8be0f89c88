"""Whose operation each row of the activity log is: by recorded correlation ids, then by the caller."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gitsync.model.arm_id import ArmId
from gitsync.model.record import LastRun, LastWrite, Trust
from gitsync.workflows.audit.audit import audit
from tests.agent.attribution.rows import (
    AMY,
    LOG,
    OUR_OBJECT,
    OURS,
    ROB,
    SUBNET,
    TERRAFORM,
    VAULT,
    VNET,
    at,
    correlate,
    log_rows,
)
from tests.agent.checks.asking import make_checks
from tests.support.arm_rig import GROUP, StaticCredential, anonymous, jwt, rigged
from tests.support.builders import record, vnet
from tests.support.scripted_server import Say

SINCE = datetime(2026, 2, 22, 12, tzinfo=UTC)
TOKEN = StaticCredential(jwt(tid="t", appid=OURS, oid=OUR_OBJECT))
RUN = LastRun(
    command="sync",
    agent="",
    time=at(12),
    revision="b" * 40,
    exit_code=0,
    outcomes={},
    not_reached=(),
    sent=frozenset({correlate("sync 1")}),
    arm_ids=frozenset({ArmId(VNET)}),
    commit="c" * 40,
)
WRITE_SUBNET = {"action": "Microsoft.Network/virtualNetworks/subnets/write"}
DELETE_GROUP = {"action": "Microsoft.Resources/subscriptions/resourceGroups/delete"}
LIST_KEYS = {"action": "Microsoft.KeyVault/vaults/listKeys/action"}
RENEW = {"action": "Microsoft.KeyVault/vaults/regenerateKey/action"}
RESTART = {"action": "Microsoft.KeyVault/vaults/restart/action"}
POLICY_TOKEN = {"action": "Microsoft.Authorization/acquirePolicyToken/action"}
RELEASED = {"action": "Microsoft.KeyVault/vaults/delete"}


def log_says(*rows) -> Say:
    return Say(200, {"value": [row for some in rows for row in some]})


async def look(*rows, records=(), runs=(RUN,), ids=(VAULT, VNET), credential=TOKEN, answer=None, declared=()):
    """Audit a log that has these rows."""
    async with rigged(access=None if credential else anonymous, credential=credential) as rig:
        rig.server.on("GET", LOG, answer or log_says(*rows))
        return await audit(map(ArmId, ids), records, runs, SINCE, make_checks(rig), declared.__contains__)


def show(done):
    """Origin, verb and the revision of the run of each operation, and that of the run that undid it."""
    return [
        (
            operation.origin.value,
            operation.change.verb.name,
            operation.run.revision[:1] if operation.run else "",
            operation.undone is not None,
        )
        for operation in done.operations
    ]


CASES = [
    ([log_rows(VAULT, 5, OURS, operation="sync 1")], [("run", "WRITE", "b", False)], "a run has recorded its id"),
    ([log_rows(VAULT, 5, OURS)], [("ours", "WRITE", "", False)], "our application, and no run"),
    ([log_rows(VAULT, 5, OUR_OBJECT)], [("ours", "WRITE", "", False)], "our object id"),
    ([log_rows(VAULT, 5, ROB)], [("other", "WRITE", "", False)], "a person"),
    ([log_rows(VAULT, 5, TERRAFORM)], [("other", "WRITE", "", False)], "another application"),
    (
        [log_rows(VAULT, 5, TERRAFORM, operation="sync 1"), log_rows(VNET, 6, TERRAFORM)],
        [("ours", "WRITE", "", False), ("run", "WRITE", "b", False)],
        "the sync has another identity than the audit, which its recorded write tells",
    ),
    (
        [log_rows(VAULT, 5, ROB, operation="sync 1"), log_rows(VNET, 6, ROB)],
        [("other", "WRITE", "", False), ("run", "WRITE", "b", False)],
        "a person ran gitsync, and wrote by hand as well",
    ),
    ([log_rows(VAULT, 5, "", claims={})], [("unknown", "WRITE", "", False)], "Azure names no caller"),
    (
        [log_rows(VAULT, 5, ROB), log_rows(VAULT, 9, OURS, operation="sync 1")],
        [("run", "WRITE", "b", False), ("other", "WRITE", "", True)],
        "a run wrote over it",
    ),
    (
        [log_rows(VAULT, 5, ROB), log_rows(VNET, 9, OURS, operation="sync 1")],
        [("run", "WRITE", "b", False), ("other", "WRITE", "", False)],
        "a write of another resource undoes nothing",
    ),
    (
        [log_rows(VAULT, 5, ROB, **RELEASED), log_rows(VAULT, 9, OURS, operation="sync 1")],
        [("run", "WRITE", "b", False), ("other", "DELETE", "", True)],
        "created again",
    ),
    (
        [log_rows(VAULT, 5, ROB, **LIST_KEYS), log_rows(VAULT, 9, OURS, operation="sync 1")],
        [("run", "WRITE", "b", False), ("other", "KEYS", "", False)],
        "what somebody has read stays read",
    ),
    ([log_rows(VAULT, 5, ROB, **RENEW)], [("other", "ACTION", "", False)], "keys were renewed"),
    ([log_rows(VAULT, 5, ROB, **RESTART)], [], "a restart is neither a write nor a key action"),
    ([log_rows(VAULT, 5, ROB, **POLICY_TOKEN)], [], "a policy token opens nothing"),
    ([log_rows(VAULT, 5, ROB, "Failed")], [], "it was refused"),
    ([log_rows(SUBNET, 5, ROB, **WRITE_SUBNET)], [], "git does not have the subnet"),
    ([log_rows(GROUP, 5, ROB, **DELETE_GROUP)], [("other", "DELETE", "", False)], "it takes what is in it along"),
]


@pytest.mark.parametrize(("rows", "shown", "why"), CASES, ids=[case[-1] for case in CASES])
async def test_whose_it_was(rows, shown, why):
    assert show(await look(*rows)) == shown, why


@pytest.mark.parametrize(
    ("rows", "shown", "why"),
    [
        (
            [log_rows(SUBNET, 5, ROB, **WRITE_SUBNET)],
            [("other", "WRITE", "", False)],
            "the manifest of a parent has it",
        ),
        (
            [log_rows(SUBNET, 5, ROB, **WRITE_SUBNET), log_rows(VNET, 9, OURS, operation="sync 1")],
            [("run", "WRITE", "b", False), ("other", "WRITE", "", True)],
            "a write of the parent brings it back",
        ),
        (
            [log_rows(VNET, 5, ROB), log_rows(SUBNET, 9, OURS, operation="sync 1", **WRITE_SUBNET)],
            [("run", "WRITE", "b", False), ("other", "WRITE", "", False)],
            "a write of a part is none of the whole",
        ),
    ],
)
async def test_a_part_that_its_parent_declares_is_audited(rows, shown, why):
    done = await look(*rows, declared=(SUBNET.casefold(),))
    assert show(done) == shown, why
    part = next(operation.arm_id for operation in done.operations if operation.part_of)
    assert part == VNET + SUBNET.removeprefix(VNET).casefold(), "the parent is spelled as git does"


async def test_a_write_of_the_parent_brings_back_no_child_of_its_own():
    rows = [log_rows(SUBNET, 5, ROB, **WRITE_SUBNET), log_rows(VNET, 9, OURS, operation="sync 1")]
    done = await look(*rows, ids=(VNET, SUBNET), declared=(VNET.casefold(), SUBNET.casefold()))
    assert show(done) == [("run", "WRITE", "b", False), ("other", "WRITE", "", False)]


async def test_operations_on_other_resources_are_counted():
    done = await look(log_rows(SUBNET, 5, ROB, **WRITE_SUBNET))
    assert done.others == 1


async def test_a_resource_that_a_run_deleted_is_still_audited():
    done = await look(log_rows(VNET, 5, ROB), ids=(VAULT,))
    assert show(done) == [("other", "WRITE", "", False)]


@pytest.mark.parametrize(
    ("trust", "origin"), [(Trust.SIGNED, "run"), (Trust.ALTERED, "other")], ids=["a record", "one that was changed"]
)
async def test_a_record_tells_the_last_write_of_a_run_without_a_report(trust, origin):
    write = LastWrite(correlation_id=correlate("earlier"), at=at(3), revision="a" * 40)
    known = record(vnet(), VNET, last=write, trust=trust)
    done = await look(log_rows(VNET, 5, TERRAFORM, operation="earlier"), records=[known])
    assert [operation.origin.value for operation in done.operations] == [origin]


async def test_without_an_identity_an_application_may_be_gitsync():
    done = await look(log_rows(VAULT, 5, TERRAFORM), log_rows(VNET, 6, AMY), credential=None, runs=())
    assert [operation.origin.value for operation in done.operations] == ["other", "unknown"]


async def test_the_last_half_hour_is_open():
    done = await look(log_rows(VAULT, 29, ROB), log_rows(VAULT, 31, AMY))  # the clock is at 12:00
    assert [operation.is_open for operation in done.operations] == [True, False]


async def test_a_log_that_cannot_be_read_is_a_gap():
    refusal = Say(403, {"error": {"code": "AuthorizationFailed", "message": "No."}})
    done = await look(answer=refusal)
    assert (done.operations, len(done.gaps)) == ((), 1)
