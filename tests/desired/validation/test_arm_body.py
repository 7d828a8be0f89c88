"""The body of a resource against ARM's type at one version: what is an error, what a warning, and what is not checked."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.catalog.body_words import unescape
from gitsync.desired.validation.arm_body import check_body
from gitsync.model.arm_id import ArmId
from gitsync.model.problem import Level
from gitsync.model.secret import Placeholder, Secret

SHARED = Path(__file__).resolve().parents[4] / "shared"

WORKFLOW = ("Microsoft.Logic/workflows", "2019-05-01")
NETWORK = ("Microsoft.Network/virtualNetworks", "2024-05-01")
CONFIG = ("Microsoft.Web/sites/config", "2023-12-01")
SHIR = ("Microsoft.DataFactory/factories/integrationRuntimes", "2018-06-01")
MACHINE = ("Microsoft.Compute/virtualMachines", "2024-07-01")
ACCOUNT = ("Microsoft.Storage/storageAccounts", "2023-05-01")
SITE = ("Microsoft.Web/sites", "2023-12-01")
SERVICE = ("Microsoft.ServiceFabric/clusters/applications/services", "2021-06-01")
BUDGET = ("Microsoft.Consumption/budgets", "2023-05-01")


def check(resource_type, body, **others):
    return check_body(body, *resource_type, **others)


def placed(**policy):
    return {"properties": {"serviceKind": "Stateless", "servicePlacementPolicies": [policy]}}


def show(findings):
    return [(finding.level.value, finding.code, finding.message, finding.hint) for finding in findings]


MEMBERS_OF_WORKFLOWS = (
    "Known fields: accessControl, definition, endpointsConfiguration, integrationAccount, "
    "integrationServiceEnvironment, parameters or state."
)
MODES = "spec.body.properties.redundancyMode must be None, Manual, Failover, ActiveActive or GeoRedundant, but is"
SEND = "If Azure accepts it, use --unknown-fields warn."


@pytest.mark.parametrize(
    ("resource_type", "body", "code", "message", "hint"),
    [
        (
            WORKFLOW,
            {"properties": {"stat": "Enabled"}},
            "UnknownField",
            "spec.body.properties.stat is an unknown field.",
            "Did you mean state?",
        ),
        (
            WORKFLOW,
            {"properties": {"nothingSuch": 1}},
            "UnknownField",
            "spec.body.properties.nothingSuch is an unknown field.",
            f"{MEMBERS_OF_WORKFLOWS} {SEND}",
        ),
        (
            WORKFLOW,
            {"definition": {}},
            "UnknownField",
            "spec.body.definition is an unknown field.",
            "Move it into spec.body.properties.",
        ),
        (
            NETWORK,
            {"properties": {"tags": {}, "addressSpace": {"addressPrefixes": []}}},
            "UnknownField",
            "spec.body.properties.tags is an unknown field.",
            "Move it into spec.body.",
        ),
        (
            SITE,
            {"properties": {"redundancyMode": "No"}},
            "UnknownValue",
            f'{MODES} "No".',
            SEND,
        ),
        (
            SITE,
            {"properties": {"redundancyMode": "Activ-Active"}},
            "UnknownValue",
            f'{MODES} "Activ-Active".',
            "Did you mean ActiveActive?",
        ),
        (
            WORKFLOW,
            {"properties": {"state": True}},
            "WrongType",
            "spec.body.properties.state must be a string, but is a boolean, true.",
            'Put it in quotes: "true".',
        ),
        (WORKFLOW, {"location": 1}, "WrongType", "spec.body.location must be a string, but is a number, 1.", 'Put it in quotes: "1".'),
        (WORKFLOW, {"tags": ["a"]}, "WrongType", "spec.body.tags must be a mapping, but is a list.", SEND),
        (
            WORKFLOW,
            {"tags": {"a": 1}},
            "WrongType",
            "spec.body.tags.a must be a string, but is a number, 1.",
            'Put it in quotes: "1".',
        ),
        (WORKFLOW, [], "WrongType", "spec.body must be a mapping, but is a list.", SEND),
        (
            NETWORK,
            {"properties": {"addressSpace": {"addressPrefixes": "10.0.0.0/16"}}},
            "WrongType",
            'spec.body.properties.addressSpace.addressPrefixes must be a list, but is a string, "10.0.0.0/16".',
            "Write it as a list, with a dash before each item.",
        ),
        (
            NETWORK,
            {"properties": {"addressSpace": {"addressPrefixes": [None]}}},
            "WrongType",
            "spec.body.properties.addressSpace.addressPrefixes[0] must be a string, but is null.",
            "Remove the empty item, or give it a value.",
        ),
        (
            NETWORK,
            {"properties": {"enableDdosProtection": "true"}},
            "WrongType",
            'spec.body.properties.enableDdosProtection must be true or false, but is a string, "true".',
            "Write it without quotes.",
        ),
        (
            NETWORK,
            {"properties": {"flowTimeoutInMinutes": "four"}},
            "WrongType",
            'spec.body.properties.flowTimeoutInMinutes must be a number, but is a string, "four".',
            SEND,
        ),
        (
            NETWORK,
            {"properties": {"enableDdosProtection": {"$secret": {"name": "a", "key": "b"}}}},
            "WrongType",
            "spec.body.properties.enableDdosProtection must be true or false, but $secret gives a string.",
            SEND,
        ),
        (
            NETWORK,
            {"properties": {"$configMap": {"name": "a", "key": "b"}}},
            "WrongType",
            "spec.body.properties must be a mapping, but $configMap gives a string.",
            SEND,
        ),
        (
            WORKFLOW,
            {"location": "a", "Location": "b"},
            "DuplicateKey",
            "spec.body.Location and spec.body.location are one field: ARM has no case.",
            "Keep location.",
        ),
    ],
)  # fmt: skip
def test_errors(resource_type, body, code, message, hint):
    found = [finding for finding in check(resource_type, body) if finding.level is Level.ERROR]
    assert show(found) == [("error", code, message, hint)]
    lowered = check(resource_type, body, unknown=Level.WARNING)
    assert all(finding.level is Level.WARNING for finding in lowered)
    assert not any(SEND in finding.hint for finding in lowered)


@pytest.mark.parametrize(
    ("resource_type", "body", "code", "message", "hint"),
    [
        (
            WORKFLOW,
            {"properties": {"provisioningState": "Succeeded"}},
            "ReadOnlyField",
            "spec.body.properties.provisioningState is a value that Azure sets: Azure may ignore it or refuse the body.",
            "Remove it, unless Azure requires it.",
        ),
        (WORKFLOW, {"Name": "a"}, "ReadOnlyField", "spec.body.Name is not part of a body: Azure may refuse it.", "Remove it: spec.azureName is the name in Azure."),
        (WORKFLOW, {"id": 5}, "ReadOnlyField", "spec.body.id is not part of a body: Azure may refuse it.", "Remove it: the id follows from the type, the owner and the name."),
        (WORKFLOW, {"Location": "we"}, "FieldCase", "spec.body.Location is location in Azure, and gitsync compares names with case.", "Write location."),
        (
            ACCOUNT,
            {"location": "we", "kind": "StorageV2"},
            "MissingField",
            "spec.body.sku is required: without it, Azure may refuse the body.",
            "Add sku to spec.body.",
        ),
        (
            ACCOUNT,
            {"location": "we", "kind": "StorageV2", "sku": None},
            "MissingField",
            "spec.body.sku is required: without it, Azure may refuse the body.",
            "Add sku to spec.body.",
        ),
        (
            SHIR,
            {"properties": {"description": "x"}},
            "MissingField",
            "spec.body.properties.type is required: without it, Azure may refuse the body.",
            "Set it to Managed or SelfHosted.",
        ),
        (
            SHIR,
            {"properties": {"type": "SelfHostd", "typeProperties": {}}},
            "UnknownValue",
            'spec.body.properties.type must be Managed or SelfHosted, but is "SelfHostd": Azure may refuse the body.',
            "Did you mean SelfHosted?",
        ),
    ],
)  # fmt: skip
def test_warnings(resource_type, body, code, message, hint):
    assert show(check(resource_type, body)) == [("warning", code, message, hint)]


@pytest.mark.parametrize(
    ("body", "code", "fault"),
    [
        (
            {"properties": {"tenantId": "not-a-uuid"}},
            "WrongLength",
            'must have at least 36 characters, but "not-a-uuid" has 10',
        ),
        ({"properties": {"tenantId": "x" * 36}}, "PatternMismatch", ""),
    ],
)
def test_limits_are_warnings(body, code, fault):
    findings = [f for f in check(("Microsoft.KeyVault/vaults", "2023-07-01"), body) if f.code == code]
    assert [finding.level for finding in findings] == [Level.WARNING]
    assert fault in findings[0].message
    assert findings[0].message.endswith(": Azure may refuse the body.")


@pytest.mark.parametrize(
    ("resource_type", "body", "why"),
    [
        (SITE, {"location": "we", "properties": {"redundancyMode": "NONE"}}, "choices have no case"),
        (WORKFLOW, {"properties": {"state": ""}}, "the empty text is no choice"),
        (WORKFLOW, {"properties": {"state": None, "definition": None}}, "null is absent"),
        (WORKFLOW, {"properties": {"definition": {"$connections": [1, {"x": None}]}}}, "anything"),
        (WORKFLOW, {"properties": {"definition": "text"}}, "anything, also a text"),
        (WORKFLOW, {}, "nothing is required"),
        (WORKFLOW, {"location": {"$configMap": {"name": "a", "key": "b"}}}, "a text that is filled in"),
        (WORKFLOW, {"properties": {"state": {"$secret": {"name": "a", "key": "b"}}}}, "a choice that is filled in"),
        (WORKFLOW, {"properties": {"integrationAccount": {"id": {"$reference": {"name": "a"}}}}}, "an id"),
        (WORKFLOW, {"properties": {"integrationAccount": {"$expression": "a.b"}}}, "any value"),
        (NETWORK, {"properties": {"flowTimeoutInMinutes": {"$expression": "4"}}}, "any value, also a number"),
        (NETWORK, {"properties": {"flowTimeoutInMinutes": 4.5}}, "the source has one type for numbers"),
        (WORKFLOW, {"location": Secret("x"), "tags": {"a": Placeholder("x")}}, "values of a run"),
        (NETWORK, {"properties": {"flowTimeoutInMinutes": Placeholder("x")}}, "a value that is not known yet"),
        (WORKFLOW, {"tags": {"$$secret": "x", "$connections": "y"}}, "names of tags"),
        (SHIR, {"properties": {"type": "selfhosted", "typeProperties": {}}}, "a variant in any case"),
        (SHIR, {"properties": {"type": {"$configMap": {}}, "typeProperties": {}}}, "a variant that is filled in"),
        (SERVICE, placed(type="InvalidDomain", domainName="fd:/a"), "a variant of those that ARM's types leave out"),
        (("Microsoft.Logic/workflows", "2030-01-01"), {"x": 1}, "a version that is not known"),
        (("Microsoft.Nothing/such", "2019-05-01"), {"x": 1}, "a type that is not known"),
        (("Microsoft.Logic/workflows/runs", "2019-05-01"), {"x": 1}, "a type that can only be read"),
    ],
)
def test_what_is_not_a_fault(resource_type, body, why):
    assert show(check(resource_type, body)) == [], why


@pytest.mark.parametrize(
    ("name", "body", "codes"),
    [
        ("web", {"properties": {"alwaysOn": True}}, []),
        ("app/WEB", {"properties": {"alwaysOn": True}}, []),
        ("web", {"properties": {"alwaysOnn": True}}, ["UnknownField"]),
        ("appsettings", {"properties": {"anything": "x"}}, []),
        ("appsettings", {"properties": {"anything": 1}}, ["WrongType"]),
        ("other", {"properties": {"anything": 1}}, []),
        ("", {"properties": {}}, []),
        ("", {"proprties": {}}, ["UnknownField"]),
    ],
)
def test_the_name_of_some_resources_decides_their_members(name, body, codes):
    assert [finding.code for finding in check(CONFIG, body, name=name)] == codes


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"properties": {"osProfile": {"adminPassword": 87654321}}}, "sensitive in the facts"),
        ({"tags": {"dbPassword": 87654321}}, "a secret by its name"),
        ({"properties": {"osProfile": {"secrets": [{"sourceVault": 87654321}]}}}, "inside a secret"),
        ({"properties": {"osProfile": {"secrets": [{"vaultCertificates": [{"certificateUrl": 87654321}]}]}}}, "deeper"),
    ],
)
def test_no_message_quotes_what_may_be_a_secret(body, why):
    findings = check(MACHINE, {"location": "we", **body})
    assert findings, why
    assert "87654321" not in str(findings), why


def test_limits_and_choices_of_a_secret_are_not_quoted():
    lab = {"virtualMachineProfile": {"useSharedPassword": "hunter2"}}
    findings = check(("Microsoft.LabServices/labs", "2022-08-01"), {"properties": lab})
    assert "UnknownValue" in {finding.code for finding in findings}
    assert "hunter2" not in str(findings)


def test_the_path_may_be_another_field_of_the_manifest():
    (finding,) = check_body({"x": 1}, *WORKFLOW, path=("metadata", "annotations", "gitsync/body"))
    assert finding.path == ("metadata", "annotations", "gitsync/body", "x")


@pytest.mark.parametrize(
    ("key", "sent"),
    [
        ("$$secret", "$secret"),
        ("$$$secret", "$$secret"),
        ("$$reference", "$reference"),
        ("$secret", "$secret"),
        ("$$connections", "$$connections"),
        ("$connections", "$connections"),
        ("$$", "$$"),
        ("", ""),
    ],
)
def test_only_words_are_escaped(key, sent):
    assert unescape(key) == sent


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
MEMBERS = st.sampled_from(["properties", "location", "tags", "sku", "identity", "addressSpace", "subnets", "type", "$secret", "$expression"])  # fmt: skip
BODIES = st.recursive(
    JSON, lambda inner: st.dictionaries(MEMBERS, inner, max_size=4) | st.lists(inner, max_size=2), max_leaves=20
)


@given(BODIES, st.sampled_from([WORKFLOW, NETWORK, CONFIG, SHIR, MACHINE, ACCOUNT, BUDGET]))
def test_any_body_is_checked_and_each_finding_is_in_it(body, resource_type):
    for finding in check(resource_type, body):
        value = body
        *above, last = finding.path[2:] or [None]
        for step in above:
            value = value[step]
        assert last is None or isinstance(value, dict) or value[last] is value[last]


def list_recorded():
    """Bodies that Azure accepted, with the type, the version and the name of the resource."""
    for file in sorted((SHARED / "arm-traffic-any" / "put-get-pairs").glob("*.jsonl")):
        for row in map(json.loads, file.read_text().splitlines()):
            arm_id = ArmId(row["path"])
            yield arm_id.arm_type, row["apiVersion"], arm_id.name, row["put"]


def list_examples():
    for row in map(json.loads, (SHARED / "arm-bodies" / "examples.jsonl").read_text().splitlines()):
        if not row["odd"]:
            arm_type, _, version = row["type"].partition("@")
            yield arm_type, version, row["name"], row["body"]


@pytest.mark.skipif(not (SHARED / "arm-bodies").is_dir(), reason="the recordings are not part of the repository")
@pytest.mark.parametrize("list_bodies", [list_recorded, list_examples], ids=["recorded", "examples"])
def test_less_than_one_in_a_hundred_bodies_that_azure_accepted_has_an_error(list_bodies):
    wrong, bodies = [], list(list_bodies())
    for arm_type, version, name, body in bodies:
        findings = check_body(body, arm_type, version, name=name)
        wrong += [(arm_type, version, f.message) for f in findings if f.level is Level.ERROR][:1]
    assert len(bodies) > 300
    assert len(wrong) < len(bodies) / 100, wrong
