"""Example manifests: valid by `gitsync validate` and by the schemas, for every kind."""

import pytest

from gitsync.desired.catalog.kind_names import choose_newest_version, find_kind
from gitsync.desired.catalog.later_versions import find_lacking
from gitsync.desired.editor.examples import NoExampleError, build_example, build_examples
from gitsync.desired.editor.usual_fields import USUAL_FIELDS
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.manifests.yaml_output import dump
from gitsync.desired.validation.validate import validate_resource
from gitsync.model.gvk import GVK
from tests.desired.editor.schema_validation import CATALOG, find_kind_errors
from tests.support.handmade_kinds import a_kind

EXAMPLES = build_examples(CATALOG)


def list_faults(example):
    manifests = read_manifests({"one.yaml": dump(example)})
    (resource,) = manifests.resources
    kind = CATALOG.kind(resource.gvk)
    return [*manifests.problems, *validate_resource(resource, kind, catalog=CATALOG)]


def test_every_kind_has_a_valid_example_at_every_version():
    assert len(EXAMPLES) == sum(len(CATALOG.kinds(group)) for group in CATALOG.groups())
    kinds = [
        CATALOG.kind(GVK(group, version, name))
        for group in CATALOG.groups()
        for name in CATALOG.kinds(group)
        for version in CATALOG.versions(group, name)
    ]
    assert {kind.gvk: faults for kind in kinds if (faults := list_faults(build_example(kind, CATALOG)))} == {}


def test_the_schema_accepts_every_example():
    assert {label: faults for label, example in EXAMPLES.items() if (faults := find_kind_errors(example))} == {}


@pytest.mark.parametrize(("group", "name"), USUAL_FIELDS)
def test_usual_fields_are_those_of_the_newest_version(group, name):
    kind = CATALOG.kind(GVK(group, choose_newest_version(group, name, CATALOG), name))
    assert find_lacking(kind, USUAL_FIELDS[group, name]) == ""
    assert build_example(kind, CATALOG)["spec"].items() >= USUAL_FIELDS[group, name].items()


def test_a_version_that_lacks_a_usual_field_has_none_of_them():
    old = find_kind("documentdb.azure.com/v1api20210515/DatabaseAccount", CATALOG).kind
    unexpected = a_kind({"location": {"type": "string"}}, kind="ManagedCluster", group="containerservice.azure.com")
    assert "kind" in build_example(old, CATALOG)["spec"]
    assert build_example(unexpected, CATALOG)["spec"] == {"location": "westeurope"}


def test_a_reference_names_the_kind_that_the_field_refers_to():
    link = EXAMPLES["DnsResolver"]["spec"]["virtualNetwork"]["reference"]
    assert link == {"group": "network.azure.com", "kind": "VirtualNetwork", "name": "example"}


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ({"type": "string"}, "example", "any text"),
        ({"type": {"base": "string", "enum": ["B", "A"]}}, "B", "the first choice"),
        ({"type": "string", "pattern": r"^\d{2}:\d{2}$"}, "08:00", "a text that the pattern matches"),
        ({"type": "integer", "minimum": "7"}, 7, "the least number"),
        ({"type": "integer", "minimum": 3, "multipleOf": 50}, 100, "a number that fits both rules"),
        ({"type": "boolean"}, True, "a boolean"),
        ({"type": {"list": "string"}, "minItems": 2}, ["example", "example"], "as many items as needed"),
        ({"type": {"map": "string"}}, {}, "no entries"),
        ({"type": "any"}, {}, "an empty object"),
        ({"type": "secretReference"}, {"name": "example", "key": "value"}, "a value of a Secret"),
    ],
)  # fmt: skip
def test_values_that_rules_accept(field, value, why):
    kind = a_kind({"field": {**field, "required": True}, "other": {"type": "string"}})
    assert build_example(kind, CATALOG)["spec"] == {"field": value}, why


def test_the_first_member_of_a_union():
    union = {"Union": {"oneOf": True, "fields": {"b": {"type": "string"}, "a": {"type": "integer"}}}}
    kind = a_kind({"field": {"type": {"ref": "Union"}, "required": True}, "other": {"type": "string"}}, types=union)
    assert build_example(kind, CATALOG)["spec"] == {"field": {"a": 1}}


def test_a_name_that_azure_accepts():
    kind = a_kind({"a": {"type": "string"}, "b": {"type": "string"}}, azure_name={"pattern": "^[a-z]+[0-9]$"})
    assert build_example(kind, CATALOG)["spec"] == {"azureName": "example1"}


def test_no_value_is_made_up_for_a_pattern_that_none_fits():
    kind = a_kind({"field": {"type": "string", "pattern": "^zz-top$", "required": True}})
    with pytest.raises(NoExampleError, match=r"spec\.field"):
        build_example(kind, CATALOG)
