"""Resources of fifty kinds in an Azure that gives nothing back as it got it: what is reported as drift is drift, and all
of it.

`estate.yaml` holds what values Azure is recorded to rewrite; the emulator does so (`rewrite: true`). Estates are brought
about once for all tests of this file, and each has a copy of one.
"""

from __future__ import annotations

import shutil

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitsync.desired.catalog.packed_tables import is_immutable
from gitsync.emulator.patch import GONE
from gitsync.emulator.settings import Timing
from gitsync.emulator.types.behaviour import Style
from gitsync.model.arm_id import ArmId
from gitsync.model.verdict import Verdict
from tests.agent.run.estate import estate
from tests.support.hypothesis_profile import scale
from tests.support.world import SUBSCRIPTION, World

DELETED = object()


FEW = 7
"""Resources beside the one that a test is about, with it."""

GROUPS = (47, 38)
"""Resources of each group: a change behind git's back is made in the second one if another one of the same resource hides
it.
"""


def built(folder, resources):
    """An estate that Azure has, and what git said when it was made."""
    world = World(folder, rewrite=True, operations=Timing(style=Style.DONE))
    report = world.says(**estate(resources)).sync()
    assert (report.exit_code, report.summary) == (0, {"create": resources})
    return world


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return built(tmp_path_factory.mktemp("small"), 47)


@pytest.fixture(scope="module")
def large(small, tmp_path_factory):
    world = small.copy(tmp_path_factory.mktemp("large"))
    report = world.says(**estate(*GROUPS)).sync()
    assert (report.exit_code, report.summary) == (0, {"create": sum(GROUPS) - 47, "in-sync": 47})
    return world


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    return built(tmp_path_factory.mktemp("few"), FEW)


def at(number, path, name=""):
    """The id of what a group of the estate holds; `{n}` in a path is its number."""
    group = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/g{number:02}"
    return f"{group}/providers/{path}{name}".replace("{n}", f"{number:02}") if path else group


def behind(world, changes):
    """Make changes without git: (id, pointer, value) each; what Azure had received before, by id."""
    azure = world.azure()
    before = {arm_id: azure.received(arm_id) for arm_id, _, _ in changes}
    for arm_id, pointer, value in changes:
        if value is DELETED:
            azure.remove(arm_id)
        else:
            azure.change(arm_id, pointer, value)
    return before


def received(world, arm_ids):
    azure = world.azure()
    return {arm_id: azure.received(arm_id) for arm_id in arm_ids}


def moved(report):
    """What is not in sync, by its id in lower case."""
    return {r.arm_id.casefold(): r for r in report.results if r.verdict is not Verdict.IN_SYNC}


def found(report):
    """What is not in sync: kind and name to the verdict."""
    return {f"{r.key.kind}/{r.key.name}": r.verdict.value for r in report.results if r.verdict is not Verdict.IN_SYNC}


def paths(report):
    return sorted(d.path for r in report.results if r.verdict is not Verdict.IN_SYNC for d in r.differences)


@pytest.fixture(scope="module")
def untouched(small, tmp_path_factory):
    """A sync of what no one touched, and its report."""
    world = small.copy(tmp_path_factory.mktemp("untouched"))
    return world, world.sync()


def test_what_no_one_touched_is_in_sync_however_azure_spells_it(untouched):
    world, report = untouched
    assert len({result.key.kind for result in report.results}) >= 40
    assert (report.summary, report.exit_code) == ({"in-sync": 47}, 0)
    assert world.writes == []


NETWORK, STORAGE = "Microsoft.Network", "Microsoft.Storage/storageAccounts/storage{n}"
RULE = f"{NETWORK}/networkSecurityGroups/nsg-{{n}}/securityRules"
SUBNETS = f"{NETWORK}/virtualNetworks/vnet-{{n}}/subnets"
POSTGRES = "Microsoft.DBforPostgreSQL/flexibleServers/postgres-{n}"
COSMOS = "Microsoft.DocumentDB/databaseAccounts/cosmos-{n}"
AKS = "Microsoft.ContainerService/managedClusters/aks-{n}"
POLICY = "/properties/policy/rules/0/definition/actions/baseBlob"

MOVES = [  # where, what is set there, to what; where the difference is reported, if elsewhere
    ("", "/tags/team", "nobody"),
    ("", "/tags/Contact", "JANE DOE"),
    ("", "/tags/cost-centre", GONE),
    (f"{NETWORK}/virtualNetworks/vnet-{{n}}", "/properties/dhcpOptions/dnsServers", ["10.0.0.4"]),
    (
        f"{NETWORK}/virtualNetworks/vnet-{{n}}",
        "/properties/addressSpace/addressPrefixes",
        ["10.3.0.0/16", "10.1.0.0/16"],
    ),
    (f"{RULE}/https", "/properties/priority", 201),
    (f"{RULE}/https", "/properties/access", "Deny"),
    (f"{RULE}/https", "/properties/description", "WEB traffic from the Internet."),
    (f"{RULE}/https", "/properties/description", GONE),
    (f"{RULE}/https", "/properties/destinationPortRanges/-", "22", "/properties/destinationPortRanges"),
    (f"{RULE}/ssh", "/properties/destinationPortRange", "2222"),
    (f"{NETWORK}/routeTables/routes-{{n}}", "/properties/disableBgpRoutePropagation", False),
    (f"{NETWORK}/routeTables/routes-{{n}}/routes/office", "/properties/nextHopIpAddress", "10.0.2.5"),
    (f"{NETWORK}/publicIPAddresses/ip-{{n}}", "/zones", ["1", "2"]),
    (f"{NETWORK}/natGateways/nat-{{n}}", "/properties/idleTimeoutInMinutes", 20),
    (f"{NETWORK}/natGateways/nat-{{n}}", "/properties/publicIpAddresses", [], "/properties/publicIpAddresses/0"),
    (f"{SUBNETS}/nodes", "/properties/natGateway", GONE, "/properties/natGateway/id"),
    (f"{SUBNETS}/nodes", "/properties/addressPrefix", "10.1.0.0/21"),
    (f"{SUBNETS}/endpoints", "/properties/delegations/0/properties/serviceName", "Microsoft.Web/serverFarms"),
    (f"{SUBNETS}/endpoints", "/properties/delegations", [], "/properties/delegations/0"),
    (f"{NETWORK}/privateDnsZones/zone-{{n}}.example.com/A/www", "/properties/ttl", 60),
    (f"{NETWORK}/trafficManagerProfiles/traffic-{{n}}", "/properties/monitorConfig/path", "/Health"),
    (f"{NETWORK}/trafficManagerProfiles/traffic-{{n}}/ExternalEndpoints/eu", "/properties/endpointLocation", "westus"),
    (STORAGE, "/tags/tier", "cool"),
    (STORAGE, "/properties/minimumTlsVersion", "TLS1_0"),
    (STORAGE, "/properties/networkAcls/defaultAction", "Allow"),
    (f"{STORAGE}/blobServices/default", "/properties/isVersioningEnabled", False),
    (f"{STORAGE}/blobServices/default", "/properties/deleteRetentionPolicy/days", 15),
    (f"{STORAGE}/blobServices/default/containers/images", "/properties/publicAccess", "Blob"),
    (f"{STORAGE}/blobServices/default/containers/images", "/properties/metadata/Purpose", "pictures of goods"),
    (f"{STORAGE}/managementPolicies/default", f"{POLICY}/tierToCool/daysAfterModificationGreaterThan", 91),
    (
        f"{STORAGE}/managementPolicies/default",
        f"{POLICY}/tierToArchive",
        GONE,
        f"{POLICY}/tierToArchive/daysAfterModificationGreaterThan",
    ),
    ("Microsoft.KeyVault/vaults/vault-{n}", "/properties/sku/name", "premium"),
    ("Microsoft.KeyVault/vaults/vault-{n}", "/properties/accessPolicies/0/permissions/secrets", ["get"]),
    ("Microsoft.Cache/redis/redis-{n}", "/properties/redisVersion", "4"),
    ("Microsoft.Cache/redis/redis-{n}", "/properties/redisConfiguration/maxmemory-policy", GONE),
    (POSTGRES, "/properties/maintenanceWindow/customWindow", "disabled"),
    (POSTGRES, "/properties/storage/storageSizeGB", 256),
    (f"{POSTGRES}/databases/orders", "/properties/charset", "latin1"),
    (COSMOS, "/properties/consistencyPolicy/defaultConsistencyLevel", "Eventual"),
    (f"{COSMOS}/sqlDatabases/shop/containers/carts", "/properties/resource/defaultTtl", 201),
    ("Microsoft.ServiceBus/namespaces/bus-{n}/queues/orders", "/properties/lockDuration", "PT5M"),
    (
        "Microsoft.ApiManagement/service/api-{n}/policies/policy",
        "/properties/value",
        "<policies><inbound /></policies>",
    ),
    ("Microsoft.ApiManagement/service/api-{n}/apis/shop", "/properties/path", "/Shop"),
    (AKS, "/properties/agentPoolProfiles/0/count", 2),
    (f"{AKS}/agentPools/work", "/properties/nodeLabels/Tier", "Back"),
    (f"{AKS}/agentPools/work", "/properties/nodeTaints", [], "/properties/nodeTaints"),
    ("Microsoft.OperationalInsights/workspaces/logs-{n}", "/properties/sku/name", "CapacityReservation"),
    ("Microsoft.Compute/disks/disk-{n}", "", DELETED),
    (f"{RULE}/ssh", "", DELETED),
]
NOT_REQUESTED = [  # in the second group, in which none of the others is made to these resources; as above
    ("", "/tags/added-by-policy", "yes"),
    (f"{NETWORK}/virtualNetworks/vnet-{{n}}", "/properties/flowTimeoutInMinutes", 10),
    (STORAGE, "/properties/allowCrossTenantReplication", True),
    (AKS, "/properties/agentPoolProfiles/0/osDiskSizeGB", 256),
]


def hides(row, other):
    """Whether a change is not seen by itself beside another one."""
    pointers = sorted((row[1], other[1]))
    return row[0] == other[0] and (DELETED in (row[2], other[2]) or pointers[1].startswith(pointers[0]))


def locate(rows):
    """Find the resource of each change in the first group, or in the second."""
    located = []
    for index, row in enumerate(rows):
        number = 2 if any(hides(row, other) for other in rows[:index]) else 1
        located.append((at(number, row[0]), *row[1:]))
    return located


def test_fifty_changes_behind_its_back_are_found_named_and_fixed(large, tmp_path):
    world = large.copy(tmp_path)
    assert len(MOVES) == 50
    rows = locate(MOVES)
    behind(world, [(at(2, path), pointer, value) for path, pointer, value in NOT_REQUESTED])
    before = behind(world, [row[:3] for row in rows])

    told = moved(world.plan())
    assert set(told) == {row[0].casefold() for row in rows}
    for arm_id, result in told.items():
        own = [row for row in rows if row[0].casefold() == arm_id]
        if DELETED in (row[2] for row in own):
            assert result.verdict is Verdict.MISSING, arm_id
        else:
            assert result.verdict is Verdict.DRIFTED, arm_id
            shown = sorted(path for _, pointer, _, *elsewhere in own for path in elsewhere or [pointer])
            assert sorted(d.path for d in result.differences) == shown, arm_id

    report = world.sync()
    assert report.exit_code == 0
    assert sorted(write.casefold() for write in world.writes) == sorted(f"put {arm_id}" for arm_id in told)
    assert received(world, before) == before
    plan = world.plan()
    assert (plan.summary, plan.exit_code, world.writes) == ({"in-sync": sum(GROUPS)}, 0, [])


def changed(file, old, new):
    def edit(files):
        assert old in files[file], f"{file} does not say {old!r}"
        return {**files, file: files[file].replace(old, new, 1)}

    return edit


def _document(files, marker):
    return next(text for text in files["g01"].split("---\n") if marker in text)


def without(marker):
    """Take one document away."""
    return lambda files: {
        **files,
        "g01": "---\n".join(text for text in files["g01"].split("---\n") if marker not in text),
    }


def more(marker, *swaps):
    """A document more: a copy of another, with words swapped."""

    def edit(files):
        text = _document(files, marker)
        for old, new in swaps:
            text = text.replace(old, new)
        return {**files, "more": text}

    return edit


def both(first, second):
    return lambda files: second(first(files))


QUEUE, DISK = "kind: NamespacesQueue", "kind: Disk"
COMMITS = [  # what git has now; what is reported of it; the paths of the differences; why
    (
        changed("g01", "priority: 200", "priority: 210"),
        {"NetworkSecurityGroupsSecurityRule/nsg-01-https": "pending"},
        ["/properties/priority"],
        "a value",
    ),
    (
        changed("g01", "description: Web traffic", "description: WEB traffic"),
        {"NetworkSecurityGroupsSecurityRule/nsg-01-https": "pending"},
        ["/properties/description"],
        "the case of a text",
    ),
    (
        changed("g01", "team: team-01, cost-centre", "owner: Jo, cost-centre"),
        {"ResourceGroup/g01": "pending"},
        ["/tags/owner", "/tags/team"],
        "a tag for another",
    ),
    (
        changed("g01", "retentionInDays: 30\n", "retentionInDays: 30\n  publicNetworkAccessForQuery: Disabled\n"),
        {"Workspace/logs-01": "pending"},
        ["/properties/publicNetworkAccessForQuery"],
        "a field more",
    ),
    (
        changed("g01", "  requiresSession: false\n", ""),
        {"NamespacesQueue/bus-01-orders": "pending"},
        ["/properties/requiresSession"],
        "a field less",
    ),
    (
        changed("g01", "  deleteRetentionPolicy: {enabled: true, days: 14}\n", ""),
        {"StorageAccountsBlobService/storage01": "pending"},
        ["/properties/deleteRetentionPolicy/days", "/properties/deleteRetentionPolicy/enabled"],
        "an object less",
    ),
    (
        changed("g01", 'zones: ["3", "1", "2"]', 'zones: ["3", "1"]'),
        {"PublicIPAddress/ip-01": "pending"},
        ["/zones"],
        "an entry less",
    ),
    (
        changed("g01", "[10.0.0.4, 10.0.0.5]", "[10.0.0.4, 10.0.0.5, 10.0.0.6]"),
        {"VirtualNetwork/vnet-01": "pending"},
        ["/properties/dhcpOptions/dnsServers"],
        "an entry more",
    ),
    (
        changed("g01", "    - name: EnableServerless\n", "    - name: EnableGremlin\n"),
        {"DatabaseAccount/cosmos-01": "pending"},
        ["/properties/capabilities/1", "/properties/capabilities/1"],
        "an entry with a name for another",
    ),
    (
        changed("g01", 'value="Team 01"', 'value="team 01"'),
        {"Policy/api-01-policy": "pending"},
        ["/properties/value"],
        "a letter in a policy of XML",
    ),
    (
        changed("g01", "lockDuration: PT60S", "lockDuration: PT61S"),
        {"NamespacesQueue/bus-01-orders": "pending"},
        ["/properties/lockDuration"],
        "a second of a duration",
    ),
    (
        changed("g01", "    reference: {group: network.azure.com, kind: RouteTable, name: routes-01}\n", "    reference: {armId: /subscriptions/0/resourceGroups/g/providers/Microsoft.Network/routeTables/r}\n"),
        {"VirtualNetworksSubnet/vnet-01-nodes": "pending"},
        ["/properties/routeTable/id"],
        "another resource that is referred to",
    ),
    (
        changed("beside", "22222222-", "33333333-"),
        {"Vault/vault-01": "pending"},
        ["/properties/accessPolicies/0", "/properties/accessPolicies/0"],
        "a value of a config map, which an entry is known by",
    ),
    (
        more("kind: StorageAccountsBlobServicesContainer", ("images", "invoices")),
        {"StorageAccountsBlobServicesContainer/storage01-invoices": "create"},
        [],
        "a resource more",
    ),
    (without(DISK), {"Disk/disk-01": "delete"}, [], "a resource less"),
    (
        both(more(DISK, ("disk-01", "disk-99")), without("name: disk-01")),
        {"Disk/disk-01": "delete", "Disk/disk-99": "create"},
        [],
        "another name in Azure",
    ),
    (
        both(more(DISK, ("name: disk-01\nspec:", "name: disk-99\nspec:\n  azureName: disk-01")), without("name: disk-01\nspec:\n  location")),
        {"Disk/disk-01": "detach"},
        [],
        "another name in git for what Azure has",
    ),
    (
        changed("g01", "kind: Disk\nmetadata:\n", "kind: Disk\nmetadata:\n  annotations: {serviceoperator.azure.com/reconcile-policy: skip}\n"),
        {"Disk/disk-01": "skip"},
        [],
        "left alone from now on",
    ),
    (changed("g01", "storage.azure.com/v1api20230101\nkind: StorageAccount\n", "storage.azure.com/v20250601\nkind: StorageAccount\n"), {}, [], "a newer api-version that says the same"),
    (changed("g01", "location: westeurope", "# Amsterdam\n  location: West Europe"), {}, [], "another spelling, and a comment"),
]  # fmt: skip


def apart(rows):
    """The rows in as few commits as keep those apart that are about one resource."""
    commits = []
    for row in rows:
        commit = next((c for c in commits if not any(row[1].keys() & other[1].keys() for other in c)), None)
        if commit is None:
            commits.append([row])
        else:
            commit.append(row)
    return commits


@pytest.mark.parametrize("rows", apart(COMMITS), ids=lambda rows: f"{len(rows)} edits")
def test_a_commit_is_pending_and_nothing_else_is(small, tmp_path, rows):
    world = small.copy(tmp_path)
    files = estate(47)
    for edit, _, _, _ in rows:
        files = edit(files)
    report = world.says(**files).plan()
    whys = [row[-1] for row in rows]
    assert found(report) == {name: verdict for row in rows for name, verdict in row[1].items()}, whys
    assert paths(report) == sorted(path for row in rows for path in row[2]), whys
    assert world.writes == []


def test_who_lost_all_records_sees_no_difference_that_is_only_azures_spelling(small, tmp_path):
    world = small.copy(tmp_path)
    shutil.rmtree(world.state)
    report = world.sync()
    assert (report.summary, paths(report), world.writes) == ({"adopt": 47}, [], [])
    not_returned = {path for result in report.results for path in result.comparison.unverified}
    assert {"/properties/administratorLoginPassword", "/properties/createMode"} <= not_returned
    assert moved(world.plan()) == {}


CONFLICTS = [
    ("/properties/priority", 999, "the same value, which is told once"),
    ("/properties/access", "Deny", "another value of the same resource"),
    ("/properties/description", GONE, "a value that was taken away"),
]


@pytest.mark.parametrize(("pointer", "value", "why"), CONFLICTS, ids=[row[-1] for row in CONFLICTS])
def test_git_and_azure_both_moved(few, tmp_path, pointer, value, why):
    world = few.copy(tmp_path)
    behind(world, [(at(1, f"{RULE}/https"), pointer, value)])
    report = world.says(**changed("g01", "priority: 200", "priority: 210")(estate(FEW))).sync()
    assert found(report) == {"NetworkSecurityGroupsSecurityRule/nsg-01-https": "conflict"}, why
    assert paths(report) == sorted({"/properties/priority", pointer})
    assert report.exit_code == 0
    made = received(world, [at(1, f"{RULE}/https")])[at(1, f"{RULE}/https")]["properties"]
    assert (made["priority"], made["access"]) == (210, "Allow")
    assert made["description"] == "Web traffic from the Internet."
    assert moved(world.plan()) == {}


def leaves(value, pointer=""):
    """Pointers to all that may be changed: members, entries, and the objects and lists that hold them."""
    if pointer:
        yield pointer
    if isinstance(value, dict):
        for name, member in value.items():
            yield from leaves(member, f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}")
    if isinstance(value, list):
        for index, entry in enumerate(value):
            yield from leaves(entry, f"{pointer}/{index}")


def drawn_changes(data, world):
    """Changes that somebody could make in Azure; where a resource is cannot be changed, and its name is its own. Azure
    fixes some fields when it creates a resource, and a role assignment can only be deleted.
    """
    bodies = received(world, world.azure().ids())
    for arm_id in data.draw(st.lists(st.sampled_from(sorted(bodies)), unique=True, max_size=6), label="resources"):
        body = {} if "/roleAssignments/" in arm_id else bodies[arm_id]
        fixed = ["/location", *(p for p in leaves(body) if is_immutable(ArmId(arm_id).arm_type, p))]
        pointers = [
            p for p in leaves(body) if p != "/properties" and not any(f"{f}/".startswith(f"{p}/") for f in fixed)
        ]
        pointer = data.draw(st.sampled_from(pointers), label=arm_id) if pointers else ""
        values = st.sampled_from(["other", 7, True, [], {}, GONE, DELETED]) if pointer else st.just(DELETED)
        yield arm_id, pointer, data.draw(values, label=pointer)


# The same few examples each time: some combinations, such as a network and a subnet that no longer fit, cannot be in Azure.
@settings(max_examples=min(scale(4), 4), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_after_a_sync_nothing_is_left_to_say_or_to_send(small, tmp_path_factory, data):
    world = small.copy(tmp_path_factory.mktemp("drawn"))
    for change in drawn_changes(data, world):
        if change[0] in world.azure().ids():  # an owner may have gone, and it with it
            behind(world, [change])
    files = estate(47)
    edits = st.lists(st.sampled_from([row[0] for row in COMMITS[:15]]), unique_by=id, max_size=4)
    for edit in data.draw(edits, label="commits"):
        files = edit(files)
    world.says(**files)
    assert world.sync(prune=True, max_deletes=20).exit_code == 0
    assert set(world.sync(prune=True).summary) == {"in-sync"}
    assert world.writes == []


def test_a_plan_reports_nothing_of_a_failure_that_git_has_reverted(few, tmp_path):
    world = few.copy(tmp_path)
    renamed = changed("g01", "azureName: office", "azureName: home")(estate(FEW))
    assert world.says(**renamed).sync().exit_code == 1
    report = world.says(**estate(FEW)).plan()
    assert (report.summary, [result.condition.message for result in report.results if result.condition.message]) == (
        {"in-sync": FEW},
        [],
    )
    assert world.sync().exit_code == 0
    assert not any(result.condition.message for result in world.plan().results)


def scalars(value, pointer=""):
    """Pointers to the values that a body requests; where a resource is cannot be changed."""
    if isinstance(value, dict | list):
        for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
            if f"{pointer}/{step}" != "/location":
                yield from scalars(inner, f"{pointer}/{str(step).replace('~', '~0').replace('/', '~1')}")
    elif value is not None:
        yield pointer


@pytest.fixture(scope="module")
def ours(untouched):
    """The ids of what git declares, in lower case."""
    return {result.arm_id.casefold() for result in untouched[1].results}


@pytest.mark.parametrize("turn", range(5))
def test_whatever_azure_shows_otherwise_is_found(small, ours, tmp_path, turn):
    """One value of every resource is made another; each resource's values take turns."""
    world = small.copy(tmp_path)
    bodies = received(world, [arm_id for arm_id in world.azure().ids() if arm_id.casefold() in ours])
    requested = {arm_id: list(scalars(body)) for arm_id, body in bodies.items()}
    rows = [(arm_id, found[(turn * 7) % len(found)], "else") for arm_id, found in requested.items() if found]
    before = shown(world, requested)
    behind(world, rows)
    after = shown(world, requested)
    visible = {arm_id.casefold() for arm_id, _, _ in rows if before[arm_id] != after[arm_id]}
    assert len(visible) >= 40
    assert set(moved(world.plan())) == visible


def shown(world, arm_ids):
    """What Azure reports of them, without what reports only that they were written."""
    azure = world.azure()
    found = {arm_id: azure.resource(arm_id) for arm_id in arm_ids}
    return {a: {n: v for n, v in body.items() if n not in {"systemData", "etag", "eTag"}} for a, body in found.items()}
