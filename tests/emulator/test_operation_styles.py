"""Long-running operations: every way in which ARM reports one, and how they end."""

from dataclasses import replace

import pytest

from gitsync.emulator.faults import FaultRule, Match
from gitsync.emulator.http.messages import Course
from gitsync.emulator.settings import Timing
from gitsync.emulator.types.behaviour import Style, choose_behaviour
from tests.emulator.asked import GROUP, OPEN, PLAIN, TestClock, at, emulated


def timed(style, *, polls=1, retry_after=7, **more):
    return replace(OPEN, operations=Timing(style=style, polls=polls, retry_after=retry_after, **more))


def course(kind="*", method="PUT", **more):
    """Settings under which the writes of a kind run a course."""
    return replace(OPEN, rules=(FaultRule(match=Match(methods=(method,), type=kind), course=Course(**more)),))


PUTS = [
    (Style.DONE, 201, "", "", None, "Succeeded", "done with the answer"),
    (Style.SETTLED, 201, "absolute", "", None, "Succeeded", "done, with an operation to ask all the same"),
    (Style.ASYNC, 201, "absolute", "", "7", "Creating", "the usual way"),
    (Style.ASYNC_LOCATION, 201, "absolute", "absolute", "7", "Creating", "both headers"),
    (Style.STATE, 201, "", "", "7", "Creating", "the state alone tells"),
    (Style.LOCATION, 201, "", "absolute", "7", "Creating", "the resource is where to ask"),
    (Style.RELATIVE, 201, "", "relative", None, "Succeeded", "a Location that is no operation at all"),
    (Style.ACCEPTED, 202, "", "absolute", "7", None, "accepted, and nothing else said"),
    (Style.ACCEPTED_ASYNC, 202, "absolute", "absolute", "7", None, "accepted, both headers"),
]


def form_of(value):
    return "" if value is None else "absolute" if value.startswith("http://127.0.0.1") else "relative"


@pytest.mark.parametrize(
    ("style", "status", "operation", "location", "retry_after", "state", "why"), PUTS, ids=[row[-1] for row in PUTS]
)
async def test_a_create_answers_in_the_style_of_its_type(style, status, operation, location, retry_after, state, why):
    async with emulated(timed(style), has_group=True) as azure:
        reply = await azure.put(PLAIN)
    assert reply.status == status, why
    assert form_of(reply.headers.get("Azure-AsyncOperation")) == operation
    assert form_of(reply.headers.get("Location")) == location
    assert reply.headers.get("Retry-After") == retry_after
    assert (reply.state if reply.body else None) == state


@pytest.mark.parametrize("style", list(Style))
async def test_a_create_is_done_in_the_end_and_the_resource_there(style):
    async with emulated(timed(style, polls=0), has_group=True) as azure:
        made = await azure.made(PLAIN)
        updated = await azure.put(PLAIN, {"location": "westeurope", "tags": {"a": "b"}})
        again = await azure.made(PLAIN, {"location": "westeurope", "tags": {"a": "b"}})
    assert made["properties"]["provisioningState"] == "Succeeded"
    assert updated.status == (202 if style.is_accepted else 200)
    assert again["tags"] == {"a": "b"}


async def test_an_async_operation_is_polled_until_it_says_so():
    async with emulated(timed(Style.ASYNC, polls=2), has_group=True) as azure:
        created = await azure.put(PLAIN)
        polls = [await azure.get(created.headers["Azure-AsyncOperation"]) for _ in range(4)]
        resource = await azure.get(PLAIN)
    assert [poll.body["status"] for poll in polls] == ["InProgress", "InProgress", "Succeeded", "Succeeded"]
    assert [poll.headers.get("Retry-After") for poll in polls] == ["7", "7", None, None]
    assert {poll.status for poll in polls} == {200}
    assert {"id", "name", "status", "startTime"} <= set(polls[0].body)
    assert resource.state == "Succeeded"


async def test_a_location_is_polled_until_it_gives_the_resource():
    async with emulated(timed(Style.ACCEPTED, polls=2), has_group=True) as azure:
        created = await azure.put(PLAIN)
        unseen = await azure.get(PLAIN)
        polls = [await azure.get(created.headers["Location"]) for _ in range(3)]
    assert unseen.code == "ResourceNotFound", "what was accepted is not visible until it is done"
    assert [poll.status for poll in polls] == [202, 200, 200], "reading the resource was a poll too"
    assert form_of(polls[0].headers["Location"]) == "absolute"
    assert polls[1].body["id"] == PLAIN


async def test_a_resource_that_nobody_polls_is_done_by_being_read():
    async with emulated(timed(Style.ASYNC, polls=2), has_group=True) as azure:
        await azure.put(PLAIN)
        assert [(await azure.get(PLAIN)).state for _ in range(3)] == ["Creating", "Creating", "Succeeded"]


async def test_an_update_that_is_accepted_stays_visible():
    async with emulated(timed(Style.ACCEPTED, polls=3), has_group=True) as azure:
        azure.emulator.put(PLAIN, {"location": "westeurope"})
        await azure.put(PLAIN, {"location": "westeurope", "tags": {"a": "b"}})
        shown = await azure.get(PLAIN)
    assert (shown.status, shown.state, shown.body["tags"]) == (200, "Updating", {"a": "b"})


async def test_operations_may_take_seconds_instead_of_polls():
    clock = TestClock()
    async with emulated(timed(Style.ASYNC, polls=0, seconds=30.0, retry_after=0), clock=clock, has_group=True) as azure:
        created = await azure.put(PLAIN)
        early = await azure.get(created.headers["Azure-AsyncOperation"])
        await clock.sleep(31)
        late = await azure.get(PLAIN)
    assert created.headers["Retry-After"] == "1", "nobody should ask without a pause for half a minute"
    assert (early.body["status"], late.state) == ("InProgress", "Succeeded")


ENDINGS = [
    ({"result": "Failed"}, "Failed", "OperationFailed", "a failure without words"),
    ({"result": "Canceled"}, "Canceled", "OperationCanceled", "cancelled"),
    (
        {"result": "Failed", "error": {"code": "SkuNotAvailable", "message": "No."}},
        "Failed",
        "SkuNotAvailable",
        "with words",
    ),
]


@pytest.mark.parametrize(("more", "state", "code", "why"), ENDINGS, ids=[row[-1] for row in ENDINGS])
@pytest.mark.parametrize("style", [Style.ASYNC, Style.ACCEPTED_ASYNC])
async def test_an_operation_may_end_badly_and_the_resource_shows_it(style, more, state, code, why):
    async with emulated(course("contoso*", style=style, **more), has_group=True) as azure:
        created = await azure.put(PLAIN)
        await azure.get(created.headers["Azure-AsyncOperation"])
        poll, resource = await azure.get(created.headers["Azure-AsyncOperation"]), await azure.get(PLAIN)
    assert (poll.status, poll.body["status"], poll.code) == (200, state, code), why
    assert resource.state == state


async def test_a_location_answers_with_the_error_itself():
    error = {"code": "Conflict", "message": "Taken.", "details": [{"code": "Inner", "message": "By him."}]}
    async with emulated(
        course("contoso*", style=Style.ACCEPTED, result="Failed", error=error), has_group=True
    ) as azure:
        created = await azure.put(PLAIN)
        poll = [await azure.get(created.headers["Location"]) for _ in range(2)][-1]
    assert (poll.status, poll.body["error"]) == (409, error)


async def test_a_failed_delete_leaves_the_resource():
    async with emulated(course(method="DELETE", result="Failed"), has_group=True) as azure:
        await azure.put(PLAIN)
        await azure.delete(PLAIN)
        assert [(await azure.get(PLAIN)).state for _ in range(2)] == ["Deleting", "Failed"]


DELETES = [
    (Style.DONE, 200, "", "", "gone with the answer"),
    (Style.STATE, 202, "absolute", "absolute", "a DELETE has no body to tell a state in"),
    (Style.ASYNC, 202, "absolute", "absolute", "both headers"),
    (Style.ACCEPTED, 202, "", "absolute", "Location alone"),
]


@pytest.mark.parametrize(("style", "status", "operation", "location", "why"), DELETES, ids=[row[-1] for row in DELETES])
async def test_a_delete_answers_in_the_style_of_its_type(style, status, operation, location, why):
    async with emulated(timed(style, polls=2), has_group=True) as azure:
        azure.emulator.put(PLAIN, {})
        reply = await azure.delete(PLAIN)
        states = [await azure.get(PLAIN) for _ in range(3)]
        last = states[-1]
    assert reply.status == status, why
    assert form_of(reply.headers.get("Azure-AsyncOperation")) == operation
    assert form_of(reply.headers.get("Location")) == location
    assert last.status == 404


async def test_an_operation_may_point_to_another_host():
    async with emulated(course("contoso*", polls=1, host="https://elsewhere.example"), has_group=True) as azure:
        reply = await azure.put(PLAIN)
    assert reply.headers["Azure-AsyncOperation"].startswith("https://elsewhere.example/subscriptions/")


async def test_an_operation_that_nobody_started_is_not_found(azure):
    path = f"{GROUP.rsplit('/', 2)[0]}/providers/A.B/locations/x/operations/00000000-0000-4000-8000-000000000000"
    assert (await azure.get(path)).code == "OperationNotFound"


RECORDED = [
    ("Microsoft.Network/virtualNetworks", "v", 201, "Updating", "etag"),
    ("Microsoft.Storage/storageAccounts", "s", 202, None, None),
    ("Microsoft.ManagedIdentity/userAssignedIdentities", "m", 201, None, None),
    ("Microsoft.DBforPostgreSQL/flexibleServers", "p", 202, None, None),
    ("Microsoft.Kusto/clusters", "k", 201, "Creating", "etag"),
    ("Microsoft.KeyVault/vaults", "v", 201, "Succeeded", None),
    ("Microsoft.Compute/disks", "d", 202, "Updating", None),
]


@pytest.mark.parametrize(("kind", "name", "status", "state", "etag"), RECORDED, ids=[row[0] for row in RECORDED])
async def test_types_behave_as_they_were_recorded(azure, group, kind, name, status, state, etag):
    reply = await azure.put(at(kind, name))
    body = reply.body or {}
    assert reply.status == status
    assert body.get("properties", {}).get("provisioningState") == state
    assert (etag in body) if etag else "etag" not in body


def test_what_is_nested_takes_after_what_it_is_nested_in():
    assert choose_behaviour("Microsoft.Network/virtualNetworks/subnets").put is Style.ASYNC
    assert choose_behaviour("Microsoft.Network/virtualNetworks/subnets").update is Style.SETTLED
    assert choose_behaviour("microsoft.network/DNSZONES/a").put is Style.DONE
    assert choose_behaviour("Contoso.Things/things").put is Style.DONE
