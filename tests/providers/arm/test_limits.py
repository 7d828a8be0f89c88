"""What an answer may take: time, memory, depth and digits. The deadline bounds a request with its answer as a whole."""

import asyncio
import base64
import json
import resource
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest

from gitsync.errors import ArmError, ConfigError, CredentialError, DeadlineError, TransportError
from gitsync.providers.arm.client import Arm, open_arm
from gitsync.providers.arm.http.messages import Response
from gitsync.providers.arm.real_clock import SystemClock
from gitsync.providers.arm.session import Session
from tests.providers.arm.raw_server import bomb, complete, dripping, head, raw_server
from tests.support.arm_rig import API, GROUP, VNET, Rig, StaticCredential, anonymous, moving, rigged
from tests.support.scripted_server import HANG, Say

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
BODY = json.dumps({"id": VNET, "name": "hub", "properties": {"provisioningState": "Succeeded"}}).encode()


@asynccontextmanager
async def real(answer, *, seconds: float = 60, **options) -> AsyncIterator[tuple[Arm, Session]]:
    """The client and a server of raw bytes, by the real clock."""
    clock = SystemClock()
    async with raw_server(answer) as url, open_arm(anonymous(url), clock, **options) as arm:
        yield arm, Session(deadline=clock.monotonic() + seconds)


async def slow_body(_line):
    async for piece in dripping(complete(BODY)):
        yield piece


async def slow_headers(_line):
    yield b"HTTP/1.1 200 OK\r\nX-Slow: "
    async for piece in dripping(b"y" * 100):
        yield piece
    yield b"\r\nContent-Length: 2\r\n\r\n{}"


@pytest.mark.parametrize("answer", [slow_body, slow_headers])
async def test_a_read_that_drips_ends_at_the_deadline(answer):
    """Each byte comes in time, and the answer is complete in the end: only a bound on the whole stops it."""
    async with real(answer, seconds=0.5) as (arm, talk):
        with pytest.raises(
            DeadlineError, match=f"Deadline exceeded before Azure responded to the request to read {VNET}"
        ):
            await arm.reader(talk).get(VNET, API)
        assert talk.failures[-1].code == "DeadlineExceeded"


async def test_a_write_that_drips_ends_at_the_deadline_with_an_unknown_outcome():
    async with real(slow_body, seconds=0.5) as (arm, talk):
        with pytest.raises(TransportError) as caught:
            await arm.writer(talk).put(VNET, API, {"location": "x"})
        assert (caught.value.outcome_unknown, caught.value.code) == (True, "DeadlineExceeded")


async def test_who_waits_for_a_slot_does_not_outlast_the_deadline():
    async with rigged(access=lambda url: anonymous(url, concurrency=1)) as rig:
        rig.server.on("GET", VNET, Say(fault=HANG))
        first = asyncio.create_task(rig.reader.get(VNET, API))
        await asyncio.sleep(0.1)
        with pytest.raises(DeadlineError):
            await rig.arm.reader(rig.talk(0.3)).get(GROUP, API)
        assert rig.server.lines == [f"GET {VNET}"], "the second was never sent"
        first.cancel()


async def test_a_stop_ends_the_answer_that_drips_and_sends_nothing_to_those_in_line():
    """The first has its last seconds; the second must not take its slot then."""
    async with rigged(access=lambda url: anonymous(url, concurrency=1)) as rig:
        rig.server.on("GET", VNET, Say(fault=HANG))
        talks = [rig.talk(), rig.talk()]
        tasks = [asyncio.create_task(rig.arm.reader(talk).get(VNET, API)) for talk in talks]
        await asyncio.sleep(0.1)
        for talk in talks:
            talk.end(rig.clock.monotonic(), patience=0.3)
        for ended in await asyncio.gather(*tasks, return_exceptions=True):
            assert isinstance(ended, DeadlineError)
            assert "The run was stopped before Azure responded to" in ended.message
        assert rig.server.lines == [f"GET {VNET}"]


async def test_the_message_of_a_deadline_has_the_last_cause():
    async with rigged(seconds=1.5) as rig:
        busy = {"error": {"code": "ServerBusy", "message": "Come back later."}}
        rig.server.on("GET", VNET, Say(503, busy, {"Retry-After": "1"}), Say(fault=HANG))
        with pytest.raises(DeadlineError) as caught:
            await rig.reader.get(VNET, API)
        assert caught.value.message.endswith("Last error: 503 ServerBusy: Come back later.")


class SlowCredential:
    """Never gives a token."""

    async def get_token_info(self, *scopes, options=None):
        await asyncio.Event().wait()


async def test_a_token_that_never_comes_ends_with_the_deadline():
    async with real(slow_body, seconds=0.3, credential=SlowCredential()) as (arm, talk):
        with pytest.raises(DeadlineError):
            await arm.reader(talk).get(VNET, API)
        with pytest.raises(ConfigError, match="before Azure responded to the request to sign in"):
            await arm.sign_in(SystemClock().monotonic() + 0.3)


class MalformedCredential:
    """Stumbles as azure-identity does over an answer that is not an authority's."""

    def __init__(self, fault):
        self.fault = fault

    async def get_token_info(self, *scopes, options=None):
        raise self.fault


@pytest.mark.parametrize("fault", [RecursionError(), KeyError("access_token"), ValueError("expires_in"), TypeError()])
async def test_an_odd_answer_of_an_authority_is_no_fault_of_ours(fault):
    async with real(slow_body, credential=MalformedCredential(fault)) as (arm, talk):
        with pytest.raises(CredentialError, match="the response is not from a token authority"):
            await arm.reader(talk).get(VNET, API)


def large():
    return b'{"value": ["' + b"x" * (17 << 20) + b'"]}'


def in_one_chunk(body):
    return b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)


def once(answer: bytes):
    async def make(_line):
        yield answer

    return make


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: complete(large()), "as it is"),
        (lambda: head("Transfer-Encoding: chunked") + in_one_chunk(large()), "of a length untold"),
        (lambda: complete(bomb(200), "Content-Encoding: gzip"), "once it is unpacked"),
    ],
    ids=["plain", "chunked", "gzip"],
)
async def test_an_answer_that_is_too_large_is_not_read(make, why):
    async with real(once(make())) as (arm, talk):
        with pytest.raises(ArmError, match="exceeds 16 MB") as caught:
            await arm.reader(talk).get(VNET, API)
        assert caught.value.code == "AnswerTooLarge", why
        with pytest.raises(ArmError) as written:
            await arm.writer(talk).put(VNET, API, {})
        assert written.value.outcome_unknown, "it may have been done"
        assert len(talk.failures) == 2, "nothing is asked again"


async def test_a_bomb_does_not_fill_the_memory():
    async with real(once(complete(bomb(1000), "Content-Encoding: gzip"))) as (arm, talk):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with pytest.raises(ArmError, match="exceeds 100 MB"):
            await arm.reader(talk).list(GROUP, API)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert grown < 400 << 10, "kilobytes, of a gigabyte"


async def test_a_page_of_a_list_may_be_larger():
    body = b'{"value": [{"name": "' + b"x" * (17 << 20) + b'"}]}'
    async with real(once(complete(body))) as (arm, talk):
        page = await arm.reader(talk).list(GROUP, API)
        assert len(page[0]["name"]) == 17 << 20


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("[" * 100_000 + "]" * 100_000, "deeper than Python can go"),
        ('{"a":' * 150 + "1" + "}" * 150, "deeper than Azure goes"),
        ('{"id": "x", "properties": {"a": NaN}}', "NaN"),
        ('{"id": "x", "properties": {"a": 1e400}}', "an infinity in disguise"),
        ('{"id": "x", "properties": {"a": %s}}' % ("9" * 5000), "a number that cannot be printed"),
        ('{"id": "x", "properties": {"a": "\\ud800"}}', "a text that no file can hold"),
    ],
    ids=lambda value: value if len(value) < 60 else None,
)
async def test_malformed_json_is_no_answer(rig: Rig, body, why):
    rig.server.on("GET", VNET, Say(200, body))
    rig.server.on("PUT", VNET, Say(200, body))
    with pytest.raises(ArmError) as read:
        await rig.reader.get(VNET, API)
    assert (read.value.status, len(rig.server.seen)) == (200, 1), why
    with pytest.raises(ArmError) as written:
        await rig.writer.put(VNET, API, {})
    assert written.value.outcome_unknown, why


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("37", 37.0),
        ("0.5", 0.5),
        ("Sun, 01 Mar 2026 12:00:10 GMT", 10.0),
        ("Sun, 01 Mar 2026 14:00:10 +0200", 10.0),
        ("999999999999", 86400.0),
        ("Sun, 01 Mar 9999 12:00:10 GMT", 86400.0),
        ("9" * 5000, None),
        ("-5", None),
        ("0", None),
        ("1e9", None),
        ("inf", None),
        ("nan", None),
        ("٣٧", None),
        ("²", None),
        ("Sun, 01 Mar 2026 12:00:10 +99999999", None),
        ("Sun, 01 Mar 2026 12:00:10 -99999999", None),
        ("Sun, 01 Mar 2026 12:00:10 +" + "9" * 5000, None),
        ("Sun, 01 Mar 0001 00:00:00 +2359", None),
        ("Fri, 31 Dec 9999 23:59:59 -2359", 86400.0),
        ("Sun, 99 Mar 2026 12:00:10 GMT", None),
        (", ,", None),
        ("", None),
    ],
)
def test_an_unexpected_retry_after_is_ignored_and_a_long_one_bounded(value, seconds):
    assert Response(status=429, headers={"retry-after": value}).read_retry_after(NOW) == seconds
    if seconds is None:
        assert Response(status=429, headers={"retry-after-ms": value}).read_retry_after(NOW) is None


@pytest.mark.parametrize("left", ["9" * 5000, "٣", "²", "-1", "1e3", "", "x" * 8000])
async def test_an_odd_count_of_what_is_left_is_ignored(rig: Rig, left):
    rig.server.on("GET", VNET, Say(200, moving(), {"x-ms-ratelimit-remaining-subscription-reads": left}))
    for _ in range(3):
        assert await rig.reader.get(VNET, API) is not None
    assert rig.clock.slept == []


def nested(levels: int) -> dict:
    detail: dict = {"code": "Inner", "message": "the innermost"}
    for _ in range(levels):
        detail = {"code": "Outer", "message": "x" * 50, "details": [detail] * 2}
    return detail


@pytest.mark.parametrize(
    ("body", "code", "why"),
    [
        ('{"error":' * 150 + "1" + "}" * 150, "UnknownError", "too deep to be read"),
        (json.dumps({"error": {"code": "Deep", "message": "m", "details": [nested(12)]}}), "Deep", "deep and broad"),
        (
            json.dumps({"error": {"code": "Wide", "message": "m", "details": [{f"k{n}": "v" for n in range(10_000)}]}}),
            "Wide",
            "ten thousand members",
        ),
        (json.dumps({"error": {"code": 5, "message": {"a": []}, "details": {"a": 1}}}), "5", "members of other types"),
    ],
    ids=lambda value: None if len(value) > 60 else value,
)
async def test_an_error_body_is_shown_within_bounds(rig: Rig, body, code, why):
    rig.server.on("GET", VNET, Say(400, body))
    with pytest.raises(ArmError) as caught:
        await rig.reader.get(VNET, API)
    assert caught.value.code == code, why
    assert depth(list(caught.value.details)) <= 10, why
    assert len(json.dumps(caught.value.details, default=list)) < 4_000_000, why
    assert all(len(detail) <= 20 for detail in caught.value.details), why


def depth(value: object) -> int:
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(depth, children), default=0)


async def test_a_token_with_deep_claims_does_not_break_a_refusal():
    deep = f"e30.{base64.urlsafe_b64encode(b'[' * 5000).decode().rstrip('=')}.x"
    async with rigged(credential=StaticCredential(deep)) as rig:
        rig.server.on("GET", VNET, Say(403, {"error": {"code": "AuthorizationFailed", "message": "no"}}))
        with pytest.raises(ArmError) as caught:
            await rig.reader.get(VNET, API)
        assert caught.value.code == "AuthorizationFailed"


async def test_a_header_that_comes_twice_is_one_list():
    """RFC 9110 §5.3: neither value alone is what the server reports."""
    answer = complete(b'{"error": {"code": "Conflict"}}', "X-Ms-Request-Id: a", "x-ms-request-id: b", status="400 No")
    async with real(once(answer)) as (arm, talk):
        with pytest.raises(ArmError) as caught:
            await arm.reader(talk).get(VNET, API)
    assert caught.value.request_id == "a, b"
