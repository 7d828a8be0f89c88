"""Writing over a real socket: what is sent, what is sent again, and when the outcome is unknown."""

from contextlib import suppress
from uuid import UUID

import pytest

from gitsync.errors import ArmError, TransportError
from gitsync.model.report import RequestCounts
from gitsync.model.secret import Secret
from tests.support.arm_rig import API, VNET, Rig, StaticCredential, anonymous, moving, rigged
from tests.support.scripted_server import BREAK, HANG, Say

BODY = {"location": "westus", "properties": {"addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}}}


def error(code: str, message: str = "no") -> dict:
    return {"error": {"code": code, "message": message}}


async def test_a_put_sends_the_body_and_the_conditions(rig: Rig):
    rig.server.on("PUT", VNET, Say(201, moving("Succeeded"), {"ETag": '"1"'}))
    reply = await rig.writer.put(VNET, API, BODY, if_match='"0"')
    assert (reply.status, reply.live.body, reply.live.etag) == (201, moving("Succeeded"), '"1"')
    requested = rig.server.seen[0]
    assert requested.body == BODY
    assert requested.headers["content-type"] == "application/json"
    assert requested.headers["if-match"] == '"0"'
    assert rig.arm.requests == RequestCounts(writes=1)


async def test_patch_post_and_delete_say_what_they_mean(rig: Rig):
    rig.server.on("PATCH", VNET, Say(200, moving("Succeeded")))
    rig.server.on("POST", f"{VNET}/start", Say(200, {"answer": 1}))
    rig.server.on("DELETE", VNET, Say(204))
    await rig.writer.patch(VNET, API, {"tags": {"a": None}})
    assert (await rig.writer.post(f"{VNET}/start", API)).body == {"answer": 1}
    await rig.writer.delete(VNET, API, if_match="*", query={"deleteSubscriptions": "true"})
    patch, post, delete = rig.server.seen
    assert patch.body == {"tags": {"a": None}}
    assert post.body is None
    assert "content-type" not in post.headers
    assert delete.query == f"api-version={API}&deleteSubscriptions=true"
    assert delete.headers["if-match"] == "*"
    assert rig.arm.requests == RequestCounts(writes=2, deletes=1)


async def test_deleting_what_is_not_there_is_done(rig: Rig):
    rig.server.on("DELETE", VNET, Say(404, error("ResourceGroupNotFound")))
    reply = await rig.writer.delete(VNET, API)
    assert reply.status == 404
    assert await rig.writer.wait(reply) is True
    assert rig.session.failures == []


async def test_secrets_are_revealed_on_the_wire_and_nowhere_else(rig: Rig):
    body = {"properties": {"password": Secret('pä"ss'), "all": {"k": Secret("other")}}}
    rig.server.on(
        "PUT",
        VNET,
        Say(
            400,
            {
                "error": {
                    "code": "PasswordNotComplex",
                    "message": 'pä"ss is too short; we got {"password": "p\\u00e4\\"ss"}',
                    "details": [{"code": "x", "message": "so is other"}],
                }
            },
        ),
    )
    with pytest.raises(ArmError) as caught:
        await rig.writer.put(VNET, API, body)
    assert rig.server.seen[0].body == {"properties": {"password": 'pä"ss', "all": {"k": "other"}}}
    shown = f"{caught.value} {caught.value.details} {rig.session.failures!r}"
    assert "<secret> is too short" in shown
    for leak in ('pä"ss', "other", 'p\\u00e4\\"ss'):
        assert leak not in shown


async def test_a_reply_does_not_show_what_azure_answered(rig: Rig):
    where = {"Azure-AsyncOperation": "{url}/poll?sig=hidden"}
    rig.server.on("POST", f"{VNET}/listKeys", Say(200, {"key": "hidden"}, where))
    reply = await rig.writer.post(f"{VNET}/listKeys", API, {"a": Secret("hidden")})
    assert "hidden" not in repr(reply)


@pytest.mark.parametrize(
    ("code", "headers", "why"),
    [
        ("TooManyRequests", {"Retry-After": "7"}, "a quota"),
        ("RetryableError", {"Retry-After": "7"}, "another operation holds the resource"),
        ("429", {}, "no Retry-After: the back-off applies"),
    ],
)
async def test_a_throttled_write_was_not_done_and_is_sent_again(rig: Rig, code: str, headers: dict, why: str):
    rig.server.on("PUT", VNET, Say(429, error(code), headers), Say(200, moving("Succeeded")))
    reply = await rig.writer.put(VNET, API, BODY)
    assert reply.status == 200, why
    assert rig.clock.elapsed >= (7 if headers else 1)
    assert [(a.status, a.code) for a in rig.session.failures] == [(429, code)]
    assert rig.session.list_failures() == ()
    assert rig.arm.requests == RequestCounts(writes=2, throttled=1)


BUSY = (
    "The request for subscription 's' could not be processed due to an excessive volume of traffic. Please try again."
)


@pytest.mark.parametrize("status", [400, 403, 409, 429])
async def test_a_write_that_the_jobs_of_arm_refused_is_sent_again_whatever_its_status(rig: Rig, status: int):
    busy = Say(status, error("AnyCode", BUSY), {"Retry-After": "7"})
    rig.server.on("PUT", VNET, busy, busy, Say(200, moving("Succeeded")))
    assert (await rig.writer.put(VNET, API, BODY)).status == 200
    assert rig.clock.elapsed >= 14
    assert rig.session.list_failures() == ()
    assert rig.arm.requests == RequestCounts(writes=3, throttled=2)


async def test_a_write_that_the_jobs_of_arm_refused_with_a_5xx_may_have_been_done(rig: Rig):
    rig.server.on("PUT", VNET, Say(503, error("ServerBusy", BUSY)))
    with pytest.raises(ArmError) as raised:
        await rig.writer.put(VNET, API, BODY)
    assert raised.value.outcome_unknown
    assert rig.arm.requests == RequestCounts(writes=1)


async def test_a_read_that_the_jobs_of_arm_refused_is_sent_again(rig: Rig):
    rig.server.on("GET", VNET, Say(409, error("AnyCode", BUSY)), Say(200, moving("Succeeded")))
    assert (await rig.reader.get(VNET, API)).body
    assert rig.arm.requests == RequestCounts(reads=2, throttled=1)


async def test_a_throttled_write_that_is_not_sent_again_has_failed(rig: Rig):
    rig.server.on("PUT", VNET, Say(429, error("TooManyRequests"), {"Retry-After": "3600"}))
    with pytest.raises(ArmError):
        await rig.writer.put(VNET, API, BODY)
    assert [(a.status, a.code) for a in rig.session.list_failures()] == [(429, "TooManyRequests")]
    assert rig.arm.requests == RequestCounts(writes=1)


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "POST"])
@pytest.mark.parametrize("status", [408, 500, 502, 503, 504])
async def test_a_write_that_azure_stumbled_over_has_an_unknown_outcome(rig: Rig, method: str, status: int):
    rig.server.on(method, VNET, Say(status, error("Stumbled"), {"Retry-After": "3"}))
    with pytest.raises(ArmError) as caught:
        await write(rig, method)
    assert caught.value.outcome_unknown
    assert caught.value.retry_after == 3
    assert len(rig.server.seen) == 1, "never sent again unread"


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "POST"])
@pytest.mark.parametrize("fault", [BREAK, HANG])
async def test_a_write_without_an_answer_has_an_unknown_outcome(method: str, fault: str):
    async with rigged(access=lambda url: anonymous(url, read_timeout=0.2)) as rig:
        rig.server.on(method, VNET, Say(fault=fault))
        with pytest.raises(TransportError) as caught:
            await write(rig, method)
        assert caught.value.outcome_unknown
        assert caught.value.status == 0
        assert rig.server.lines == [f"{method} {VNET}"], "not even the HTTP library sends it again"


async def test_a_broken_connection_that_was_kept_open_is_not_a_reason_to_send_a_put_twice(rig: Rig):
    rig.server.on("GET", VNET, Say(200, moving("Succeeded")))
    rig.server.on("PUT", VNET, Say(fault=BREAK))
    await rig.reader.get(VNET, API)
    with pytest.raises(TransportError):
        await rig.writer.put(VNET, API, BODY)
    assert rig.server.lines == [f"GET {VNET}", f"PUT {VNET}"]


async def test_a_write_that_could_not_connect_was_not_sent_and_is_tried_again():
    async with rigged(seconds=60, access=lambda _url: anonymous("http://127.0.0.1:9")) as rig:
        with pytest.raises(TransportError) as caught:
            await rig.writer.put(VNET, API, BODY)
        assert not caught.value.outcome_unknown
        assert not caught.value.was_sent
        assert len(rig.session.failures) > 3
        assert 15 < rig.clock.elapsed < 30, "a host that never answered is given up after 15 seconds"


@pytest.mark.parametrize(
    ("status", "code", "why"),
    [
        (400, "InvalidParameter", "git has to change"),
        (404, "ResourceGroupNotFound", "a PUT below nothing"),
        (409, "AnotherOperationInProgress", "the driver decides when to try again"),
        (412, "PreconditionFailed", "someone else wrote"),
    ],
)
async def test_a_refused_write_is_raised_at_once(rig: Rig, status: int, code: str, why: str):
    answer = Say(status, error(code, "because"), {"Retry-After": "5", "x-ms-request-id": "r-9"})
    rig.server.on("PUT", VNET, answer)
    with pytest.raises(ArmError) as caught:
        await rig.writer.put(VNET, API, BODY)
    found = caught.value
    assert (found.status, found.code, found.message, found.request_id) == (status, code, "because", "r-9"), why
    assert (found.method, found.resource_id, found.at) == ("PUT", VNET, "2026-03-01T12:00:00Z")
    assert (found.retry_after, found.outcome_unknown) == (5, False)
    assert len(rig.server.seen) == 1


async def test_a_put_that_a_portal_answers_was_perhaps_not_done(rig: Rig):
    rig.server.on("PUT", VNET, Say(200, "<html>sign in</html>"))
    with pytest.raises(ArmError) as caught:
        await rig.writer.put(VNET, API, BODY)
    assert caught.value.outcome_unknown


async def test_403_of_a_write_names_the_right_that_is_missing():
    async with rigged(credential=StaticCredential()) as rig:
        rig.server.on("DELETE", VNET, Say(403, error("AuthorizationFailed")))
        with pytest.raises(ArmError) as caught:
            await rig.writer.delete(VNET, API)
        assert f"Microsoft.Network/virtualNetworks/delete on {VNET}" in caught.value.hint


async def write(rig: Rig, method: str) -> None:
    if method == "DELETE":
        await rig.writer.delete(VNET, API)
    elif method == "POST":
        await rig.writer.post(VNET, API)
    elif method == "PATCH":
        await rig.writer.patch(VNET, API, BODY)
    else:
        await rig.writer.put(VNET, API, BODY)


async def test_the_tries_of_a_write_have_one_correlation_id_and_no_other_operation_has_it(rig: Rig):
    rig.server.on("PUT", VNET, Say(429, error("TooManyRequests")), Say(200, moving("Succeeded")))
    rig.server.on("PATCH", VNET, Say(200, moving("Succeeded")))
    rig.server.on("POST", f"{VNET}/start", Say(200, {}))
    rig.server.on("DELETE", VNET, Say(204))
    rig.server.on("GET", VNET, Say(200, moving("Succeeded")))
    for _ in range(2):
        await rig.writer.put(VNET, API, BODY)
    await rig.writer.patch(VNET, API, BODY)
    await rig.writer.post(f"{VNET}/start", API)
    await rig.writer.delete(VNET, API)
    await rig.reader.get(VNET, API)
    *writes, read = [requested.headers.get("x-ms-correlation-request-id") for requested in rig.server.seen]
    assert len(writes) == 6
    assert writes[0] == writes[1], "a second try of the same operation"
    assert len({UUID(wanted) for wanted in writes}) == 5, (
        "a provider may answer with the stored result of another operation"
    )
    assert read is None


RETURNED = "907d6a1f-0000-4000-8000-00000000ab12"


@pytest.mark.parametrize(
    ("method", "answer", "kept", "why"),
    [
        ("PUT", Say(200, moving("Succeeded"), {"x-ms-correlation-request-id": RETURNED.upper()}), RETURNED, "written"),
        ("PUT", Say(200, moving("Succeeded")), "", "Azure returned none"),
        ("DELETE", Say(204, headers={"x-ms-correlation-request-id": "<b>no id</b>"}), "", "a proxy's"),
        ("PUT", Say(500, error("Stumbled")), "", "it may have been done"),
        ("PUT", Say(400, error("InvalidParameter")), None, "refused: nothing was written"),
        ("POST", Say(200, {"keys": []}), None, "an action writes no resource"),
    ],
)
async def test_the_session_keeps_the_ids_of_the_last_write(rig: Rig, method: str, answer: Say, kept: str | None, why):
    rig.server.on(method, VNET, answer)
    with suppress(ArmError):
        await write(rig, method)
    last = rig.session.last_write
    assert (last.returned_id if last else None) == kept, why
    if last:
        assert last.correlation_id == rig.server.seen[0].headers["x-ms-correlation-request-id"]
