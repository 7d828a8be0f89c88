"""Long-running operations over a real socket, in every style that Azure has: to their end, by the right requests."""

import pytest

from gitsync.errors import ArmError
from gitsync.model.live import Live
from gitsync.model.report import RequestCounts
from gitsync.model.result import Stage
from gitsync.model.secret import Secret
from tests.support.arm_rig import API, OPERATION, SUBSCRIPTION, VNET, Rig, StaticCredential, moving, rigged
from tests.support.scripted_server import BREAK, Say

ASYNC = {"Azure-AsyncOperation": f"{{url}}{OPERATION}?api-version={API}&t=signed"}
LOCATION = {"Location": f"{{url}}{OPERATION}?api-version={API}"}
RUNNING = Say(200, {"status": "InProgress"})
DONE = Say(200, {"status": "Succeeded"})
POLL = f"GET {OPERATION}"
LOOK = f"GET {VNET}"


def failed(code: str = "OutOfAddresses", message: str = "none left") -> Say:
    return Say(200, {"status": "Failed", "error": {"code": code, "message": message}}, {"x-ms-request-id": "op-1"})


async def put(rig: Rig, body: dict | None = None) -> bool:
    reply = await rig.writer.put(VNET, API, body or {"location": "westus"})
    rig.session.stage = Stage.POLL
    return await rig.writer.wait(reply)


@pytest.mark.parametrize(
    ("answer", "polls", "requested", "why"),
    [
        (Say(200, moving("Succeeded")), [], [], "a terminal state in the answer is the end"),
        (Say(201, moving("Succeeded"), ASYNC), [], [], "whatever the headers offer (network answers so)"),
        (Say(200, {"id": VNET, "properties": {}}), [], [], "no state, no header: done"),
        (Say(201, moving("Creating"), ASYNC), [RUNNING, DONE], [POLL, POLL], "201 with Azure-AsyncOperation"),
        (
            Say(201, moving("Creating"), {"Operation-Location": ASYNC["Azure-AsyncOperation"]}),
            [RUNNING, DONE],
            [POLL, POLL],
            "Operation-Location is the same by another name",
        ),
        (Say(202, None, LOCATION), [Say(202), Say(200, moving("Succeeded"))], [POLL, POLL], "202 with Location"),
        (
            Say(202, None, LOCATION),
            [Say(200, moving("Updating")), Say(200, moving("Succeeded"))],
            [POLL, POLL],
            "200 at the Location, but the resource in it still moves",
        ),
        (
            Say(200, moving("Ready"), ASYNC),
            [RUNNING, DONE],
            [POLL, POLL],
            "a state of no contract: the operation decides",
        ),
        (Say(200, moving("Ready")), [], [], "a state of no contract, and nothing to poll: the read after it decides"),
        (Say(202, None, LOCATION), [Say(200, moving("Ready"))], [POLL], "the same at the Location"),
        (Say(202, None, LOCATION | ASYNC), [DONE], [POLL], "with both, the operation's status is read"),
        (Say(202, None, LOCATION), [Say(204)], [POLL], "an empty final answer"),
        (
            Say(201, {"id": VNET}, {"Azure-AsyncOperation": f"{{url}}{VNET}?api-version={API}&asyncId=1"}),
            [],
            [LOOK],
            "an operation that differs from its resource by the query alone (API Management)",
        ),
    ],
)
async def test_an_operation_is_followed_to_its_end(
    rig: Rig, answer: Say, polls: list[Say], requested: list[str], why: str
):
    rig.server.on("PUT", VNET, answer)
    rig.server.on("GET", OPERATION, *polls)
    rig.server.on("GET", VNET, DONE)
    assert await put(rig) is True, why
    assert rig.server.lines[1:] == requested
    assert rig.arm.requests == RequestCounts(writes=1, polls=len(requested))


@pytest.mark.parametrize(
    ("answer", "looks", "why"),
    [
        (Say(200, moving("Updating")), ["Updating", "Succeeded"], "the body alone tells that it is not done"),
        (Say(201, moving("PreparingVMDisk")), ["Creating", "Succeeded"], "odd words mean running"),
        (Say(202), ["Creating", None], "202 without any header; no state means Succeeded"),
        (
            Say(201, moving("Creating"), {"Location": f"{{url}}{VNET.lower()}?api-version=other"}),
            ["Succeeded"],
            "a Location that is the resource itself",
        ),
        (
            Say(201, moving("Creating"), {"Azure-AsyncOperation": "http://127.0.0.1:1/steal"}),
            ["Succeeded"],
            "an operation on another port is not followed",
        ),
        (
            Say(202, None, {"Azure-AsyncOperation": "https://management.azure.com.evil.example/x"}),
            ["Succeeded"],
            "nor on a host that looks like ours",
        ),
        (Say(202, None, {"Location": "http://user@127.0.0.1/x"}), ["Succeeded"], "nor with somebody's name in it"),
        (Say(201, {"id": VNET}, {"Location": "https://[bad/"}), ["Succeeded"], "nor what is no URL"),
        (
            Say(201, {"id": VNET}, {"Location": "https://elsewhere.example/x"}),
            ["Succeeded"],
            "nor a Location elsewhere",
        ),
    ],
)
async def test_the_resource_is_polled_where_no_operation_may_be(answer: Say, looks: list[str | None], why: str):
    async with rigged(credential=StaticCredential()) as rig:
        rig.server.on("PUT", VNET, answer)
        rig.server.on("GET", VNET, *(Say(200, moving(state) if state else {"id": VNET}) for state in looks))
        assert await put(rig) is True, why
        assert rig.server.lines[1:] == [LOOK] * len(looks)
        assert all(seen.query == f"api-version={API}" for seen in rig.server.seen)


async def test_another_place_of_ours_is_taken_where_the_first_leads_elsewhere(rig: Rig):
    elsewhere = {"Azure-AsyncOperation": "https://elsewhere.example/op"}
    rig.server.on("PUT", VNET, Say(202, None, elsewhere | LOCATION))
    rig.server.on("GET", OPERATION, Say(200, moving("Succeeded")))
    assert await put(rig) is True
    assert rig.server.lines[1:] == [POLL]


async def test_created_with_a_location_to_itself_and_no_state_is_done(rig: Rig):
    where = {"Location": VNET.replace("resourceGroups", "resourcegroups") + f"?api-version={API}"}
    rig.server.on("PUT", VNET, Say(201, {"id": VNET, "properties": {"clientId": "x"}}, where))
    assert await put(rig) is True
    assert len(rig.server.seen) == 1


@pytest.mark.parametrize(
    ("relative", "why"),
    [(OPERATION, "from the root"), ("../operations/x", "from the request's own URL")],
)
async def test_a_relative_poll_url_resolves_against_the_request(rig: Rig, relative: str, why: str):
    rig.server.on("PUT", VNET, Say(202, None, {"Azure-AsyncOperation": relative}))
    rig.server.on("GET", OPERATION, DONE)
    rig.server.on("GET", VNET.rsplit("/", 2)[0] + "/operations/x", DONE)
    assert await put(rig) is True, why
    assert len(rig.server.seen) == 2


async def test_an_operation_may_move(rig: Rig):
    moved = f"/subscriptions/{SUBSCRIPTION}/moved"
    rig.server.on("PUT", VNET, Say(202, None, ASYNC))
    rig.server.on("GET", OPERATION, Say(200, {"status": "Running"}, {"Azure-AsyncOperation": f"{{url}}{moved}?x=1"}))
    rig.server.on("GET", moved, DONE)
    assert await put(rig) is True
    assert rig.server.lines[1:] == [POLL, f"GET {moved}"]


@pytest.mark.parametrize(
    ("answer", "polls", "status", "code", "why"),
    [
        (Say(201, moving("Creating"), ASYNC), [RUNNING, failed()], 200, "OutOfAddresses", "the operation's own error"),
        (
            Say(202, None, ASYNC),
            [Say(200, {"status": "Canceled"})],
            200,
            "UnknownError",
            "canceled, without a reason",
        ),
        (
            Say(202, None, LOCATION),
            [Say(200, moving("Failed", error={"code": "X", "message": "y"}))],
            200,
            "X",
            "the final answer shows a failed resource",
        ),
        (
            Say(202, None, LOCATION),
            [Say(202, {"status": "Failed", "error": {"code": "X", "message": "y"}})],
            200 + 2,
            "X",
            "a status where a Location was polled",
        ),
        (Say(200, moving("Failed")), [], 200, "UnknownError", "a PUT answer whose state is Failed is a failure"),
        (Say(201, moving("Canceled"), ASYNC), [], 201, "UnknownError", "so is one that was canceled"),
    ],
)
async def test_a_failed_operation_is_an_error(
    rig: Rig, answer: Say, polls: list[Say], status: int, code: str, why: str
):
    rig.server.on("PUT", VNET, answer)
    rig.server.on("GET", OPERATION, *polls)
    with pytest.raises(ArmError) as caught:
        await put(rig)
    found = caught.value
    assert (found.status, found.code) == (status, code), why
    assert not found.outcome_unknown
    assert (found.method, found.resource_id) == ("PUT", VNET)
    last = rig.session.failures[-1]
    assert (last.stage, last.status, last.code, last.message) == (Stage.POLL, status, code, found.message)


async def test_a_failure_tells_the_operations_words_and_not_what_we_sent(rig: Rig):
    rig.server.on("PUT", VNET, Say(202, None, ASYNC))
    rig.server.on("GET", OPERATION, failed("PasswordNotComplex", "hunter2 is too short"))
    with pytest.raises(ArmError) as caught:
        await put(rig, {"properties": {"password": Secret("hunter2")}})
    assert caught.value.message == "<secret> is too short"
    assert caught.value.request_id == "op-1"
    assert "hunter2" not in repr(rig.session)


async def test_a_resource_that_failed_without_a_word_says_so(rig: Rig):
    rig.server.on("PUT", VNET, Say(202))
    rig.server.on("GET", VNET, Say(200, moving("Failed")))
    with pytest.raises(ArmError) as caught:
        await put(rig)
    assert caught.value.message == "There was an unknown deployment error"
    assert "only the provisioningState Failed" in caught.value.hint


async def test_an_error_beside_a_running_status_is_not_the_end(rig: Rig):
    worry = {"status": "InProgress", "error": {"code": "NotLatestOperation", "message": "slow"}}
    rig.server.on("PUT", VNET, Say(202, None, ASYNC))
    rig.server.on("GET", OPERATION, Say(200, worry), DONE)
    assert await put(rig) is True


@pytest.mark.parametrize(
    ("trouble", "why"),
    [
        (Say(404, {"error": {"code": "NotFound", "message": "operation expired"}}), "the operation is forgotten"),
        (Say(403, {"error": {"code": "AuthorizationFailed", "message": "no"}}), "it may not be read"),
        (Say(400, {"error": {"code": "BadRequest", "message": "no"}}), "it cannot be read"),
        (Say(302, None, {"Location": "http://127.0.0.1:1/"}), "a redirect is not followed"),
        (Say(200, {"name": "no status"}), "an answer without a status"),
        (Say(204), "an empty answer"),
    ],
)
async def test_an_operation_that_cannot_be_read_has_not_failed(rig: Rig, trouble: Say, why: str):
    rig.server.on("PUT", VNET, Say(202, None, ASYNC))
    rig.server.on("GET", OPERATION, trouble)
    rig.server.on("GET", VNET, Say(200, moving("Updating")), Say(200, moving("Succeeded")))
    assert await put(rig) is True, why
    assert rig.server.lines[1:] == [POLL, LOOK, LOOK], "and once it could not be read, it is left alone"


@pytest.mark.parametrize(
    "trouble", [Say(429, None, {"Retry-After": "9"}), Say(500), Say(503), Say(408), Say(fault=BREAK)]
)
async def test_polling_goes_on_where_a_poll_fails_for_now(rig: Rig, trouble: Say):
    rig.server.on("PUT", VNET, Say(202, None, ASYNC))
    rig.server.on("GET", OPERATION, RUNNING, trouble, trouble, DONE)
    assert await put(rig) is True
    assert rig.server.lines[1:] == [POLL] * 4
    assert len(rig.session.failures) == 2
    assert rig.arm.requests.throttled == (2 if trouble.status == 429 else 0)
    assert len(rig.session.list_failures()) == 2 - rig.arm.requests.throttled


async def test_retry_after_is_honoured_from_the_first_answer_on(rig: Rig):
    rig.server.on("PUT", VNET, Say(202, None, ASYNC | {"Retry-After": "15"}))
    rig.server.on(
        "GET",
        OPERATION,
        Say(200, {"status": "Accepted"}, {"Retry-After": "Sun, 01 Mar 2026 12:00:45 GMT"}),
        Say(200, {"status": "Accepted"}, {"Retry-After": "0"}),
        DONE,
    )
    assert await put(rig) is True
    assert rig.clock.slept == [15, 30, 4], "0 is no answer to how long: then the interval applies"


async def test_the_interval_doubles_from_a_second_to_a_minute(rig: Rig):
    rig.server.on("PUT", VNET, Say(202, None, ASYNC))
    rig.server.on("GET", OPERATION, *[RUNNING] * 8, DONE)
    assert await put(rig) is True
    assert rig.clock.slept == [1, 2, 4, 8, 16, 32, 60, 60, 60]


async def test_waiting_ends_at_the_deadline():
    async with rigged(seconds=10) as rig:
        rig.server.on("PUT", VNET, Say(202, None, ASYNC))
        rig.server.on("GET", OPERATION, RUNNING)
        assert await put(rig) is False
        assert rig.clock.slept == [1, 2, 4, 2], "the last look is a second before the end"
        assert rig.server.lines[1:] == [POLL] * 4


async def test_a_retry_after_beyond_the_deadline_ends_the_waiting_at_once():
    async with rigged(seconds=10) as rig:
        rig.server.on("PUT", VNET, Say(202, None, ASYNC | {"Retry-After": "600"}))
        assert await put(rig) is False
        assert rig.clock.elapsed == 0
        assert len(rig.server.seen) == 1


async def test_waiting_ends_where_another_node_is_told_to_hold_back_past_the_deadline(rig: Rig):
    rig.server.on("PUT", VNET, Say(202, None, ASYNC))
    rig.server.on("GET", "/subscriptions/" + SUBSCRIPTION, Say(429, None, {"Retry-After": "3600"}))
    reply = await rig.writer.put(VNET, API, {})
    with pytest.raises(ArmError):
        await rig.arm.reader(rig.talk()).get("/subscriptions/" + SUBSCRIPTION, API)
    assert await rig.writer.wait(reply) is False
    live = Live(body=moving("Updating"))
    assert await rig.reader.settle(VNET, API, live) is live
    assert len(rig.server.seen) == 2


async def test_a_resource_that_may_not_be_read_either_is_an_error(rig: Rig):
    denied = Say(403, {"error": {"code": "AuthorizationFailed", "message": "no"}})
    rig.server.on("PUT", VNET, Say(202, None, ASYNC))
    rig.server.on("GET", OPERATION, denied)
    rig.server.on("GET", VNET, denied)
    with pytest.raises(ArmError) as caught:
        await put(rig)
    assert caught.value.code == "AuthorizationFailed"
    assert len(rig.session.failures) == 2


async def test_a_deadline_that_is_brought_forward_is_kept(rig: Rig):
    rig.server.on("PUT", VNET, Say(202, None, ASYNC))
    rig.server.on("GET", OPERATION, RUNNING)
    reply = await rig.writer.put(VNET, API, {})
    rig.session.deadline = rig.clock.monotonic()
    assert await rig.writer.wait(reply) is False
    assert len(rig.server.seen) == 1


async def test_a_create_that_is_not_visible_yet_is_waited_for(rig: Rig):
    rig.server.on("PUT", VNET, Say(202))
    rig.server.on("GET", VNET, Say(404, {}), Say(404, {}), Say(200, moving("Succeeded")))
    assert await put(rig) is True


async def test_a_create_that_vanishes_again_has_failed(rig: Rig):
    gone = {"error": {"code": "ResourceNotFound", "message": "rolled back"}}
    rig.server.on("PUT", VNET, Say(202))
    rig.server.on("GET", VNET, Say(200, moving("Creating")), Say(404, gone))
    with pytest.raises(ArmError) as caught:
        await put(rig)
    assert (caught.value.status, caught.value.code) == (404, "ResourceNotFound")


@pytest.mark.parametrize(
    ("answer", "polls", "looks", "why"),
    [
        (Say(200), [], [], "200 is done"),
        (Say(204), [], [], "so is 204"),
        (Say(202, None, ASYNC), [Say(200, {"status": "Deleting"}), DONE], [], "the operation says so"),
        (Say(202, None, LOCATION), [Say(202), Say(200)], [], "an empty 200 at the Location"),
        (Say(202, None, LOCATION), [Say(404, {})], [Say(404, {})], "the Location is gone, and so is the resource"),
        (
            Say(202),
            [],
            [Say(200, moving("Deleting")), Say(200, moving("Succeeded")), Say(404, {})],
            "no header: the resource goes, or it is not done",
        ),
    ],
)
async def test_a_delete_is_followed_to_its_end(rig: Rig, answer: Say, polls: list[Say], looks: list[Say], why: str):
    rig.server.on("DELETE", VNET, answer)
    rig.server.on("GET", OPERATION, *polls)
    rig.server.on("GET", VNET, *looks)
    assert await rig.writer.wait(await rig.writer.delete(VNET, API)) is True, why
    assert rig.server.lines[1:] == [POLL] * len(polls) + [LOOK] * len(looks)


async def test_a_delete_that_fails_is_an_error(rig: Rig):
    rig.server.on("DELETE", VNET, Say(202, None, ASYNC))
    rig.server.on("GET", OPERATION, failed("InUse", "a nic hangs on it"))
    with pytest.raises(ArmError) as caught:
        await rig.writer.wait(await rig.writer.delete(VNET, API))
    assert (caught.value.code, caught.value.method) == ("InUse", "DELETE")


async def test_an_action_is_followed_and_has_no_resource_to_fall_back_to(rig: Rig):
    action = f"{VNET}/start"
    rig.server.on("POST", action, Say(202, None, ASYNC), Say(202, None, LOCATION), Say(202))
    rig.server.on("GET", OPERATION, DONE, Say(404, {}))
    assert await rig.writer.wait(await rig.writer.post(action, API)) is True
    with pytest.raises(ArmError) as caught:
        await rig.writer.wait(await rig.writer.post(action, API))
    assert caught.value.outcome_unknown
    assert await rig.writer.wait(await rig.writer.post(action, API)) is True, "nothing offered, nothing to wait for"


async def test_a_resource_that_an_earlier_run_left_moving_is_waited_for(rig: Rig):
    rig.server.on("GET", VNET, Say(200, moving("Updating"), {"Retry-After": "20"}), Say(200, moving("Succeeded")))
    found = await rig.reader.settle(VNET, API, Live(body=moving("Updating")))
    assert found is not None
    assert found.provisioning_state == "Succeeded"
    assert rig.clock.slept == [1, 20]
    assert rig.arm.requests == RequestCounts(polls=2)


async def test_settling_tells_of_a_resource_that_vanished(rig: Rig):
    assert await rig.reader.settle(VNET, API, Live(body=moving("Deleting"))) is None


async def test_settling_ends_at_the_deadline_with_what_was_last_seen():
    async with rigged(seconds=5) as rig:
        rig.server.on("GET", VNET, Say(200, moving("Updating")))
        found = await rig.reader.settle(VNET, API, Live(body=moving("Creating")))
        assert found is not None
        assert found.provisioning_state == "Updating"
        assert rig.clock.elapsed == 4


async def test_what_stands_still_needs_no_settling(rig: Rig):
    live = Live(body=moving("Failed"))
    assert await rig.reader.settle(VNET, API, live) is live
    assert rig.server.seen == []
