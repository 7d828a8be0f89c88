"""The schemas of bodies: they mark what `gitsync validate` finds in an AzureResource, by the type that it names."""

import copy
import json
import random
from functools import cache
from pathlib import Path

import jsonschema
import pytest
import referencing
import yaml
from referencing.jsonschema import DRAFT7

from gitsync.desired.catalog.any_type import TypeAndVersion
from gitsync.desired.catalog.arm_types import open_arm_types
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.catalog.refused_types import find_refusal
from gitsync.desired.catalog.type_paths import find_type_path
from gitsync.desired.editor.body_schemas import build_body_schema, list_body_files, list_newest_types, select_bodies
from gitsync.desired.editor.kind_schemas import build_kind_schema
from gitsync.desired.editor.schema_files import SHARED, build_files, list_kind_files
from gitsync.desired.editor.shared_schemas import build_definitions
from gitsync.desired.editor.type_examples import build_type_example
from gitsync.desired.validation.arm_body import check_body

CATALOG, TYPES = open_catalog(), open_arm_types()
BODIES = Path(__file__).resolve().parents[4] / "shared" / "arm-bodies" / "examples.jsonl"
BASE = "https://example.com/"
FLOW, OLD_FLOW = "Microsoft.Logic/workflows@2019-05-01", "Microsoft.Logic/workflows@2016-06-01"


@cache
def shared():
    return {"definitions": build_definitions(CATALOG)}


@cache
def kind_schema():
    (file,) = (file for file in list_kind_files(CATALOG) if file.kind.is_any_type)
    return file.path, build_kind_schema(file.kind, file.api_versions, CATALOG, file.unserved)


@cache
def validator(type_):
    """The validator of a manifest in a source that uses one type."""
    path, schema = kind_schema()
    files = list(list_body_files([TypeAndVersion.parse(type_)]))
    contents = {path: {**schema, "allOf": select_bodies(files)}, SHARED: shared()}
    contents |= {body_path: build_body_schema(wanted) for wanted, body_path in files}

    def retrieve(uri):
        return referencing.Resource.from_contents(contents[uri.removeprefix(BASE)], default_specification=DRAFT7)

    return jsonschema.Draft7Validator({"$ref": f"{BASE}{path}"}, registry=referencing.Registry(retrieve=retrieve))


def find_errors(document):
    """Where the schema marks a manifest."""
    errors = validator(document["spec"]["type"]).iter_errors(document)
    return sorted(".".join(map(str, error.absolute_path)) for error in errors)


def a_manifest(spec):
    return {"apiVersion": "azure.gitsync/v1", "kind": "AzureResource", "metadata": {"name": "web"}, "spec": spec}


def a_flow(body, **more):
    return a_manifest({"type": FLOW, "owner": {"armId": "/subscriptions/x/resourceGroups/y"}, "body": body, **more})


@pytest.mark.parametrize(
    ("body", "marked", "why"),
    [
        ("{location: westeurope, properties: {state: Enabled}}", "", "right"),
        ("{properties: {state: Enabeld}}", "", "an open choice"),
        ("{properties: {state: 1}}", "properties.state", "a number for a choice"),
        ("{properties: {stat: Enabled}}", "properties", "an unknown member"),
        ("{propertys: {}}", ".", "an unknown member at the top"),
        ("{properties: {state: null}}", "", "null is absent"),
        ("{location: '${region}', properties: {state: '${state}'}}", "", "variables"),
        ("{location: {$secret: {name: a, key: b}}}", "", "a value of a Secret"),
        ("{location: {$configMap: {name: a, key: b}}}", "", "a value of a ConfigMap"),
        ("{location: {$secret: {name: a}}}", "location", "a Secret without its key"),
        ("{location: {$expression: 'resource(\"ResourceGroup/g\").spec.location'}}", "", "a value of another resource"),
        ("{location: {$expression: {a: b}}}", "location", "no expression"),
        ("{location: {$secrt: {name: a, key: b}}}", "location", "no such word"),
        ("{properties: {integrationAccount: {id: {$reference: {kind: AzureResource, name: b2b}}}}}", "", "a reference"),
        (
            "{properties: {integrationAccount: {id: {$reference: {group: network.azure.com, kind: Vent, name: a}}}}}",
            "properties.integrationAccount.id",
            "a reference to a kind that does not exist",
        ),
        ("{properties: {definition: {$schema: a, $connections: {value: {}}}}}", "", "words of Logic Apps"),
        ("{tags: {a: b}}", "", "a map"),
        ("{tags: {a: {b: c}}}", "tags.a", "a mapping for a text in a map"),
        ("{tags: [a]}", "tags", "a list for a map"),
        ("{identity: {}}", "identity", "a required member"),
        ("{identity: {type: None, principalId: x}}", "", "what Azure sets only warns"),
    ],
)
def test_bodies(body, marked, why):
    expected = [f"spec.body.{marked}".rstrip(".")] if marked else []
    assert find_errors(a_flow(yaml.safe_load(body))) == expected, why


def test_an_expression_for_an_owner_and_a_name():
    word = {"$expression": 'resource("ResourceGroup/g").id'}
    assert find_errors(a_flow({}, owner={"armId": word}, azureName=word)) == []
    assert find_errors(a_flow({}, owner=word)) != []


@pytest.mark.parametrize(
    ("type_", "name", "body", "is_right", "why"),
    [
        (OLD_FLOW, "a", {"properties": {"state": "Enabled"}}, True, "a closed choice"),
        (OLD_FLOW, "a", {"properties": {"state": "enabled"}}, True, "a choice has no case in ARM"),
        (OLD_FLOW, "a", {"properties": {"state": ""}}, True, "services take the empty text for no choice"),
        (OLD_FLOW, "a", {"properties": {"state": "Enabeld"}}, False, "no choice"),
        ("microsoft.logic/WORKFLOWS@2019-05-01", "a", {"propertys": {}}, False, "types have no case"),
        ("Microsoft.Logic/workflows@2099-01-01", "a", {"propertys": {}}, True, "an unknown version is not checked"),
        ("Microsoft.Web/sites/config@2022-03-01", "web", {"properties": {"alwaysOn": True}}, True, "by the name"),
        ("Microsoft.Web/sites/config@2022-03-01", "logs", {"properties": {"alwaysOn": True}}, False, "of another name"),
        ("Microsoft.Web/sites/config@2022-03-01", "appsettings", {"properties": {"A": "b"}}, True, "a map of its own"),
        (
            "Microsoft.Security/settings@2022-05-01",
            "MCAS",
            {"kind": "DataExportSettings", "properties": {"enabled": True}},
            True,
            "a variant",
        ),
        (
            "Microsoft.Security/settings@2022-05-01",
            "MCAS",
            {"kind": "DataExportSettings", "properties": {"enabeld": True}},
            False,
            "an unknown member of a variant",
        ),
        (
            "Microsoft.Security/settings@2022-05-01",
            "MCAS",
            {"kind": "dataExportSettings", "more": True, "properties": {"enabled": True}},
            False,
            "an unknown member beside what decides, which has no case",
        ),
    ],
)
def test_what_chooses_the_schema(type_, name, body, is_right, why):
    found = find_errors(a_manifest({"type": type_, "azureName": name, "owner": {"armId": "/"}, "body": body}))
    assert (found == []) is is_right, why


@pytest.mark.parametrize(
    ("owner", "is_right", "why"),
    [
        ({"group": "resources.azure.com", "kind": "ResourceGroup", "name": "a"}, True, "a manifest of ASO"),
        ({"kind": "AzureResource", "name": "a"}, True, "another one, without its group"),
        ({"group": "azure.gitsync", "kind": "AzureResource", "name": "a"}, True, "and with it"),
        ({"armId": "/"}, True, "the tenant"),
        ({"armId": "/providers/Microsoft.Management/managementGroups/a"}, True, "a management group"),
        ({"kind": "ResourceGroup", "name": "a"}, False, "a kind of ASO without its group"),
        ({"kind": "AzureResource"}, False, "no name"),
        ({"armId": "/", "name": "a"}, False, "two forms"),
        ({"group": "azure.gitsync", "kind": "Resource", "name": "a"}, False, "an unknown kind"),
    ],
)
def test_owners(owner, is_right, why):
    assert (find_errors(a_flow({}, owner=owner)) == []) is is_right, why


def test_a_name_may_begin_with_those_of_its_parents():
    assert find_errors(a_flow({}, azureName="parent/child")) == []
    assert find_errors(a_flow({}, azureName="parent?")) == ["spec.azureName"]


def find_members(value):
    if isinstance(value, dict) and not any(key.startswith("$") for key in value):
        yield value
        for child in value.values():
            yield from find_members(child)
    elif isinstance(value, list):
        for child in value:
            yield from find_members(child)


def test_the_example_of_a_type_is_right_and_a_slip_in_it_is_found():
    """Of a sample of all types; a slip in a body is found unless the type allows any member there."""
    names = [name for name in TYPES.list_names() if TYPES.find_type(name).is_writable and not find_refusal(name)]
    for name in random.Random(7).sample(names, 150):
        match = find_type_path(name)
        example = build_type_example(match, CATALOG)
        assert find_errors(example) == [], name
        for at in range(len([*find_members(example["spec"]["body"])])):
            wrong = copy.deepcopy(example)
            [*find_members(wrong["spec"]["body"])][at]["unknwon"] = True
            azure_name = example["spec"].get("azureName", "example")
            checked = check_body(wrong["spec"]["body"], name, match.version.api_version, name=azure_name)
            if any(finding.code == "UnknownField" for finding in checked):
                assert not validator(wrong["spec"]["type"]).is_valid(wrong), (name, at)


@pytest.mark.skipif(not BODIES.exists(), reason="the recorded bodies are not here")
def test_bodies_that_people_send_are_marked_only_where_validate_reports_them():
    marked = {}
    for line in BODIES.read_text().splitlines():
        sent = json.loads(line)
        wanted = TypeAndVersion.parse(sent["type"])
        document = a_manifest({"type": sent["type"], "azureName": sent["name"], "body": sent["body"]})
        if sent["odd"] or wanted is None or check_body(sent["body"], *wanted, name=sent["name"]):
            continue
        if errors := find_errors(document):
            marked[sent["type"]] = errors
    assert marked == {}


def test_only_types_with_facts_have_a_schema():
    wanted = [
        TypeAndVersion("microsoft.LOGIC/workflows", "2019-05-01"),
        TypeAndVersion("Microsoft.Logic/workflows", "2019-05-01"),
        TypeAndVersion("Microsoft.Logic/workflows", "2099-01-01"),
        TypeAndVersion("Contoso.Shop/orders", "2020-01-01"),
    ]
    assert [path for _, path in list_body_files(wanted)] == ["azure.gitsync/microsoft.logic.workflows_2019-05-01.json"]


def test_the_newest_types_are_offered():
    offered = list_newest_types()
    assert FLOW in offered
    assert len(offered) > 2_400
    assert not any(type_.startswith("Microsoft.Resources/deployments@") for type_ in offered)


@pytest.mark.parametrize("types", [(), (TypeAndVersion(*FLOW.split("@")),)], ids=["no type", "a type"])
def test_the_schema_of_the_kind_is_valid(types):
    """An editor that finds one schema invalid marks nothing in any file."""
    content = next(content for path, content in build_files(CATALOG, types) if path.endswith("/azureresource_v1.json"))
    jsonschema.Draft7Validator.check_schema(json.loads(content))
