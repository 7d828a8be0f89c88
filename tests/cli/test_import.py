"""`gitsync import`: from what exists in Azure to manifests, over a real socket."""

import json
import re
from pathlib import Path

import pytest

from gitsync.emulator.faults import Canned, FaultRule, Match
from gitsync.emulator.http.messages import ListFault
from tests.support.command_line import SUBSCRIPTION, azure, run_here
from tests.support.filled_store import ROOT, fill, make_bodies
from tests.support.world import World

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "manifests"


SMALL = make_bodies(1)
(GROUP, NETWORK, ACCOUNT, *_) = SMALL


@pytest.fixture(scope="module")
def small():
    return fill(SMALL)


def run_import(store, folder, *arguments, rules=(), **settings):
    with azure(store, rules=tuple(rules), **settings) as served:
        done = run_here("import", *arguments, folder=folder, **served.variables)
        assert {method for method, _, _ in served.sent()} <= {"GET"}, "an import only reads"
        return done, len(served.sent())


def read_all(folder):
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*.yaml")}


def test_the_landing_zone_comes_back_as_it_was(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    world = World(tmp_path / "a")
    files = {path.relative_to(EXAMPLES).as_posix(): path.read_text() for path in EXAMPLES.rglob("*.yaml")}
    world.says_files(files).sync()
    done, _ = run_import(world.store, tmp_path, "--out", "out")
    assert done.code == 0, done.out + done.err
    assert "69 resources imported, 69 with nothing to change" in done.out

    other = World(tmp_path / "b")
    other.store = world.store
    report = other.says_files(read_all(tmp_path / "out")).plan()
    assert {(result.verdict.value, result.action.value) for result in report.results} == {("adopt", "none")}
    assert not [result for result in report.results if result.differences or result.comparison.unverified]
    assert other.writes == []

    requested, imported = (render(folder) for folder in (world.folder, tmp_path / "out"))
    assert len(imported) == len(requested) == 69
    lost = [
        (arm_id, path)
        for arm_id, body in requested.items()
        for path, value in list_leaves(body)
        if not re.search("<(configmap|secret)", f"{arm_id}{value}")
        and dict(list_leaves(imported[arm_id])).get(path) != value.casefold()
    ]
    assert lost == []


def render(folder):
    out = run_here("render", str(folder), "--output=json", "--subscription", SUBSCRIPTION, folder=folder).out
    return {resource["armId"].casefold(): resource["body"] for resource in json.loads(out)["resources"]}


def list_leaves(value, path=()):
    if isinstance(value, dict):
        return [leaf for key, member in value.items() for leaf in list_leaves(member, (*path, key))]
    if isinstance(value, list):
        return [leaf for location, entry in enumerate(value) for leaf in list_leaves(entry, (*path, location))]
    return [(path, str(value).casefold())]


def test_nothing_is_overwritten_and_what_has_a_manifest_is_skipped(small, tmp_path):
    out = tmp_path / "out"
    first, _ = run_import(small, tmp_path, "--out", "out", "--type", "VirtualNetwork", "--type", "ResourceGroup")
    assert first.code == 0, first.out + first.err
    before = read_all(out)
    assert set(before) == {"g00/network.yaml", "g00/resource-group.yaml"}
    second, _ = run_import(small, tmp_path, "--out", "out", "--output", "json")
    assert second.code == 0, second.out + second.err
    report = json.loads(second.out)
    assert report["skipped"] == [GROUP, NETWORK]
    after = read_all(out)
    assert {path: after[path] for path in before} == before
    assert "name: hub\n" in after["g00/network-2.yaml"], "subnets name their network by its manifest"
    third, _ = run_import(small, tmp_path, "--out", "out")
    assert "0 resources imported" in third.out
    assert read_all(out) == after


@pytest.mark.parametrize(
    ("arguments", "kinds", "why"),
    [
        ((NETWORK,), {"VirtualNetwork": 1, "VirtualNetworksSubnet": 3}, "a resource with what is below it"),
        ((GROUP, "--exclude", "StorageAccount"), {"ResourceGroup": 1, "VirtualNetwork": 1, "VirtualNetworksSubnet": 3},
         "a type and all below it"),
        (("--resource-group", "G00", "--type", "StorageAccountsBlobServicesContainer"),
         {"StorageAccountsBlobServicesContainer": 2}, "one kind, whose owners stay out"),
        (("--name", "acc*", "--layout", "resource", "--policy", "skip", "--full"),
         {"StorageAccount": 1, "StorageAccountsBlobService": 1, "StorageAccountsBlobServicesContainer": 2,
          "StorageAccountsFileService": 1, "StorageAccountsQueueService": 1, "StorageAccountsTableService": 1},
         "names of resources in groups, and all that Azure made"),
        (("--tag", "number=0"), {"ResourceGroup": 1}, "tags"),
    ],
)  # fmt: skip
def test_what_an_import_selects(small, tmp_path, arguments, kinds, why):
    done, _ = run_import(small, tmp_path, *arguments, "--out", "out", "--output", "json")
    found = read_kinds(done)
    assert {kind: found.count(kind) for kind in found} == kinds, why


def read_kinds(done):
    assert done.code == 0, done.out + done.err
    return [resource["kind"] for file in json.loads(done.out)["files"] for resource in file["resources"]]


ROLE = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Authorization/roleDefinitions/acdd72a7-3385-48ef-bd42-f606fba81ae7"
ASSIGNMENT = {"properties": {"principalId": "11111111-1111-4111-8111-111111111111", "roleDefinitionId": ROLE}}
SETTINGS = {"properties": {"workspaceId": f"{GROUP}/providers/Microsoft.OperationalInsights/workspaces/logs"}}
ZONE = f"{GROUP}/providers/Microsoft.Network/dnsZones/shop.contoso.example"
RECORD = {"properties": {"TTL": 60, "ARecords": [{"ipv4Address": "192.0.2.1"}]}}


def test_extensions_come_with_what_they_extend(tmp_path):
    extensions = {
        f"{NETWORK}/providers/Microsoft.Insights/diagnosticSettings/audit": SETTINGS,
        f"{NETWORK}/providers/Microsoft.Authorization/roleAssignments/0a1b5d2c-a08f-55af-a14e-fa97442cba25": ASSIGNMENT,
        f"{ROLE.partition('/providers/')[0]}/providers/Microsoft.Authorization/roleAssignments/"
        "9a1b5d2c-a08f-55af-a14e-fa97442cba25": ASSIGNMENT,
    }
    store = fill({GROUP: SMALL[GROUP], NETWORK: SMALL[NETWORK], **extensions})
    for number, (arguments, settings, assignments) in enumerate(
        [((), 1, 2), ((NETWORK,), 1, 1), (("--type", "DiagnosticSetting"), 1, 0), (("--type", "RoleAssignment"), 0, 2)]
    ):
        done, _ = run_import(store, tmp_path, *arguments, "--out", f"out{number}", "--output", "json")
        kinds = read_kinds(done)
        assert (kinds.count("DiagnosticSetting"), kinds.count("RoleAssignment")) == (settings, assignments), arguments
        inherited = [row for row in json.loads(done.out)["leftOut"] if row["reason"] == "inherited from above"]
        assert len(inherited) == (arguments == (NETWORK,))


def test_what_azure_makes_stays_out_and_a_zone_is_read_by_one_list(tmp_path):
    managed = f"{ROOT}/managed"
    store = fill(
        {
            GROUP: SMALL[GROUP],
            managed: {"location": "westeurope", "managedBy": f"{GROUP}/providers/Microsoft.Databricks/workspaces/w"},
            f"{managed}/providers/Microsoft.Network/virtualNetworks/workers": SMALL[NETWORK],
            ZONE: {"location": "global"},
            f"{ZONE}/A/@": RECORD,
            f"{ZONE}/A/www": RECORD,
            f"{ZONE}/NS/@": {"properties": {"TTL": 60, "NSRecords": [{"nsdname": "ns1.example."}]}},
        }
    )
    with azure(store) as served:
        done = run_here("import", "--out", "out", "--output", "json", folder=tmp_path, **served.variables)
        lists = [path for _, path, _ in served.sent() if path.startswith(f"{ZONE}/")]
    assert lists.count(f"{ZONE}/recordsets") == 1
    assert sorted(read_kinds(done)) == ["DnsZone", "DnsZonesARecord", "DnsZonesARecord", "ResourceGroup"]
    assert "name: shop.contoso.example-apex" in (tmp_path / "out/g00/dns.yaml").read_text()
    reasons = {row["subject"]: row["reason"] for row in json.loads(done.out)["leftOut"]}
    assert reasons[managed] == "resource group that Azure manages"
    assert reasons[f"{ZONE}/NS/@"] == "made by Azure"


def test_a_list_that_leaves_out_properties_is_not_believed(small, tmp_path):
    trimmed = FaultRule(match=Match(lists=True), list_fault=ListFault(trim=("/properties/publicAccess", "/kind")))
    for name, rules in (("whole", ()), ("trimmed", (trimmed,))):
        done, _ = run_import(small, tmp_path, "--out", name, rules=rules)
        assert done.code == 0, done.out + done.err
    assert read_all(tmp_path / "whole") == read_all(tmp_path / "trimmed")


def test_a_list_that_is_refused_is_reported(small, tmp_path):
    match = Match(path="*/containers")
    for status, code, says in (
        (403, 1, "AuthorizationFailed, no right to read it"),
        (405, 0, "refused by Azure (AuthorizationFailed)"),
    ):
        rule = FaultRule(match=match, answer=Canned(status=status, code="AuthorizationFailed", message="No."))
        done, _ = run_import(small, tmp_path, "--out", f"out{status}", rules=(rule,))
        assert done.code == code, done.out + done.err
        assert says in done.out


@pytest.mark.parametrize(
    "unexpected", [GROUP, f"{GROUP}/", GROUP.rpartition("/resourceGroups")[0], f"{GROUP}/locks", ""]
)
def test_a_list_of_resources_may_show_its_group_and_unexpected_ids(small, tmp_path, unexpected):
    body = {"value": [{"id": unexpected, "name": "g00", "type": "Microsoft.Resources/resourceGroups"}, {"id": NETWORK}]}
    rule = FaultRule(match=Match(path="*/resources"), answer=Canned(body=body))
    done, _ = run_import(small, tmp_path, "--out", "out", rules=(rule,))
    assert done.code == 0, done.out + done.err
    assert "5 resources imported" in done.out, "the group, the network and its subnets"


@pytest.mark.parametrize("entry", [{"id": GROUP}, {"id": GROUP, "name": ""}, {"id": GROUP, "name": 7}])
def test_a_group_without_a_name_is_an_unexpected_list(small, tmp_path, entry):
    rule = FaultRule(match=Match(path="*/resourcegroups"), answer=Canned(body={"value": [entry]}))
    done, _ = run_import(small, tmp_path, "--out", "out", rules=(rule,))
    assert (done.code, done.out) == (2, "")
    assert "has an entry without a name" in done.err


def test_many_resources_take_few_requests(tmp_path):
    store = fill(make_bodies(25))
    done, requests = run_import(store, tmp_path, "--out", "out", "--output", "json")
    assert done.code == 0, done.out + done.err
    report = json.loads(done.out)
    assert report["imported"] == 25 * 9, "a group, a network, three subnets, an account, a service and two containers"
    assert report["requests"] == requests <= 0.45 * report["imported"], "one list and one read for each account"
    assert any("tableServices/tables: not read at 23 of 25" in line for line in report["unread"])


BROKEN = "apiVersion: network.azure.com/v1\nkind: [\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((f"https://management.chinacloudapi.cn{NETWORK}",), "--endpoint is"),
        (("--resource-group", "nowhere"), "There is no resource group nowhere"),
        ((f"{NETWORK}x",), "does not exist"),
        ((f"{GROUP}/providers/Contoso.Things/things/a",), "a type that gitsync does not recognize"),
        (("--type", "VirtualNetwrok"), "Did you mean VirtualNetwork?"),
        (("--api-version", "1999-01-01"), "has the api-version 1999-01-01"),
    ],
)
def test_bad_input_writes_nothing(small, tmp_path, arguments, says):
    done, _ = run_import(small, tmp_path, *arguments, "--out", "out")
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert not (tmp_path / "out").exists()


BAD = [
    ((f"{NETWORK}x",), f"{NETWORK}x does not exist", "a resource that is not there"),
    (
        (f"{GROUP}/providers/Contoso.Things/things/a",),
        "a type that gitsync does not recognize",
        "a type without a kind",
    ),
    ((f"{NETWORK}/subnets",), "/subnets' is not an ARM id", "half of an id"),
    (("hub",), "'hub' is not an ARM id", "a name"),
    ((f"https://management.chinacloudapi.cn{NETWORK}",), "--endpoint is", "the URL of another cloud"),
    (
        (f"{GROUP}x", "--resource-group", "nowhere"),
        "There is no resource group g00x, nowhere in subscription",
        "groups that are not there, by an id and by a name",
    ),
    ((ACCOUNT,), "FeatureNotSupportedForAccount", "a resource that Azure refuses to show"),
]


@pytest.fixture(scope="module")
def bad_ids(small, tmp_path_factory):
    """What an import of a network and all bad ids reports, as JSON and as text."""
    folder, words = tmp_path_factory.mktemp("bad"), [word for arguments, *_ in BAD for word in arguments]
    rule = FaultRule(match=Match(path=ACCOUNT.lower()), answer=Canned(status=400, code="FeatureNotSupportedForAccount"))
    done, _ = run_import(small, folder, NETWORK, *words, "--out", "out", "--output", "json", rules=(rule,))
    printed, _ = run_import(small, folder, NETWORK, *words, "--out", "again", rules=(rule,))
    assert (done.code, printed.code) == (1, 1)
    return json.loads(done.out), printed.out


def test_bad_ids_do_not_stop_the_others(bad_ids):
    report, _ = bad_ids
    assert report["exitCode"] == 1
    kinds = {resource["kind"] for file in report["files"] for resource in file["resources"]}
    assert kinds == {"VirtualNetwork", "VirtualNetworksSubnet"}
    problems = [(problem["code"], problem["severity"]) for problem in report["problems"]]
    assert problems == [("IdNotImported", "error")] * len(BAD)


@pytest.mark.parametrize(("says", "why"), [row[1:] for row in BAD], ids=[row[-1] for row in BAD])
def test_a_bad_id_is_reported(bad_ids, says, why):
    report, text = bad_ids
    assert sum(says in problem["message"] for problem in report["problems"]) == 1, why
    assert says in text, why


def test_ids_that_are_all_bad_write_nothing(small, tmp_path):
    done, _ = run_import(small, tmp_path, "hub", f"{NETWORK}/subnets", "--out", "out")
    assert (done.code, done.out) == (2, "")
    done, _ = run_import(small, tmp_path, "hub", f"{NETWORK}x", "--out", "out")
    assert (done.code, done.out) == (2, "")
    assert not (tmp_path / "out").exists()


def test_an_id_without_an_answer_ends_the_import(small, tmp_path):
    rule = FaultRule(
        match=Match(path=ACCOUNT.lower()), answer=Canned(status=500, code="Failed", message="Out of order.")
    )
    done, _ = run_import(small, tmp_path, NETWORK, ACCOUNT, "--out", "out", "--run-timeout", "1s", rules=(rule,))
    assert (done.code, done.out, (tmp_path / "out").exists()) == (75, "", False)


@pytest.mark.parametrize(
    ("status", "path", "code", "says"),
    [(403, "*", 2, "The identity may not read"), (500, "*/containers", 75, "cannot be read: Out of order.")],
)
def test_an_azure_that_does_not_answer_writes_nothing(small, tmp_path, status, path, code, says):
    rule = FaultRule(match=Match(path=path), answer=Canned(status=status, code="Failed", message="Out of order."))
    done, _ = run_import(small, tmp_path, "--out", "out", "--run-timeout", "1s", rules=(rule,))
    assert (done.code, done.out) == (code, "")
    assert says in done.err
    assert not (tmp_path / "out").exists()


def test_a_single_read_that_is_refused_is_reported_and_the_rest_goes_on(small, tmp_path):
    match = Match(path="*/managementpolicies/default")
    rule = FaultRule(match=match, answer=Canned(status=400, code="FeatureNotSupportedForAccount", message="No."))
    done, _ = run_import(small, tmp_path, "--out", "out", rules=(rule,))
    assert done.code == 0, done.out + done.err
    assert "managementPolicies/default: refused by Azure (FeatureNotSupportedForAccount)" in done.out
    assert "StorageAccount" in done.out


def test_a_folder_that_cannot_be_written_or_read_is_refused(small, tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "network.yaml").write_text(BROKEN)
    for out, says in (("file", "is not a folder"), ("broken", "manifests that cannot be read")):
        done = run_here("import", "--out", out, folder=tmp_path, AZURE_SUBSCRIPTION_ID=SUBSCRIPTION)
        assert done.code == 2
        assert says in done.err


def test_a_missing_secret_is_a_warning_until_it_is_provided(tmp_path):
    server = f"{GROUP}/providers/Microsoft.DBforPostgreSQL/flexibleServers/orders"
    properties = {"administratorLogin": "boss", "administratorLoginPassword": "hunter2hunter2", "version": "16"}
    store = fill({GROUP: SMALL[GROUP], server: {"location": "westeurope", "properties": properties}})
    done, _ = run_import(store, tmp_path, "--out", "out")
    assert done.code == 0, done.out + done.err
    assert "Secret orders-flexibleserver, key administratorLoginPassword: g00/database.yaml" in done.out
    assert "hunter2" not in done.out + "".join(read_all(tmp_path / "out").values())
    checked = run_here("validate", "out", folder=tmp_path)
    assert checked.code == 0
    assert "ValueNotFound" in checked.out


def test_values_that_look_like_secrets_are_marked_and_not_printed(tmp_path):
    group = f"{GROUP}/providers/Microsoft.ContainerInstance/containerGroups/web"
    variables = [{"name": "DB_PASSWORD", "value": "hunter2hunter2"}, {"name": "LEVEL", "value": "info"}]
    properties = {
        "osType": "Linux",
        "containers": [
            {
                "name": "web",
                "properties": {
                    "image": "nginx",
                    "resources": {"requests": {"cpu": 1, "memoryInGB": 1}},
                    "environmentVariables": variables,
                },
            }
        ],
    }
    store = fill({GROUP: SMALL[GROUP], group: {"location": "westeurope", "properties": properties}})
    done, _ = run_import(store, tmp_path, "--out", "out")
    assert done.code == 0, done.out + done.err
    field = "spec.containers[0].environmentVariables[0].value"
    way = "write secureValue: {name: web-containergroup, key: DB_PASSWORD} in its place"
    assert "Values that look like secrets, written in plain text:" in done.out
    assert f"g00/containerinstance.yaml, ContainerGroup/web: {field}: {way}" in done.out
    assert "hunter2" not in done.out + done.err
    (text,) = [text for text in read_all(tmp_path / "out").values() if "ContainerGroup" in text]
    assert text.startswith(f"# {field} looks like a secret: {way}.\napiVersion: ")

    as_json, _ = run_import(store, tmp_path, "--out", "again", "--output", "json")
    (resource,) = [
        resource
        for file in json.loads(as_json.out)["files"]
        for resource in file["resources"]
        if resource["plainSecrets"]
    ]
    assert resource["plainSecrets"] == [{"field": field, "way": way}]

    value, reference = "value: hunter2hunter2", "secureValue: {name: web-containergroup, key: DB_PASSWORD}"
    (tmp_path / "out/g00/containerinstance.yaml").write_text(text.replace(value, reference))
    checked = run_here("validate", "out", folder=tmp_path, GITSYNC_SECRET_DEFAULT_WEB_CONTAINERGROUP_DB_PASSWORD="x")
    assert (checked.code, checked.out) == (0, "2 resources in 2 files: no problems.\n"), "what is offered is valid"
