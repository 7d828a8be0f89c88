"""Lists instead of single reads: what a run saves, and that a list which is wrong decides nothing.

One ordinary estate is brought about for all tests of this file, and each has a copy of it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitsync.emulator.faults import Canned, FaultRule, Match
from gitsync.emulator.http.messages import ListFault
from gitsync.emulator.patch import GONE
from gitsync.emulator.settings import Timing
from gitsync.model.verdict import Verdict
from gitsync.planning.list_cover import ROTATION, is_sampled
from tests.agent.run.test_drift_at_scale import DELETED, behind
from tests.support.hypothesis_profile import scale
from tests.support.plain_estate import IN_A_GROUP, plain_estate
from tests.support.world import SUBSCRIPTION, World, of, read_status, results

GROUPS = 2
SIZE = GROUPS * IN_A_GROUP
DAY = 86400.0
LONG = 1000 * DAY

NETWORKS, SUBNETS = "Microsoft.Network/virtualNetworks", "Microsoft.Network/virtualNetworks/subnets"
RULES = "Microsoft.Network/networkSecurityGroups/securityRules"
ACCOUNTS, CONTAINERS = "Microsoft.Storage/storageAccounts", "Microsoft.Storage/storageAccounts/blobServices/containers"
QUEUES, VAULTS = "Microsoft.ServiceBus/namespaces/queues", "Microsoft.KeyVault/vaults"
BUSES, REGISTRIES = "Microsoft.ServiceBus/namespaces", "Microsoft.ContainerRegistry/registries"
ADDRESSES, LOGS = "Microsoft.Network/publicIPAddresses", "Microsoft.OperationalInsights/workspaces"

STALE = ListFault(stale=LONG)
TRIMMED = ListFault(trim=("/properties", "/tags"))
EMPTY = ListFault(missing=("*",))
REFUSED = Canned(code="MethodNotAllowed", status=405)


@pytest.fixture(scope="module")
def estate(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("plain"), operations=Timing(polls=0))
    report = world.says(**plain_estate(GROUPS)).sync()
    assert (report.exit_code, report.summary) == (0, {"create": SIZE})
    return settle(world, report)


@pytest.fixture
def world(estate, tmp_path):
    return estate.copy(tmp_path)


def settle(world, report):
    """Wait for a day on which the sample is empty, so that counts are those of lists alone."""
    keys = [result.key for result in report.results]
    for _ in range(10 * ROTATION):
        if not any(is_sampled(key, world.clock.now().date()) for key in keys):
            return world
        world.clock.elapsed += DAY
    raise AssertionError("each of 42 resources has one day in 50, so some days have none")


def sample(world, key):
    """Wait for the day on which a resource is in the sample."""
    while not is_sampled(key, world.clock.now().date()):
        world.clock.elapsed += DAY


def spoil(world, faults):
    """Make lists wrong, by type."""
    rules = [
        FaultRule(match=Match(lists=True, type=arm_type.casefold()), answer=fault)
        if isinstance(fault, Canned)
        else FaultRule(match=Match(lists=True, type=arm_type.casefold()), list_fault=fault)
        for arm_type, fault in faults.items()
    ]
    world.settings = replace(world.settings, rules=tuple(rules))


def at(number, path):
    return f"/subscriptions/{SUBSCRIPTION}/resourceGroups/group-{number:03}/providers/{path}".replace(
        "{n}", f"{number:03}"
    )


def count_reads(world, arm_type):
    """Requests of the last run by whether they list: (lists, single reads) of a type."""
    namespace, *steps = arm_type.casefold().split("/")
    counts = Counter()
    for path in world.sent("GET"):
        found, *rest = path.casefold().rpartition("/providers/")[2].split("/")
        if found == namespace and rest[::2] == steps:
            counts["lists" if len(rest) % 2 else "reads"] += 1
    return counts["lists"], counts["reads"]


def changed(report):
    """What is not in sync: verdict and differing leaves by key."""
    return {
        result.key: (result.verdict, tuple(difference.path for difference in result.differences))
        for result in report.results
        if result.verdict is not Verdict.IN_SYNC
    }


def find_key(report, arm_id):
    return next(result.key for result in report.results if (result.arm_id or "").casefold() == arm_id.casefold())


def test_an_unchanged_estate_takes_a_request_a_collection(world):
    before = read_status(world)
    report = world.sync()
    assert report.summary == {"in-sync": SIZE}
    assert world.writes == []
    assert read_status(world) == before, "no list changes a record"
    requested = len(world.requests)
    everywhere = 10  # types of a group are listed in the subscription, groups too
    of_parents = 2 * GROUPS  # containers and queues; subnets and rules are in the entries of their parents
    assert requested == everywhere + of_parents + GROUPS, (
        "and a blob service, one in each account, has no list to share"
    )
    assert {result.ending.requests for result in report.results} == {0, 1}

    planned = world.plan()
    assert len(world.requests) == requested
    each = world.plan(reads="each")
    assert len(world.requests) == SIZE
    assert results(planned) == results(each)
    assert results(report) == results(each)


FAULTS = [
    (VAULTS, TRIMMED, (1, GROUPS), "entries lack what is compared"),
    (REGISTRIES, EMPTY, (1, GROUPS), "no entry is there"),
    (BUSES, ListFault(missing=("*-001",)), (1, 1), "one is not there"),
    (ADDRESSES, ListFault(duplicate=("*",), reorder=True), (1, 0), "entries come twice, in any order"),
    (LOGS, Canned(code="AuthorizationFailed", status=403), (1, GROUPS), "the subscription's list is refused"),
    (QUEUES, REFUSED, (1, 3 * GROUPS), "a refused list is asked for once a type, not once a parent"),
    (QUEUES, TRIMMED, (1, 3 * GROUPS), "so are lists that approve nothing"),
    (QUEUES, Canned(status=503), (GROUPS, 3 * GROUPS), "an outage of one list says nothing of the others"),
    (NETWORKS, TRIMMED, (1, GROUPS), "the networks are read, and their reads show the subnets"),
    (SUBNETS, REFUSED, (0, 0), "no list of subnets is needed"),
    (ACCOUNTS, ListFault(trim=("/properties/primaryEndpoints",)), (1, 0), "nobody asks for what is missing"),
]


def share(rows):
    """Put the rows in as few runs as have a fault of each type once; those of subnets without those of networks."""
    runs = []
    for row in rows:
        key = "networks" if row[0] in {NETWORKS, SUBNETS} else row[0]
        run = next((run for run in runs if key not in run), None)
        if run is None:
            runs.append(run := {})
        run[key] = row
    return [list(run.values()) for run in runs]


@pytest.mark.parametrize("rows", share(FAULTS), ids=lambda rows: f"{len(rows)} types")
def test_what_a_list_leaves_open_is_read(world, rows):
    spoil(world, {arm_type: fault for arm_type, fault, _, _ in rows})
    report = world.sync()
    assert (report.summary, report.problems) == ({"in-sync": SIZE}, ())
    for arm_type, _, reads, why in rows:
        assert count_reads(world, arm_type) == reads, why
    assert count_reads(world, SUBNETS) == (0, 0)


def test_a_third_of_bad_lists_leaves_a_third_of_the_requests(world):
    spoil(world, {VAULTS: TRIMMED, ACCOUNTS: EMPTY, NETWORKS: STALE, RULES: REFUSED, QUEUES: ListFault(reorder=True)})
    assert world.sync().summary == {"in-sync": SIZE}
    assert len(world.requests) <= 0.5 * SIZE, "two groups; fifty take 0.35, since whole types share a list"


def test_a_list_of_strangers_is_given_up(world):
    """Pages show strangers first, and the rest is left unread: no group has two vaults, so each is read by itself."""
    crowd(world, [at(1, f"{VAULTS}/a-{number:02}") for number in range(60)])
    world.settings = replace(world.settings, page_size=5)
    assert world.sync().summary == {"in-sync": SIZE}
    assert count_reads(world, VAULTS) == (2, GROUPS)


def crowd(world, arm_ids):
    """Create resources that git does not have."""
    azure = world.azure()
    for arm_id in arm_ids:
        azure.put(arm_id, {"location": "westeurope", "properties": {"sku": {"name": "standard"}}})


NEXT_LINK_ELSEWHERE = {"value": [], "nextLink": "https://elsewhere.example/page"}


MALFORMED = [{"id": at(number, f"{VAULTS}/vault-{{n}}"), "properties": "x"} for number in (1, 2)]
UNEXPECTED = [
    (ADDRESSES, NEXT_LINK_ELSEWHERE, "it goes on at another host, which gets no token"),
    (BUSES, {"value": [{"id": 7}, {}, {"id": None}]}, "its entries have no ids"),
    (REGISTRIES, {"value": "none"}, "it is no list"),
    (VAULTS, {"value": MALFORMED}, "odd entries"),
]


def test_an_unexpected_list_is_not_a_list(world):
    spoil(world, {arm_type: Canned(status=200, body=body) for arm_type, body, _ in UNEXPECTED})
    report = world.sync()
    assert (report.summary, report.problems) == ({"in-sync": SIZE}, ())
    for arm_type, _, why in UNEXPECTED:
        assert count_reads(world, arm_type) == (1, GROUPS), why


DRIFT = [
    (at(1, f"{VAULTS}/vault-{{n}}"), "/properties/enableRbacAuthorization", False),
    (at(2, f"{NETWORKS}/spoke-{{n}}/subnets/data"), "/properties/addressPrefix", "10.0.9.0/24"),
    (at(2, "Microsoft.Network/networkSecurityGroups/rules-{n}/securityRules/ssh"), "/properties/access", "Allow"),
    (at(1, "Microsoft.ServiceBus/namespaces/bus-{n}/queues/orders"), "/properties/maxDeliveryCount", 9),
    (at(1, "Microsoft.Storage/storageAccounts/store{n}"), "/properties/minimumTlsVersion", GONE),
    (at(2, "Microsoft.ContainerRegistry/registries/registry{n}"), "", DELETED),
    (at(2, "Microsoft.ServiceBus/namespaces/bus-{n}/queues/mails"), "/properties/status", "Failed"),
]


def test_a_list_shows_drift_and_a_read_decides_about_it(world):
    before = read_status(world)
    behind(world, DRIFT)
    expected = {arm_id.casefold() for arm_id, pointer, _ in DRIFT if "status" not in pointer}
    report = world.plan()
    assert {result.arm_id.casefold() for result in report.results if result.verdict is not Verdict.IN_SYNC} == expected
    each = world.plan(reads="each")
    assert changed(report) == changed(each)

    assert world.sync().exit_code == 0
    assert {write.split()[1].casefold() for write in world.writes} == expected
    writes = [request for request in world.requests if request.method == "PUT"]
    for write in writes:
        location = next(i for i, request in enumerate(world.requests) if request is write)
        reads = [request.path for request in world.requests[:location] if request.method == "GET"]
        assert write.path in reads, "what is written was read by itself"
    assert world.sync().summary == {"in-sync": SIZE}
    assert {path for path, text in read_status(world).items() if before[path] != text} != set()


def test_what_git_changes_is_read_and_written(world):
    texts = plain_estate(GROUPS)
    texts["g001"] = texts["g001"].replace("maxDeliveryCount: 10", "maxDeliveryCount: 11")
    assert world.says(**texts).sync().summary == {"in-sync": SIZE - 1, "pending": 1}
    queue = at(1, "Microsoft.ServiceBus/namespaces/bus-{n}/queues/orders")
    assert world.sent("PUT") == [queue]
    assert world.sent("GET").count(queue) == 2, "before and after the write"


STALE_VAULT = at(1, f"{VAULTS}/vault-{{n}}")


def test_a_stale_list_hides_drift_until_the_date_of_the_resource(world):
    """A list that shows what was true: nothing is written for it, and the sample finds out. Then all are read."""
    spoil(world, {VAULTS: STALE})
    key = find_key(world.plan(), STALE_VAULT)
    other = at(2, f"{VAULTS}/vault-{{n}}")
    behind(world, [(STALE_VAULT, "/properties/enableRbacAuthorization", False), (other, "", DELETED)])
    assert world.sync().summary == {"in-sync": SIZE}
    assert world.writes == []

    sample(world, key)
    report = world.plan()
    assert changed(report) == changed(world.plan(reads="each")), "the other one too, though it is not in the sample"
    (warning,) = report.problems
    assert (warning.code, warning.is_error) == ("ListNotTrusted", False)
    assert warning.message == (
        "A list of Microsoft.KeyVault/vaults showed Vault.keyvault.azure.com/default/vault-001 as unchanged, but a read "
        "showed a change. This run read all resources of this type one by one."
    )
    assert world.sync().exit_code == 0
    assert sorted(world.sent("PUT")) == [STALE_VAULT, other]
    assert count_reads(world, VAULTS)[1] == GROUPS + 2, "each once, and again after the two writes"


def test_a_list_that_goes_wrong_after_a_write_does_not_undo_it(world):
    """What a run wrote is read again by the next one if the list is behind, and not written again."""
    texts = plain_estate(GROUPS)
    texts["g001"] = texts["g001"].replace("enableRbacAuthorization: true", "enableRbacAuthorization: false")
    spoil(world, {VAULTS: STALE})
    world.says(**texts).sync()
    before = read_status(world)
    assert world.sync().summary == {"in-sync": SIZE}
    assert (world.writes, read_status(world)) == ([], before)
    assert count_reads(world, VAULTS) == (1, 1)


def test_a_list_that_shows_two_states_of_a_resource_is_not_believed(world):
    """Its copies differ, so none of them approves."""
    vaults = [world.read(at(number, f"{VAULTS}/vault-{{n}}"), "2023-07-01") for number in range(1, GROUPS + 1)]
    twice = [*vaults, vaults[0] | {"tags": {"other": "copy"}}]
    spoil(world, {VAULTS: Canned(status=200, body={"value": twice})})
    assert world.sync().summary == {"in-sync": SIZE}
    assert count_reads(world, VAULTS) == (1, 1)


TYPES = ("Microsoft.Resources/resourceGroups", NETWORKS, SUBNETS, RULES, ACCOUNTS, CONTAINERS, QUEUES, VAULTS)
HONEST = (
    TRIMMED,
    ListFault(trim=("/properties/subnets/*/properties", "/properties/sku", "/id")),
    EMPTY,
    ListFault(missing=("*-001", "*orders", "*data")),
    ListFault(duplicate=("*",)),
    ListFault(reorder=True),
    REFUSED,
    Canned(status=503),
)
"""Faults of lists that show nothing but the truth."""

drifts = st.lists(st.sampled_from(DRIFT), unique_by=lambda row: row[0], max_size=4)
BUDGET = settings(max_examples=scale(4), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
"""Few, since each example is three runs of the estate; every run of the tests has others."""


@BUDGET
@given(
    drift=drifts, faults=st.dictionaries(st.sampled_from(TYPES), st.sampled_from(HONEST)), day=st.integers(0, ROTATION)
)
def test_verdicts_are_those_of_single_reads_whatever_lists_leave_out(estate, tmp_path_factory, drift, faults, day):
    world = estate.copy(tmp_path_factory.mktemp("honest"))
    world.clock.elapsed += day * DAY
    behind(world, drift)
    spoil(world, faults)
    listed, each = world.plan(), world.plan(reads="each")
    assert (results(listed), listed.problems) == (results(each), each.problems)
    world.sync()
    assert {write.split()[1].casefold() for write in world.writes} == {
        result.arm_id.casefold() for result in each.results if result.verdict is not Verdict.IN_SYNC
    }


@BUDGET
@given(drift=drifts, stale=st.sets(st.sampled_from(TYPES)), day=st.integers(0, ROTATION))
def test_a_stale_list_causes_no_write_that_single_reads_do_not(estate, tmp_path_factory, drift, stale, day):
    world = estate.copy(tmp_path_factory.mktemp("stale"))
    world.clock.elapsed += day * DAY
    behind(world, drift)
    spoil(world, dict.fromkeys(stale, STALE))
    expected = changed(world.plan(reads="each"))
    listed = changed(world.plan())
    assert listed.items() <= expected.items()
    report = world.sync()
    written = {find_key(report, write.split()[1]) for write in world.writes}
    assert written == listed.keys()


def test_what_changed_alike_in_git_and_in_azure_is_read_and_recorded(world):
    """As after a run that was killed before it could record its update: else the record would be behind for good."""
    estate = plain_estate(GROUPS)
    changed = {"g001": estate["g001"].replace("lockDuration: PT60S", "lockDuration: PT30S")}
    (mails,) = (arm_id for arm_id in world.azure().ids() if arm_id.endswith("/bus-001/queues/mails"))
    world.somebody_changes(mails, {"/properties/lockDuration": "PT30S"})
    report = world.says(**estate | changed).sync()
    assert (report.exit_code, world.writes) == (0, [])
    record = of(report, "NamespacesQueue", "bus-001-mails").record
    assert [body["properties"]["lockDuration"] for body in (record.spec.applied, record.spec.baseline)] == [
        "PT30S",
        "PT30S",
    ]
    assert mails in world.sent("GET")
    world.sync()
    assert mails not in world.sent("GET")
