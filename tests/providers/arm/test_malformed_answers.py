"""Answers that are not answers, over a real socket: malformed lists, resources and ends of operations."""

from __future__ import annotations

import json

import pytest

from gitsync.errors import ArmError
from gitsync.providers.arm.extension_client import ExtensionClient
from gitsync.providers.arm.http.messages import Response
from gitsync.providers.arm.http.response_bodies import ListSource, PagesRead
from tests.providers.arm.raw_server import deflate
from tests.support.arm_rig import API, GROUP, OPERATION, VNET, Rig, StaticCredential, moving, rigged
from tests.support.scripted_server import Say

LIST = f"{GROUP}/resources"
KEY = "k3y-that-nobody-may-see"
HERE = f"{{url}}{LIST}?api-version={API}"
ENTRY = {"id": VNET}

MALFORMED = [
    (None, "is nothing", "an empty body"),
    ({}, "has no `value`", "an object with nothing in it"),
    ([], "HTTP 200", "entries without a page around them"),
    ([ENTRY], "HTTP 200", "the same with an entry"),
    (7, "HTTP 200", "a number"),
    ({"value": None}, "has nothing as its `value`", "no list in its place"),
    ({"value": {}}, "has an object as its `value`", "an object in its place"),
    ({"value": {"0": ENTRY}}, "has an object as its `value`", "entries by number"),
    ({"value": 5}, "has a number as its `value`", "a number in its place"),
    ({"value": False}, "has a boolean as its `value`", "a boolean in its place"),
    ({"value": ""}, "has a string as its `value`", "a text in its place"),
    ({"value": ["a"]}, "has a string as entry 1", "a list of texts"),
    ({"value": [ENTRY, None]}, "has nothing as entry 2", "a null among entries"),
    ({"value": [[ENTRY]]}, "has a list as entry 1", "a list of lists"),
    ({"Value": []}, "has no `value`", "members have a case"),
    ({"value": [], "error": "busy"}, "unknown deployment error", "an error besides"),
    ({"value": [], "nextLink": 5}, "has a number as its `nextLink`", "a link that is a number"),
    ({"value": [], "nextLink": False}, "has a boolean as its `nextLink`", "a link that is a boolean"),
    ({"value": [], "nextLink": ["x"]}, "has a list as its `nextLink`", "several links"),
    ({"value": [], "nextLink": {}}, "has an object as its `nextLink`", "a link that is an object"),
    ({"value": [], "nextLink": "next"}, "has a `nextLink` that is not a URL", "a word"),
    ({"value": [], "nextLink": "/subscriptions"}, "has a `nextLink` that is not a URL", "a path"),
    ({"value": [], "nextLink": "http://["}, "has a `nextLink` that is not a URL", "half a URL"),
    ({"value": [], "nextLink": "http://127.0.0.1:1/x"}, "another host", "a URL of another host"),
    ({"value": [], "nextLink": HERE}, "to a page that was already read", "the page that was just read"),
]


@pytest.mark.parametrize(("page", "says", "why"), MALFORMED)
@pytest.mark.parametrize("earlier", [0, 2])
async def test_one_odd_page_makes_the_list_malformed(rig: Rig, page, says, why, earlier):
    pages = [Say(200, {"value": [ENTRY], "nextLink": f"{HERE}&page={number}"}) for number in range(earlier)]
    rig.server.on("GET", LIST, *pages, Say(200, page))
    with pytest.raises(ArmError, match=says) as caught:
        await rig.reader.list(LIST, API)
    assert caught.value.resource_id == LIST, why
    assert len(rig.server.seen) == earlier + 1, "it is not asked for again"


@pytest.mark.parametrize(("page", "says", "why"), MALFORMED)
async def test_an_odd_page_of_an_action_is_told_without_what_stands_in_it(rig: Rig, page, says, why):
    link = f"{{url}}{LIST}?api-version={API}"
    rig.server.on("POST", LIST, Say(200, {"value": [{"key": KEY}], "nextLink": link}))
    rig.server.on("GET", LIST, Say(200, page))
    with pytest.raises(ArmError) as caught:
        await ExtensionClient(rig.writer).pages(LIST, API)
    assert KEY not in f"{caught.value} {vars(caught.value)}", why


@pytest.mark.parametrize("page", [{}, {"value": None}, {"value": [KEY]}, {"value": {"a": KEY}}])
async def test_an_odd_first_page_of_an_action_is_no_empty_list(rig: Rig, page):
    rig.server.on("POST", LIST, Say(200, page))
    with pytest.raises(ArmError) as caught:
        await ExtensionClient(rig.writer).pages(LIST, API)
    assert caught.value.code == "MalformedList"
    assert KEY not in f"{caught.value} {vars(caught.value)}"


@pytest.mark.parametrize("link", ["absent", None, ""])
async def test_a_last_page_has_no_link(rig: Rig, link):
    page = {"value": [ENTRY]} | ({} if link == "absent" else {"nextLink": link})
    rig.server.on("GET", LIST, Say(200, page))
    assert await rig.reader.list(LIST, API) == [ENTRY]


async def test_a_list_whose_pages_name_each_other_is_malformed(rig: Rig):
    rig.server.on("GET", LIST, *(Say(200, {"value": [], "nextLink": f"{HERE}&page={link}"}) for link in [0, 1] * 4))
    with pytest.raises(ArmError, match="to a page that was already read"):
        await rig.reader.list(LIST, API)
    assert len(rig.server.seen) == 3


async def test_a_list_has_no_more_than_1000_pages():
    read, pages = [], PagesRead(ListSource(LIST))

    async def send(_most: int) -> Response:
        read.append(_most)
        return Response(status=200)

    for page in range(1000):
        await pages.read(f"{LIST}?page={page}", send)
    with pytest.raises(ArmError, match="does not end after 1000 pages"):
        await pages.read(f"{LIST}?page=1000", send)
    assert len(read) == 1000


async def test_pages_that_add_up_to_too_much_are_not_read_to_the_end(rig: Rig):
    """They have 40 MB each once they are unpacked, and the third would be the last."""
    for number in (1, 2, None):
        link = {} if number is None else {"nextLink": f"{rig.server.url}{LIST}?api-version={API}&page={number}"}
        body = deflate(json.dumps({"value": [ENTRY], **link}).encode(), 40)
        headers = {"Content-Encoding": "deflate", "Content-Type": "application/json"}
        rig.server.on("GET", LIST, Say(200, body, headers))
    with pytest.raises(ArmError, match="exceeds 100 MB after 2 pages and was not read to its end") as caught:
        await rig.reader.list(LIST, API)
    assert (caught.value.code, caught.value.resource_id) == ("AnswerTooLarge", LIST)
    assert len(rig.server.seen) == 3, "it is not asked for again"


async def test_each_page_may_have_what_those_before_it_have_left():
    left, pages = [], PagesRead(ListSource(LIST))

    async def send(most: int) -> Response:
        left.append(most >> 20)
        if most < 40 << 20:
            raise ArmError("It is too large.", status=200, code="AnswerTooLarge")
        return Response(status=200, content=bytes(40 << 20))

    for page in range(2):
        await pages.read(f"{LIST}?page={page}", send)
    with pytest.raises(ArmError, match="exceeds 100 MB after 2 pages and was not read to its end"):
        await pages.read(f"{LIST}?page=2", send)
    assert left == [100, 60, 20]


async def test_pages_of_an_action_are_counted_as_those_of_a_list(rig: Rig):
    rig.server.on("POST", LIST, Say(200, {"value": [], "nextLink": f"{HERE}&page=0"}))
    rig.server.on("GET", LIST, *(Say(200, {"value": [], "nextLink": f"{HERE}&page={link}"}) for link in [1, 0]))
    with pytest.raises(ArmError, match="to a page that was already read"):
        await ExtensionClient(rig.writer).pages(LIST, API)
    assert len(rig.server.seen) == 3


@pytest.mark.parametrize(
    ("body", "says", "why"),
    [
        (None, "not a JSON object", "an empty body"),
        ({}, "has no id", "an object with nothing in it"),
        ({"value": []}, "has no id", "an empty list"),
        ({"properties": {}}, "has no id", "it says nothing of what it is"),
        ({"id": None}, "has no id", "no id in its place"),
        ({"id": 7}, "has no id", "a number in its place"),
        ({"id": ""}, "another resource", "an empty id"),
        ({"id": f"{GROUP}/providers/Microsoft.Network/virtualNetworks/other"}, "another resource", "another name"),
        ({"id": VNET.replace("/rg/", "/other/")}, "another resource", "another group"),
        ({"id": GROUP}, "another resource", "what it lies in"),
        ({"id": f"{VNET}/subnets/one"}, "another resource", "what lies in it"),
        ({"id": VNET, "type": 7}, "type is not a string", "a type that is a number"),
        ({"id": VNET, "properties": []}, "properties are not an object", "properties that are a list"),
        ({"id": VNET, "properties": "x"}, "properties are not an object", "properties that are a text"),
        ({"id": VNET, "properties": {"provisioningState": 5}}, "provisioningState", "a state that is a number"),
    ],
)
async def test_what_is_not_the_resource_is_neither_it_nor_absent(rig: Rig, body, says, why):
    rig.server.on("GET", VNET, Say(200, body))
    with pytest.raises(ArmError, match=says) as caught:
        await rig.reader.get(VNET, API)
    assert (caught.value.code, caught.value.resource_id) == ("MalformedResource", VNET), why


ROLE = "providers/Microsoft.Authorization/roleDefinitions/7"
DELETED = "/subscriptions/1/providers/Microsoft.KeyVault/locations/{}/deletedVaults/kv"


@pytest.mark.parametrize(
    ("requested", "found", "why"),
    [
        (VNET, VNET.upper(), "ids have no case"),
        (VNET, f"{VNET}/", "a slash at the end says nothing"),
        (f"{GROUP}/{ROLE}", f"{GROUP.rpartition('/resourceGroups')[0]}/{ROLE}", "a role of the subscription"),
        (f"{GROUP}/{ROLE}", f"/{ROLE}", "a role of the tenant"),
        (DELETED.format("West Europe"), DELETED.format("westeurope"), "a region has no blanks"),
        ("/subscriptions/1", "/subscriptions/1", "what has no provider"),
    ],
)
async def test_azure_may_spell_an_id_otherwise(rig: Rig, requested, found, why):
    rig.server.on("GET", requested, Say(200, {"id": found}), Say(200, {"id": found}))
    live = await rig.reader.get(requested, API)
    assert live is not None, why


async def test_what_is_waited_for_is_not_gone_because_of_an_odd_answer(rig: Rig):
    rig.server.on("GET", VNET, Say(200, moving()), Say(200, {}))
    live = await rig.reader.get(VNET, API)
    with pytest.raises(ArmError) as caught:
        await rig.reader.settle(VNET, API, live)
    assert caught.value.code == "MalformedResource"


LOCATION = {"Location": f"{{url}}{OPERATION}?api-version={API}"}


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Say(200, {"error": {"code": "Busy", "message": "not now"}}), "an error that comes as a success"),
        (Say(404, "<html>nothing here</html>"), "a proxy's page"),
        (Say(404, {}), "a 404 of nobody"),
    ],
)
async def test_a_delete_that_was_answered_oddly_is_not_done(rig: Rig, answer, why):
    rig.server.on("DELETE", VNET, answer)
    with pytest.raises(ArmError):
        await rig.writer.wait(await rig.writer.delete(VNET, API))
    assert rig.server.lines == [f"DELETE {VNET}"], why


async def test_a_delete_whose_end_is_an_error_is_looked_at(rig: Rig):
    rig.server.on("DELETE", VNET, Say(202, None, LOCATION))
    rig.server.on("GET", OPERATION, Say(200, {"error": {"code": "Busy"}}))
    rig.server.on("GET", VNET, Say(200, moving("Deleting")), Say(200, {}), Say(404, {"error": {"code": "Gone"}}))
    assert await rig.writer.wait(await rig.writer.delete(VNET, API))
    assert rig.server.lines[-1] == f"GET {VNET}"


async def test_a_write_is_not_done_because_of_an_odd_look(rig: Rig):
    rig.server.on("PUT", VNET, Say(202))
    rig.server.on("GET", VNET, Say(200, {}), Say(204), Say(200, {"id": GROUP}), Say(200, moving("Succeeded")))
    assert await rig.writer.wait(await rig.writer.put(VNET, API, {}))
    assert rig.server.lines == [f"PUT {VNET}", *[f"GET {VNET}"] * 4]


async def test_no_token_goes_to_another_host_for_a_page():
    async with rigged(credential=StaticCredential()) as rig:
        rig.server.on("GET", LIST, Say(200, {"value": [], "nextLink": "https://management.azure.com.evil.example/x"}))
        with pytest.raises(ArmError) as caught:
            await rig.reader.list(LIST, API)
        assert caught.value.code == "ForeignNextLink"
