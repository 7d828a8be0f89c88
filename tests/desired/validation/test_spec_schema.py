"""The shape of a spec: types, unknown and missing fields, unions, nulls."""

import pytest

from gitsync.desired.catalog.spec_visitor import visit_spec
from gitsync.desired.validation.spec_schema import check_shape
from gitsync.model.problem import Level
from gitsync.model.secret import Placeholder, Secret
from tests.support.handmade_kinds import a_kind, seen

TYPES = {
    "Sku": {"fields": {"name": {"type": "string", "required": True, "arm": "name"}, "capacity": {"type": "integer"}}},
    "Subnet": {"fields": {"subnetReference": {"type": "reference", "arm": "subnet"}}},
    "Action": {
        "oneOf": True,
        "discriminator": "name",
        "values": {"Cache": "cache", "Redirect": "redirect"},
        "fields": {"cache": {"type": {"ref": "Cache"}}, "redirect": {"type": {"ref": "Cache"}}},
    },
    "Cache": {"fields": {"name": {"type": "string"}}},
}
KIND = a_kind(
    {
        "location": {"type": "string"},
        "count": {"type": "integer"},
        "share": {"type": "number"},
        "enabled": {"type": "boolean"},
        "anything": {"type": "any"},
        "tags": {"type": {"map": "string"}},
        "zones": {"type": {"list": "string"}},
        "skus": {"type": {"list": {"ref": "Sku"}}},
        "sku": {"type": {"ref": "Sku"}},
        "subnet": {"type": {"ref": "Subnet"}},
        "actions": {"type": {"list": {"ref": "Action"}}},
        "password": {"type": "secretReference"},
        "owner": {"type": "knownOwner", "meta": True},
        "limited": {"type": {"base": {"list": "string"}, "maxItems": "2"}},
        "loop": {"type": {"map": {"list": "string"}}},
    },
    types=TYPES,
    owner=("resources.azure.com", "ResourceGroup"),
)


def findings(spec, unknown=Level.ERROR):
    return [finding for visit in visit_spec(KIND, spec) for finding in check_shape(visit, unknown)]


@pytest.mark.parametrize(
    ("spec", "expected", "why"),
    [
        ({"location": Secret("hush")}, [], "a text from a Secret"),
        ({"zones": [Secret("hush")]}, [], "in a list"),
        ({"count": Secret("7")}, [("WrongType", "spec.count")], "a text is no number, wherever it is from"),
        ({"sku": Secret("x")}, [("WrongType", "spec.sku")], "nor a mapping"),
        ({"count": Placeholder("${COUNT}"), "sku": Placeholder("${SKU}")}, [], "what is not known may be anything"),
    ],
)
def test_a_value_from_a_secret_is_not_looked_at(spec, expected, why):
    assert said(spec) == expected, why
    assert all("hush" not in finding.message and "7" not in finding.message for finding in findings(spec))


def said(spec):
    return [(f.code, ".".join(map(str, f.path))) for f in findings(spec)]


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ({}, "nothing is required here"),
        ({"count": 3, "share": 3, "enabled": True, "location": "x"}, "an integer is a number"),
        ({"count": 3.0}, "a number without a fraction is an integer"),
        ({"anything": {"a": [1, None]}}, "free JSON is not looked into"),
        ({"tags": {}, "zones": []}, "empty is not missing"),
        ({"location": None, "tags": None, "sku": None}, "null is absent, as an API server prunes it"),
        ({"tags": {"a": None}}, "null in a map is pruned as well"),
        ({"actions": [{"cache": {"name": "Cache"}}]}, "a union with one member"),
        ({"owner": {"name": "rg", "group": "resources.azure.com"}}, "what the owner says too much is judged elsewhere"),
        ({"loop": {"a": ["b"]}}, "lists in maps"),
    ],
)
def test_good_shapes(spec, why):
    assert said(spec) == [], why


@pytest.mark.parametrize(
    ("spec", "expected", "why"),
    [
        ({"tags": {"port": 8080}}, [("WrongType", "spec.tags.port")], "an API server takes no number for a string"),
        ({"location": True}, [("WrongType", "spec.location")], "nor a boolean"),
        ({"count": "3"}, [("WrongType", "spec.count")], "nor a string for a number"),
        ({"count": True}, [("WrongType", "spec.count")], "a boolean is no integer, whatever Python says"),
        ({"count": 1.5}, [("WrongType", "spec.count")], "a fraction is no integer"),
        ({"share": False}, [("WrongType", "spec.share")], "a boolean is no number"),
        ({"enabled": "true"}, [("WrongType", "spec.enabled")], "a string is no boolean"),
        ({"zones": "1"}, [("WrongType", "spec.zones")], "a scalar is no list"),
        ({"zones": {"0": "1"}}, [("WrongType", "spec.zones")], "a mapping is no list"),
        ({"zones": ["1", None]}, [("WrongType", "spec.zones.1")], "null in a list stays and has the wrong type"),
        ({"sku": "Standard"}, [("WrongType", "spec.sku")], "a scalar is no mapping"),
        ({"sku": ["Standard"]}, [("WrongType", "spec.sku")], "a list is no mapping, and nothing inside is missing"),
        ({"tags": ["a"]}, [("WrongType", "spec.tags")], "a list is no map"),
        ({"sku": {}}, [("MissingField", "spec.sku.name")], "required"),
        ({"sku": {"name": None}}, [("MissingField", "spec.sku.name")], "null does not fill a required field"),
        ({"sku": {"name": ""}}, [], "an empty string does: its length is another rule"),
        ({"skus": [{"name": "a"}, {}]}, [("MissingField", "spec.skus.1.name")], "in the second item"),
        ({"locaton": "x"}, [("UnknownField", "spec.locaton")], "unknown"),
        ({"skus": [{"name": "a", "Name": "b"}]}, [("UnknownField", "spec.skus.0.Name")], "case counts"),
        ({"x": None}, [("UnknownField", "spec.x")], "a null does not make an unknown field known"),
        ({"actions": [{}]}, [("UnionMembers", "spec.actions.0")], "a union without a member"),
        (
            {"actions": [{"cache": {}, "redirect": {}}]},
            [("UnionMembers", "spec.actions.0")],
            "a union with two members",
        ),
        ({"password": {"name": "s"}}, [("MissingField", "spec.password.key")], "ASO's own types are looked into"),
        ([], [("WrongType", "spec")], "a spec that is no mapping"),
    ],
)
def test_bad_shapes(spec, expected, why):
    assert said(spec) == expected, why


@pytest.mark.parametrize(
    ("spec", "hint", "why"),
    [
        ({"tags": {"port": 8080}}, 'Put it in quotes: "8080".', "how to write it"),
        ({"tags": {"on": True}}, 'Put it in quotes: "true".', "as YAML writes it, not as Python"),
        ({"count": "3"}, "Write it without quotes.", "the text is a number"),
        ({"count": "three"}, "", "the text is none"),
        ({"enabled": "False"}, "Write it without quotes.", "the text is a boolean"),
        ({"zones": "1"}, "Write it as a list, with a dash before each item.", "a list of one"),
        ({"zones": [None]}, "Remove the empty item, or give it a value.", "an item that was left empty"),
        ({"tags": ["a"]}, "Write it as lines of `key: value`.", "a list for a map"),
        (
            {"sku": "Standard"},
            "Known fields: capacity or name.",
            "a scalar for a mapping",
        ),
        ({"locaton": "x"}, "Did you mean location?", "nearest"),
        ({"Location": "x"}, "Did you mean location? Case counts.", "only case is wrong"),
        ({"subnet": {"subnet": {}}}, "Use subnetReference: this is ASO's name of subnet.", "copied from Azure"),
        ({"properties": {}}, "Move the members of properties directly into spec.", "copied from Azure"),
        (
            {"sku": {"name": "a", "qqq": 1}},
            "Known fields: capacity or name. To drop it as an API server does, use --unknown-fields warn.",
            "nothing is near",
        ),
        ({"sku": {}}, "Add name to spec.sku.", "what to add and where"),
        ({"actions": [{}]}, "Members: cache or redirect.", "which members there are"),
    ],
)
def test_hints(spec, hint, why):
    (finding,) = findings(spec)
    assert finding.hint == hint, why


def test_a_secret_that_is_in_the_manifest_is_not_repeated():
    (finding,) = findings({"password": "hunter2"})
    assert finding.message == "spec.password must be a mapping of name and key, of a Secret, but is a string."
    assert "hunter2" not in finding.hint


def test_unknown_fields_can_be_warnings_and_nothing_else_can():
    found = findings({"sku": {"Name": "a"}}, Level.WARNING)
    assert [(f.code, f.level) for f in found] == [("UnknownField", "warning"), ("MissingField", "error")]


def test_members_of_a_union_are_its_fields_but_for_those_of_aso():
    kind = a_kind(
        {"owner": {"type": "knownOwner", "meta": True}, "cache": {"type": {"ref": "Cache"}}},
        types=TYPES,
        spec={"oneOf": True, "discriminator": "kind", "values": {}},
    )
    visit = seen(kind, {"owner": {"name": "x"}, "cache": {}}, ("spec",))
    assert list(check_shape(visit, Level.ERROR)) == []


def test_types_that_hold_themselves_are_walked_as_deep_as_the_value_goes():
    kind = a_kind({"node": {"type": {"ref": "Node"}}}, types={"Node": {"fields": {"node": {"type": {"ref": "Node"}}}}})
    spec = {"node": {"node": {"node": {"nod": 1}}}}
    (finding,) = [f for v in visit_spec(kind, spec) for f in check_shape(v, Level.ERROR)]
    assert finding.path == ("spec", "node", "node", "node", "nod")
