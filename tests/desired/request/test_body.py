"""Specs into bodies with references to values."""

import pytest

from gitsync.desired.request.body import convert
from gitsync.desired.request.fill import collect_value_refs
from gitsync.errors import UnusableReferenceError
from gitsync.model.gvk import GVK, Key
from gitsync.model.template import (
    ConfigMapKeyRef,
    ReferenceKeys,
    ResourceRef,
    SecretKeyRef,
    SecretMapRef,
    Text,
)
from tests.support.handmade_kinds import a_kind

ARM_ID = "/subscriptions/1/resourceGroups/rg"
NAMED = {"group": "g", "kind": "K", "name": "n"}
HOLE = ResourceRef(Key("g", "K", "team", "n"))

TYPES = {
    "Sku": {"fields": {"name": {"type": "string", "arm": "name"}, "size": {"type": "integer", "arm": "capacity"}}},
    "Detail": {"fields": {"reference": {"type": "reference"}}},
    "Action": {
        "oneOf": True,
        "discriminator": "kind",
        "values": {"A": "a", "B": "b"},
        "fields": {"a": {"type": {"ref": "Sku"}, "arm": "a"}, "b": {"type": {"ref": "Sku"}, "arm": "b"}},
    },
    "Pool": {"fields": {"reference": {"type": "reference", "mode": "reference", "arm": "pool/id"}}},
    "Set": {"fields": {"items": {"type": {"list": "string"}, "arm": "items", "whenEmpty": "null"}}},
}

REFERENCE = {"type": "reference", "mode": "reference"}

FIELDS = {
    "azureName": {"type": "string", "meta": True},
    "owner": {"type": "knownOwner", "meta": True},
    "operatorSpec": {"type": {"ref": "Sku"}, "meta": True},
    "unsent": {"type": "string"},
    "location": {"type": "string", "arm": "location"},
    "size": {"type": "integer", "arm": "properties/capacity"},
    "flag": {"type": "boolean", "arm": "properties/flag"},
    "level": {"type": {"base": "string", "enum": ["A"]}, "arm": "properties/level"},
    "free": {"type": "any", "arm": "properties/free"},
    "sku": {"type": {"ref": "Sku"}, "arm": "sku"},
    "skus": {"type": {"list": {"ref": "Sku"}}, "arm": "properties/skus"},
    "subnets": {"type": {"list": {"ref": "Sku"}}, "arm": "properties/subnets"},
    "matrix": {"type": {"list": {"list": {"ref": "Sku"}}}, "arm": "properties/matrix"},
    "labels": {"type": {"map": "string"}, "arm": "properties/labels"},
    "skusByName": {"type": {"map": {"ref": "Sku"}}, "arm": "properties/skusByName"},
    "limited": {"type": {"base": {"list": "string"}, "maxItems": 3}, "arm": "properties/limited"},
    "action": {"type": {"ref": "Action"}, "arm": "properties/action"},
    "pool": {"type": {"ref": "Pool"}, "arm": "properties/pool"},
    "set": {"type": {"ref": "Set"}, "arm": "properties/set"},
    "netReference": REFERENCE | {"arm": "properties/net/id"},
    "netReferences": {"type": {"list": "reference"}, "mode": "reference", "arm": "properties/nets"},
    "netsByName": {"type": {"map": "reference"}, "mode": "reference", "arm": "properties/netsByName"},
    "plainId": {"type": "string", "mode": "reference", "arm": "properties/plainId"},
    "roleReference": {"type": "wellKnownReference", "mode": "reference", "arm": "properties/role"},
    "identities": {"type": {"list": {"ref": "Detail"}}, "mode": "identityMap", "arm": "identities"},
    "password": {"type": "secretReference", "mode": "secret", "arm": "properties/password"},
    "settings": {"type": "secretMapReference", "mode": "secretMap", "arm": "properties/settings"},
    "principal": {"type": "string", "arm": "properties/principal"},
    "principalFromConfig": {"type": "configMapReference", "mode": "configMap", "arm": "properties/principal"},
    "tags": {"type": {"map": "string"}, "arm": "tags", "whenEmpty": "empty"},
    "zones": {"type": {"list": "string"}, "arm": "zones", "whenEmpty": "null"},
    "rules": {"type": {"list": "string"}, "arm": "properties/rules", "whenEmpty": "empty"},
}
KIND = a_kind(FIELDS, types=TYPES)
PLAIN = a_kind({name: f for name, f in FIELDS.items() if "whenEmpty" not in f}, types=TYPES)


def body(spec, kind=PLAIN):
    made = dict(convert(kind, spec, "azure-name", "team").body)
    assert made.pop("name") == "azure-name"
    return made


@pytest.mark.parametrize(
    ("spec", "expected", "why"),
    [
        ({}, {}, "nothing but the name"),
        ({"location": "here"}, {"location": "here"}, "a field at the top"),
        ({"size": 0, "flag": False}, {"properties": {"capacity": 0, "flag": False}}, "zero and false are values"),
        ({"location": ""}, {"location": ""}, "so is an empty text"),
        ({"location": None}, {}, "null is none"),
        ({"nothing": 1}, {}, "what the facts do not know is left out"),
        ({"unsent": "x", "owner": {"name": "o"}, "azureName": "n", "operatorSpec": {"name": "x"}}, {}, "not ARM's"),
        ({"level": "whatever"}, {"properties": {"level": "whatever"}}, "a choice is sent as it is written"),
        ({"sku": {"name": "S", "size": 2, "x": 1}}, {"sku": {"name": "S", "capacity": 2}}, "a mapping, by its names"),
        ({"sku": {}}, {"sku": {}}, "an empty mapping of fields may mean something"),
        ({"skus": [{"size": 1}, {}]}, {"properties": {"skus": [{"capacity": 1}, {}]}}, "a list"),
        ({"matrix": [[{"size": 1}]]}, {"properties": {"matrix": [[{"capacity": 1}]]}}, "a list of lists"),
        ({"labels": {"a": "b", "c": None}}, {"properties": {"labels": {"a": "b"}}}, "a map"),
        (
            {"skusByName": {"a": {"size": 1}}},
            {"properties": {"skusByName": {"a": {"capacity": 1}}}},
            "a map of mappings",
        ),
        ({"limited": ["a"]}, {"properties": {"limited": ["a"]}}, "a type with limits"),
        ({"skus": [], "limited": []}, {"properties": {"skus": [], "limited": []}}, "an empty list asks for no entries"),
        ({"labels": {}}, {}, "an empty map sets none, and asks for nothing"),
        ({"subnets": []}, {}, "an empty list of what may have manifests of its own does not, either"),
        ({"free": {"a": [], "b": {}}}, {"properties": {"free": {"a": [], "b": {}}}}, "what is free is sent as it is"),
        ({"action": {"b": {"name": "B"}}}, {"properties": {"action": {"name": "B"}}}, "a union is its one member"),
        ({"action": {"b": "odd"}}, {"properties": {"action": {}}}, "a member of the wrong type is nothing"),
        (
            {"sku": "odd", "skus": "odd", "labels": 5},
            {"sku": "odd", "properties": {"skus": "odd", "labels": 5}},
            "wrong types",
        ),
    ],
)
def test_plain_values(spec, expected, why):
    assert body(spec) == expected, why


@pytest.mark.parametrize(
    ("spec", "expected", "why"),
    [
        ({"netReference": {"armId": ARM_ID}}, {"net": {"id": ARM_ID}}, "an id as it stands"),
        ({"netReference": NAMED}, {"net": {"id": HOLE}}, "another manifest, in the same namespace"),
        ({"pool": {"reference": NAMED}}, {"pool": {"pool": {"id": HOLE}}}, "inside a mapping"),
        ({"netReferences": [NAMED, {"armId": ARM_ID}]}, {"nets": [HOLE, ARM_ID]}, "a list keeps its order"),
        ({"netReferences": []}, {"nets": []}, "an empty list of references"),
        (
            {"netsByName": {"name": NAMED, "b": None}},
            {"netsByName": {"name": HOLE}},
            "a map, whatever its keys are called",
        ),
        ({"plainId": ARM_ID}, {"plainId": ARM_ID}, "an id written as text"),
        (
            {"roleReference": {"wellKnownName": "Reader", "armId": ARM_ID}},
            {"role": "Reader"},
            "a name that is known wins",
        ),
        ({"roleReference": {"armId": ARM_ID}}, {"role": ARM_ID}, "or an id"),
        ({"password": {"name": "s", "key": "k"}}, {"password": SecretKeyRef("s", "k")}, "a secret"),
        ({"settings": {"name": "s"}}, {"settings": SecretMapRef("s")}, "a whole secret"),
        ({"principal": "p"}, {"principal": "p"}, "a value that may come from a ConfigMap, given"),
        ({"principalFromConfig": {"name": "c", "key": "k"}}, {"principal": ConfigMapKeyRef("c", "k")}, "and taken"),
    ],
)
def test_references(spec, expected, why):
    assert body(spec).get("properties") == expected, why


def test_identities_become_the_keys_of_a_map():
    made = body({"identities": [{"reference": NAMED}, {"reference": {"armId": ARM_ID}}]})
    assert made == {"identities": ReferenceKeys((HOLE, ARM_ID))}
    assert body({"identities": []}) == {}


@pytest.mark.parametrize(
    "spec",
    [
        {"netReference": {}},
        {"netReference": {"group": "g", "kind": "K"}},
        {"netReference": "/subscriptions/1"},
        {"netReference": {"armId": 5}},
        {"netReference": {"group": "g", "kind": "K", "name": 5}},
        {"netReferences": ["a"]},
        {"netReferences": {"a": 1}},
        {"plainId": 5},
        {"identities": [NAMED]},
        {"identities": ["a"]},
        {"password": "hunter2"},
        {"password": {"name": "s"}},
        {"settings": {}},
        {"principalFromConfig": {"key": "k"}},
        {"principalFromConfig": ["c"]},
    ],
)
def test_what_stands_for_nothing_makes_no_body(spec):
    with pytest.raises(UnusableReferenceError) as caught:
        convert(PLAIN, spec, "n", "team")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "expected", "why"),
    [
        ({}, {"tags": {}, "zones": None}, "nothing is said of what would stand in properties, which are not there"),
        ({"size": 1}, {"tags": {}, "zones": None, "properties": {"capacity": 1, "rules": []}}, "they are there"),
        ({"tags": {}, "zones": []}, {"tags": {}, "zones": []}, "an empty list is said, an absent one is not"),
        ({"tags": {"a": "b"}, "zones": ["1"]}, {"tags": {"a": "b"}, "zones": ["1"]}, "what is there is sent"),
        (
            {"set": {}},
            {"tags": {}, "zones": None, "properties": {"set": {"items": None}, "rules": []}},
            "deeper inside",
        ),
    ],
)
def test_collections_that_are_always_sent(spec, expected, why):
    assert body(spec, KIND) == expected, why


def test_ids_from_the_manifest_are_reported_for_the_edges():
    spec = {
        "netReference": {"armId": "/a"},
        "netReferences": [{"armId": "/b"}, NAMED],
        "plainId": "/c",
        "identities": [{"reference": {"armId": "/d"}}],
        "roleReference": {"wellKnownName": "Reader"},
    }
    assert sorted(convert(PLAIN, spec, "n", "team").arm_ids) == ["/a", "/b", "/c", "/d"]


def test_the_order_of_a_manifest_changes_nothing():
    spec = {"size": 1, "location": "here", "flag": True}
    one, other = (convert(PLAIN, s, "n", "team").body for s in (spec, dict(reversed(spec.items()))))
    assert list(one) == list(other)
    assert list(one["properties"]) == list(other["properties"])


def test_a_union_may_be_the_whole_spec(catalog):
    kind = catalog.kind(GVK("kusto.azure.com", "v1api20230815", "Database"))
    spec = {
        "owner": {"name": "c"},
        "readWriteDatabase": {"kind": "ReadWrite", "location": "x", "hotCachePeriod": "P1D"},
    }
    assert convert(kind, spec, "db", "team").body == {
        "kind": "ReadWrite",
        "location": "x",
        "properties": {"hotCachePeriod": "P1D"},
        "name": "db",
    }


def test_placeholders_are_found_wherever_they_stand():
    config = ConfigMapKeyRef("c", "k")
    value = {"a": [HOLE, {"b": SecretKeyRef("s", "k")}], "c": ReferenceKeys((ARM_ID, HOLE)), "d": Text(("x", config))}
    assert list(collect_value_refs(value)) == [HOLE, SecretKeyRef("s", "k"), HOLE, config]
    assert list(collect_value_refs("text")) == []
