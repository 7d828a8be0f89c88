"""The script: what it may have, and what then goes wrong."""

import re
from dataclasses import replace
from pathlib import Path

import aiohttp
import pytest

from gitsync.emulator.faults import _ANSWER, _LIST, _MATCH, _OPERATION, _PLANNED_MOVE, _RULE, Canned, FaultRule, Match
from gitsync.emulator.governance.policies import _EXEMPTION, _POLICY, Effect, Operator
from gitsync.emulator.settings import (
    _CHANGE_LOG,
    _DENY_ASSIGNMENT,
    _LOCK,
    _PREFLIGHT,
    _PRINCIPAL,
    _REFUSAL,
    _SETTINGS,
    _TIMING,
    ChangeLogSettings,
    EmulatorSettings,
    Limits,
    read_settings,
)
from gitsync.emulator.state.store import MemoryStore, SqliteStore
from gitsync.emulator.types.behaviour import Style
from gitsync.errors import ConfigError
from tests.emulator.asked import GROUP, PLAIN, VNET, TestClock, add_group, at, emulated


def script(tmp_path, text):
    path = tmp_path / "azure.yaml"
    path.write_text(text, encoding="utf-8")
    return read_settings(path)


def scripted(tmp_path, rules, **more):
    """An emulator of these rules, in which the group GROUP is there already."""
    text = "settings: {throttle: off}\nrules:\n" + rules
    return emulated(script(tmp_path, text), has_group=True, **more)


def test_an_empty_script_changes_nothing(tmp_path):
    assert script(tmp_path, "") == EmulatorSettings()


def test_every_setting_can_be_set(tmp_path):
    settings = script(
        tmp_path,
        """
settings:
  tenant: 22222222-2222-4222-8222-222222222222
  subscriptions: [A]
  types:
    Contoso.Things/things: [2024-01-01]
    Contoso.Things/others: []
  unregistered: Contoso.Things
  registrationPolls: 5
  operations: {style: accepted, polls: 3, seconds: 1.5, retryAfter: 10}
  busy: parent
  locks: [{scope: /subscriptions/a, level: ReadOnly}]
  denied: [{principal: p, scope: s, action: "*/write"}]
  throttle: {reads: {size: 5, perSecond: 2}}
  rewrite: true
  pageSize: 7
  requireToken: true
  principals: [{clientId: c, secret: hush, readOnly: true, userName: amy@contoso.com, client: CLI}]
  tokenSeconds: 60
  changeLog: {resourceGraphDelay: 1, actorDelay: 2.5, activityLogDelay: 3, pageSize: 4}
""",
    )
    assert settings.subscriptions == ("a",)
    assert (settings.principals[0].user, settings.principals[0].app) == ("amy@contoso.com", "CLI")
    assert settings.change_log == ChangeLogSettings(
        resource_graph_delay=1, actor_delay=2.5, activity_log_delay=3, page_size=4
    )
    assert settings.types == {"Contoso.Things/things": ("2024-01-01",), "Contoso.Things/others": ()}
    assert (settings.operations.style, settings.operations.retry_after) == (Style.ACCEPTED, 10)
    assert settings.locks[0].read_only
    assert settings.limits == Limits(reads=settings.limits.reads)
    assert settings.limits.reads.size == 5
    assert (settings.principals[0].client, settings.principals[0].object) == ("c", "c")
    assert settings.principals[0].secret == "hush"
    assert "hush" not in repr(settings)


def test_what_is_recorded_can_be_requested(tmp_path):
    timing = script(
        tmp_path, "settings: {operations: {style: recorded, retryAfter: recorded}, throttle: on}"
    ).operations
    assert (timing.style, timing.retry_after) == (None, None)


@pytest.mark.parametrize("word", ["off", "'off'", '"off"', "false", "no"])
def test_throttling_is_switched_off_quoted_or_not(tmp_path, word):
    assert script(tmp_path, f"settings: {{throttle: {word}}}").limits is None


@pytest.mark.parametrize("word", ["on", "'on'", '"on"', "true"])
def test_and_on(tmp_path, word):
    assert script(tmp_path, f"settings: {{throttle: {word}}}").limits == Limits()


WRONG = [
    ("rulez: []", 1, "rulez", "a key that means nothing"),
    ("settings:\n  throttel: off", 2, "throttel", "in a setting"),
    ("settings:\n  busy: both", 2, "both", "a choice that there is not"),
    ("settings:\n  pageSize: 1.5", 2, "settings.pageSize: expected a whole number", "half an entry"),
    ("settings:\n  pageSize: 0", 2, "settings.pageSize: expected a number of 1 or more", "pages without an entry"),
    ("settings:\n  changeLog: {pageSize: 0}", 2, "number of 1 or more", "pages of a log without a row"),
    ("settings:\n  graph: {pageSize: 0}", 2, "number of 1 or more", "pages of Graph without an object"),
    ("settings:\n  pageSize: -1", 2, "number of 1 or more", "fewer than none"),
    ("settings:\n  tokenSeconds: -1", 2, "number of 0 or more", "less than no time"),
    ("settings:\n  rewrite: yesterday", 2, "true or false", "no truth"),
    ("settings:\n  throttle: 'of'", 2, "Set on, off", "a word that is no switch"),
    ("settings:\n  throttle: {reads: {size: 1}}", 2, "perSecond", "half a bucket"),
    ("settings:\n  changeLog: {delay: 1}", 2, "resourceGraphDelay", "a delay of what"),
    ("settings:\n  locks: [{level: ReadOnly}]", 2, "scope", "a lock of nothing"),
    ("settings:\n  principals: [{secret: x}]", 2, "clientId", "a principal without a name"),
    ("settings: 3", 1, "mapping", "no mapping"),
    ("rules:\n- match: {method: PUT}", 2, "needs an action", "a rule that does nothing"),
    ("rules:\n- drop: never\n  drop: before", 3, "rules[0].drop: is given twice", "the same key twice"),
    ("rules:\n- match: {methd: PUT}\n  drop: before", 2, "methd", "a key of a match"),
    ("rules:\n- answer: {message: x}", 2, "status or a code", "an answer without either"),
    ("rules:\n- operation: {error: {code: x}}", 2, "message", "an error without words"),
    ("rules:\n- move: {id: x}", 2, "needs one of create, delete, or set", "a move that moves nothing"),
    ("rules:\n- move: {delete: true, set: {/a: b}}", 2, "needs one of create", "a move that moves twice"),
    ("moves:\n- {id: /x, delete: true}", 2, "either at or after", "a move without a time"),
    ("moves:\n- {at: 2026-01-01, delete: true}", 2, "needs an id", "a move of nothing"),
    ("moves:\n- {at: soon, id: /x, delete: true}", 2, "not a date", "a time that is none"),
    ("moves:\n- {at: 2026-01-01, id: /x}", 2, "needs one of create", "a move that does nothing"),
    ("rules:\n- hide: lots", 2, "number", "a text for a number"),
    ("rules: [", 1, "not YAML", "no YAML at all"),
]


@pytest.mark.parametrize(("text", "line", "says", "why"), WRONG, ids=[row[-1] for row in WRONG])
def test_what_is_wrong_is_reported_with_its_location(tmp_path, text, line, says, why):
    with pytest.raises(ConfigError) as caught:
        script(tmp_path, text)
    assert says in str(caught.value), why
    assert f"azure.yaml:{line}: " in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_script_that_is_not_there_is_reported(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        read_settings(tmp_path / "nowhere.yaml")


ANSWERS = [
    ("{status: 503, code: ServiceUnavailable}", 503, "ServiceUnavailable", "a code that ARM has"),
    ("{code: ScopeLocked}", 409, "ScopeLocked", "its status is known"),
    ("{code: AllocationFailed, message: No more of them.}", 400, "AllocationFailed", "one of a provider"),
    ("{status: 418, body: {error: {code: Teapot}}}", 418, "Teapot", "a body of its own"),
]


@pytest.mark.parametrize(("answer", "status", "code", "why"), ANSWERS, ids=[row[-1] for row in ANSWERS])
async def test_an_answer_can_be_given_instead_of_the_work(tmp_path, answer, status, code, why):
    async with scripted(tmp_path, f"- match: {{method: PUT, type: contoso.*}}\n  answer: {answer}") as azure:
        reply, resource = await azure.put(PLAIN), azure.emulator.resource(PLAIN)
    assert (reply.status, reply.code) == (status, code), why
    assert resource is None


async def test_an_answer_may_carry_headers_and_html(tmp_path):
    rules = "- match: {method: GET}\n  answer: {status: 503, headers: {Retry-After: 3}, body: '<html>down</html>'}"
    async with scripted(tmp_path, rules) as azure:
        reply = await azure.get(PLAIN)
    assert (reply.status, reply.headers["Retry-After"], reply.body) == (503, "3", "<html>down</html>")


COUNTS = [
    ("nth: 2", [201, 503, 200, 200], "the second"),
    ("nth: [1, 3]", [503, 201, 503, 200], "the first and the third"),
    ("times: 2", [503, 503, 201, 200], "the first two"),
    ("after: 1", [201, 503, 503, 503], "all but the first"),
    ("{after: 1, times: 1}", [201, 503, 200, 200], "one after the first"),
]


@pytest.mark.parametrize(("when", "statuses", "why"), COUNTS, ids=[row[-1] for row in COUNTS])
async def test_a_rule_strikes_at_some_of_what_it_counts(tmp_path, when, statuses, why):
    rules = f"- match: {{method: PUT, path: '*/things/*', {when.strip('{}')}}}\n  answer: {{code: ServiceUnavailable}}"
    async with scripted(tmp_path, rules) as azure:
        await azure.get(PLAIN)  # another method: not counted
        assert [(await azure.put(PLAIN)).status for _ in range(4)] == statuses, why


@pytest.mark.parametrize(("drop", "done"), [("before", False), ("after", True)])
async def test_a_connection_may_break_before_or_after_the_work(tmp_path, drop, done):
    async with scripted(
        tmp_path, f"- match: {{method: PUT}}\n  drop: {drop}".replace("PUT}", "PUT, type: contoso*}")
    ) as azure:
        with pytest.raises(aiohttp.ClientConnectionError):
            await azure.put(PLAIN)
        resource, status = azure.emulator.resource(PLAIN), azure.emulator.requests[-1].status
    assert (resource is not None) is done
    assert status == 0


async def test_a_gateway_may_give_up_on_work_that_was_done(tmp_path):
    async with scripted(tmp_path, "- match: {method: PUT, type: contoso*}\n  timeout: true") as azure:
        reply, found = await azure.put(PLAIN), await azure.get(PLAIN)
    assert (reply.status, reply.code) == (504, "GatewayTimeout")
    assert found.status == 200


async def test_an_answer_may_be_late(tmp_path):
    clock = TestClock()
    async with scripted(tmp_path, "- match: {method: GET}\n  delay: 90", clock=clock) as azure:
        await azure.get(PLAIN)
    assert clock.seconds == 90


async def test_what_was_created_may_not_be_visible_at_once(tmp_path):
    rules = "- match: {method: PUT, type: contoso*}\n  hide: 2"
    async with scripted(tmp_path, rules) as azure:
        created = await azure.put(PLAIN)
        listed = await azure.get(f"{GROUP}/resources")
        assert (created.status, listed.body["value"], [(await azure.get(PLAIN)).status for _ in range(3)]) == (
            201,
            [],
            [404, 404, 200],
        )


async def test_an_operation_can_be_made_to_fail(tmp_path):
    rules = """
- match: {type: Microsoft.Network/*}
  operation: {result: Failed, retryAfter: 3, error: {code: AddressInUse, message: Taken.}}
"""
    async with scripted(tmp_path, rules) as azure:
        created = await azure.put(VNET)
        poll = [await azure.get(created.headers["Azure-AsyncOperation"]) for _ in range(2)][-1]
    assert created.headers["Retry-After"] == "3"
    assert (poll.body["status"], poll.code) == ("Failed", "AddressInUse")


async def test_a_poll_may_fail_while_the_operation_goes_on(tmp_path):
    rules = """
- match: {poll: true, type: Microsoft.Network/virtualNetworks, times: 2}
  answer: {status: 429, code: TooManyRequests, headers: {Retry-After: 1}}
"""
    async with scripted(tmp_path, rules) as azure:
        created = await azure.put(VNET)
        polls, network = (
            [(await azure.get(created.headers["Azure-AsyncOperation"])).status for _ in range(3)],
            await azure.get(VNET),
        )
    assert polls == [429, 429, 200]
    assert network.state == "Succeeded"


async def test_somebody_may_change_things_behind_gits_back(tmp_path):
    rules = f"""
- match: {{method: GET, type: contoso*, times: 1}}
  move:
  - set: {{/tags/owner: somebody, /properties/provisioningState: Failed}}
    remove: /location
  - {{id: {PLAIN}2, delete: true}}
"""
    async with scripted(tmp_path, rules) as azure:
        await azure.put(PLAIN)
        azure.emulator.put(f"{PLAIN}2", {})
        before = await azure.get(PLAIN)
        after, gone = await azure.get(PLAIN), await azure.get(f"{PLAIN}2")
    assert "tags" not in before.body, "the move comes after the answer"
    assert (after.body["tags"], after.state, "location" in after.body) == ({"owner": "somebody"}, "Failed", False)
    assert gone.status == 404


async def test_a_move_adds_an_entry_and_shows_what_only_azure_sets(tmp_path):
    clock, vault = TestClock(), at("Microsoft.KeyVault/vaults", "one")
    shown = "{/properties/vaultUri: https://elsewhere, /properties/health: Failed}"
    (tmp_path / "azure.yaml").write_text(f"""
moves:
- {{after: 0, id: {vault}, set: {{/properties/rules/-: {{name: a}}}}, show: {shown}}}
""")
    settings = replace(read_settings(tmp_path / "azure.yaml"), limits=None)
    async with emulated(settings, clock=clock) as azure:
        await add_group(azure)
        await azure.made(vault, {"properties": {}})
        moved = (await azure.get(vault)).body["properties"]
        replaced = (await azure.put(vault, {"properties": {"vaultUri": "https://sent"}})).body["properties"]
    assert (moved["vaultUri"], moved["rules"], moved["health"]) == ("https://elsewhere", [{"name": "a"}], "Failed")
    moved.pop("rules")
    assert replaced == moved, "a PUT changes no state"


async def test_moves_are_played_when_their_time_has_come_and_once(tmp_path):
    clock, later = TestClock(), f"{PLAIN}2"
    (tmp_path / "azure.yaml").write_text(f"""
moves:
- {{after: 30, by: rob@contoso.com, with: Azure Portal, id: {PLAIN}, set: {{/tags/owner: rob}}, delete: false}}
- {{at: "2026-01-01T00:01:00Z", id: {later}, create: {{location: westeurope}}}}
- {{after: 40, id: {later}, delete: true}}
""")
    settings = replace(read_settings(tmp_path / "azure.yaml"), limits=None)
    seen = []
    for seconds in (0, 29, 31, 59, 61):
        clock.seconds = seconds
        async with emulated(settings, SqliteStore(tmp_path / "azure.db"), clock) as azure:
            if seconds == 0:
                azure.emulator.put(PLAIN, {})
            seen.append(("tags" in azure.emulator.resource(PLAIN), azure.emulator.resource(later) is not None))
            logged = azure.emulator.cloud.store.changes()
    assert seen == [(False, False), (False, False), (True, False), (True, False), (True, False)]
    assert [(entry.at - logged[0].at, entry.id, entry.change, entry.caller.get("user")) for entry in logged[1:]] == [
        (30, PLAIN, "Update", "rob@contoso.com"),
        (60, later, "Create", None),
        (61, later, "Delete", None),
    ]


async def test_rules_add_up_and_the_first_of_a_kind_wins(tmp_path):
    clock = TestClock()
    rules = """
- {match: {method: GET}, delay: 1}
- {match: {method: GET}, answer: {code: ServiceUnavailable}}
- {match: {method: GET}, answer: {code: Conflict}, delay: 2}
"""
    async with scripted(tmp_path, rules, clock=clock) as azure:
        reply = await azure.get(PLAIN)
    assert (reply.code, clock.seconds) == ("ServiceUnavailable", 3)


PAGE = Path(__file__).resolve().parents[2] / "docs" / "emulator.md"


def test_the_scripts_of_the_documentation_can_be_read(tmp_path):
    scripts = re.findall(r"^```yaml\n(.*?)^```", PAGE.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    counts = [len(script(tmp_path, text).rules) for text in scripts]
    assert [count for count in counts if count] == [4], "the others have settings alone"


def test_the_documentation_names_every_key():
    text = PAGE.read_text("utf-8")
    governing = [*_LOCK, *_DENY_ASSIGNMENT, *_POLICY, *Effect, *Operator, *_EXEMPTION, *_PREFLIGHT, *_REFUSAL]
    keys = [
        *_SETTINGS,
        *_CHANGE_LOG,
        *_PRINCIPAL,
        *governing,
        *_TIMING,
        *_MATCH,
        *_ANSWER,
        *_OPERATION,
        *_LIST,
        *_PLANNED_MOVE,
        *_RULE,
        *Style,
    ]
    assert [key for key in keys if not re.search(rf"\b{re.escape(key)}\b", text)] == []


async def test_another_rule_in_the_place_of_one_counts_anew():
    store = MemoryStore()

    async def answered(code):
        rule = FaultRule(match=Match(nth=(1,)), answer=Canned(code=code))
        async with emulated(EmulatorSettings(limits=None, rules=(rule,)), store) as azure:
            return (await azure.get(GROUP)).code

    assert [await answered(code) for code in ("Conflict", "Conflict", "ServiceUnavailable")] == [
        "Conflict",
        "ResourceGroupNotFound",
        "ServiceUnavailable",
    ]


KEPT = [
    ({}, {"a": "1", "b": "2"}, [{"value": 1}], "what the body lacks"),
    ({"tags": {"a": "9"}}, {"a": "9", "b": "2"}, [{"value": 1}], "its other members"),
    ({"tags": {"b": None}, "properties": None}, {"a": "1"}, None, "but not what is null"),
    ({"properties": {"list": [{"value": 2}]}}, {"a": "1", "b": "2"}, [{"value": 2}, {"value": 1}], "further entries"),
    ({"properties": {"list": []}}, {"a": "1", "b": "2"}, [], "but none in an empty list"),
]


@pytest.mark.parametrize(("body", "tags", "entries", "why"), KEPT, ids=[row[-1] for row in KEPT])
async def test_a_put_may_keep_what_its_body_leaves_out(tmp_path, body, tags, entries, why):
    async with scripted(tmp_path, "- {match: {method: PUT}, keep: [/tags, /properties]}\n") as azure:
        await azure.made(PLAIN, {"tags": {"a": "1", "b": "2"}, "properties": {"list": [{"value": 1}]}, "kind": "old"})
        await azure.made(PLAIN, body)
        now = (await azure.get(PLAIN)).body
    assert (now["tags"], now.get("properties", {}).get("list")) == (tags, entries), why
    assert "kind" not in now


async def test_an_identity_of_another_type_keeps_none_of_users(tmp_path):
    users = {"type": "UserAssigned", "userAssignedIdentities": {PLAIN: {}}}
    async with scripted(tmp_path, "- {match: {method: PUT}, keep: /identity}\n") as azure:
        await azure.made(PLAIN, {"identity": users})
        await azure.made(PLAIN, {})
        assert "userAssignedIdentities" in (await azure.get(PLAIN)).body["identity"]
        await azure.made(PLAIN, {"identity": {"type": "None"}})
        assert "userAssignedIdentities" not in (await azure.get(PLAIN)).body["identity"]
