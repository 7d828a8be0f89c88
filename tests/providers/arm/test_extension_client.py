"""What acting extensions get, over a real socket: actions to their end, and no key in what is reported of them."""

import pytest
from loguru import logger

from gitsync.errors import ArmError
from gitsync.providers.arm.extension_client import ExtensionClient
from tests.support.arm_rig import API, OPERATION, VNET, Rig, StaticCredential, rigged
from tests.support.scripted_server import Say

ACTION = f"{VNET}/listKeys"
RESULT = f"{OPERATION}/result"
KEY = "k3y-that-nobody-may-see"
KEYS = {"primaryKey": KEY}
ASYNC = {"Azure-AsyncOperation": f"{{url}}{OPERATION}?api-version={API}&t=signed"}
LOCATION = {"Location": f"{{url}}{RESULT}?api-version={API}"}
RUNNING, DONE = Say(200, {"status": "InProgress"}), Say(200, {"status": "Succeeded", "properties": KEYS})
POLL, FETCH = f"GET {OPERATION}", f"GET {RESULT}"


@pytest.mark.parametrize(
    ("answer", "polls", "results", "expected", "requested", "why"),
    [
        (Say(200, KEYS), [], [], KEYS, [], "most actions answer at once"),
        (Say(204), [], [], {}, [], "some have nothing to say"),
        (Say(202, None, LOCATION), [], [Say(202), Say(200, KEYS)], KEYS, [FETCH, FETCH], "202 with a Location"),
        (Say(202, None, LOCATION), [], [Say(204)], {}, [FETCH], "a purge ends without a word"),
        (
            Say(202, None, ASYNC | LOCATION),
            [RUNNING, DONE],
            [Say(200, KEYS)],
            KEYS,
            [POLL, POLL, FETCH],
            "with both, the status says when and the Location what",
        ),
        (
            Say(202, None, ASYNC | LOCATION),
            [DONE],
            [Say(202), Say(200, KEYS)],
            KEYS,
            [POLL, FETCH, FETCH],
            "the Location may lag behind the status",
        ),
        (Say(202, None, ASYNC), [DONE], [], DONE.body, [POLL], "without a Location the status is all there is"),
        (
            Say(202, None, ASYNC | {"Location": "https://elsewhere.example/keys"}),
            [DONE],
            [],
            DONE.body,
            [POLL],
            "a Location elsewhere is not asked",
        ),
    ],
)
async def test_an_action_is_followed_to_what_it_answers_at_last(
    rig: Rig, answer, polls, results, expected, requested, why
):
    rig.server.on("POST", ACTION, answer)
    rig.server.on("GET", OPERATION, *polls)
    rig.server.on("GET", RESULT, *results)
    assert await ExtensionClient(rig.writer).call(ACTION, API, {"a": 1}, query={"b": "2"}) == expected, why
    assert rig.server.lines == [f"POST {ACTION}", *requested]
    assert rig.server.seen[0].body == {"a": 1}
    assert rig.server.seen[0].query == f"api-version={API}&b=2"


@pytest.mark.parametrize(
    ("answers", "code", "why"),
    [
        ([Say(400, {"error": {"code": "Bad", "message": "No.", "details": [{"message": KEY}]}})], "Bad", "details"),
        ([Say(400, {"code": "Bad", "message": "No.", "key": KEY})], "Bad", "an error without `error`"),
        ([Say(403, f"denied {KEY}")], "UnknownError", "text that is no ARM error"),
        ([Say(500, [KEY])], "UnknownError", "JSON that is no ARM error"),
        ([Say(203, KEYS)], "UnknownError", "an answer that somebody in between has altered"),
        ([Say(203, {"message": KEY})], "UnknownError", "the same with a member that errors have"),
        ([Say(200, KEYS | {"error": {"code": "Odd", "message": KEY}})], "UnknownError", "an error beside the keys"),
        ([Say(200, {"error": {"code": KEY, "message": "No."}})], "UnknownError", "a success that is no success"),
        (
            [Say(400, {"error": {"code": "Bad", "message": f"Not {KEY}."}, "keys": [KEYS]})],
            "Bad",
            "an error that quotes what stands beside it",
        ),
        (
            [
                Say(202, None, LOCATION),
                Say(200, {"status": "Failed", "error": {"code": "Bad", "message": f"x{KEY}"}, "properties": KEYS}),
            ],
            "Bad",
            "an operation that fails and quotes its keys",
        ),
        ([Say(200, f"<html>{KEY}")], "UnusableAnswer", "a page in place of JSON"),
        ([Say(200, [KEY])], "UnusableAnswer", "a list in place of an object"),
        (
            [Say(202, None, LOCATION), Say(200, {"status": "Failed", "error": {"code": "Bad"}, "properties": KEYS})],
            "Bad",
            "an operation that fails with keys beside its error",
        ),
        ([Say(202, None, LOCATION), Say(403, f"denied {KEY}")], "UnknownError", "a result that is refused"),
        (
            [Say(202, None, {"Location": "https://elsewhere.example/x"})],
            "UnknownError",
            "an operation that cannot be followed",
        ),
    ],
)
async def test_nothing_of_an_answer_is_told(rig: Rig, answers, code, why):
    told: list[str] = []
    rig.server.on("POST", ACTION, answers[0])
    rig.server.on("GET", RESULT, *answers[1:])
    sink = logger.add(lambda line: told.append(str(line)), level="TRACE", serialize=True)
    try:
        with pytest.raises(ArmError) as refused:
            await ExtensionClient(rig.writer).call(ACTION, API)
    finally:
        logger.remove(sink)
    error = refused.value
    assert error.code == code, why
    told.append(repr((error, vars(error), rig.session.failures)))
    assert not [text for text in told if KEY in text]


@pytest.mark.parametrize("answer", [Say(202, None, LOCATION), Say(202, None, ASYNC)])
async def test_the_deadline_ends_the_waiting_and_says_so(answer):
    async with rigged(seconds=60) as rig:
        rig.server.on("POST", ACTION, answer)
        rig.server.on("GET", OPERATION, RUNNING)
        rig.server.on("GET", RESULT, Say(202))
        with pytest.raises(ArmError, match=r"Deadline exceeded before POST .* completed") as late:
            await ExtensionClient(rig.writer).call(ACTION, API)
        assert (late.value.code, late.value.outcome_unknown) == ("DeadlineExceeded", True)
        assert rig.server.lines.count(f"POST {ACTION}") == 1


async def test_all_pages_of_an_action_are_read(rig: Rig):
    link = f"{{url}}{ACTION}?api-version={API}&$skiptoken=2"
    rig.server.on("POST", ACTION, Say(200, {"value": [{"name": "a"}], "nextLink": link}))
    rig.server.on("GET", ACTION, Say(200, {"value": [{"name": "b"}]}))
    assert await ExtensionClient(rig.writer).pages(ACTION, API) == [{"name": "a"}, {"name": "b"}]
    assert rig.server.lines == [f"POST {ACTION}", f"GET {ACTION}"]


async def test_a_page_on_another_host_is_not_asked_for():
    async with rigged(credential=StaticCredential()) as rig:
        rig.server.on("POST", ACTION, Say(200, {"value": [KEYS], "nextLink": "https://elsewhere.example/x"}))
        with pytest.raises(ArmError) as refused:
            await ExtensionClient(rig.writer).pages(ACTION, API)
        assert refused.value.code == "ForeignNextLink"
        assert KEY not in repr(vars(refused.value))


async def test_nothing_of_a_further_page_is_told(rig: Rig):
    rig.server.on("POST", ACTION, Say(200, {"value": [], "nextLink": f"{{url}}{ACTION}?page=2"}))
    rig.server.on("GET", ACTION, Say(403, f"denied {KEY}"))
    with pytest.raises(ArmError) as refused:
        await ExtensionClient(rig.writer).pages(ACTION, API)
    assert KEY not in repr((vars(refused.value), str(refused.value), rig.session.failures))


@pytest.mark.parametrize(
    ("answer", "polls", "why"),
    [
        (Say(204), [], "gone at once"),
        (Say(404), [], "gone before"),
        (Say(202, None, ASYNC), [RUNNING, Say(200, {"status": "Succeeded"})], "gone in the end"),
    ],
)
async def test_a_delete_is_waited_for(rig: Rig, answer, polls, why):
    rig.server.on("DELETE", VNET, answer)
    rig.server.on("GET", OPERATION, *polls)
    await ExtensionClient(rig.writer).delete(VNET, API, if_match="*", query={"deleteSubscriptions": "true"})
    assert rig.server.lines == [f"DELETE {VNET}", *[POLL] * len(polls)], why
    assert rig.server.seen[0].headers["if-match"] == "*"
    assert rig.server.seen[0].query == f"api-version={API}&deleteSubscriptions=true"


async def test_a_delete_that_does_not_end_in_time_says_so():
    async with rigged(seconds=60) as rig:
        rig.server.on("DELETE", VNET, Say(202, None, ASYNC))
        rig.server.on("GET", OPERATION, RUNNING)
        with pytest.raises(ArmError, match=r"Deadline exceeded before DELETE .* completed"):
            await ExtensionClient(rig.writer).delete(VNET, API)


async def test_it_reads_as_well(rig: Rig):
    rig.server.on("GET", VNET, Say(200, {"id": VNET}))
    rig.server.on("GET", f"{VNET}/subnets", Say(200, {"value": [{"name": "a"}]}))
    actor = ExtensionClient(rig.writer)
    live = await actor.get(VNET, API)
    assert live is not None
    assert live.body == {"id": VNET}
    assert await actor.list(f"{VNET}/subnets", API) == [{"name": "a"}]
