"""Azure's recorded answers, where they are available: the emulator answers in the same shapes."""

import json
import re
from dataclasses import replace

import pytest

from gitsync.emulator.clock import EmulatorClock
from gitsync.emulator.governance.listed import list_governing
from gitsync.emulator.governance.policies import Effect, EmulatedPolicy
from gitsync.emulator.http.server import Emulator
from gitsync.emulator.http.target import PathShape, parse
from gitsync.emulator.settings import ManagementLock
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.store import MemoryStore
from gitsync.emulator.types.behaviour import choose_behaviour, spell
from gitsync.emulator.types.bodies import build_body
from tests.emulator.asked import OPEN, Called, emulated
from tests.support.recordings import FOLDER as RECORDINGS
from tests.support.recordings import needs_recordings

RECORDED = RECORDINGS / "arm-traffic"
OTHER = RECORDINGS / "arm-traffic-az"  # the answers to another client
ERRORS = OTHER / "errors"

pytestmark = needs_recordings(RECORDED)


def lines(folder):
    found = {}
    for path in sorted(folder.glob("*.jsonl")):
        found[path.stem] = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return found


PAIRS = lines(RECORDED / "put-get-pairs")
OTHER_PAIRS = lines(OTHER / "put-get-pairs")
OPERATIONS = lines(RECORDED / "long-running")


def make_location(emulator, path):
    """Whatever must be there before the path can be written, and is not yet."""
    target = parse(path)
    needed = {above.path: {} for above in target.ancestors}
    if target.group and target.shape is not PathShape.GROUP:
        needed = {target.group_path: {"location": "westus2"}, **needed}
    for above, body in needed.items():
        if emulator.resource(above) is None:
            emulator.put(above, body)


@pytest.mark.parametrize(
    "rows", [pytest.param(rows, id=name) for pairs in (PAIRS, OTHER_PAIRS) for name, rows in pairs.items()]
)
async def test_every_recorded_put_can_be_sent_and_read_back(rows):
    azure = Called(Emulator(OPEN))
    for row in rows:
        make_location(azure.emulator, row["path"])
        if row["put"].get("properties", {}).get("createMode") == "recover":
            azure.emulator.put(row["path"], row["put"])
            await azure.delete(row["path"])
        sent = await azure.put(row["path"], row["put"], version=row["apiVersion"])
        assert sent.status in {200, 201, 202}, (row["path"], sent.body)
        if choose_behaviour(parse(row["path"]).type).gets:
            shown = await azure.settled(row["path"])
            assert shown["id"].casefold() == row["path"].casefold()
            for name in ("location", "sku", "kind", "tags"):
                if row["put"].get(name):
                    assert shown[name] == row["put"][name]
        azure.emulator.remove(row["path"])


def seen(rows, of):
    """What was recorded of each type, as the first path spells it; versions of one type may differ."""
    found, spelled = {}, {}
    for row in rows:
        kind = parse(row["path"]).type
        found.setdefault(spelled.setdefault(kind.casefold(), kind), set()).add(of(row))
    return found


TRAITS = {
    "state": (
        lambda body: "provisioningState" in (body.get("properties") or {}),
        lambda kind: choose_behaviour(kind).state,
    ),
    "systemData": (lambda body: "systemData" in body, lambda kind: choose_behaviour(kind).system_data),
    "etag": (
        lambda body: next((name for name in ("etag", "eTag") if name in body), ""),
        lambda kind: choose_behaviour(kind).etag,
    ),
    "type": (lambda body: body.get("type", "").rstrip("/"), spell),
}
DEVIANTS = {
    ("Microsoft.Communication/emailServices/domains/senderUsernames", "type"),  # it leaves its namespace out
    ("Microsoft.ContainerService/managedClusters/maintenanceConfigurations", "type"),  # it has none
    ("Microsoft.Sql/servers/azureADOnlyAuthentications", "type"),  # it has that of its server
}


@pytest.mark.parametrize("trait", TRAITS)
@pytest.mark.parametrize("namespace", sorted(PAIRS.keys() | OTHER_PAIRS.keys()))
def test_types_show_what_was_recorded(namespace, trait):
    recorded, ours = TRAITS[trait]
    rows = PAIRS.get(namespace, []) + OTHER_PAIRS.get(namespace, [])
    found = seen(rows, lambda row: recorded(row["get"]))
    wrong = {
        kind: values for kind, values in found.items() if ours(kind) not in values and (kind, trait) not in DEVIANTS
    }
    assert wrong == {}


def told(row):
    """How a recorded answer reports an operation: accepted, with an Azure-AsyncOperation."""
    headers = {name.casefold() for name in row["headers"]}
    return row["status"] == 202, "azure-asyncoperation" in headers


@pytest.mark.parametrize("namespace", OPERATIONS)
@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_types_start_operations_as_recorded(namespace, method):
    rows = [row for row in OPERATIONS[namespace] if row["method"] == method and row["status"] != 200]
    wrong = {}
    for kind, ways_told in seen(rows, told).items():
        style = choose_behaviour(kind).put if method == "PUT" else choose_behaviour(kind).delete
        if (style.is_accepted, style.has_async) not in ways_told:
            wrong[kind] = (style, ways_told)
    assert wrong == {}


@pytest.mark.parametrize("namespace", OPERATIONS)
def test_types_take_updates_as_recorded(namespace):
    rows = [row for row in OPERATIONS[namespace] if row["method"] == "PUT" and row["status"] == 200]
    wrong = {}
    for kind, ways_told in seen(rows, told).items():
        style = choose_behaviour(kind).update or choose_behaviour(kind).put
        if (style.is_accepted, style.has_async) not in ways_told:
            wrong[kind] = (style, ways_told)
    assert wrong == {}


def without_chance(answer):
    """The text of an error without what differs each time."""
    text = json.dumps(answer, sort_keys=True)
    return re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22,}|(?<=Time:)[^\"]+", "…", text).casefold()


UNEXPECTED = (
    "The entity was not found in this Azure location.",  # a virtual machine that has just been deleted
    "The Resource 'Microsoft.App/managedEnvironments/subscriptions'",  # the recording has lost the name
    "Message: ",  # of Cosmos DB: which of its servers answered
)


def read_absences():
    """Reads that Azure answered with 404, as the other client recorded them."""
    files = sorted(ERRORS.glob("*.jsonl"))
    rows = [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]
    for row in rows:
        message = (row["answer"] or {}).get("error", row["answer"] or {}).get("message", "")
        if (row["method"], row["status"]) == ("GET", 404) and not message.startswith(UNEXPECTED):
            yield pytest.param(row, message.casefold(), id=row["path"].partition("/resourceGroups/")[2])


@pytest.mark.parametrize(("row", "message"), list(read_absences()))
async def test_what_is_absent_is_refused_as_recorded(row, message):
    target = parse(row["path"])
    async with emulated(OPEN) as azure:
        if f"resource group '{target.group}' could not be found".casefold() not in message:
            azure.emulator.put(target.group_path, {"location": "westus2"})
        for above in target.ancestors:
            is_missing = re.search(rf"{re.escape(above.name.casefold())}' (under|not found)", message)
            if not is_missing:
                azure.emulator.put(above.path, {})
        answer = await azure.get(row["path"], version=row["apiVersion"])
    assert (answer.status, without_chance(answer.body)) == (404, without_chance(row["answer"]))


def recorded_lists(kind):
    """Recorded lists of a type of governance, by path."""
    rows = [json.loads(line) for line in (OTHER / "checks" / f"{kind}.jsonl").read_text("utf-8").splitlines()]
    return [row for row in rows if row["method"] == "GET" and "value" in (row["answer"] or {})]


def test_locks_of_the_settings_are_listed_as_recorded_ones():
    for row in recorded_lists("locks"):
        locks = tuple(
            ManagementLock(
                scope=parse(entry["id"]).scope,
                name=entry["name"],
                read_only=entry["properties"]["level"] == "ReadOnly",
                notes=entry["properties"].get("notes", ""),
            )
            for entry in row["answer"]["value"]
        )
        settings = replace(OPEN, locks=locks)
        target = parse(row["path"])
        listed = list_governing(settings, target)
        cloud = EmulatedCloud(MemoryStore(), settings, EmulatorClock())
        found = [build_body(cloud, parse(entry.id), entry) for entry in listed]
        assert [lower_ids(entry) for entry in found] == [lower_ids(entry) for entry in row["answer"]["value"]]


def lower_ids(entry):
    """An entry whose id can be compared, without notes without content."""
    properties = {name: value for name, value in entry["properties"].items() if value}
    return {**entry, "id": entry["id"].casefold(), "properties": properties}


def test_assignments_of_the_settings_have_the_members_of_recorded_ones():
    recorded = [entry["properties"] for row in recorded_lists("policyAssignments") for entry in row["answer"]["value"]]
    policy = EmulatedPolicy(name="a", scope="/subscriptions/s", effect=Effect.DENY, conditions=())
    target = parse("/subscriptions/s/providers/Microsoft.Authorization/policyAssignments")
    (ours,) = list_governing(replace(OPEN, policies=(policy,)), target)
    members = ours.body["properties"].keys()
    assert any(members <= properties.keys() for properties in recorded)
