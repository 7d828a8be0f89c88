"""What single kinds do in addition, in whole runs."""

from __future__ import annotations

import json

import pytest

from gitsync.emulator.settings import Denial, EmulatorSettings
from gitsync.model.condition import Severity
from gitsync.model.record import Claim
from gitsync.model.verdict import Action, Verdict
from gitsync.planning.status.advice import find_advice
from gitsync.report.json import build_document
from tests.support.fault_rules import rules
from tests.support.world import GROUP, GROUP_ID, VNET, World, of

ENDPOINT_ID = f"{GROUP_ID}/providers/Microsoft.Network/privateEndpoints/door"
ENDPOINT = f"""\
    apiVersion: network.azure.com/v1api20240301
    kind: PrivateEndpoint
    metadata:
      name: door
    spec:
      location: westeurope
      owner:
        name: core
      subnet:
        reference:
          armId: {GROUP_ID}/providers/Microsoft.Network/virtualNetworks/hub/subnets/one
      manualPrivateLinkServiceConnections:
        - name: door
          groupIds: [blob]
          privateLinkServiceReference:
            armId: {GROUP_ID}/providers/Microsoft.Storage/storageAccounts/theirs
    """
STATE = "/properties/manualPrivateLinkServiceConnections/0/properties/privateLinkServiceConnectionState"


STORAGE = """\
    apiVersion: storage.azure.com/v1api20230101
    kind: StorageAccount
    metadata:
      name: files
    spec:
      location: westeurope
      owner:
        name: core
      kind: StorageV2
      sku: {name: Standard_LRS}
    """
BLOBS = """\
    apiVersion: storage.azure.com/v1api20230101
    kind: StorageAccountsBlobService
    metadata:
      name: blobs
    spec:
      owner:
        name: files
      deleteRetentionPolicy: {enabled: true, days: 14}
    """


def test_what_azure_made_with_its_parent_is_adopted(tmp_path):
    world = World(tmp_path)
    world.says(group=GROUP, account=STORAGE).sync()
    found = of(world.says(group=GROUP, account=STORAGE, blobs=BLOBS).sync(), "StorageAccountsBlobService")
    assert found.condition.is_ready, found.condition
    assert (found.verdict, found.action, found.record.claim) == (Verdict.ADOPT, Action.UPDATE, Claim.ADOPTED)
    assert [difference.path for difference in found.differences] == ["/properties/deleteRetentionPolicy/enabled"]
    assert world.sent("PUT") == [f"{GROUP_ID}/providers/Microsoft.Storage/storageAccounts/files/blobServices/default"]


def decided(status, **more):
    """A rule by which somebody decides over the connection, once the endpoint was read so often."""
    match = ", ".join(f"{name}: {value}" for name, value in more.items())
    read = f"method: GET, type: Microsoft.Network/privateEndpoints, {match}"
    return f"{{match: {{{read}}}, move: {{set: {{{STATE}: {{status: {status}}}}}}}}}"


def test_a_private_endpoint_is_ready_once_somebody_has_approved_it(tmp_path):
    world = World(tmp_path, rules=rules(decided("Approved", after=4, times=1)))
    report = world.says(group=GROUP, endpoint=ENDPOINT).sync()
    found = of(report, "PrivateEndpoint")
    assert found.condition.is_ready, found.condition
    assert world.sent("PUT").count(ENDPOINT_ID) == 1
    assert sum(request.method == "GET" and request.path == ENDPOINT_ID for request in world.requests) > 4


def test_a_private_endpoint_that_no_one_approves_is_not_ready_and_not_written_again(tmp_path):
    world = World(tmp_path, rules=rules(decided("Pending", nth=1)))
    found = of(world.says(group=GROUP, endpoint=ENDPOINT).sync(resource_timeout=60.0), "PrivateEndpoint")
    assert (found.condition.reason, found.verdict) == ("PostReconciliationFailure", Verdict.CREATE)
    assert found.condition.message.endswith("to the PrivateEndpoint requires approval")
    assert found.record.claim.is_ours
    found = of(world.sync(resource_timeout=60.0), "PrivateEndpoint")
    assert (found.condition.reason, found.action) == ("PostReconciliationFailure", Action.NONE)
    world.settings = EmulatorSettings(limits=None, rules=rules(decided("Approved", nth=1)))
    assert of(world.sync(), "PrivateEndpoint").condition.is_ready
    assert world.writes == []


SERVER_ID = f"{GROUP_ID}/providers/Microsoft.DBforPostgreSQL/flexibleServers/books"
SERVER = """\
    apiVersion: dbforpostgresql.azure.com/v1api20221201
    kind: FlexibleServer
    metadata:
      name: books
    spec:
      location: westeurope
      owner:
        name: core
      version: "14"
      sku: {name: Standard_D2s_v3, tier: GeneralPurpose}
      storage: {storageSizeGB: 128}
    """
DATABASE = """\
    apiVersion: dbforpostgresql.azure.com/v1api20221201
    kind: FlexibleServersDatabase
    metadata:
      name: orders
    spec:
      owner:
        name: books
      charset: CHARSET
    """


def shown(world, arm_id, api_version, **properties):
    """A rule by which Azure shows a resource with these properties, whatever else it has."""
    body = world.read(arm_id, api_version)
    other = json.dumps(body | {"properties": body["properties"] | properties})
    return f"{{match: {{method: GET, path: {arm_id}}}, answer: {{status: 200, body: {other}}}}}"


def test_a_database_waits_until_somebody_has_started_its_server(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP, server=SERVER, database=DATABASE.replace("CHARSET", "utf8"))
    assert all(result.condition.is_ready for result in world.sync().results)
    world.says(group=GROUP, server=SERVER, database=DATABASE.replace("CHARSET", "latin1"))
    world.settings = EmulatorSettings(limits=None, rules=rules(shown(world, SERVER_ID, "2022-12-01", state="Stopped")))
    report = world.sync(resource_timeout=60.0)
    server, database = of(report, "FlexibleServer"), of(report, "FlexibleServersDatabase")
    assert server.condition.message == 'Flexible Server is in state "Stopped"'
    assert (database.condition.reason, database.verdict) == ("ReconciliationBlocked", Verdict.BLOCKED)
    assert database.condition.message == 'Owning FlexibleServer is in state "Stopped"'
    assert world.writes == []
    world.settings = EmulatorSettings(limits=None)
    assert all(result.condition.is_ready for result in world.sync().results)
    assert world.sent("PUT") == [f"{SERVER_ID}/databases/orders"]


ACCOUNT = """\
    apiVersion: documentdb.azure.com/v1api20231115
    kind: DatabaseAccount
    metadata:
      name: ledger
    spec:
      location: westeurope
      owner:
        name: core
      databaseAccountOfferType: Standard
      locations: [{locationName: westeurope}]
    """
ACCOUNT_ID = f"{GROUP_ID}/providers/Microsoft.DocumentDB/databaseAccounts/ledger"
CROWDED = "The region is currently experiencing high demand."


@pytest.mark.parametrize(
    ("message", "writes", "severity", "why"),
    [
        (CROWDED, 1, Severity.ERROR, "another try would only hide the reason"),
        ("Try again later.", 2, Severity.NONE, "the code alone passes by itself"),
    ],
)
def test_an_error_that_a_row_makes_fatal_is_not_tried_again(tmp_path, message, writes, severity, why):
    answer = f"{{code: ServiceUnavailable, status: 503, message: {message}}}"
    match = "{method: PUT, type: Microsoft.DocumentDB/databaseAccounts, nth: 1}"
    world = World(tmp_path, rules=rules(f"{{match: {match}, answer: {answer}}}"))
    found = of(world.says(group=GROUP, account=ACCOUNT).sync(), "DatabaseAccount")
    assert world.sent("PUT").count(ACCOUNT_ID) == writes, why
    assert found.condition.severity is severity, why
    assert found.ending.is_retryable is False


CLUSTER_ID = f"{GROUP_ID}/providers/Microsoft.DocumentDB/cassandraClusters/wide"
CLUSTER = """\
    apiVersion: documentdb.azure.com/v20251015
    kind: CassandraCluster
    metadata:
      name: wide
    spec:
      location: westeurope
      owner:
        name: core
      properties:
        repairEnabled: true
    """
CENTRE = """\
    apiVersion: documentdb.azure.com/v20251015
    kind: CassandraDataCenter
    metadata:
      name: west
    spec:
      owner:
        name: wide
      properties:
        dataCenterLocation: westeurope
        nodeCount: 3
    """


def test_a_data_centre_waits_until_its_cluster_has_succeeded(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP, cluster=CLUSTER, centre=CENTRE)
    canceled = shown(world, CLUSTER_ID, "2025-10-15", provisioningState="Canceled")
    world.settings = EmulatorSettings(limits=None, rules=rules(canceled))
    world.says(group=GROUP, cluster=CLUSTER, centre=CENTRE.replace("nodeCount: 3", "nodeCount: 4"))
    found = of(world.sync(resource_timeout=60.0), "CassandraDataCenter")
    assert found.condition.reason == "ReconciliationBlocked"
    assert found.condition.message == 'Owning CassandraCluster is in provisioning state "Canceled"'
    assert f"{CLUSTER_ID}/dataCenters/west" not in world.sent("PUT")
    world.settings = EmulatorSettings(limits=None)
    assert all(result.condition.is_ready for result in world.sync().results)
    assert world.sent("PUT") == [f"{CLUSTER_ID}/dataCenters/west"]


def test_a_plan_reports_what_to_do_about_what_it_may_not_read(tmp_path):
    world = World(tmp_path, denied=(Denial(action="*virtualNetworks/read"),))
    world.outside("PUT", GROUP_ID, {"location": "westeurope"})
    report = world.says(group=GROUP, vnet=VNET).plan()
    (told,) = [told for told in build_document(report)["resources"] if told["kind"] == "VirtualNetwork"]
    assert told["message"].startswith("AuthorizationFailed: ")
    advice = find_advice("AuthorizationFailed", "Microsoft.Network/virtualNetworks")
    assert advice
    assert told["advice"].endswith(advice)
    assert "is missing Microsoft.Network/virtualNetworks/read on " in told["advice"]


TABLE_ID = f"{GROUP_ID}/providers/Microsoft.Network/routeTables/ways"
TABLE = """\
    apiVersion: network.azure.com/v1api20240301
    kind: RouteTable
    metadata:
      name: ways
    spec:
      location: westeurope
      owner:
        name: core
    """
TAGGED_TABLE = TABLE.replace("      location", "      tags:\n        a: b\n      location")


def test_a_route_table_without_routes_is_updated(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP, table=TABLE)
    found = of(world.says(group=GROUP, table=TAGGED_TABLE).sync(), "RouteTable")
    assert (found.verdict, found.action, found.condition.is_ready) == (Verdict.PENDING, Action.UPDATE, True)
    assert world.read(TABLE_ID, "2024-03-01")["tags"] == {"a": "b"}


@pytest.mark.parametrize(("routes", "sent"), [(0, 1), (1, 0)], ids=["none", "one"])
def test_a_route_table_that_shows_no_list_of_routes_is_updated_if_it_has_none(tmp_path, routes, sent):
    world = World(tmp_path)
    world.synced(group=GROUP, table=TABLE)
    route = {"properties": {"addressPrefix": "10.0.0.0/8", "nextHopType": "None"}}
    for number in range(routes):
        world.outside("PUT", f"{TABLE_ID}/routes/r{number}", route, "2024-03-01")
    shown = f"{{id: {TABLE_ID}, name: ways, location: westeurope, properties: {{provisioningState: Succeeded}}}}"
    match = "{method: GET, type: Microsoft.Network/routeTables}"
    world.settings = EmulatorSettings(
        limits=None, rules=rules(f"{{match: {match}, answer: {{status: 200, body: {shown}}}}}")
    )
    found = of(world.says(group=GROUP, table=TAGGED_TABLE).sync(), "RouteTable")
    assert world.sent("PUT").count(TABLE_ID) == sent
    assert found.condition.is_ready == bool(sent), found.condition
    assert sum(request.path == f"{TABLE_ID}/routes" for request in world.requests) >= 1
