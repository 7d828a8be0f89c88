"""Who changed a resource: what is reported of Azure's rows, and what is requested for it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl

import pytest

from gitsync.agent.attribution.activity_log import read_log
from gitsync.agent.attribution.drift_authors import (
    FORGOTTEN,
    NO_SUBSCRIPTION,
    NOTHING_YET,
    OTHER_FIELDS,
    Drift,
    OwnWrites,
    find_authors,
)
from gitsync.agent.checks.check_requests import CheckRequests
from gitsync.model.arm_id import ArmId
from gitsync.model.attribution import AuthorKind, ChangeSource
from gitsync.model.gvk import Key
from gitsync.model.record import LastWrite
from tests.agent.attribution.rows import (
    AMY,
    GRAPH,
    LOG,
    NOBODY,
    OUR_OBJECT,
    OURS,
    ROB,
    SAM,
    SUBNET,
    TERRAFORM,
    VAULT,
    VNET,
    at,
    correlate,
    graph_row,
    log_rows,
)
from tests.agent.checks.asking import make_checks
from tests.support.arm_rig import GROUP, StaticCredential, anonymous, jwt, rigged
from tests.support.scripted_server import Say

SKU, TAG = "/properties/sku/name", "/tags/team"
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
COMMIT = "c" * 40
WROTE = LastWrite(correlation_id=correlate("our last write"), at="2026-03-01T11:10:30Z", revision="b" * 40)
OWN = OwnWrites(
    commits={correlate("another run"): COMMIT, WROTE.correlation_id: WROTE.revision},
    of_this_run=frozenset({correlate("this run")}),
)
REFUSED = {
    "error": {
        "code": "AuthorizationFailed",
        "message": "The client 'x' with object id 'x' does not have authorization to perform action "
        "'Microsoft.Insights/eventtypes/values/read' over scope '/subscriptions/x'.",
    }
}
NO_RIGHT = (
    "Azure's change records were not read in full: "
    "The identity lacks the right Microsoft.Insights/eventtypes/values/read."
)


def key(name: str) -> Key:
    return Key("keyvault.azure.com", "Vault", "default", name)


def drift(requests, arm_id=VAULT, paths=(SKU,), **more) -> Drift:
    more.setdefault("last_write", WROTE)
    return Drift(key=key(arm_id), arm_id=ArmId(arm_id), paths=paths, requests=requests, **more)


async def send_request(graph, log, *, arm_id=VAULT, who=None, **more):
    """Query a server that returns this about one resource; what is reported, and what was sent."""
    async with rigged(access=anonymous, credential=who) as rig:
        rig.server.on("POST", GRAPH, *(graph if isinstance(graph, list) else [graph]))
        rig.server.on("GET", LOG, log)
        drifted = drift(make_checks(rig), arm_id, **more)
        found = await find_authors([drifted], OWN, NOW)
        return found[drifted.key], rig.server.seen


def graph_says(*rows, token=None) -> Say:
    more = {"$skipToken": token} if token else {}
    return Say(200, {"totalRecords": 1, "count": 1, "resultTruncated": "false", "facets": [], "data": [*rows], **more})


def log_says(*rows) -> Say:
    return Say(200, {"value": [row for some in rows for row in some]})


def show(found) -> list[tuple[str, str, tuple[str, ...]]]:
    """Author, name and paths of each change; of a doubt its text."""
    return [
        ("doubt", author.doubt, ()) if author.doubt else (author.author.value, author.name, author.paths)
        for author in found
    ]


BOTH = {"paths": (SKU, TAG)}
GONE = {"paths": (), "is_missing": True}
CHILD = {"arm_id": SUBNET}
WRITE_VNET = {"action": "Microsoft.Network/virtualNetworks/write"}

BY_GRAPH = [
    ([graph_row(VAULT, 20, ROB, "properties.sku.name")], {}, [("person", ROB, (SKU,))], "a person"),
    (
        [graph_row(VAULT, 20, ROB, "Properties.SKU.Name"), graph_row(VAULT, 22, AMY, "tags.team")],
        BOTH,
        [("person", AMY, (TAG,)), ("person", ROB, (SKU,))],
        "two people on two fields, the newest first",
    ),
    (
        [graph_row(VAULT, 20, ROB, "properties.sku.name", "tags.team"), graph_row(VAULT, 22, AMY, "tags.team")],
        BOTH,
        [("person", AMY, (TAG,)), ("person", ROB, (SKU,))],
        "two people on the same field: the later one made it what it is",
    ),
    (
        [graph_row(VAULT, 20, ROB, "properties.sku.name"), graph_row(VAULT, 22, AMY, "properties.other")],
        {},
        [("person", ROB, (SKU,))],
        "a later change of a field that git does not say",
    ),
    (
        [graph_row(VAULT, 20, ROB, "properties.sku"), graph_row(VAULT, 22, AMY, "properties.skuFamily")],
        {},
        [("person", ROB, (SKU,))],
        "the whole object above the field; a name that begins alike is another field",
    ),
    (
        [graph_row(VAULT, 20, ROB, "properties.rules[2].port")],
        {"paths": ("/properties/rules/0/port",)},
        [("person", ROB, ("/properties/rules/0/port",))],
        "items of a list, which Azure may count in another way",
    ),
    (
        [graph_row(VAULT, 20, ROB, "tags.cost.centre/a")],
        {"paths": ("/tags/cost.centre~1a",)},
        [("person", ROB, ("/tags/cost.centre~1a",))],
        "a key with dots and a slash",
    ),
    (
        [
            graph_row(VAULT, 20, ROB, "properties.sku.name"),
            graph_row(VAULT, 25, TERRAFORM, "properties.provisioningState", "etag"),
        ],
        {},
        [("person", ROB, (SKU,))],
        "noise is no change",
    ),
    (
        [graph_row(VAULT, 5, AMY, "properties.sku.name"), graph_row(VAULT, 20, ROB, "properties.sku.name")],
        {},
        [("person", ROB, (SKU,))],
        "what was before our last write is overwritten",
    ),
    (
        [
            graph_row(VAULT, 9, AMY, "tags.team"),
            graph_row(VAULT, 10, OURS, "properties.sku.name", operation="our last write"),
            graph_row(VAULT, 20, ROB, "properties.sku.name"),
        ],
        BOTH,
        [("person", ROB, (SKU,))],
        "Azure knows when we wrote, and its clock is right",
    ),
    ([graph_row(VAULT, 20, TERRAFORM, "properties.sku.name")], {}, [("application", TERRAFORM, (SKU,))], "by its id"),
    (
        [graph_row(VAULT, 20, OURS, "properties.sku.name", operation="another run")],
        {},
        [("gitsync", "", (SKU,))],
        "another run, by its correlation id",
    ),
    (
        [graph_row(VAULT, 20, "System", "properties.sku.name", changedByType="System", correlationId=NOBODY)],
        {},
        [("azure", "", (SKU,))],
        "in the background",
    ),
    (
        [graph_row(VAULT, 20, ROB, kind="Create"), graph_row(VAULT, 15, AMY, "properties.sku.name")],
        {},
        [("person", ROB, ())],
        "deleted and created again: what was before is another resource",
    ),
    (
        [graph_row(VAULT, 25, AMY, "properties.sku.name"), graph_row(VAULT, 20, ROB, kind="Create")],
        {},
        [("person", AMY, (SKU,))],
        "created again, and changed since",
    ),
    (
        [graph_row(VAULT, 20, ROB, kind="Delete"), graph_row(VAULT, 15, AMY, "properties.sku.name")],
        GONE,
        [("person", ROB, ())],
        "deleted",
    ),
    (
        [graph_row(VAULT, 20, "who@x", "properties.sku.name", changedByType="Application")],
        {},
        [("person", "who@x", (SKU,))],
        "a name like that of a person is one, whatever Azure says: it is hidden in most places",
    ),
    (
        [
            None,
            5,
            {"rid": VAULT},
            {**graph_row(VAULT, 20), "t": "yesterday"},
            {**graph_row(VAULT, 21), "changeType": "Moved"},
            {**graph_row(VAULT, 22), "rid": None},
            graph_row(VAULT, 23, ROB, "properties.sku.name", correlationId=7, clientType=["x"], operation={}),
        ],
        {},
        [("person", ROB, (SKU,))],
        "odd rows are passed over, odd cells are empty",
    ),
]


@pytest.mark.parametrize(("rows", "more", "expected", "why"), BY_GRAPH, ids=[row[-1] for row in BY_GRAPH])
async def test_who_by_resource_graph(rows, more, expected, why):
    newest_first = sorted(
        rows, key=lambda row: str((row or {}).get("t")) if isinstance(row, dict) else "", reverse=True
    )
    found, seen = await send_request(graph_says(*newest_first), Say(500), **more)
    assert show(found) == expected, why
    assert len(seen) == 1, "the activity log is not asked"


BY_LOG = [
    (log_rows(VAULT, 20), {}, [("person", ROB, ())], "Resource Graph has nothing yet"),
    (
        [*log_rows(VAULT, 20), *log_rows(VAULT, 22, AMY), *log_rows(VAULT, 24)],
        {},
        [("person", ROB, ()), ("person", AMY, ())],
        "the newest of each person, since the log has no fields",
    ),
    ([*log_rows(VAULT, 20, ROB, "Accepted"), *log_rows(VAULT, 22, AMY, "Failed")], {}, [("person", ROB, ())], "failed"),
    (log_rows(VAULT, 20, ROB, "Accepted", "Failed"), {}, [("doubt", NOTHING_YET, ())], "accepted, and failed"),
    (log_rows(VAULT, 20)[-1:], {}, [("doubt", NOTHING_YET, ())], "begun, and nothing more yet"),
    (
        log_rows(SUBNET, 20, action="Microsoft.Network/virtualNetworks/subnets/write"),
        CHILD,
        [("person", ROB, ())],
        "child",
    ),
    (
        log_rows(VNET, 20, **WRITE_VNET),
        CHILD,
        [("person", ROB, ())],
        "a write of the parent may have changed the child",
    ),
    (
        log_rows(VNET, 20, OURS, operation="another run", **WRITE_VNET),
        CHILD,
        [("doubt", NOTHING_YET, ())],
        "gitsync writes parents and leaves their children alone",
    ),
    (
        log_rows(GROUP, 20, action="Microsoft.Resources/subscriptions/resourceGroups/write"),
        {},
        [("doubt", NOTHING_YET, ())],
        "a write of the group changes nothing in it",
    ),
    (log_rows(VAULT, 20, action="Microsoft.KeyVault/vaults/delete"), GONE, [("person", ROB, ())], "deleted"),
    (
        log_rows(GROUP, 20, action="Microsoft.Resources/subscriptions/resourceGroups/delete"),
        GONE,
        [("person", ROB, ())],
        "deleted with its group",
    ),
    (
        log_rows(VNET, 20, **WRITE_VNET),
        {**GONE, **CHILD},
        [("person", ROB, ())],
        "a write of the parent that left the child out",
    ),
    (
        [*log_rows(VAULT, 20), *log_rows(VAULT, 22, AMY, action="Microsoft.KeyVault/vaults/listKeys/action")],
        {},
        [("person", ROB, ())],
        "listing keys changes nothing",
    ),
    (log_rows(VAULT, 22, AMY, action="Microsoft.X/y/start/action"), {}, [("person", AMY, ())], "an action may"),
    (
        log_rows(f"{VAULT}/providers/Microsoft.Resources/tags/default", 20, action="Microsoft.Resources/tags/write"),
        {},
        [("person", ROB, ())],
        "tags are written through another type",
    ),
    (log_rows(VAULT, 20, TERRAFORM), {}, [("application", TERRAFORM, ())], "an application"),
    (
        log_rows(VAULT, 20, OUR_OBJECT, claims={"appid": OURS, "idtyp": "app"}, operation="unknown run"),
        {},
        [("gitsync", "", ())],
        "gitsync's own identity",
    ),
    (
        log_rows(VAULT, 20, OURS, operation="this run"),
        {},
        [("doubt", NOTHING_YET, ())],
        "this run put it back: that is not the drift",
    ),
    (
        log_rows(
            VAULT,
            20,
            TERRAFORM,
            category={"value": "Policy"},
            action="Microsoft.Authorization/policies/modify/action",
            properties={"policies": '[{"policyAssignmentId": "/subscriptions/x/policyAssignments/tags"}]'},
        ),
        {},
        [("policy", "/subscriptions/x/policyAssignments/tags", ())],
        "a policy changed it",
    ),
    (
        log_rows(VAULT, 20, category={"value": "Policy"}, action="Microsoft.Authorization/policies/audit/action"),
        {},
        [("doubt", NOTHING_YET, ())],
        "an audit changes nothing",
    ),
    (
        log_rows(VAULT, 20, category={"value": "ResourceHealth"}),
        {},
        [("doubt", NOTHING_YET, ())],
        "another category of the log",
    ),
    (
        [5, {}, {"resourceId": VAULT}, *({**row, "eventTimestamp": "?"} for row in log_rows(VAULT, 20))][1:],
        {},
        [("doubt", NOTHING_YET, ())],
        "odd rows",
    ),
]


@pytest.mark.parametrize(("rows", "more", "expected", "why"), BY_LOG, ids=[row[-1] for row in BY_LOG])
async def test_who_by_the_activity_log(rows, more, expected, why):
    who = StaticCredential(jwt(tid="t", appid=OURS, oid=OUR_OBJECT))
    found, _ = await send_request(graph_says(), log_says(rows), who=who, **more)
    assert show(found) == expected, why
    assert "hunter2" not in repr(found), "bodies of requests are not read"


DOUBTS = [
    (graph_says(), log_says(), {}, NOTHING_YET, "nothing found"),
    (graph_says(), Say(403, REFUSED), {}, NO_RIGHT, "no right on the log, and nothing in Resource Graph"),
    (Say(403, REFUSED), log_says(), {}, NO_RIGHT, "no right on Resource Graph, and nothing in the log"),
    (Say(200, ["odd"]), log_says(), {}, "not read in full", "an odd answer is no answer"),
    (Say(200, {"data": "odd"}), log_says(), {}, "is malformed", "an odd answer is no answer"),
    (Say(200, {"data": [], "$skipToken": 5}), log_says(), {}, "is malformed", "nor is an odd page"),
    (graph_says(), Say(200, {"value": "odd"}), {}, "not read in full", "nor an odd list"),
    (graph_says(), Say(400, {"code": "BadRequest", "message": "old"}), {}, "400 BadRequest", "without a wrapper"),
    (Say(500), Say(503), {}, "500", "both are down"),
    (graph_says(graph_row(VAULT, 20, ROB, "tags.other")), log_says(), {}, OTHER_FIELDS, "other fields only"),
    (
        graph_says(graph_row(VAULT, 20, ROB, "tags.other", operation="same")),
        log_says(log_rows(VAULT, 20, ROB, operation="same")),
        {},
        OTHER_FIELDS,
        "the log has the operation that changed another field: nobody is named for it",
    ),
    (
        graph_says(),
        log_says(),
        {"last_write": LastWrite(correlation_id="", at="2025-11-01T00:00:00Z")},
        FORGOTTEN,
        "our last write is older than what Azure keeps",
    ),
    (
        graph_says(),
        log_says(),
        {"arm_id": "/providers/Microsoft.Management/managementGroups/a"},
        NO_SUBSCRIPTION,
        "scope",
    ),
]


@pytest.mark.parametrize(("graph", "log", "more", "doubt", "why"), DOUBTS, ids=[f"{row[3]}-{row[4]}" for row in DOUBTS])
async def test_what_is_not_known_is_a_doubt_in_a_sentence(graph, log, more, doubt, why):
    [found], _ = await send_request(graph, log, **more)
    assert found.author is AuthorKind.UNKNOWN
    assert doubt in found.doubt, why
    assert found.doubt.endswith(".")


async def test_one_source_is_enough_if_the_other_refuses():
    found, _ = await send_request(Say(403, REFUSED), log_says(log_rows(VAULT, 20)))
    assert show(found) == [("person", ROB, ())]


async def test_the_author_that_resource_graph_does_not_have_yet_is_in_the_log():
    row = graph_row(VAULT, 20, "", "properties.sku.name", operation="same", changedByType="Unspecified", clientType="")
    found, _ = await send_request(graph_says(row), log_says(log_rows(VAULT, 20, ROB, operation="same")))
    assert [(document.name, document.client, document.paths, document.source) for document in found] == [
        (ROB, "Azure Portal", (SKU,), ChangeSource.RESOURCE_GRAPH)
    ]


async def test_all_that_a_report_says_of_a_change():
    [found], _ = await send_request(graph_says(graph_row(VAULT, 20, ROB, "properties.sku.name")), log_says())
    assert (found.client, found.at, found.operation) == (
        "Azure Portal",
        "2026-03-01T11:20:30Z",
        "microsoft.keyvault/vaults/write",
    )
    assert (found.correlation_id, found.source) == (correlate(f"{ROB} 20"), ChangeSource.RESOURCE_GRAPH)
    [found], _ = await send_request(graph_says(graph_row(VAULT, 20, OURS, operation="another run")), log_says())
    assert (found.author, found.commit) == (AuthorKind.GITSYNC, COMMIT)
    claims = {
        "appid": TERRAFORM,
        "xms_mirid": f"{GROUP}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/deployer",
    }
    [found], _ = await send_request(graph_says(), log_says(log_rows(VAULT, 20, TERRAFORM, claims=claims)))
    assert (found.name, found.label) == (TERRAFORM, "deployer")


async def test_an_older_change_is_in_the_log_alone():
    """Resource Graph keeps 14 days, and the log 90."""
    wrote = LastWrite(correlation_id="", at="2026-01-01T00:00:00Z")
    rows = [row | {"eventTimestamp": "2026-01-20T00:00:00Z"} for row in log_rows(VAULT, 20)]
    found, [graph, log] = await send_request(graph_says(), log_says(rows), last_write=wrote)
    assert show(found) == [("person", ROB, ())]
    assert "datetime(2026-02-15T13:00:00Z)" in graph.body["query"], "14 days less a margin"
    assert "2025-12-31T23:55:00Z" in log.query, "since our last write"


async def test_the_question_is_the_one_of_the_docs():
    _, [graph, log] = await send_request(graph_says(), log_says())
    assert graph.body == {
        "subscriptions": [GROUP.split("/")[2]],
        "query": "resourcechanges\n"
        "| extend t = todatetime(properties.changeAttributes.timestamp), "
        "rid = tolower(tostring(properties.targetResourceId))\n"
        f"| where t > datetime(2026-03-01T11:05:30Z) and rid in ('{VAULT.lower()}')\n"
        "| project id, t, rid, changeType = tostring(properties.changeType), "
        "attrs = properties.changeAttributes, changes = properties.changes\n"
        "| order by t desc, id asc",
        "options": {"$top": 1000, "resultFormat": "objectArray"},
    }
    assert dict(parse_qsl(log.query)) == {
        "api-version": "2015-04-01",
        "$filter": "eventTimestamp ge '2026-03-01T11:05:30Z' and eventTimestamp le '2026-03-01T12:00:00Z' "
        "and resourceGroupName eq 'rg'",
    }


@pytest.mark.parametrize(
    ("seconds", "end", "why"),
    [
        (0, "2026-03-01T12:00:00Z", "a full second is the end"),
        (0.4, "2026-03-01T12:00:01Z", "a change 0.1 s ago is in the log, whose filter has no fractions"),
    ],
)
async def test_the_log_is_read_until_the_end_of_this_second(seconds, end, why):
    async with rigged(access=anonymous) as rig:
        rig.server.on("GET", LOG, log_says())
        await read_log([ArmId(VAULT)], NOW - timedelta(hours=1), NOW + timedelta(seconds=seconds), make_checks(rig))
        (log,) = rig.server.seen
    assert f"eventTimestamp le '{end}'" in dict(parse_qsl(log.query))["$filter"], why


async def test_all_pages_are_read():
    pages = [graph_says(graph_row(VAULT, 22, AMY, "tags.team"), token="next"), graph_says(graph_row(VAULT, 20, ROB))]
    found, seen = await send_request(pages, log_says(), **BOTH)
    assert show(found) == [("person", AMY, (TAG,)), ("person", ROB, ())]
    assert seen[1].body == {**seen[0].body, "options": {**seen[0].body["options"], "$skipToken": "next"}}


async def test_a_list_of_pages_that_does_not_end_is_left():
    _, seen = await send_request(graph_says(token="again"), log_says(log_rows(VAULT, 20)))
    assert len(seen) <= 10


@pytest.mark.parametrize("name", ["it's", 'a"b', "a\\b", "a') or (rid in ('x"])
async def test_an_id_that_could_end_the_literal_is_in_no_query(name):
    _, seen = await send_request(graph_says(), log_says(), arm_id=f"{GROUP}/providers/Microsoft.KeyVault/vaults/{name}")
    assert [request.line for request in seen] == [f"GET {LOG}"]


async def test_many_resources_and_no_drift():
    async with rigged(access=anonymous) as rig:
        rig.server.on("POST", GRAPH, graph_says())
        rig.server.on("GET", LOG, log_says())
        requests = make_checks(rig)
        assert await find_authors([], OWN, NOW) == {}
        assert rig.server.seen == [], "nothing drifted: nothing is asked"
        drifts = [drift(requests, f"{VAULT}{number}") for number in range(301)]
        found = await find_authors(drifts, OWN, NOW)
        assert {show(entries)[0][1] for entries in found.values()} == {NOTHING_YET}
        assert sorted(request.method for request in rig.server.seen) == ["GET", "POST", "POST"]
        requested = [request.body["query"].count("/vaults/") for request in rig.server.seen if request.method == "POST"]
        assert sorted(requested) == [1, 300]


async def test_the_time_of_a_change_is_read_as_azure_writes_it():
    [found], _ = await send_request(graph_says(), log_says(log_rows(VAULT, 41, SAM)))
    assert found.at == "2026-03-01T11:41:30Z" == at(41)[:19] + "Z"


async def test_a_run_whose_time_is_up_asks_nothing_more():
    async with rigged() as rig:
        drifted = drift(CheckRequests(rig.arm, lambda: rig.talk(-1)))
        [[found]] = (await find_authors([drifted], OWN, NOW)).values()
        assert "Azure did not respond: DeadlineExceeded." in found.doubt
        assert rig.server.seen == []


async def test_two_identities_of_one_subscription():
    """Each sees what it may read in Resource Graph; the log of the subscription is the same for both."""
    async with rigged() as rig:
        rig.server.on("POST", GRAPH, graph_says())
        rig.server.on("GET", LOG, log_says(log_rows(VAULT, 20), log_rows(SUBNET, 22, AMY, action="M.N/s/write")))
        drifts = [drift(make_checks(rig)), drift(make_checks(rig), SUBNET)]
        found = await find_authors(drifts, OWN, NOW)
        assert [show(found[drifted.key]) for drifted in drifts] == [[("person", ROB, ())], [("person", AMY, ())]]
        assert sorted(request.method for request in rig.server.seen) == ["GET", "POST", "POST"]
