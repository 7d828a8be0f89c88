"""Values that expressions compute from other resources, offline: what is known is in the request, and the rest is the
expression in angle brackets. Faulty ones are in tests/desired/validation/bad/computed_values.yaml.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest
import yaml

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.cel.source_types import make_source_type
from gitsync.desired.cel.sources import ValueSource
from gitsync.desired.cel.value_expressions import parse_value
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.problems.field_path import find_member
from gitsync.desired.request.build import prepare
from gitsync.desired.request.computed_fill import compute_value
from gitsync.desired.request.placeholders import show
from gitsync.desired.request.secret_reads import find_secret_read
from gitsync.errors import MissingValueError
from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import GVK, Key
from gitsync.model.manifests import KnownId

SUBSCRIPTION = "11111111-1111-1111-1111-111111111111"
IN_GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/shop"
ADDRESS_ID = f"{IN_GROUP}/providers/Microsoft.Network/publicIPAddresses/egress"
SOURCES = """
{apiVersion: resources.azure.com/v1api20200601, kind: ResourceGroup, metadata: {name: shop}, spec: {location: westeurope}}
---
apiVersion: network.azure.com/v1api20201101
kind: PublicIPAddress
metadata: {name: egress}
spec: {owner: {name: shop}, location: westeurope, publicIPAllocationMethod: Static, tags: {a.b: c}, idleTimeoutInMinutes: 7, zones: ['1', '2']}
---
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: hub, namespace: platform}
spec: {location: northeurope, azureName: hub-neu}
---
apiVersion: azure.gitsync/v1
kind: AzureResource
metadata: {name: flow}
spec:
  type: Microsoft.Logic/workflows@2019-05-01
  owner: {group: resources.azure.com, kind: ResourceGroup, name: shop}
  body: {location: westeurope, tags: {team: shop}}
"""
ACCOUNT = {"owner": {"name": "shop"}, "location": "westeurope", "kind": "StorageV2", "sku": {"name": "Standard_LRS"}}
RULES = {"networkAcls": {"defaultAction": "Deny", "ipRules": [{"action": "Allow"}, {"value": "1.1.1.1"}]}}
IP = 'resource("PublicIPAddress/egress")'


def make_account(entries: dict[str, str], spec: Any = ACCOUNT, **annotations: str) -> Any:
    texts = {"gitsync/set": yaml.safe_dump(entries), **annotations} if entries else annotations
    return {
        "apiVersion": "storage.azure.com/v1api20230101",
        "kind": "StorageAccount",
        "metadata": {"name": "use", "annotations": texts},
        "spec": spec,
    }


def make_flow(body: Any, **spec: Any) -> Any:
    owner = {"group": "resources.azure.com", "kind": "ResourceGroup", "name": "shop"}
    own = {"type": "Microsoft.Logic/workflows@2019-05-01", "owner": owner, "body": {"location": "westeurope", **body}}
    return {"apiVersion": "azure.gitsync/v1", "kind": "AzureResource", "metadata": {"name": "use"}, "spec": own | spec}


def prepare_all(*documents: Any, **more: Any) -> Any:
    text = f"{SOURCES}---\n{yaml.safe_dump_all(documents, sort_keys=False)}"
    return prepare(read_manifests({"m.yaml": text.encode()}), catalog=open_catalog(), subscription=SUBSCRIPTION, **more)


def show_use(*documents: Any) -> Any:
    """The resource `use` as render shows it."""
    shown = show(prepare_all(*documents), {})
    (found,) = (each for each in shown if each.prepared.key.name == "use")
    assert not [problem for problem in found.prepared.problems if problem.is_error]
    return found


@pytest.mark.parametrize(
    ("document", "pointer", "expected", "why"),
    [
        (make_account({"spec.tags.a": f"{IP}.id"}), "/tags/a", ADDRESS_ID, "an id is known offline"),
        (make_account({"spec.tags.a": f"{IP}.name"}), "/tags/a", "egress", "so is a name"),
        (make_account({"spec.tags.a": 'resource("platform/ResourceGroup/hub").name'}), "/tags/a", "hub-neu", "the name in Azure, of another namespace"),
        (make_account({"spec.tags.a": 'resource("ResourceGroup.resources.azure.com/shop").id'}), "/tags/a", IN_GROUP, "a kind with its group"),
        (make_account({"spec.tags.a": f"{IP}.spec.location"}), "/tags/a", "westeurope", "a value in git"),
        (make_account({"spec.tags.a": f"string({IP}.spec.idleTimeoutInMinutes)"}), "/tags/a", "7", "a number as text"),
        (make_account({"spec.tags.a": f'{IP}.spec.tags["a.b"] + "-" + {IP}.spec.zones[1]'}), "/tags/a", "c-2", "a key with a dot, and an entry"),
        (make_account({'spec.tags["a.b"]': f"{IP}.name"}), "/tags/a.b", "egress", "a key of a map with a dot"),
        (make_account({"spec.tags": f"{IP}.spec.tags"}), "/tags", {"a.b": "c"}, "a map as one value"),
        (make_account({"spec.tags.a": f"{IP}.status.ipAddress"}), "/tags/a", f"<{IP}.status.ipAddress>", "a status is not known offline"),
        (make_account({"spec.tags.a": f"{IP}.spec.?zones[0]"}), "/tags/a", "1", "an optional with a value"),
        (make_account({"spec.tags.a": f"{IP}.spec.?sku.?name"}), "/tags", None, "an optional without one leaves the field out"),
        (make_account({"spec.tags.a": f'{IP}.name == "x" ? {IP}.name : null'}), "/tags", None, "null leaves it out too"),
        (make_account({"spec.kind": '{"Standard": "StorageV2"}[resource("PublicIPAddress/egress").spec.?sku.?name.orValue("Standard")]'}, {k: v for k, v in ACCOUNT.items() if k != "kind"}), "/kind", "StorageV2", "a required field"),
        (make_account({"spec.allowBlobPublicAccess": f'{IP}.spec.location == "x"'}), "/properties/allowBlobPublicAccess", False, "a boolean"),
        (make_account({"spec.networkAcls.ipRules[0].value": f"{IP}.status.ipAddress"}, ACCOUNT | RULES), "/properties/networkAcls/ipRules/0/value", f"<{IP}.status.ipAddress>", "an entry by its index"),
        (make_account({"spec.networkAcls.ipRules[value=1.1.1.1].action": '"Allow" + resource("PublicIPAddress/egress").spec.?sku.?name.orValue("")'}, ACCOUNT | RULES), "/properties/networkAcls/ipRules/1/action", "Allow", "an entry by a member"),
        (make_account({"spec.networkAcls.ipRules[2].value": f"{IP}.name"}, ACCOUNT | RULES), "/properties/networkAcls/ipRules/2/value", "egress", "a new last entry"),
        (make_account({}, **{"gitsync/body": "properties: {allowedCopyScope: {$expression: 'resource(\"PublicIPAddress/egress\").name'}}"}), "/properties/allowedCopyScope", "egress", "a member that ASO lacks"),
        (make_flow({"tags": {"a": {"$expression": f"{IP}.id"}}}), "/tags/a", ADDRESS_ID, "in place"),
        (make_flow({"tags": {"a": {"$expression": 'resource("AzureResource/flow").spec.body.tags.team'}}}), "/tags/a", "shop", "of a body in git"),
        (make_flow({"properties": {"parameters": {"p": {"value": {"$$expression": "x"}}}}}), "/properties/parameters/p/value", {"$expression": "x"}, "an escaped word is a member"),
        (make_flow({"properties": {"parameters": {"p": {"value": {"$expression": f"{IP}.spec.tags"}}}}}), "/properties/parameters/p/value", {"a.b": "c"}, "any value where ARM takes any"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else "",
)  # fmt: skip
def test_what_is_known_offline_is_in_the_request(document, pointer, expected, why):
    body = show_use(document).request.body
    steps = [int(step) if step.isdigit() else step for step in pointer.split("/")[1:]]
    assert find_member(body, *steps) == expected, why


@pytest.mark.parametrize(
    ("document", "expected", "why"),
    [
        (make_account({"spec.owner.armId": 'resource("platform/ResourceGroup/hub").id'}, {k: v for k, v in ACCOUNT.items() if k != "owner"}), f"/subscriptions/{SUBSCRIPTION}/resourceGroups/hub-neu/providers/Microsoft.Storage/storageAccounts/use", "an owner in another namespace"),
        (make_account({"spec.azureName": f'{IP}.name + "files"'}), f"{IN_GROUP}/providers/Microsoft.Storage/storageAccounts/egressfiles", "a name"),
        (make_account({"spec.azureName": 'resource("platform/ResourceGroup/hub").spec.azureName.replace("-", "")'}), f"{IN_GROUP}/providers/Microsoft.Storage/storageAccounts/hubneu", "of what git has"),
        (make_flow({}, owner={"armId": {"$expression": 'resource("platform/ResourceGroup/hub").id'}}), f"/subscriptions/{SUBSCRIPTION}/resourceGroups/hub-neu/providers/Microsoft.Logic/workflows/use", "an owner in place"),
        (make_flow({}, azureName={"$expression": f"{IP}.name"}), f"{IN_GROUP}/providers/Microsoft.Logic/workflows/egress", "a name in place"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else "",
)  # fmt: skip
def test_a_field_that_makes_the_id(document, expected, why):
    shown = show_use(document)
    assert shown.arm_id == expected, why
    assert shown.prepared.relations.depends_on
    assert [value.expression for value in shown.prepared.relations.computed]


def test_a_value_does_not_change_the_name_of_a_role_assignment():
    """The name is made of owner and manifest, as ASO makes it."""
    spec = {
        "owner": {"group": "resources.azure.com", "kind": "ResourceGroup", "name": "shop"},
        "roleDefinitionReference": {"wellKnownName": "Reader"},
    }
    document = {
        "apiVersion": "authorization.azure.com/v1api20220401",
        "kind": "RoleAssignment",
        "metadata": {"name": "use"},
        "spec": {**spec, "principalId": "22222222-2222-2222-2222-222222222222"},
    }
    written = show_use(document).arm_id
    document["spec"] = spec
    document["metadata"] = {
        "name": "use",
        "annotations": {"gitsync/set": 'spec.principalId: resource("AzureResource/flow").status.identity.principalId'},
    }
    shown = show_use(document)
    assert shown.arm_id == written
    assert shown.request.body["properties"]["principalId"].startswith("<resource(")


def test_a_value_that_only_a_run_reports_is_shown_as_its_expression():
    shown = show_use(make_account({"spec.tags.a": f"{IP}.spec.sku.name"}))
    assert shown.request.body["tags"]["a"] == f"<{IP}.spec.sku.name>"


def describe_source(status: Any) -> ValueSource:
    kind = open_catalog().kind(GVK("network.azure.com", "v1api20201101", "PublicIPAddress"))
    return ValueSource(
        type=make_source_type(kind), id=ArmId(ADDRESS_ID), name="egress", spec={"location": "westeurope"}, status=status
    )


@pytest.mark.parametrize(
    ("field", "expression", "message"),
    [
        ("spec.tags.a", f"{IP}.status.ipAddress", 'spec.tags.a has no value: resource("PublicIPAddress/egress").status.ipAddress is not set.'),
        ("spec.tags.a", f"{IP}.status.?ipAddress.orValue('')", "spec.tags.a has no value: the expression gives an empty text."),
        ("spec.tags.a", f"{IP}.status.ipTags[3].tag", "spec.tags.a has no value: "),
        ("spec.networkAcls.defaultAction", f"{IP}.status.?ipAddress", "spec.networkAcls.defaultAction has no value: the field is required"),
        ("spec.tags.a", f"dyn({IP}.status.ipTags)", "spec.tags.a has no value: the expression gives list, and the field must be string."),
        ("spec.tags.a", "dyn(5 + size(" + IP + ".name))", "spec.tags.a has no value: the expression gives int, and the field must be string."),
        ("spec.tags", f"dyn({IP}.name)", "spec.tags has no value: the expression gives string, and the field must be map."),
        ("spec.allowBlobPublicAccess", f"dyn({IP}.name)", "spec.allowBlobPublicAccess has no value: the expression gives string, and the field must be bool."),
        ("spec.accessTier", f"{IP}.name", 'spec.accessTier has no value: the expression gives "egress", which is not Cool, Hot or Premium.'),
    ],
)  # fmt: skip
def test_a_value_that_cannot_be_sent(field, expression, message):
    (use,) = (each for each in prepare_all(make_account({field: expression})) if each.key.name == "use")
    (value,) = use.relations.computed
    with pytest.raises(MissingValueError) as raised:
        compute_value(value, lambda _name, _key: describe_source({"ipTags": []}))
    assert raised.value.reason == "WaitingForValue"
    assert raised.value.message.startswith(message)
    assert raised.value.hint


@pytest.mark.parametrize(
    ("kind", "read", "is_secret", "why"),
    [
        ("AzureResource/flow", "status.properties.state", False, "a plain value"),
        ("AzureResource/flow", "status.properties.parameters", False, "values of any kind"),
        ("AzureResource/site", "status.properties.siteConfig.connectionStrings[0].connectionString", True, "by its name"),
        ("AzureResource/site", "status.properties.siteConfig.connectionStrings.map(s, s.connectionString)", True, "of an item"),
        ("AzureResource/site", "spec.body.properties.siteConfig.publishingPassword", True, "in git"),
        ("StorageAccount/use", "status.primaryEndpoints.blob", False, "an endpoint"),
        ("VirtualMachine/vm", "spec.osProfile.adminPassword", True, "a reference to a Secret"),
        ("VirtualMachine/vm", "spec.osProfile.?adminPassword.?key", True, "a part of it"),
        ("AzureResource/site", "status.properties.siteConfig.azureStorageAccounts.a.mountPath", False, "beside a secret"),
        ("VirtualMachine/vm", "status.osProfile.computerName", False, "a plain status"),
    ],
)  # fmt: skip
def test_a_member_that_may_be_a_secret(kind, read, is_secret, why):
    site = make_flow({}) | {"metadata": {"name": "site"}}
    site["spec"] = site["spec"] | {"type": "Microsoft.Web/sites@2022-03-01", "body": {"location": "westeurope"}}
    machine = {
        "apiVersion": "compute.azure.com/v1api20220301",
        "kind": "VirtualMachine",
        "metadata": {"name": "vm"},
        "spec": {"owner": {"name": "shop"}, "location": "westeurope"},
    }
    prepared = prepare_all(site, machine, make_account({}))
    kinds = {f"{each.key.kind}/{each.key.name}": open_catalog().kind_of(each.resource) for each in prepared}
    expression = parse_value(f'resource("{kind}").{read}')
    assert bool(find_secret_read(expression, {kind: kinds[kind]})) is is_secret, why


FLOW = 'resource("AzureResource/flow").status.properties'
FLOW_BODY = {"properties": {"definition": {"adminPassword": "hunter2", "steps": [{"secret": "hunter3", "name": "a"}]}}}


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        (f'{FLOW}.definition["admin" + "Password"]', "a computed key"),
        (f"{FLOW}.definition.map(k, {FLOW}.definition[k])[0]", "all members"),
        (f'string({FLOW}.definition["admin" + "Password"])', "a conversion"),
        (f'{FLOW}.definition.steps[0]["se" + "cret"] + "x"', "a member of an entry"),
        (f'{FLOW}.definition.steps.map(s, s.map(k, s[k]).join(",")).join(",")', "all members of the entries"),
        (f'"{{}}".format([{FLOW}.definition])', "a part as text"),
        (f'dyn({FLOW})["defin" + "ition"]["adminP" + "assword"]', "without a type"),
    ],
)
def test_no_expression_computes_its_way_to_a_secret(expression, why):
    found = prepare_all(make_account({"spec.tags.a": expression}))
    (use,) = (each for each in found if each.key.name == "use")
    kind = open_catalog().kind_of(next(each.resource for each in found if each.key.name == "flow"))
    source = ValueSource(type=make_source_type(kind), id="/flow", name="flow", spec={}, status=FLOW_BODY)
    for value in use.relations.computed:
        with pytest.raises(MissingValueError) as raised:
            compute_value(value, lambda _name, _key: source)
        assert "hunter" not in str(raised.value), why
    assert use.relations.computed or not use.is_valid, why


def test_hostile_expressions_are_refused_in_bounded_time():
    deep = f"{'(' * 5000}{IP}.id{')' * 5000}"
    many = {f"spec.tags.t{number}": f'resource("PublicIPAddress/egres{number}").id' for number in range(1000)}
    long = " + ".join([f"{IP}.id"] * 3000)
    began = time.process_time()
    for entries in ({"spec.tags.a": deep}, many, {"spec.tags.a": long}):
        (use,) = (each for each in prepare_all(make_account(entries)) if each.key.name == "use")
        assert use.problems or use.template
    assert time.process_time() - began < 10


def test_a_resource_that_another_source_declares_has_an_id_and_a_name():
    key = Key("network.azure.com", "VirtualNetwork", "platform", "hub")
    arm_id = ArmId(
        f"/subscriptions/{SUBSCRIPTION}/resourceGroups/net/providers/Microsoft.Network/virtualNetworks/hub-neu"
    )
    entries = {
        "spec.tags.a": 'resource("platform/VirtualNetwork/hub").id',
        "spec.tags.b": 'resource("platform/VirtualNetwork/hub").status.location',
    }
    text = f"{SOURCES}---\n{yaml.safe_dump(make_account(entries))}"
    manifests = read_manifests({"m.yaml": text.encode()})
    prepared = prepare(
        replace(manifests, known={key: KnownId(arm_id=arm_id, location="status")}),
        catalog=open_catalog(),
        subscription=SUBSCRIPTION,
    )
    (use,) = (each for each in prepared if each.key.name == "use")
    (problem,) = use.problems
    assert problem.hint == "No manifest of this run declares platform/VirtualNetwork/hub: use its .id or .name."
    assert show([use], {})[0].request.body["tags"]["a"] == arm_id


HIDDEN = [
    ('resource("platform/VirtualNetwork/hub").status.location', True, "a status"),
    ('resource("platform/VirtualNetwork/hub").spec.location', True, "a spec"),
    ('resource("platform/VirtualNetwork/hub").nothing', True, "a member that may be wrong, or not"),
    ('resource("platform/VirtualNetwork/hub").id', False, "the record has the id"),
]


@pytest.mark.parametrize(("expression", "waits", "why"), HIDDEN, ids=[row[-1] for row in HIDDEN])
def test_the_status_of_what_cannot_be_read_is_unknown_and_not_absent(expression, waits, why):
    key = Key("network.azure.com", "VirtualNetwork", "platform", "hub")
    arm_id = ArmId(f"/subscriptions/{SUBSCRIPTION}/resourceGroups/net/providers/Microsoft.Network/virtualNetworks/hub")
    text = f"{SOURCES}---\n{yaml.safe_dump(make_account({'spec.tags.a': expression}))}"
    hidden = {key: KnownId(arm_id=arm_id, location="status", is_hidden=True)}
    manifests = replace(read_manifests({"m.yaml": text.encode()}), known=hidden)
    prepared = prepare(manifests, catalog=open_catalog(), subscription=SUBSCRIPTION)
    (use,) = (each for each in prepared if each.key.name == "use")
    assert [(problem.code, problem.is_error) for problem in use.problems] == [("WaitingForValue", False)] * waits, why
    assert (use.is_waiting, use.is_valid) == (waits, not waits)
