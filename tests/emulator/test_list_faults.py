"""What a script can make wrong with a list; single resources are read as they are."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.emulator.faults import FaultRule, Match
from gitsync.emulator.http.messages import ListFault
from gitsync.emulator.settings import read_settings
from gitsync.emulator.state.store import MemoryStore, SqliteStore
from tests.emulator.asked import GROUP, OPEN, PLAIN, SUBSCRIPTION, VNET, TestClock, at, emulated

KIND = "Contoso.Things/things"
LIST = f"{GROUP}/providers/{KIND}"
BODY = {"location": "westeurope", "tags": {"a": "b"}, "properties": {"size": 1, "parts": [{"x": 1, "y": 2}]}}


def read_rules(tmp_path, rules):
    path = tmp_path / "azure.yaml"
    path.write_text(f"settings: {{throttle: off, pageSize: 2}}\nrules:\n{rules}", encoding="utf-8")
    return read_settings(path)


async def read_pages(azure, path=LIST):
    entries, link = [], path
    while link:
        page = (await azure.get(link)).body
        entries += page["value"]
        link = page.get("nextLink")
    return entries


def names(entries):
    return [entry["name"] for entry in entries]


def fill(emulator, *wanted, body=BODY):
    emulator.put(GROUP, {"location": "westeurope"})
    for name in wanted:
        emulator.put(at(KIND, name), body)


PICKS = [
    ("{missing: '*/c'}", ["a", "b", "d"], "an entry is not there"),
    ("{missing: ['*/C', '*/d']}", ["a", "b"], "two of them, in any case"),
    ("{duplicate: ['*/a', '*/c']}", ["a", "b", "c", "d", "a", "c"], "entries come again on a later page"),
    ("{duplicate: '*', missing: '*/b'}", ["a", "c", "d", "a", "c", "d"], "both"),
]


@pytest.mark.parametrize(("fault", "expected", "why"), PICKS, ids=[row[-1] for row in PICKS])
async def test_a_list_has_other_entries_than_there_are_resources(tmp_path, fault, expected, why):
    async with emulated(read_rules(tmp_path, f"- list: {fault}")) as azure:
        fill(azure.emulator, *"abcd")
        single = [(await azure.get(at(KIND, name))).status for name in "abcd"]
        listed = names(await read_pages(azure))
    assert listed == expected, why
    assert single == [200] * 4, "a rule of lists does not concern single resources"


async def test_a_list_may_come_in_another_order_and_pages_still_hold_every_entry_once(tmp_path):
    async with emulated(read_rules(tmp_path, "- list: {reorder: true}")) as azure:
        fill(azure.emulator, *"abcdefg")
        first, second = [names(await read_pages(azure)) for _ in range(2)]
    assert sorted(first) == list("abcdefg")
    assert first != sorted(first)
    assert first == second, "the order is odd, and always the same"


TRIMMED = [
    ("/properties", {"location", "tags"}, {}, "no properties at all"),
    ("[/properties/size, /tags]", {"location", "properties"}, {"parts": [{"x": 1, "y": 2}]}, "single members"),
    ("/properties/parts/*/x", {"location", "tags", "properties"}, {"size": 1, "parts": [{"y": 2}]}, "in lists too"),
    ("/properties/none/at/all", {"location", "tags", "properties"}, BODY["properties"], "nothing is made up"),
]


@pytest.mark.parametrize(("trim", "members", "properties", "why"), TRIMMED, ids=[row[-1] for row in TRIMMED])
async def test_the_entries_of_a_list_may_lack_members(tmp_path, trim, members, properties, why):
    async with emulated(read_rules(tmp_path, f"- list: {{trim: {trim}}}")) as azure:
        fill(azure.emulator, "a")
        entry, single = (await read_pages(azure))[0], (await azure.get(at(KIND, "a"))).body
    shown = entry.pop("properties", {})
    shown.pop("provisioningState", None)
    assert (set(entry) - {"id", "name", "type"}, shown) == (members - {"properties"}, properties), why
    assert single["properties"]["size"] == 1


async def test_a_stale_list_shows_what_changed_lately_as_it_was(tmp_path):
    clock = TestClock()
    async with emulated(read_rules(tmp_path, "- list: {stale: 30}"), clock=clock) as azure:
        hand = azure.emulator
        fill(hand, "changed", "removed", "same")
        clock.seconds += 100
        await azure.put(at(KIND, "changed"), BODY | {"tags": {"a": "new"}})
        hand.remove(at(KIND, "removed"))
        hand.put(at(KIND, "made"), {})
        seen = []
        for _ in range(2):
            entries = await read_pages(azure)
            seen.append({entry["name"]: entry.get("tags", {}).get("a") for entry in entries})
            clock.seconds += 31
        (early, late), single = seen, (await azure.get(at(KIND, "changed"))).body["tags"]
    assert early == {"changed": "b", "removed": "b", "same": "b", "made": None}
    assert late == {"changed": "new", "same": "b", "made": None}
    assert single == {"a": "new"}


async def test_the_past_outlasts_the_process(tmp_path):
    """The first process changes a resource, the next one lists it."""
    settings, file = read_rules(tmp_path, "- list: {stale: 3600}"), tmp_path / "azure.db"
    async with emulated(settings, SqliteStore(file)) as azure:
        fill(azure.emulator, "a")
        azure.emulator.change(at(KIND, "a"), "/tags", {"a": "new"})
    async with emulated(settings, SqliteStore(file)) as azure:
        assert [entry["tags"] for entry in await read_pages(azure)] == [{"a": "b"}]
        assert (await azure.get(at(KIND, "a"))).body["tags"] == {"a": "new"}


async def test_a_write_that_takes_long_is_one_change(tmp_path):
    """Before a write means before its operation began: not a state on the way."""
    first, second = {"location": "westeurope", "tags": {"a": "1"}}, {"location": "westeurope", "tags": {"a": "2"}}
    async with emulated(read_rules(tmp_path, "- list: {stale: 3600}")) as azure:
        fill(azure.emulator)
        await azure.made(VNET, first)
        await azure.made(VNET, second)
        (entry,) = await read_pages(azure, VNET.rpartition("/")[0])
    assert (entry["tags"], entry["properties"]["provisioningState"]) == ({"a": "1"}, "Succeeded")


async def test_what_a_parent_embeds_lags_with_it(tmp_path):
    async with emulated(read_rules(tmp_path, "- list: {stale: 3600}")) as azure:
        fill(azure.emulator)
        azure.emulator.put(VNET, {"properties": {"subnets": [{"name": "s", "properties": {"addressPrefix": "old"}}]}})
        azure.emulator.change(f"{VNET}/subnets/s", "/properties/addressPrefix", "new")
        entries = await read_pages(azure, VNET.rpartition("/")[0]), await read_pages(azure, f"{VNET}/subnets")
        ((network,), (subnet,)), single = entries, (await azure.get(VNET)).body
    assert network["properties"]["subnets"][0]["properties"]["addressPrefix"] == "old"
    assert subnet["properties"]["addressPrefix"] == "old"
    assert single["properties"]["subnets"][0]["properties"]["addressPrefix"] == "new"


async def test_lists_can_be_refused_apart_from_single_reads(tmp_path):
    async def read(rules):
        async with emulated(read_rules(tmp_path, rules)) as azure:
            fill(azure.emulator, "a")
            paths = (LIST, f"{SUBSCRIPTION}/providers/{KIND}", f"{SUBSCRIPTION}/resourcegroups", at(KIND, "a"), GROUP)
            return [(await azure.get(path)).status for path in paths]

    rules = "- {match: {list: true, path: '*/resourcegroups*'}, answer: {status: 403, code: AuthorizationFailed}}"
    assert await read(rules) == [403, 200, 403, 200, 200]
    rules = "- {match: {list: false, method: GET}, answer: {code: ServiceUnavailable}}"
    assert await read(rules) == [200, 200, 200, 503, 503]
    rules = "- {match: {type: Microsoft.Resources/resourceGroups, list: true}, answer: {code: ServiceUnavailable}}"
    assert await read(rules) == [200, 200, 503, 200, 200]


async def test_a_fault_of_lists_counts_lists_alone(tmp_path):
    rules = "- {match: {type: contoso.things/things, nth: 2}, list: {missing: '*'}}"
    async with emulated(read_rules(tmp_path, rules)) as azure:
        fill(azure.emulator, "a")
        await azure.get(at(KIND, "a"))
        assert [len(await read_pages(azure)) for _ in range(3)] == [1, 0, 1]


@given(
    changes=st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9), st.booleans()), max_size=12),
    wait=st.integers(0, 100),
)
async def test_once_the_lag_is_over_a_stale_list_shows_what_is_there(changes, wait):
    clock = TestClock()
    fault = ListFault(stale=wait)
    settings = replace(OPEN, rules=(FaultRule(match=Match(lists=True), list_fault=fault),))
    async with emulated(settings, MemoryStore(), clock) as azure:
        fill(azure.emulator, "a")
        for name, size, is_removed in changes:
            clock.seconds += 1
            if is_removed and azure.emulator.resource(at(KIND, name)):
                azure.emulator.remove(at(KIND, name))
            else:
                azure.emulator.put(at(KIND, name), {"properties": {"size": size}})
        clock.seconds += wait
        present = [azure.emulator.resource(arm_id) for arm_id in azure.emulator.ids(LIST)]
        listed = await read_pages(azure)
    assert listed == present


async def test_a_list_shows_each_resource_as_a_single_read_does(azure):
    fill(azure.emulator, "a", body={"properties": {"adminPassword": "hush"}})
    await azure.made(VNET, {"location": "westeurope", "properties": {"subnets": [{"name": "s"}]}})
    for path, arm_id in (
        (LIST, at(KIND, "a")),
        (VNET.rpartition("/")[0], VNET),
        (f"{VNET}/subnets", f"{VNET}/subnets/s"),
    ):
        listed = (await azure.get(path)).body["value"]
        assert listed == [(await azure.get(arm_id)).body]
        assert "hush" not in str(listed)


async def test_what_is_gone_is_in_no_list_of_the_present():
    """PLAIN is created again after it was deleted: a stale list shows the new one."""
    settings = replace(OPEN, rules=(FaultRule(match=Match(lists=True), list_fault=ListFault(stale=3600)),))
    async with emulated(settings) as azure:
        fill(azure.emulator, "one")
        azure.emulator.remove(PLAIN)
        azure.emulator.put(PLAIN, {"tags": {"a": "again"}})
        assert [entry.get("tags") for entry in await read_pages(azure)] == [{"a": "again"}]
