"""An AzureResource, from its manifest to its request: what is written is sent, where it is written."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.catalog.any_type import decide_scope_flag, split_name
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.request.any_body import convert_body
from gitsync.desired.request.build import prepare
from gitsync.model.arm_id import ArmId
from gitsync.model.facts import ScopeFlag
from gitsync.model.gvk import Key
from gitsync.model.template import ConfigMapKeyRef, ResourceRef, SecretKeyRef

SUBSCRIPTION = "11111111-1111-1111-1111-111111111111"
IN_SUBSCRIPTION = f"/subscriptions/{SUBSCRIPTION}"
IN_GROUP = f"{IN_SUBSCRIPTION}/resourceGroups/shop"
ROOT = "/providers/Microsoft.Management/managementGroups/root"
GROUP = {"group": "resources.azure.com", "kind": "ResourceGroup", "name": "shop"}
SITE = {"group": "web.azure.com", "kind": "Site", "name": "front"}
FLOW = "Microsoft.Logic/workflows@2019-05-01"


def a_document(name: str, spec: Any, api_version: str = "azure.gitsync/v1", kind: str = "AzureResource") -> Any:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": spec}


SHOP = a_document("shop", {"location": "westeurope"}, "resources.azure.com/v1api20200601", "ResourceGroup")
FRONT = a_document(
    "front", {"location": "westeurope", "owner": {"name": "shop"}}, "web.azure.com/v1api20220301", "Site"
)


def prepare_last(*documents: Any) -> Any:
    """The last document, prepared with all of them."""
    text = yaml.safe_dump_all(documents, sort_keys=False)
    prepared = prepare(read_manifests({"m.yaml": text.encode()}), catalog=open_catalog(), subscription=SUBSCRIPTION)
    name = documents[-1]["metadata"]["name"]
    return next(p for p in prepared if p.key == Key("azure.gitsync", documents[-1]["kind"], "default", name))


@pytest.mark.parametrize(
    ("type_", "azure_name", "owner", "expected", "why"),
    [
        (FLOW, None, GROUP, f"{IN_GROUP}/providers/Microsoft.Logic/workflows/r", "the name of the manifest"),
        (FLOW, "orders", GROUP, f"{IN_GROUP}/providers/Microsoft.Logic/workflows/orders", "a name of its own"),
        (
            FLOW.lower(),
            None,
            GROUP,
            f"{IN_GROUP}/providers/Microsoft.Logic/workflows/r",
            "Azure's spelling of the type",
        ),
        (
            "Microsoft.Web/sites/slots@2022-03-01",
            "blue",
            SITE,
            f"{IN_GROUP}/providers/Microsoft.Web/sites/front/slots/blue",
            "a child of a manifest of ASO",
        ),
        (
            "Microsoft.Web/sites/config@2022-03-01",
            "other/web",
            GROUP,
            f"{IN_GROUP}/providers/Microsoft.Web/sites/other/config/web",
            "a name with its parent's, below what that is in",
        ),
        (
            "Microsoft.Web/sites/slots/config@2022-03-01",
            "blue/web",
            SITE,
            f"{IN_GROUP}/providers/Microsoft.Web/sites/front/slots/blue/config/web",
            "the last two steps belong to the type",
        ),
        (
            "Microsoft.Storage/storageAccounts/blobServices@2023-01-01",
            None,
            {"armId": f"{IN_GROUP}/providers/Microsoft.Storage/storageAccounts/files"},
            f"{IN_GROUP}/providers/Microsoft.Storage/storageAccounts/files/blobServices/default",
            "the only name of the type",
        ),
        (
            "Microsoft.Insights/diagnosticSettings@2021-05-01-preview",
            "all",
            SITE,
            f"{IN_GROUP}/providers/Microsoft.Web/sites/front/providers/microsoft.insights/diagnosticSettings/all",
            "an extension of a resource, in the case that Azure has",
        ),
        (
            "Microsoft.Insights/diagnosticSettings@2021-05-01-preview",
            "all",
            {"armId": IN_SUBSCRIPTION},
            f"{IN_SUBSCRIPTION}/providers/microsoft.insights/diagnosticSettings/all",
            "an extension of a scope",
        ),
        (
            "Microsoft.Consumption/budgets@2023-11-01",
            "month",
            GROUP,
            f"{IN_GROUP}/providers/Microsoft.Consumption/budgets/month",
            "in a group",
        ),
        (
            "Microsoft.Authorization/policyAssignments@2022-06-01",
            "tags",
            {"armId": ROOT},
            f"{ROOT}/providers/Microsoft.Authorization/policyAssignments/tags",
            "in a management group",
        ),
        (
            "Microsoft.Management/managementGroups@2023-04-01",
            "shops",
            {"armId": "/"},
            "/providers/Microsoft.Management/managementGroups/shops",
            "in the tenant",
        ),
        (
            "Microsoft.Management/managementGroups@2023-04-01",
            "shops",
            None,
            "/providers/Microsoft.Management/managementGroups/shops",
            "in the tenant, which is the only scope",
        ),
        (
            "Microsoft.Resources/resourceGroups@2022-09-01",
            "other",
            None,
            f"{IN_SUBSCRIPTION}/resourceGroups/other",
            "a group, in the subscription of its credential",
        ),
        (
            "Microsoft.Resources/resourceGroups@2022-09-01",
            "other",
            {"armId": "/subscriptions/another"},
            "/subscriptions/another/resourceGroups/other",
            "a group in another subscription",
        ),
        (
            "Microsoft.Security/pricings@2023-01-01",
            "StorageAccounts",
            {"armId": IN_SUBSCRIPTION},
            f"{IN_SUBSCRIPTION}/providers/Microsoft.Security/pricings/StorageAccounts",
            "in a subscription",
        ),
        (
            "Microsoft.Made/up@2099-01-01",
            None,
            GROUP,
            f"{IN_GROUP}/providers/Microsoft.Made/up/r",
            "a type that is not known, anywhere",
        ),
    ],
)
def test_arm_ids(type_, azure_name, owner, expected, why):
    spec = {"type": type_, "body": {}} | ({"azureName": azure_name} if azure_name else {})
    prepared = prepare_last(SHOP, FRONT, a_document("r", spec | ({"owner": owner} if owner else {})))
    assert prepared.arm_id == expected, why
    assert prepared.api_version == type_.partition("@")[2], why
    assert prepared.template is not None, why


def test_a_child_of_a_resource_that_may_leave_its_owner_out():
    group = a_document("shop", {"type": "Microsoft.Resources/resourceGroups@2022-09-01", "body": {}})
    owner = {"kind": "AzureResource", "name": "shop"}
    prepared = prepare_last(group, a_document("flow", {"type": FLOW, "owner": owner, "body": {}}))
    assert prepared.arm_id == f"{IN_GROUP}/providers/Microsoft.Logic/workflows/flow"
    assert prepared.problems == ()


def test_a_child_of_an_azure_resource():
    parent = a_document("parent", {"type": "Microsoft.Web/sites@2022-03-01", "owner": GROUP, "body": {}})
    owner = {"kind": "AzureResource", "name": "parent"}
    child = a_document("child", {"type": "Microsoft.Web/sites/slots@2022-03-01", "owner": owner, "body": {}})
    prepared = prepare_last(SHOP, parent, child)
    assert prepared.arm_id == f"{IN_GROUP}/providers/Microsoft.Web/sites/parent/slots/child"
    assert prepared.relations.depends_on == (Key("azure.gitsync", "AzureResource", "default", "parent"),)
    assert prepared.is_valid


def test_words_in_a_body():
    body = {
        "properties": {
            "id": {"$reference": {"kind": "AzureResource", "name": "other"}},
            "site": [{"$reference": SITE}],
            "given": {"$reference": {"armId": f"{IN_GROUP}/providers/A.B/c/d"}},
            "key": {"value": {"$secret": {"name": "s", "key": "k"}}},
            "setting": {"$configMap": {"name": "c", "key": "k"}},
            "parameters": {"$connections": {"value": {}}},
            "definition": {"$schema": "https://schema", "$$secret": {"$$$reference": 1}, "$$other": 2},
            "beside": {"$secret": 1, "more": 2},
        }
    }
    other = a_document("other", {"type": FLOW, "owner": GROUP, "body": {}})
    prepared = prepare_last(SHOP, FRONT, other, a_document("r", {"type": FLOW, "owner": GROUP, "body": body}))
    assert prepared.template.body == {
        "properties": {
            "id": ResourceRef(Key("azure.gitsync", "AzureResource", "default", "other")),
            "site": [ResourceRef(Key("web.azure.com", "Site", "default", "front"))],
            "given": f"{IN_GROUP}/providers/A.B/c/d",
            "key": {"value": SecretKeyRef("s", "k")},
            "setting": ConfigMapKeyRef("c", "k"),
            "parameters": {"$connections": {"value": {}}},
            "definition": {"$schema": "https://schema", "$secret": {"$$reference": 1}, "$$other": 2},
            "beside": {"$secret": 1, "more": 2},
        }
    }
    assert {key.name for key in prepared.relations.depends_on} == {"shop", "front", "other"}


def test_nulls_empty_values_and_order_are_sent():
    body = {"z": None, "a": [], "m": {}, "properties": {"list": [None, {}, ""], "b": 1.0, "c": False}}
    prepared = prepare_last(SHOP, a_document("r", {"type": FLOW, "owner": GROUP, "body": body}))
    assert prepared.template.body == body
    assert list(prepared.template.body) == list(body)


WORDS = st.sampled_from(("$reference", "$secret", "$configMap", "$expression", "$$secret", "$connections", "$schema"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | WORDS, inner, max_size=3),
    max_leaves=20,
)


def escape(value: Any) -> Any:
    """Write a value so that none of it is a word."""
    if isinstance(value, dict):
        words = ("$reference", "$secret", "$configMap", "$expression")
        return {f"${key}" if key.lstrip("$") in {w[1:] for w in words} and key[:1] == "$" else key: escape(member)
                for key, member in value.items()}  # fmt: skip
    return [escape(entry) for entry in value] if isinstance(value, list) else value


@given(JSON)
def test_what_is_escaped_is_sent_as_it_was(value):
    words = {word: lambda _: "a value" for word in ("$reference", "$secret", "$configMap")}
    assert convert_body({"body": escape(value)}, words) == {"body": value}


@pytest.mark.parametrize(
    ("arm_id", "expected"),
    [
        ("/", ScopeFlag.TENANT),
        ("/providers/Microsoft.Management/managementGroups/m", ScopeFlag.MANAGEMENT_GROUP),
        ("/providers/Microsoft.Billing/billingAccounts/b", ScopeFlag.EXTENSION),
        ("/subscriptions/0", ScopeFlag.SUBSCRIPTION),
        ("/subscriptions/0/resourceGroups/g/", ScopeFlag.RESOURCE_GROUP),
        ("/subscriptions/0/resourceGroups/g/providers/A.B/c/d", ScopeFlag.EXTENSION),
    ],
)
def test_scopes(arm_id, expected):
    assert decide_scope_flag(ArmId(arm_id)) is expected


def test_a_name_with_more_steps_than_its_type():
    assert split_name("A.B/c", "x/y") is None


@pytest.mark.parametrize(
    ("text", "hint", "why"),
    [
        ("apiVersion: azure.gitsynk/v1\nkind: AzureResource", "Did you mean azure.gitsync?", "the group"),
        ("apiVersion: azure.gitsync/v1\nkind: AzureResorce", "Did you mean AzureResource?", "the kind"),
        ("apiVersion: azure.gitsync/v2\nkind: AzureResource", "Did you mean v1? Known versions: v1.", "the version"),
        (
            "apiVersion: example.com/v1\nkind: AzureResource",
            "Did you mean azure.gitsync?",
            "the type is ARM's, with a version",
        ),
    ],
)
def test_a_misspelt_header_is_reported(text, hint, why):
    manifests = read_manifests({"m.yaml": f"{text}\nmetadata: {{name: r}}\nspec: {{type: {FLOW}}}\n".encode()})
    prepared = prepare(manifests, catalog=open_catalog(), subscription=SUBSCRIPTION)
    problems = [*manifests.problems, *(problem for one in prepared for problem in one.problems)]
    assert next((problem.hint for problem in problems if problem.is_error), None) == hint, why
