"""What Azure reports, as a status, and what of it is exported."""

from dataclasses import replace

import pytest

from gitsync.model.gvk import GVK
from gitsync.planning.status.aso_status import build_aso_status, collect_config_map_values
from tests.support.handmade_kinds import a_kind

TYPES = {
    "Status": {
        "fields": {
            "conditions": {"meta": True, "type": {"list": "condition"}},
            "id": {"type": "string", "arm": "id"},
            "size": {"type": "integer", "arm": "properties/capacity"},
            "sku": {"type": {"ref": "Sku"}, "arm": "sku"},
            "skus": {"type": {"list": {"ref": "Sku"}}, "arm": "properties/skus"},
            "byName": {"type": {"map": {"ref": "Sku"}}, "arm": "properties/byName"},
            "kept": {"type": {"base": {"list": "string"}, "maxItems": 3}, "arm": "properties/kept"},
            "isOn": {"type": "boolean", "arm": "properties/isOn"},
            "action": {"type": {"ref": "Action"}, "arm": "properties/action"},
            "own": {"type": "string"},
        }
    },
    "Sku": {"fields": {"name": {"type": "string", "arm": "name"}, "size": {"type": "integer", "arm": "capacity"}}},
    "Action": {
        "oneOf": True,
        "discriminator": "kind",
        "values": {"A": "a", "B": "b"},
        "fields": {"a": {"type": {"ref": "Sku"}, "arm": "a"}, "b": {"type": {"ref": "Sku"}, "arm": "b"}},
    },
}
KIND = a_kind(types=TYPES)


@pytest.mark.parametrize(
    ("body", "expected", "why"),
    [
        ({}, {}, "nothing"),
        ({"id": "/x", "more": 1, "properties": {"odd": 1}}, {"id": "/x"}, "what the facts do not know is left out"),
        ({"properties": {"capacity": 0}}, {"size": 0}, "properties are flattened, zero is a value"),
        ({"properties": {"capacity": None}}, {}, "null is none"),
        ({"Properties": {"CAPACITY": 2}}, {"size": 2}, "names in another case"),
        ({"sku": {"name": "S", "capacity": 1}}, {"sku": {"name": "S", "size": 1}}, "a mapping"),
        ({"properties": {"skus": [{"capacity": 1}]}}, {"skus": [{"size": 1}]}, "a list"),
        ({"properties": {"byName": {"x": {"capacity": 1}}}}, {"byName": {"x": {"size": 1}}}, "a map"),
        ({"properties": {"kept": ["a"]}}, {"kept": ["a"]}, "a type with limits"),
        (
            {"properties": {"action": {"kind": "b", "name": "n"}}},
            {"action": {"b": {"name": "n"}}},
            "a union, without case",
        ),
        ({"properties": {"action": {"kind": "new"}}}, {"action": {}}, "a member that nobody knows yet"),
        ({"properties": {"action": {}}}, {"action": {}}, "a union that does not say what it is"),
        ({"sku": "odd", "properties": []}, {"sku": "odd"}, "what has another shape than the facts say"),
        ({"properties": {"skus": {}, "byName": []}}, {"skus": {}, "byName": []}, "collections of another shape"),
    ],
)
def test_a_status(body, expected, why):
    assert build_aso_status(KIND, body) == expected, why


def test_a_union_may_be_the_whole_status(catalog):
    kind = catalog.kind(GVK("kusto.azure.com", "v1api20230815", "Database"))
    body = {"id": "/x", "name": "c/db", "kind": "ReadWrite", "properties": {"hotCachePeriod": "P1D"}}
    status = build_aso_status(kind, body)
    assert status["readWrite"] == {"id": "/x", "kind": "ReadWrite", "hotCachePeriod": "P1D"}
    assert status.keys() == {"readWrite", "name"}


EXPORTING = replace(KIND, config_maps={"id": "id", "size": "size", "on": "isOn", "sku": "sku.name"})
BODY = {"id": "/x", "sku": {"name": "S"}, "properties": {"capacity": 3, "isOn": True}}


@pytest.mark.parametrize(
    ("wanted", "expected", "why"),
    [
        (["id"], {"id": "/x"}, "a value"),
        (["sku"], {"sku": "S"}, "from deeper inside"),
        (["size"], {"size": "3"}, "a number as text"),
        (["on"], {"on": "true"}, "a boolean as JSON spells it"),
        (["other"], {}, "what the kind does not export"),
        ([], {}, "nothing is wanted"),
    ],
)
def test_values_for_config_maps(wanted, expected, why):
    assert collect_config_map_values(EXPORTING, wanted, BODY) == expected, why


def test_values_that_azure_does_not_report_are_left_out():
    assert collect_config_map_values(EXPORTING, ["id", "sku"], {"id": None, "sku": {}}) == {}


def test_every_export_of_the_catalog_is_a_path_of_its_status(catalog):
    for group in catalog.groups():
        for name in catalog.kinds(group):
            for version in catalog.versions(group, name):
                kind = catalog.kind(GVK(group, version, name))
                for path in kind.config_maps.values():
                    assert leads_somewhere(kind, path.split(".")), (str(kind.gvk), path)


def leads_somewhere(kind, path):
    facts = kind.types[kind.status]
    for step in path[:-1]:
        type_ = facts["fields"][step]["type"]
        facts = kind.types[type_["ref"]]
    return path[-1] in facts["fields"]
