"""What ARM's types state of paths: what Azure alone sets, secrets, choices; and the part of an answer to send."""

import json
from pathlib import Path

import pytest

from gitsync.desired.catalog.arm_types import open_arm_types
from gitsync.desired.catalog.body_paths import find_facts, list_read_only, select_writable
from gitsync.desired.formats.json_pointer import parse_pointer
from gitsync.desired.validation.arm_body import check_body
from gitsync.model.arm_id import ArmId
from gitsync.model.problem import Level

SHARED = Path(__file__).resolve().parents[4] / "shared"

WORKFLOW = ("Microsoft.Logic/workflows", "2019-05-01")
NETWORK = ("Microsoft.Network/virtualNetworks", "2024-05-01")
MACHINE = ("Microsoft.Compute/virtualMachines", "2024-07-01")
RUNTIME = ("Microsoft.DataFactory/factories/integrationRuntimes", "2018-06-01")
CONFIG = ("Microsoft.Web/sites/config", "2023-12-01")
SITE = ("Microsoft.Web/sites", "2023-12-01")
JIT = ("Microsoft.Security/locations/jitNetworkAccessPolicies", "2020-01-01")


def find(resource_type, pointer):
    return find_facts(open_arm_types().find_body(*resource_type), parse_pointer(pointer))


@pytest.mark.parametrize(
    ("resource_type", "pointer", "is_read_only", "is_secret", "has_no_case", "why"),
    [
        (WORKFLOW, "/location", False, False, False, "a plain text"),
        (WORKFLOW, "/properties/state", False, False, True, "a choice, though an open one"),
        (WORKFLOW, "/PROPERTIES/STATE", False, False, True, "names have no case"),
        (WORKFLOW, "/properties/provisioningState", True, False, True, "Azure sets it"),
        (WORKFLOW, "/properties/sku/name", True, False, True, "inside what Azure sets"),
        (WORKFLOW, "/properties/definition/triggers/0/x", False, False, False, "below anything"),
        (WORKFLOW, "/tags/a", False, False, False, "a map"),
        (WORKFLOW, "/properties/parameters/key/type", False, False, True, "a member of an entry of a map"),
        (WORKFLOW, "/properties/parameters/*/type", False, False, True, "of each entry"),
        (WORKFLOW, "/properties/parameters/password/value", False, True, False, "inside of a secret by its name"),
        (NETWORK, "/properties/subnets/0/properties/provisioningState", True, False, True, "an entry of a list"),
        (NETWORK, "/properties/subnets/*/properties/purpose", True, False, False, "of each entry"),
        (MACHINE, "/properties/osProfile/adminPassword", False, True, False, "sensitive"),
        (RUNTIME, "/properties/state", True, False, True, "of one variant, which has it read-only"),
        (RUNTIME, "/properties/typeProperties/linkedInfo", False, False, False, "of another variant"),
        (RUNTIME, "/properties/type", False, False, True, "the member that decides"),
        (SITE, "/properties/redundancyMode", False, False, True, "a closed choice"),
    ],
)  # fmt: skip
def test_facts_of_a_path(resource_type, pointer, is_read_only, is_secret, has_no_case, why):
    found = find(resource_type, pointer)
    assert (found.is_read_only, found.is_secret, found.has_no_case) == (is_read_only, is_secret, has_no_case), why


@pytest.mark.parametrize(
    ("pointer", "why"),
    [
        ("/nothingSuch", "an unknown member"),
        ("/location/x", "inside a text"),
        ("/properties/state/0", "an entry of a text"),
    ],
)
def test_a_path_that_the_type_does_not_have(pointer, why):
    assert find(WORKFLOW, pointer) is None, why


def test_write_only_members_are_secrets():
    vault = find(("Microsoft.KeyVault/vaults", "2023-07-01"), "/properties/createMode")
    assert (vault.is_secret, vault.is_read_only) == (True, False)


def list_(resource_type, body, name=""):
    body_type = open_arm_types().find_body(*resource_type)
    return list(list_read_only(body, body_type, name=name))


def test_read_only_paths_of_a_body():
    body = {
        "properties": {
            "provisioningState": "Succeeded",
            "subnets": [{"name": "a", "etag": "x", "properties": {"purpose": "y", "addressPrefix": "z"}}],
        },
        "etag": "w",
    }
    assert list_(NETWORK, body) == [
        (("properties", "provisioningState"), False),
        (("properties", "subnets", 0, "etag"), False),
        (("properties", "subnets", 0, "properties", "purpose"), False),
        (("etag",), False),
    ]


def test_a_read_only_path_that_the_type_requires_is_marked():
    body = {"location": "we", "properties": {"provisioningState": "x"}}
    assert list_(JIT, body) == [(("location",), True), (("properties", "provisioningState"), False)]


@pytest.mark.parametrize(
    ("resource_type", "name", "answer", "sent", "why"),
    [
        (
            WORKFLOW,
            "orders",
            {
                "id": "/x",
                "name": "orders",
                "type": "Microsoft.Logic/workflows",
                "location": "we",
                "properties": {"state": "Enabled", "version": "1", "definition": {"x": [{"y": None}]}, "sku": {"name": "a"}},
            },
            {"location": "we", "properties": {"state": "Enabled", "definition": {"x": [{"y": None}]}}},
            "what Azure sets goes",
        ),
        (WORKFLOW, "a", {"Properties": {"STATE": "Enabled"}}, {"properties": {"state": "Enabled"}}, "Azure's spelling"),
        (WORKFLOW, "a", {"newMember": 1, "tags": {"x": "y"}}, {"tags": {"x": "y"}}, "unknown members go"),
        (WORKFLOW, "a", {"properties": {"version": "1"}, "tags": {}}, {"tags": {}}, "an object of those goes"),
        (
            JIT,
            "a",
            {"location": "we", "properties": {"provisioningState": "x"}},
            {"location": "we", "properties": {}},
            "what is required stays",
        ),
        (CONFIG, "site/web", {"properties": {"alwaysOn": True}}, {"properties": {"alwaysOn": True}}, "chosen by name"),
        (CONFIG, "appsettings", {"properties": {"a": "b"}}, {"properties": {"a": "b"}}, "chosen by name"),
        (
            RUNTIME,
            "a",
            {"properties": {"type": "Managed", "state": "Online", "typeProperties": {"ssisProperties": {"x": 1}}}},
            {"properties": {"type": "Managed", "typeProperties": {"ssisProperties": {"x": 1}}}},
            "chosen by a member",
        ),
    ],
)  # fmt: skip
def test_the_part_of_an_answer_to_send(resource_type, name, answer, sent, why):
    body_type = open_arm_types().find_body(*resource_type)
    assert select_writable(answer, body_type, name=name) == sent, why


SAFEGUARDS = ("Microsoft.ContainerService/deploymentSafeguards", "2025-07-01")
ACCOUNT = ("Microsoft.Storage/storageAccounts", "2023-01-01")


def test_what_azure_alone_sets_although_it_is_required():
    body_type = open_arm_types().find_body(*SAFEGUARDS)
    answer = {"properties": {"level": "Warn", "systemExcludedNamespaces": ["a"]}}
    assert select_writable(answer, body_type) == answer
    assert select_writable(answer, body_type, with_required=False) == {"properties": {"level": "Warn"}}


def test_an_id_as_a_key_is_a_value_itself():
    body_type = open_arm_types().find_body(*ACCOUNT)
    answer = {"identity": {"userAssignedIdentities": {"/one": {"clientId": "1"}}, "principalId": "2"}}
    assert select_writable(answer, body_type)["identity"]["userAssignedIdentities"] == {"/one": {}}


@pytest.mark.skipif(not (SHARED / "arm-traffic-any").is_dir(), reason="the recordings are not part of the repository")
def test_what_is_selected_of_recorded_answers_has_few_findings():
    wrong, count = [], 0
    for file in sorted((SHARED / "arm-traffic-any" / "put-get-pairs").glob("*.jsonl")):
        for row in map(json.loads, file.read_text().splitlines()):
            arm_id = ArmId(row["path"])
            arm_type, version, name = arm_id.arm_type, row["apiVersion"], arm_id.name
            if (body_type := open_arm_types().find_body(arm_type, version)) is not None:
                count += 1
                findings = check_body(select_writable(row["get"], body_type, name=name), arm_type, version, name=name)
                assert not {finding.code for finding in findings} & {"UnknownField", "ReadOnlyField", "FieldCase"}
                wrong += [finding for finding in findings if finding.level is Level.ERROR][:1]
    assert count > 300
    assert len(wrong) < count / 100, wrong
