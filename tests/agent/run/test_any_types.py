"""An AzureResource through its whole life, and the hand-over from ASO's kind to it and back."""

from __future__ import annotations

import pytest

from gitsync.model.secret import MASKED, Secret
from gitsync.model.verdict import Action, Verdict
from gitsync.repository.git.source.file_selection import ReadLimits
from tests.agent.run.exporters import config_map_at, revealed, secret_at, world_with
from tests.support.fault_rules import rules
from tests.support.memory_places import MemorySink
from tests.support.world import SUBSCRIPTION, World

GROUP = """
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: shop}
spec: {location: westeurope}
"""
IN_GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/shop"
ACCOUNT_ID = f"{IN_GROUP}/providers/Microsoft.Storage/storageAccounts/shopfiles"
FLOW_ID = f"{IN_GROUP}/providers/Microsoft.Logic/workflows/orders"
FLOW = """
apiVersion: azure.gitsync/v1
kind: AzureResource
metadata: {name: orders}
spec:
  type: Microsoft.Logic/workflows@2019-05-01
  owner: {group: resources.azure.com, kind: ResourceGroup, name: shop}
  body:
    location: westeurope
    properties:
      state: Enabled
      parameters: {$connections: {value: {}}, empty: {value: []}, nothing: {value: null}}
      definition: {$schema: "https://schema", triggers: {}}
"""
ACCOUNT = """
apiVersion: storage.azure.com/v1api20230101
kind: StorageAccount
metadata: {name: files}
spec:
  azureName: shopfiles
  owner: {name: shop}
  location: westeurope
  kind: StorageV2
  sku: {name: Standard_LRS}
  accessTier: Hot
"""
SAME_ACCOUNT = """
apiVersion: azure.gitsync/v1
kind: AzureResource
metadata: {name: files}
spec:
  type: Microsoft.Storage/storageAccounts@2023-01-01
  azureName: shopfiles
  owner: {group: resources.azure.com, kind: ResourceGroup, name: shop}
  body:
    location: westeurope
    kind: StorageV2
    sku: {name: Standard_LRS}
    properties: {accessTier: Hot}
"""


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def find(report, kind="AzureResource"):
    return next(result for result in report.results if result.key.kind == kind)


def test_a_resource_is_created_as_it_is_written_and_then_in_sync(world):
    planned = find(world.says(group=GROUP, flow=FLOW).plan())
    assert (planned.action, planned.arm_id) == (Action.CREATE, FLOW_ID)
    assert world.sync().exit_code == 0
    assert world.sent("PUT") == [IN_GROUP, FLOW_ID]
    sent = world.read(FLOW_ID, "2019-05-01")["properties"]
    assert sent["parameters"] == {"$connections": {"value": {}}, "empty": {"value": []}, "nothing": {"value": None}}
    assert sent["definition"] == {"$schema": "https://schema", "triggers": {}}
    again = find(world.sync())
    assert (again.verdict, again.action, world.writes) == (Verdict.IN_SYNC, Action.NONE, [])


def test_drift_is_found_and_reverted(world):
    world.synced(group=GROUP, flow=FLOW)
    world.somebody_changes(FLOW_ID, {"/properties/state": "Disabled"})
    drifted = find(world.plan())
    assert (drifted.verdict, [change.path for change in drifted.differences]) == (
        Verdict.DRIFTED,
        ["/properties/state"],
    )
    (field,) = drifted.comparison.fields.values()
    assert (field.name, field.source.path, field.source.line) == ("spec.body.properties.state", "flow.yaml", 11)
    assert find(world.sync()).action is Action.UPDATE
    assert world.read(FLOW_ID, "2019-05-01")["properties"]["state"] == "Enabled"


def test_a_change_in_git_is_written(world):
    world.synced(group=GROUP, flow=FLOW)
    world.says(group=GROUP, flow=FLOW.replace("Enabled", "Disabled"))
    changed = find(world.sync())
    assert (changed.verdict, changed.action) == (Verdict.PENDING, Action.UPDATE)
    assert find(world.sync()).verdict is Verdict.IN_SYNC


def test_a_patch_sends_only_the_difference(world):
    patched = FLOW.replace("{name: orders}", "{name: orders, annotations: {gitsync/update-method: patch}}")
    world.says(group=GROUP, flow=patched).sync()
    world.says(group=GROUP, flow=patched.replace("Enabled", "Disabled")).sync()
    assert world.writes == [f"PATCH {FLOW_ID}"]


def test_a_prune_needs_nothing_but_the_record(world):
    world.synced(group=GROUP, flow=FLOW)
    pruned = find(world.says(group=GROUP).sync(prune=True))
    assert pruned.action is Action.DELETE
    assert world.writes == [f"DELETE {FLOW_ID}"]
    assert [result.key.kind for result in world.sync().results] == ["ResourceGroup"]


def test_what_exists_is_adopted(world):
    world.says(group=GROUP).sync()
    world.outside("PUT", FLOW_ID, {"location": "westeurope", "properties": {"state": "Enabled"}})
    adopted = find(world.says(group=GROUP, flow=FLOW).plan())
    assert adopted.verdict is Verdict.ADOPT


HAND_OVERS = {
    "to an AzureResource": (ACCOUNT, SAME_ACCOUNT, "files"),
    "to an AzureResource of another name": (ACCOUNT, SAME_ACCOUNT, "others"),
    "to ASO's kind": (SAME_ACCOUNT, ACCOUNT, "files"),
    "to ASO's kind of another name": (SAME_ACCOUNT, ACCOUNT, "others"),
}


def name_account(text, name, number=""):
    """A manifest of the account under another name; a number is also at the end of its name in Azure."""
    return text.replace("{name: files}", f"{{name: {name}{number}}}").replace("shopfiles", f"shopfiles{number}")


def test_a_manifest_that_changes_its_kind_takes_the_record_over(world):
    """Each row is an account of its own."""
    rows = list(enumerate(HAND_OVERS.values()))
    world.synced(group=GROUP, **{f"row{n}": name_account(before, "files", n) for n, (before, _, _) in rows})
    world.says(group=GROUP, **{f"row{n}": name_account(after, name, n) for n, (_, after, name) in rows})
    report = world.sync(prune=True)
    assert report.exit_code == 0
    assert world.writes == []
    assert {result.action for result in report.results} <= {Action.NONE, Action.DETACH}
    silent = world.sync(prune=True)
    assert {str(result.key) for result in silent.results if result.verdict is not Verdict.IN_SYNC} == set()
    assert len(silent.results) == 1 + len(rows)
    assert world.writes == []
    gone = world.says(group=GROUP).sync(prune=True, max_deletes=len(rows))
    assert gone.exit_code == 0
    deleted = {write.removeprefix(f"DELETE {ACCOUNT_ID}") for write in world.writes}
    assert {row: str(n) in deleted for n, row in enumerate(HAND_OVERS)} == dict.fromkeys(HAND_OVERS, True)
    assert len(world.writes) == len(rows)


BROKEN = [
    ("Microsoft.Storage/storageAccounts@", "Microsoft.Storage/storageAccount@", "a misspelt type"),
    ("@2023-01-01", "", "a type without a version"),
    ("azure.gitsync/v1", "azure.gitsync/v2", "another version of the kind"),
    ("azure.gitsync/v1", "azure.gitsync.io/v1", "another group"),
    ("azure.gitsync/v1", "gitsync/v1", "a part of the group"),
    ("azure.gitsync/v1", "v1", "no group"),
    ("kind: AzureResource", "kind: AzureResources", "a misspelt kind"),
    ("name: shop}", "name: shopp}", "a missing owner"),
]


@pytest.mark.parametrize(("old", "new", "why"), BROKEN, ids=[row[-1] for row in BROKEN])
def test_a_broken_manifest_is_an_error_and_deletes_nothing(world, old, new, why):
    check_broken_hand_over(world, ACCOUNT, SAME_ACCOUNT.replace(old, new, 1), why)


@pytest.mark.parametrize(
    ("old", "new"), [("owner: {name: shop}", "owner: {name: shopp}"), ("StorageAccount", "Storage")]
)
def test_a_broken_manifest_for_aso_in_its_place_deletes_nothing(world, old, new):
    check_broken_hand_over(world, SAME_ACCOUNT, ACCOUNT.replace(old, new, 1), new)


def check_broken_hand_over(world, before, broken, why):
    """Of one account whose name stays, and of one that gets another."""
    world.synced(group=GROUP, files=before, more=name_account(before, "files", 2))
    moved = {"moved": name_account(broken, "files"), "renamed": name_account(broken, "others", 2)}
    report = world.says(group=GROUP, **moved).sync(prune=True, max_deletes=2)
    assert (report.exit_code, world.writes) == (1, []), why


def test_what_was_of_a_misspelt_type_is_not_deleted_for_another_name(world):
    """A misspelt type is as a misspelt kind: it may be any resource of its unit."""
    world.synced(group=GROUP, flow=FLOW)
    renamed = FLOW.replace("{name: orders}", "{name: x}").replace("/workflows@", "/workflow@")
    assert world.says(group=GROUP, flow=renamed).sync(prune=True).exit_code == 1
    assert world.writes == []


def test_drift_is_found_over_a_hand_over(world):
    world.synced(group=GROUP, files=ACCOUNT)
    world.somebody_changes(ACCOUNT_ID, {"/properties/accessTier": "Cool"})
    drifted = find(world.says(group=GROUP, files=SAME_ACCOUNT).plan(prune=True))
    assert drifted.verdict is Verdict.DRIFTED
    assert [change.path for change in drifted.differences] == ["/properties/accessTier"]


def test_two_kinds_for_one_resource_are_an_error(world):
    report = world.says(group=GROUP, files=ACCOUNT, same=SAME_ACCOUNT).sync()
    assert report.exit_code != 0
    assert world.writes == [f"PUT {IN_GROUP}"]
    texts = [result.condition.message for result in report.results if result.key.name == "files"]
    assert len(texts) == 2
    assert all("as two kinds" in text for text in texts)


def test_equal_manifests_in_several_namespaces_are_one_resource(world):
    other = "{name: orders, namespace: other}"
    world.says(
        group=GROUP,
        other=GROUP.replace("{name: shop}", "{name: shop, namespace: other}"),
        flow=FLOW,
        again=FLOW.replace("{name: orders}", other),
    )
    assert world.sync().exit_code == 0
    assert world.writes == [f"PUT {IN_GROUP}", f"PUT {FLOW_ID}"]


def test_two_manifests_of_one_resource_may_begin_with_its_group(world):
    again = FLOW.replace("{name: orders}", "{name: again}").replace("  type:", "  azureName: ORDERS\n  type:")
    assert world.says(group=GROUP, flow=FLOW, again=again).sync().exit_code == 0
    assert len(world.writes) == 2
    assert world.sync().exit_code == 0
    assert world.writes == []


def test_the_body_as_such_cannot_be_ignored(world):
    ignored = FLOW.replace("{name: orders}", "{name: orders, annotations: {gitsync/ignore: '[spec.body]'}}")
    refused = find(world.says(group=GROUP, flow=ignored).plan())
    assert "which is all of the resource" in refused.condition.message


def test_a_large_body_leaves_a_record_that_the_next_run_reads(world):
    """A record has the body twice, and a line for each entry, so it may be longer than any manifest."""
    nested = "{a: " * 85 + str(["x" * 75] * 10_000) + "}" * 85
    large = FLOW.replace("triggers: {}", f"triggers: {{}}, text: {nested}")
    assert world.says(group=GROUP, flow=large).sync().exit_code == 0
    assert max(file.stat().st_size for file in world.state.rglob("*.json")) > ReadLimits().file
    assert find(world.sync()).verdict is Verdict.IN_SYNC


def test_an_api_version_that_is_not_known_works(world):
    report = world.says(group=GROUP, flow=FLOW.replace("2019-05-01", "2099-05-01")).sync()
    assert report.exit_code == 0
    assert find(world.sync()).verdict is Verdict.IN_SYNC


SITE = """
apiVersion: web.azure.com/v1api20220301
kind: Site
metadata: {name: front}
spec: {location: westeurope, owner: {name: shop}}
"""
SETTINGS = """
apiVersion: azure.gitsync/v1
kind: AzureResource
metadata: {name: settings}
spec:
  type: Microsoft.Web/sites/config@2022-03-01
  azureName: appsettings
  owner: {group: web.azure.com, kind: Site, name: front}
  body: {properties: {COLOUR: blue}}
"""


def test_what_exists_with_its_parent_is_not_deleted(world):
    world.says(group=GROUP, site=SITE, settings=SETTINGS).sync()
    removed = find(world.says(group=GROUP, site=SITE).sync(prune=True))
    assert (world.writes, removed.condition.reason) == ([], "DeletionNotSupportedInAzure")


def test_what_azure_refuses_to_delete_is_kept_without_a_failure(tmp_path):
    refusal = "{status: 405, code: UnsupportedHttpMethod, message: A pricing stays.}"
    world = World(tmp_path, rules=rules(f"{{match: {{method: DELETE}}, answer: {refusal}}}"))
    pricing = """
        apiVersion: azure.gitsync/v1
        kind: AzureResource
        metadata: {name: vms}
        spec:
          type: Microsoft.Security/pricings@2024-01-01
          azureName: VirtualMachines
          owner: {armId: /subscriptions/00000000-0000-0000-0000-000000000000}
          body: {properties: {pricingTier: Standard}}
    """
    world.says(group=GROUP, pricing=pricing).sync()
    report = world.says(group=GROUP).sync(prune=True)
    kept = find(report)
    assert (report.exit_code, kept.verdict) == (0, Verdict.BLOCKED)
    assert (kept.condition.reason, kept.message) == ("DeletionNotSupportedInAzure", "A pricing stays.")
    assert "--release AzureResource.azure.gitsync/default/vms" in kept.condition.advice
    assert (world.sync(prune=True).exit_code, world.writes) == (0, []), "refused once, and not sent again"
    released = world.sync(prune=True, release=("AzureResource/vms",))
    assert (released.exit_code, find(released).action, world.writes) == (0, Action.DETACH, [])


NETWORK = """
apiVersion: azure.gitsync/v1
kind: AzureResource
metadata: {name: net}
spec:
  type: Microsoft.Network/virtualNetworks@2024-01-01
  owner: {group: resources.azure.com, kind: ResourceGroup, name: shop}
  body:
    location: westeurope
    tags: {a: b}
    properties: {addressSpace: {addressPrefixes: [10.0.0.0/16]}}
"""
SUBNET = """
apiVersion: azure.gitsync/v1
kind: AzureResource
metadata: {name: one}
spec:
  type: Microsoft.Network/virtualNetworks/subnets@2024-01-01
  owner: {kind: AzureResource, name: net}
  body: {properties: {addressPrefix: 10.0.1.0/24}}
"""


def test_the_children_of_a_network_survive_its_put(world):
    world.says(group=GROUP, net=NETWORK, one=SUBNET).sync()
    report = world.says(group=GROUP, net=NETWORK.replace("a: b", "a: c"), one=SUBNET).sync()
    assert report.exit_code == 0
    network = f"{IN_GROUP}/providers/Microsoft.Network/virtualNetworks/net"
    assert world.writes == [f"PUT {network}"]
    subnets = world.read(network, "2024-01-01")["properties"]["subnets"]
    assert [subnet["name"] for subnet in subnets] == ["one"]
    assert world.sync().exit_code == 0
    assert world.writes == []


NETWORK_ID = f"{IN_GROUP}/providers/Microsoft.Network/virtualNetworks/net"
BY_NAME = "{kind: AzureResource, name: net}"
ASO_NETWORK = """
apiVersion: network.azure.com/v1api20240301
kind: VirtualNetwork
metadata: {name: net}
spec:
  owner: {name: shop}
  location: westeurope
  tags: {a: b}
  addressSpace: {addressPrefixes: [10.0.0.0/16]}
"""
ASO_SUBNET = """
apiVersion: network.azure.com/v1api20240301
kind: VirtualNetworksSubnet
metadata: {name: one}
spec: {owner: {name: net}, addressPrefix: 10.0.1.0/24}
"""
BY_ID = f"{{armId: {NETWORK_ID}}}"
IN_A_NETWORK = {
    "an AzureResource names another": (NETWORK, SUBNET),
    "an AzureResource has the id of another": (NETWORK, SUBNET.replace(BY_NAME, BY_ID)),
    "an AzureResource names a kind of its type": (
        ASO_NETWORK,
        SUBNET.replace(BY_NAME, "{group: network.azure.com, kind: VirtualNetwork, name: net}"),
    ),
    "a VirtualNetworksSubnet has the id of an AzureResource": (
        NETWORK,
        ASO_SUBNET.replace("owner: {name: net}", f"owner: {BY_ID}"),
    ),
    "a VirtualNetworksSubnet has the id of a VirtualNetwork": (
        ASO_NETWORK,
        ASO_SUBNET.replace("owner: {name: net}", f"owner: {BY_ID}"),
    ),
}


def number_network(text, number):
    """The manifest in a network of its own."""
    return text.replace("net}", f"net{number}}}").replace("{name: one}", f"{{name: one{number}}}")


NETWORKS = {f"net{n}": number_network(network, n) for n, (network, _) in enumerate(IN_A_NETWORK.values())}
SUBNETS = {f"one{n}": number_network(subnet, n) for n, (_, subnet) in enumerate(IN_A_NETWORK.values())}


def test_a_network_and_its_subnet_change_together(world):
    world.synced(group=GROUP, **NETWORKS, **SUBNETS)
    moved = {name: text.replace("10.0.", "10.9.") for name, text in (NETWORKS | SUBNETS).items()}
    planned = world.says(group=GROUP, **moved).plan()
    messages = {result.arm_id: result.condition.message for result in planned.results}
    for number, why in enumerate(IN_A_NETWORK):
        kind = SUBNETS[f"one{number}"].split()[3]
        assert messages[f"{NETWORK_ID}{number}"] == f"Its PUT also writes {kind}/one{number} as in git.", why
    assert world.sync().exit_code == 0
    assert sorted(world.writes) == [f"PUT {NETWORK_ID}{number}" for number in range(len(IN_A_NETWORK))]


def test_a_subnet_leaves_with_the_change_of_its_network(world):
    world.synced(group=GROUP, **NETWORKS, **SUBNETS)
    ids = [f"{NETWORK_ID}{number}" for number in range(len(IN_A_NETWORK))]
    for network_id in ids:
        world.azure().put(f"{network_id}/subnets/theirs", {"properties": {"addressPrefix": "10.0.7.0/24"}})
    changed = {name: text.replace("a: b", "a: c") for name, text in NETWORKS.items()}
    world.says(group=GROUP, **changed).sync(prune=True, max_deletes=len(ids))
    for number, (network_id, why) in enumerate(zip(ids, IN_A_NETWORK, strict=True)):
        own = [write for write in world.writes if network_id in write]
        assert own == [f"PUT {network_id}", f"DELETE {network_id}/subnets/one{number}"], why
        subnets = world.azure().resource(network_id)["properties"]["subnets"]
        assert [subnet["name"] for subnet in subnets] == ["theirs"], f"what git does not declare stays: {why}"


def test_a_group_with_content_of_others_is_not_deleted(world):
    group = """
        apiVersion: azure.gitsync/v1
        kind: AzureResource
        metadata: {name: shop}
        spec: {type: Microsoft.Resources/resourceGroups@2022-09-01, body: {location: westeurope}}
    """
    world.says(group=group).sync()
    world.outside("PUT", FLOW_ID, {"location": "westeurope", "properties": {}})
    kept = world.says_files({"README.md": "nothing"}).sync(prune=True, max_deletes=1)
    assert world.writes == []
    assert "orders" in find(kept).condition.message


ANY_GROUP = """
apiVersion: azure.gitsync/v1
kind: AzureResource
metadata: {name: shop}
spec: {type: Microsoft.Resources/resourceGroups@2022-09-01, body: {location: westeurope}}
"""
OF_ANY_GROUP = "{kind: AzureResource, name: shop}"
IN_SUBSCRIPTION = f"spec: {{owner: {{armId: /subscriptions/{SUBSCRIPTION}}}, "


@pytest.mark.parametrize("group", [ANY_GROUP, ANY_GROUP.replace("spec: {", IN_SUBSCRIPTION)])
def test_a_group_without_an_owner_owns_what_is_in_it(world, group):
    flow = FLOW.replace("{group: resources.azure.com, kind: ResourceGroup, name: shop}", OF_ANY_GROUP)
    assert world.says(group=group, flow=flow).sync().exit_code == 0
    assert world.writes == [f"PUT {IN_GROUP}", f"PUT {FLOW_ID}"]
    assert world.sync().exit_code == 0
    assert world.writes == []
    world.says_files({"README.md": "nothing"}).sync(prune=True, max_deletes=2)
    assert world.writes == [f"DELETE {IN_GROUP}"]


def test_groups_change_their_kind_with_their_content(world):
    world.synced(group=GROUP, flow=FLOW)
    flow = FLOW.replace("{group: resources.azure.com, kind: ResourceGroup, name: shop}", OF_ANY_GROUP)
    assert world.says(group=ANY_GROUP, flow=flow).sync(prune=True).exit_code == 0
    assert world.writes == []


def test_another_type_under_the_same_name_is_refused_by_its_field(world):
    world.synced(group=GROUP, flow=FLOW)
    other = FLOW.partition("  body")[0].replace("/workflows@", "/integrationAccounts@")
    refused = find(world.says(group=GROUP, flow=other).sync(prune=True))
    assert "'spec.type'" in refused.condition.message
    assert world.writes == []


SECRETS = """
apiVersion: v1
kind: Secret
metadata: {name: orders}
stringData: {apiKey: hunter2-hunter2}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: orders}
data: {region: westeurope}
"""
WITH_VALUES = """
apiVersion: azure.gitsync/v1
kind: AzureResource
metadata: {name: orders}
spec:
  type: Microsoft.Logic/workflows@2019-05-01
  owner: {group: resources.azure.com, kind: ResourceGroup, name: shop}
  body:
    location: {$configMap: {name: orders, key: region}}
    properties:
      parameters: {key: {value: {$secret: {name: orders, key: apiKey}}}}
      definition: {}
"""


def test_values_of_secrets_are_sent_and_not_shown(world):
    digests = {"digest_key": Secret("a key of thirty-two characters...")}
    report = world.says(group=GROUP, values=SECRETS, flow=WITH_VALUES).sync(**digests)
    assert report.exit_code == 0
    sent = world.read(FLOW_ID, "2019-05-01")
    assert (sent["location"], sent["properties"]["parameters"]["key"]["value"]) == ("westeurope", "hunter2-hunter2")
    assert "hunter2" not in repr(report)
    assert not any("hunter2" in file.read_text() for file in world.state.rglob("*") if file.is_file())
    assert world.sync(**digests).exit_code == 0
    assert world.writes == []
    world.says(group=GROUP, values=SECRETS.replace("hunter2-", "hunter3-"), flow=WITH_VALUES)
    changed = find(world.sync(**digests))
    assert [change.path for change in changed.differences] == ["/properties/parameters/key/value"]
    assert world.writes == [f"PUT {FLOW_ID}"]


EXPORTS = """
  operatorSpec:
    secretAction: listKeys
    secretExpressions: [{name: keys, key: first, value: "secret.keys[0].value"}]
    configMapExpressions: [{name: facts, key: tier, value: self.status.sku.name}]
"""


def test_the_answer_of_an_action_is_exported(tmp_path):
    sink = MemorySink()
    world = world_with(tmp_path, sink)
    assert world.says(group=GROUP, files=SAME_ACCOUNT + EXPORTS).sync().exit_code == 0
    assert world.sent("POST") == [f"{ACCOUNT_ID}/listKeys"]
    key = revealed(sink, secret_at("keys"))["first"]
    assert len(key) > 30
    assert world.redactions.mask(key) == MASKED
    assert revealed(sink, config_map_at("facts")) == {"tier": "Standard_LRS"}
    assert world.plan().exit_code == 0
    assert world.sent("POST") == []


def test_an_action_is_called_only_for_expressions_that_use_it(tmp_path):
    world = world_with(tmp_path, MemorySink())
    exports = EXPORTS.replace('"secret.keys[0].value"', "self.status.id")
    assert world.says(group=GROUP, files=SAME_ACCOUNT + exports).sync().exit_code == 0
    assert world.sent("POST") == []


@pytest.mark.parametrize("path", ["spec.body.properties.state", "/properties/state"])
def test_a_field_of_the_body_is_ignored(world, path):
    flow = FLOW.replace("{name: orders}", f"{{name: orders, annotations: {{gitsync/ignore: '[{path}]'}}}}")
    world.says(group=GROUP, flow=flow).sync()
    world.somebody_changes(FLOW_ID, {"/properties/state": "Disabled"})
    assert find(world.sync()).verdict is Verdict.IN_SYNC


def test_a_replacement_needs_consent(world):
    world.synced(group=GROUP, flow=FLOW)
    moved = FLOW.replace("location: westeurope", "location: northeurope")
    assert find(world.says(group=GROUP, flow=moved).sync(prune=True)).condition.reason == "ReplaceNeeded"
    assert world.writes == []
    consent = moved.replace("{name: orders}", "{name: orders, annotations: {gitsync/replace: location=northeurope}}")
    assert find(world.says(group=GROUP, flow=consent).sync(prune=True)).action is Action.REPLACE
    assert world.writes == [f"DELETE {FLOW_ID}", f"PUT {FLOW_ID}"]


OWNED_BY_GROUP = "{group: resources.azure.com, kind: ResourceGroup, name: shop}"
IN_SUBSCRIPTION = f"{{armId: /subscriptions/{SUBSCRIPTION}}}"
IN_MANAGEMENT_GROUP = "{armId: /providers/Microsoft.Management/managementGroups/root}"
OF_MANY_SCOPES = [
    ("account", "Microsoft.Batch/batchAccounts@2024-07-01", OWNED_BY_GROUP, "{location: westeurope}"),
    ("pool", "Microsoft.Batch/batchAccounts/pools@2024-07-01", "{kind: AzureResource, name: account}", "{}"),
    ("budget", "Microsoft.Consumption/budgets@2023-11-01", IN_SUBSCRIPTION, "{properties: {amount: 5}}"),
    ("limit", "Microsoft.Consumption/budgets@2023-11-01", OWNED_BY_GROUP, "{properties: {amount: 5.5}}"),
    ("lock", "Microsoft.Authorization/locks@2020-05-01", "{kind: AzureResource, name: zone}", "{properties: {}}"),
    ("zone", "Microsoft.Network/dnsZones@2018-05-01", OWNED_BY_GROUP, "{location: global}"),
    ("policy", "Microsoft.Authorization/policyAssignments@2022-06-01", IN_MANAGEMENT_GROUP, "{properties: {}}"),
    ("folder", "Microsoft.Management/managementGroups@2023-04-01", "{armId: /}", "{properties: {displayName: a}}"),
    ("alert", "microsoft.insights/actionGroups@2023-01-01", OWNED_BY_GROUP, "{location: global, properties: {}}"),
    ("dashboard", "Microsoft.Portal/dashboards@2020-09-01-preview", OWNED_BY_GROUP, "{location: westeurope}"),
    ("pipeline", "Microsoft.DevOpsInfrastructure/pools@2024-10-19", OWNED_BY_GROUP, "{location: westeurope}"),
]


def test_types_of_every_scope(world):
    documents = {
        name: f"""
            apiVersion: azure.gitsync/v1
            kind: AzureResource
            metadata: {{name: {name}}}
            spec: {{type: {type_}, owner: {owner}, body: {body}}}
        """
        for name, type_, owner, body in OF_MANY_SCOPES
    }
    report = world.says(group=GROUP, **documents).sync()
    assert {result.key.name: result.condition.reason for result in report.results} == {
        "shop": "Succeeded",
        **dict.fromkeys(documents, "Succeeded"),
    }
    silent = world.sync()
    assert {result.verdict for result in silent.results} == {Verdict.IN_SYNC}
    assert world.writes == []
    gone = world.says(group=GROUP).sync(prune=True, max_deletes=len(documents))
    assert {result.condition.reason for result in gone.results} == {"Succeeded", "Deleted"}
    assert len(world.writes) == len(documents)


def test_the_author_of_drift_is_named(world):
    world.synced(group=GROUP, flow=FLOW)
    world.somebody_changes(FLOW_ID, {"/properties/state": "Disabled"}, by="ann@contoso.com")
    (author,) = find(world.plan(who="auto")).changed_by
    assert (author.name, author.paths) == ("ann@contoso.com", ("/properties/state",))


def test_what_exists_is_only_reported_if_adoption_is_off(world):
    world.says(group=GROUP).sync()
    world.outside("PUT", FLOW_ID, {"location": "westeurope", "properties": {"state": "Disabled"}})
    report = world.says(group=GROUP, flow=FLOW).sync(adopt="report")
    assert (find(report).verdict, world.writes) == (Verdict.ADOPT, [])
    assert world.says(group=GROUP).sync(prune=True).exit_code == 0
    assert world.writes == []
