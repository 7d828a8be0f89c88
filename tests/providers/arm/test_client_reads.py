"""Reading over a real socket: what is requested, what counts as absent, what is tried again."""

import asyncio

import pytest

from gitsync.errors import ArmError, DeadlineError
from gitsync.model.report import RequestCounts
from gitsync.model.result import Stage
from gitsync.providers.arm.http.response_bodies import is_refusal
from tests.support.arm_rig import (
    API,
    CLIENT,
    GROUP,
    OBJECT,
    SUBSCRIPTION,
    TENANT,
    VNET,
    Rig,
    StaticCredential,
    anonymous,
    moving,
    rigged,
)
from tests.support.scripted_server import BREAK, Say


def error(code: str, message: str = "no") -> dict:
    return {"error": {"code": code, "message": message}}


async def test_a_resource_comes_with_its_body_and_etag(rig: Rig):
    rig.server.on("GET", VNET, Say(200, moving("Succeeded", unexpected=[1, 2**70]), {"ETag": '"7"'}))
    live = await rig.reader.get(VNET, API)
    assert live is not None
    assert live.body == moving("Succeeded", unexpected=[1, 2**70])
    assert live.etag == '"7"'
    requested = rig.server.seen[0]
    assert requested.query == f"api-version={API}"
    assert requested.headers["user-agent"].startswith("gitsync/")
    assert requested.headers["accept"] == "application/json"
    assert "authorization" not in requested.headers
    assert rig.arm.requests == RequestCounts(reads=1)
    assert rig.session.requests == 1


async def test_an_etag_in_the_body_serves_where_there_is_no_header(rig: Rig):
    rig.server.on("GET", VNET, Say(200, {"id": VNET, "etag": 'W/"body"'}))
    live = await rig.reader.get(VNET, API)
    assert live is not None
    assert live.etag == 'W/"body"'


async def test_what_is_not_there_is_none(rig: Rig):
    rig.server.on("GET", VNET, Say(404, error("ResourceNotFound")))
    assert await rig.reader.get(VNET, API) is None
    assert rig.session.failures == []


async def test_a_404_without_a_body_counts_where_azure_numbered_it(rig: Rig):
    rig.server.on("GET", VNET, Say(404, None, {"x-ms-request-id": "r-1"}))
    assert await rig.reader.get(VNET, API) is None


CONTAINER = f"{GROUP}/providers/Microsoft.Storage/storageAccounts/stuff/blobServices/default/containers/logs"
NUMBERED = {"x-ms-request-id": "r-1"}


@pytest.mark.parametrize(
    ("answer", "is_absent", "why"),
    [
        (Say(404, error("ContainerNotFound", "The specified container does not exist.")), True, "of its type"),
        (Say(404, error("StorageAccountNotFound")), True, "of a type above it"),
        (Say(404, error("BlobContainerNotFound")), True, "its type by a longer name"),
        (Say(404, error("EntityNotFound", "Entity 'logs' was not found."), NUMBERED), True, "Azure names it"),
        (Say(404, error("404", "There is no logs."), NUMBERED), True, "a code that is none, but Azure names it"),
        (Say(404, error("EntityNotFound", "Entity 'logs' was not found.")), False, "not numbered by Azure"),
        (Say(404, error("EntityNotFound", "Key 'catalogs-1' was not found."), NUMBERED), False, "of something else"),
        (Say(404, error("ShareNotFound", "The share does not exist."), NUMBERED), False, "of another type"),
        (Say(404, error("KeyVaultKeyNotFound", "The key is not there."), NUMBERED), False, "of what it references"),
        (Say(404, error("404", "Not found"), NUMBERED), False, "the text of a gateway"),
    ],
)
async def test_a_code_of_a_provider_means_absent_if_it_is_about_the_resource(
    rig: Rig, answer: Say, is_absent: bool, why: str
):
    rig.server.on("GET", CONTAINER, answer)
    try:
        found = await rig.reader.get(CONTAINER, API) is None
    except ArmError:
        found = False
    assert found is is_absent, why


async def test_where_the_provider_is_not_registered_nothing_can_be(rig: Rig):
    rig.server.on("GET", VNET, Say(409, error("MissingSubscriptionRegistration")))
    assert await rig.reader.get(VNET, API) is None


@pytest.mark.parametrize(
    ("answer", "code", "why"),
    [
        (Say(409, error("Conflict")), "Conflict", "another 409 says nothing of absence"),
        (Say(404, error("InvalidResourceType")), "InvalidResourceType", "the type is not known at this api-version"),
        (Say(404, error("SubscriptionNotFound")), "SubscriptionNotFound", "the subscription is not ours to see"),
        (Say(404, "<html>nothing here</html>"), "UnknownError", "a proxy's page does not speak for Azure"),
        (Say(404, {}), "UnknownError", "Azure gives a code with each 404"),
        (Say(404, {"value": []}), "UnknownError", "an empty list is no code"),
        (Say(404), "UnknownError", "nothing at all, without a number of Azure's"),
        (Say(200, error("ResourceNotFound")), "ResourceNotFound", "an error that comes as a success"),
        (Say(200, "<html>please sign in</html>"), "UnknownError", "neither does a portal's"),
        (Say(403, error("AuthorizationFailed")), "AuthorizationFailed", "may not be read"),
        (Say(302, None, {"Location": "https://elsewhere.invalid/"}), "UnknownError", "redirects are not followed"),
    ],
)
async def test_what_cannot_be_read_is_never_taken_for_absent(rig: Rig, answer: Say, code: str, why: str):
    rig.server.on("GET", VNET, answer)
    with pytest.raises(ArmError) as caught:
        await rig.reader.get(VNET, API)
    assert caught.value.code == code, why
    assert caught.value.status == answer.status
    assert [attempt.code for attempt in rig.session.failures] == [code]
    assert len(rig.server.seen) == 1


@pytest.mark.parametrize(("status", "there"), [(200, True), (204, True), (404, False)])
async def test_head_tells_whether_a_resource_is_there(rig: Rig, status: int, *, there: bool):
    rig.server.on("HEAD", VNET, Say(status))
    assert await rig.reader.exists(VNET, API) is there


async def test_a_list_is_followed_to_its_last_page(rig: Rig):
    path = f"{GROUP}/resources"
    rig.server.on(
        "GET",
        path,
        Say(200, {"value": [{"id": "a"}], "nextLink": f"{{url}}{path}?api-version={API}&$skiptoken=%7B1%7D"}),
        Say(200, {"value": [], "nextLink": f"{{url}}{path}?api-version={API}&$skiptoken=2"}),
        Say(200, {"value": [{"id": "b"}], "nextLink": None}),
    )
    found = await rig.reader.list(path, API, {"$filter": "tagName eq 'x'"})
    assert found == [{"id": "a"}, {"id": "b"}], "an empty page is not the last one"
    assert rig.server.seen[0].query == f"api-version={API}&$filter=tagName%20eq%20'x'"
    assert rig.server.seen[1].query == f"api-version={API}&$skiptoken=%7B1%7D"


async def test_pages_are_read_when_they_are_asked_for(rig: Rig):
    path = f"{GROUP}/resources"
    more = Say(200, {"value": [{"id": "a"}], "nextLink": f"{{url}}{path}?api-version={API}&$skiptoken=1"})
    rig.server.on("GET", path, more, Say(200, {"value": []}))
    pages = rig.reader.pages(path, API)
    assert await anext(pages) == [{"id": "a"}]
    assert len(rig.server.seen) == 1, "a caller that has enough saves the rest"
    assert [page async for page in pages] == [[]]


@pytest.mark.parametrize(
    ("answers", "is_refused", "sent", "why"),
    [
        ((Say(405, error("MethodNotAllowed")),), True, 1, "the type has no list"),
        ((Say(404, error("InvalidResourceType")),), True, 1, "nor at this api-version"),
        ((Say(403, error("AuthorizationFailed")),), True, 1, "the principal may not list"),
        ((Say(200, {"value": [], "nextLink": "http://127.0.0.1:1/steal"}),), True, 1, "it goes on at another host"),
        ((Say(503),), False, 1, "another read may do, so this one is not repeated"),
        ((Say(fault=BREAK),), False, 1, "the same for a connection that broke"),
        ((Say(429, error("Slow"), {"Retry-After": "7"}), Say(503)), False, 2, "a limit would hold the other reads too"),
    ],
)
async def test_an_optional_list_that_fails_is_repeated_only_if_it_was_throttled(
    rig: Rig, answers, is_refused, sent, why
):
    rig.server.on("GET", GROUP, *answers)
    with pytest.raises(ArmError) as caught:
        await anext(rig.reader.pages(GROUP, API, is_optional=True))
    assert is_refusal(caught.value) is is_refused, why
    assert len(rig.server.seen) == sent, why


async def test_a_next_page_on_another_host_is_not_followed(rig: Rig):
    rig.server.on("GET", GROUP, Say(200, {"value": [], "nextLink": "http://127.0.0.1:1/steal"}))
    with pytest.raises(ArmError, match="another host"):
        await rig.reader.list(GROUP, API)


@pytest.mark.parametrize(
    ("trouble", "why"),
    [
        (Say(408), "a timeout on the way"),
        (Say(429, error("TooManyRequests")), "throttled, without a Retry-After"),
        (Say(500, error("InternalServerError")), "a fault of theirs"),
        (Say(503, "<html>unavailable</html>"), "a load balancer's page"),
        (Say(504, error("GatewayTimeout")), "the provider took too long"),
        (Say(fault=BREAK), "the connection broke"),
    ],
)
async def test_reads_are_tried_again_by_themselves(rig: Rig, trouble: Say, why: str):
    rig.session.stage = Stage.OWNER_CHECK
    rig.server.on("GET", VNET, trouble, trouble, Say(200, moving()))
    assert await rig.reader.get(VNET, API) is not None, why
    assert len(rig.server.seen) == 3
    throttled = 2 if trouble.status == 429 else 0
    assert rig.arm.requests == RequestCounts(reads=3, throttled=throttled)
    assert len(rig.session.list_failures()) == 2 - throttled, "to be throttled is a figure and no failure"
    assert [attempt.stage for attempt in rig.session.failures] == [Stage.OWNER_CHECK] * 2
    assert all(attempt.at.startswith("2026-03-01T12:00:") for attempt in rig.session.failures)
    assert 1 <= rig.clock.slept[0] <= 2, "the back-off begins at a second, with jitter"
    assert 2 <= rig.clock.slept[1] <= 3


async def test_retry_after_is_honoured(rig: Rig):
    rig.server.on("GET", VNET, Say(503, None, {"Retry-After": "37"}), Say(200, moving()))
    await rig.reader.get(VNET, API)
    assert rig.clock.slept == [37]


async def test_a_retry_after_beyond_the_deadline_ends_the_reading_at_once():
    async with rigged(seconds=60) as rig:
        rig.server.on("GET", VNET, Say(503, error("Busy"), {"Retry-After": "61"}))
        with pytest.raises(ArmError) as caught:
            await rig.reader.get(VNET, API)
        assert caught.value.retry_after == 61
        assert rig.clock.slept == []


async def test_nothing_is_sent_after_the_deadline():
    async with rigged(seconds=0) as rig:
        with pytest.raises(DeadlineError):
            await rig.reader.get(VNET, API)
        assert rig.server.seen == []
        assert rig.session.requests == 0


async def test_reading_goes_on_until_the_deadline():
    async with rigged(seconds=300) as rig:
        rig.server.on("GET", VNET, Say(500))
        with pytest.raises(ArmError):
            await rig.reader.get(VNET, API)
        assert 240 < rig.clock.elapsed <= 300
        assert max(rig.clock.slept) <= 61


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (f"{VNET}?x=y", "would replace the api-version"),
        (f"{VNET}#x", "would drop it"),
        (f"{VNET}/../../other", "would reach another resource"),
        (f"{GROUP}//providers", "an empty segment"),
        (f"{VNET}\\x", "a backslash"),
        (f"{VNET}\n", "a control character"),
        ("subscriptions/x", "not absolute"),
    ],
)
async def test_ids_that_would_ask_something_else_are_refused(rig: Rig, bad: str, why: str):
    with pytest.raises(ArmError, match="not a valid ARM id") as caught:
        await rig.reader.get(bad, API)
    assert caught.value.code == "InvalidResourceId", why
    assert rig.server.seen == []


@pytest.mark.parametrize(
    ("name", "sent"),
    [("a b", "a%20b"), ("a%2e%2e", "a%252e%252e"), ("{x}", "%7Bx%7D"), ("grün", "gr%C3%BCn"), ("a&b=c+d", "a&b=c%2Bd")],
)
async def test_names_are_quoted(rig: Rig, name: str, sent: str):
    await rig.reader.get(f"{GROUP}/providers/Microsoft.Network/virtualNetworks/{name}", API)
    assert rig.server.seen[0].path.endswith(f"/virtualNetworks/{sent}")
    assert rig.server.seen[0].query == f"api-version={API}"


async def test_a_token_is_sent_and_asked_for_once():
    credential = StaticCredential()
    async with rigged(credential=credential) as rig:
        rig.server.on("GET", VNET, Say(200, moving()))
        await rig.reader.get(VNET, API)
        await rig.reader.get(VNET, API)
        assert rig.server.seen[1].headers["authorization"] == f"Bearer {credential.token}"
        assert credential.requested == [f"{rig.access.cloud.audience}/.default"]


async def test_403_names_the_identity_the_scope_and_the_right():
    credential = StaticCredential()
    message = (
        "The client 'client-id' does not have authorization to perform action "
        f"'Microsoft.Network/virtualNetworks/subnets/join/action' over scope '{VNET}/subnets/s'."
    )
    async with rigged(credential=credential) as rig:
        rig.server.on("GET", VNET, Say(403, error("LinkedAuthorizationFailed", message), {"x-ms-request-id": "r-1"}))
        rig.server.on("GET", GROUP, Say(403, error("AuthorizationFailed", "not you")))
        with pytest.raises(ArmError) as linked:
            await rig.reader.get(VNET, API)
        for named in (TENANT, CLIENT, OBJECT, "virtualNetworks/subnets/join/action", f"{VNET}/subnets/s"):
            assert named in linked.value.hint
        assert linked.value.request_id == "r-1"
        assert credential.token not in f"{linked.value!r} {linked.value}"
        with pytest.raises(ArmError) as plain:
            await rig.reader.get(GROUP, API)
        assert f"Microsoft.Resources/subscriptions/resourceGroups/read on {GROUP}" in plain.value.hint


async def test_401_names_the_identity():
    async with rigged(credential=StaticCredential()) as rig:
        rig.server.on("GET", VNET, Say(401, error("InvalidAuthenticationTokenTenant", "wrong tenant")))
        with pytest.raises(ArmError) as caught:
            await rig.reader.get(VNET, API)
        assert TENANT in caught.value.hint
        assert OBJECT in caught.value.hint
        assert len(rig.server.seen) == 1


async def test_many_readers_keep_within_the_limit_of_requests_in_flight():
    async with rigged(access=lambda url: anonymous(url, concurrency=5)) as rig:
        rig.server.on("GET", VNET, Say(200, moving()))
        sessions = [rig.talk() for _ in range(100)]
        await asyncio.gather(*(rig.arm.reader(talk).get(VNET, API) for talk in sessions))
        assert 2 <= rig.server.most_at_once <= 5
        assert rig.arm.requests == RequestCounts(reads=100)
        assert {talk.requests for talk in sessions} == {1}


async def test_the_subscription_is_named_in_lower_case_for_the_bucket_only(rig: Rig):
    await rig.reader.get(GROUP.replace(SUBSCRIPTION, "ABC"), API)
    assert "/subscriptions/ABC/" in rig.server.seen[0].path
