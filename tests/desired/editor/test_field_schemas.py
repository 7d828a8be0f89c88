"""The schema of a field: its rules, what an editor shows for it, and where it goes in ARM."""

import jsonschema
import pytest

from gitsync.desired.editor.kind_schemas import build_spec
from gitsync.desired.validation.explain import find_spec
from tests.desired.editor.schema_validation import CATALOG
from tests.support.handmade_kinds import a_kind


def spec_of(fields, **more):
    kind = a_kind(fields, **more)
    return build_spec(find_spec(kind), kind, CATALOG)


def property_of(field, **more):
    return spec_of({"field": field}, **more)["properties"]["field"]


def test_a_field_is_described_by_type_rules_and_path_in_arm():
    size = {"type": {"base": "integer", "minimum": "1", "maximum": "5"}, "arm": "properties/size", "required": True}
    schema = property_of(size)
    assert schema["description"] == "integer; required; 1 to 5; ARM: properties/size"
    assert schema["errorMessage"] == "spec.field must be an integer; 1 to 5."
    assert (schema["minimum"], schema["maximum"]) == (1, 5)


def test_choices_are_listed_by_the_editor_and_not_repeated():
    schema = property_of({"type": {"base": "string", "enum": ["A", "B"]}, "arm": "x"})
    assert schema["description"] == "string; ARM: x"
    assert schema["anyOf"][0] == {"enum": ["A", "B"], "errorMessage": "spec.field must be A or B."}


def test_a_path_goes_on_inside_lists_and_objects():
    types = {"Inner": {"fields": {"name": {"type": "string", "arm": "properties/name"}}}}
    schema = property_of({"type": {"list": {"ref": "Inner"}}, "arm": "items"}, types=types)
    assert schema["items"]["properties"]["name"]["description"] == "string; ARM: items[]/properties/name"


def test_a_type_that_contains_itself_is_referred_to():
    types = {"Inner": {"fields": {"inner": {"type": {"ref": "Inner"}, "arm": "inner"}, "name": {"type": "string"}}}}
    spec = spec_of({"field": {"type": {"ref": "Inner"}, "arm": "field"}}, types=types)
    assert spec["properties"]["field"]["properties"]["inner"]["$ref"] == "#/properties/spec/properties/field"
    validator = jsonschema.Draft7Validator({"properties": {"spec": spec}})
    assert validator.is_valid({"spec": {"field": {"inner": {"inner": {"name": "x"}}}}})
    assert not validator.is_valid({"spec": {"field": {"inner": {"inner": {"nme": "x"}}}}})


@pytest.mark.parametrize(
    ("field", "right", "wrong", "why"),
    [
        ({"type": "integer"}, ["${COUNT}", 1], ["x", True], "a variable stands for a number"),
        ({"type": "boolean"}, ["${FLAG}", False], ["yes"], "and for a boolean"),
        ({"type": "string", "pattern": "^[a-z]+$"}, ["ab", "${X}"], ["A", "$X"], "and for a text with a pattern"),
        ({"type": {"base": "string", "enum": ["A"]}}, ["A", "${X}"], ["B", 1], "and for a choice"),
        ({"type": {"map": "integer"}}, [{"a": 1}], [{"a": "x"}, []], "members of a map"),
        ({"type": {"list": "string"}, "maxItems": 1}, [["a"]], [["a", "b"], "a"], "members of a list"),
        ({"type": "any"}, [1, "x", {}], [], "anything"),
        ({"type": "number", "multipleOf": "0.5"}, [1.5], [1.2], "a limit that the facts have as a text"),
        ({"type": "integer"}, [2**62, None], [2**64], "integers have 64 bits; null is dropped"),
        ({"type": {"base": "string", "enum": ["A"]}}, [None], [], "as with choices"),
        ({"type": {"map": "string"}}, [None, {"a": None}], [{"a": 1}], "and in maps"),
        ({"type": {"list": "string"}}, [None], [[None]], "but not in lists"),
        ({"type": "string", "required": True}, [""], [None], "nor where a value is required"),
    ],
)  # fmt: skip
def test_values(field, right, wrong, why):
    validator = jsonschema.Draft7Validator(property_of(field))
    assert [value for value in right if not validator.is_valid(value)] == [], why
    assert [value for value in wrong if validator.is_valid(value)] == [], why


def test_an_owner_of_a_fixed_kind():
    schema = property_of({"type": "knownOwner"}, owner=("resources.azure.com", "ResourceGroup"))
    schema["properties"]["armId"] = {}
    validator = jsonschema.Draft7Validator(schema)
    right = [{"name": "web"}, {"name": "web", "armId": None}, {"name": None, "armId": "/subscriptions/x"}, None]
    wrong = [{"name": "web", "kind": "ResourceGroup"}, {"name": "web", "armId": "/subscriptions/x"}, {"name": None}, {}]
    assert [owner for owner in right if not validator.is_valid(owner)] == []
    assert [owner for owner in wrong if validator.is_valid(owner)] == []


def test_a_pair_names_the_field_that_is_too_much():
    fields = {"id": {"type": "string"}, "idFromConfig": {"type": "string"}}
    validator = jsonschema.Draft7Validator(spec_of(fields))
    (error,) = validator.iter_errors({"id": "a", "idFromConfig": "b"})
    assert list(error.absolute_path) == ["idFromConfig"]
    assert validator.is_valid({"id": None, "idFromConfig": "b"})
    assert validator.is_valid({"id": "a", "idFromConfig": None})


def test_a_union_has_exactly_one_member():
    schema = spec_of({"a": {"type": "string"}, "b": {"type": "string"}}, spec={"oneOf": True})
    validator = jsonschema.Draft7Validator(schema)
    assert validator.is_valid({"a": "x"})
    assert not validator.is_valid({})
    assert not validator.is_valid({"a": "x", "b": "y"})
    assert validator.is_valid({"a": "x", "b": None})
    assert not validator.is_valid({"a": None})
