"""What preflight requests, and what its answers mean. The real client queries a scripted server."""

import asyncio

import pytest

from gitsync.agent.checks.check_requests import UNKNOWN_VALUE
from gitsync.agent.checks.preflight import (
    API_VERSION,
    AT_ONCE,
    NO_PREFLIGHT,
    NOT_VALIDATED,
    PATH,
    check_preflight,
)
from gitsync.model.check import CheckVerdict, HiddenValue
from gitsync.model.verdict import Action
from tests.agent.checks.asking import GROUP, SUB, change, only, requesting, show, storage, storage_id
from tests.support.scripted_server import BREAK, Say

FINE, REFUSED, WARNING, SILENT = "fine", "refused", "warning", "not-checked"


def validated(*arm_ids: str) -> Say:
    return Say(200, {"properties": {"validatedResources": list(arm_ids)}})


def refusal(*details: dict) -> Say:
    message = "Resource validation failed, correlation id: 'x', see details for more information."
    return Say(400, {"error": {"code": "ResourceValidationFailed", "message": message, "details": list(details)}})


def detail(code: str, target: str = "", message: str = "No.", **more) -> dict:
    return {"code": code, "message": message, **({"target": target} if target else {}), **more}


async def send_request(changes, *answers: Say):
    async with requesting() as (rig, requests):
        rig.server.on("POST", PATH, *answers)
        return await check_preflight(changes, requests), [seen.body for seen in rig.server.seen]


async def test_the_question_has_the_whole_body_and_needs_no_right_to_write():
    body = {"location": "West Europe", "name": "stapp1", "sku": {"name": "Standard_LRS"}, "properties": {"a": True}}
    async with requesting() as (rig, requests):
        rig.server.on("POST", PATH, validated(storage_id().upper()))
        assert show(await check_preflight([storage(body=body)], requests)) == [("stapp1", FINE, "")]
        [seen] = rig.server.seen
        assert rig.arm.requests.checks == 1
    assert seen.query == f"api-version={API_VERSION}"
    assert seen.body == {
        "provider": "Microsoft.Storage",
        "type": "storageAccounts",
        "location": "westeurope",
        "scope": GROUP,
        "performPreflightWithoutRbacWriteCheck": True,
        "resources": [
            {
                "name": "stapp1",
                "apiVersion": "2023-05-01",
                "location": "westeurope",
                "sku": {"name": "Standard_LRS"},
                "properties": {"a": True},
            }
        ],
    }


@pytest.mark.parametrize(
    ("arm_id", "scope", "type_", "name"),
    [
        (
            f"{GROUP}/providers/Microsoft.Network/virtualNetworks/hub/subnets/one",
            GROUP,
            "virtualNetworks/subnets",
            "hub/one",
        ),
        (GROUP, SUB, "resourceGroups", "rg"),
        (f"{SUB}/providers/Microsoft.Authorization/roleAssignments/r", SUB, "roleAssignments", "r"),
        (f"{GROUP}/providers/Microsoft.Authorization/roleAssignments/r", GROUP, "roleAssignments", "r"),
    ],
)
async def test_scope_type_and_name_come_from_the_id(arm_id, scope, type_, name):
    _, [body] = await send_request([change(arm_id, {"properties": {}})], validated())
    assert (body["scope"], body["type"], body["resources"][0]["name"]) == (scope, type_, name)
    assert "location" not in body


async def test_one_request_for_a_type_location_and_scope():
    changes = [
        *(storage(f"st{number}") for number in range(20)),
        storage("a", body={"location": "West Europe"}),
        storage("b", body={"location": "northeurope"}),
        storage("c", GROUP.replace("/rg", "/RG")),
        storage("d", f"{GROUP}2"),
        change(f"{GROUP}/providers/Microsoft.Network/publicIPAddresses/ip"),
        storage("gone", action=Action.DELETE),
    ]
    findings, bodies = await send_request(changes, validated(*(each.arm_id for each in changes)))
    assert sorted(len(body["resources"]) for body in bodies) == [1, 1, 1, 22]
    assert {verdict for _, verdict, _ in show(findings)} == {FINE}
    assert len(findings) == len(changes) - 1


GROUPS = f"{SUB}/resourcegroups"


@pytest.mark.parametrize(
    ("rows", "requested", "why"),
    [
        (Say(200, {"value": []}), 0, "the group does not exist yet"),
        (Say(200, {"value": [{"id": GROUP.upper()}]}), 2, "the group is there, and will be adopted"),
        (Say(403, {"error": {"code": "AuthorizationFailed", "message": "No."}}), 2, "unknown is not absent"),
        (Say(200, {"value": [{"id": None}]}), 2, "an entry that cannot be read may be the group"),
    ],
)
async def test_nothing_is_asked_about_what_is_in_a_group_that_does_not_exist(rows, requested, why):
    network = change(f"{GROUP}/providers/Microsoft.Network/virtualNetworks/hub")
    async with requesting() as (rig, requests):
        rig.server.on("GET", GROUPS, rows)
        rig.server.on("POST", PATH, validated())
        findings = await check_preflight([change(GROUP), storage(), network], requests)
        scopes = [request.body["scope"] for request in rig.server.seen if request.body]
    assert scopes.count(GROUP) == requested, why
    assert {finding.verdict for _, finding in findings} == {CheckVerdict.NOT_CHECKED}


async def test_no_more_than_eight_at_once():
    changes = [storage(f"st{number}", f"{GROUP}{number}") for number in range(30)]
    running, most = 0, 0

    class Slow:
        async def claim(self, requests):
            return [True for _ in requests]

        async def send(self, *_):
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0)
            running -= 1
            return {}

    await check_preflight(changes, Slow())
    assert most == AT_ONCE


async def test_unknown_values_inside_properties_are_expressions_and_texts_are_escaped():
    body = {
        "location": "westeurope",
        "tags": {"a": "[x]"},
        "properties": {
            "password": HiddenValue.SECRET,
            "list": [HiddenValue.LATER, "[concat('a')]", "[plain", 3],
            "byId": {"<id of the identity>": {}},
        },
    }
    findings, [requested] = await send_request([storage(body=body)], validated(storage_id()))
    assert show(findings) == [("stapp1", FINE, "")]
    assert requested["resources"][0]["properties"] == {
        "password": "[length('foo')]",
        "list": ["[length('foo')]", "[[concat('a')]", "[plain", 3],
        "byId": "[length('foo')]",
    }
    assert requested["resources"][0]["tags"] == {"a": "[[x]"}


@pytest.mark.parametrize(
    ("planned", "code", "path"),
    [
        (storage(body={"location": HiddenValue.LATER}), UNKNOWN_VALUE, "/location"),
        (storage(body={"sku": {"name": HiddenValue.LATER}, "properties": {}}), UNKNOWN_VALUE, "/sku/name"),
        (
            storage(body={"identity": {"userAssignedIdentities": {"<id>": {}}}}),
            UNKNOWN_VALUE,
            "/identity/userAssignedIdentities",
        ),
        (storage("<the name>"), UNKNOWN_VALUE, ""),
        (storage(doubt="no subscription is set"), UNKNOWN_VALUE, ""),
        (change(f"{storage_id()}/providers/Microsoft.Insights/diagnosticSettings/d"), NO_PREFLIGHT, ""),
    ],
)
async def test_what_cannot_be_asked_is_not_checked_and_says_why(planned, code, path):
    findings, bodies = await send_request([planned], validated(planned.arm_id))
    finding = only(findings)
    assert (finding.verdict, finding.code, finding.path) == (CheckVerdict.NOT_CHECKED, code, path)
    assert path in finding.message
    assert bodies == []


ONE = storage()
AUTHORIZATION = (
    "The template deployment failed with error: 'Authorization failed for template resource 'stapp1' of type "
    "'Microsoft.Storage/storageAccounts'. The client 'c' with object id 'o' does not have permission to perform action "
    "'Microsoft.Storage/storageAccounts/write' at scope '/x'.'."
)


@pytest.mark.parametrize(
    ("answer", "verdict", "code"),
    [
        (validated(), SILENT, NOT_VALIDATED),
        (validated(storage_id("other")), SILENT, NOT_VALIDATED),
        (Say(200, {}), SILENT, NOT_VALIDATED),
        (Say(200, {"properties": {"validatedResources": "all"}}), SILENT, NOT_VALIDATED),
        (Say(200, ["odd"]), SILENT, "UnusableAnswer"),
        (Say(200, "<html>"), SILENT, "UnusableAnswer"),
        (refusal(detail("InvalidAddressPrefixFormat", storage_id())), REFUSED, "InvalidAddressPrefixFormat"),
        (
            refusal(detail("PreflightValidationCheckFailed", details=[detail("StorageAccountAlreadyTaken", "stapp1")])),
            REFUSED,
            "StorageAccountAlreadyTaken",
        ),
        (refusal(detail("RequestDisallowedByPolicy", "stapp1")), REFUSED, "RequestDisallowedByPolicy"),
        (refusal(detail("InvalidTemplateDeployment", message=AUTHORIZATION)), SILENT, "InvalidTemplateDeployment"),
        (refusal(detail("InvalidTemplate")), SILENT, "InvalidTemplate"),
        (refusal(detail("InvalidRequestContent", "stapp1")), SILENT, "InvalidRequestContent"),
        (refusal(detail("InternalServerError", "stapp1")), SILENT, "InternalServerError"),
        (refusal(detail("ParentResourceNotFound", "stapp1")), SILENT, "ParentResourceNotFound"),
        (refusal(detail("QuotaExceeded", "stapp1")), WARNING, "QuotaExceeded"),
        (refusal(), SILENT, NOT_VALIDATED),
        (refusal("odd", 3), SILENT, NOT_VALIDATED),
        (Say(400, {"error": {"code": "InvalidRequestContent", "message": "No."}}), SILENT, "InvalidRequestContent"),
        (Say(404, {"error": {"code": "ResourceGroupNotFound", "message": "No."}}), SILENT, "ResourceGroupNotFound"),
        (Say(403, {"error": {"code": "AuthorizationFailed", "message": "No."}}), SILENT, "AuthorizationFailed"),
        (Say(500), SILENT, "UnknownError"),
        (Say(503), SILENT, "UnknownError"),
    ],
)
async def test_each_answer_has_its_verdict(answer, verdict, code):
    findings, bodies = await send_request([ONE], answer)
    assert show(findings) == [("stapp1", verdict, code)]
    assert len(bodies) == 1, "only a 429 is tried again"


async def test_no_answer_is_not_fine():
    findings, _ = await send_request([ONE], Say(fault=BREAK))
    assert only(findings).verdict is CheckVerdict.NOT_CHECKED


async def test_a_missing_right_is_named():
    findings, _ = await send_request([ONE], refusal(detail("InvalidTemplateDeployment", message=AUTHORIZATION)))
    finding = only(findings)
    assert finding.missing_right == "Microsoft.Storage/storageAccounts/write"
    assert finding.advice == "Grant Microsoft.Storage/storageAccounts/write to gitsync's identity."


INFO = {"policyAssignmentDisplayName": "Only Europe", "policyAssignmentId": "/x/policyAssignments/only-europe"}
IDENTIFIERS = """Policy identifiers: '[{"policyAssignment":{"name":"Only Europe","id":"/x"},"policyDefinition":{}}]'."""
REASON = {**INFO, "evaluationDetails": {"reason": "Use a European region."}}
TOKEN = {**INFO, "evaluationDetails": {"missingPolicyTokenDetails": [{"shouldDeny": True}]}}


@pytest.mark.parametrize(
    ("message", "additions", "assignment", "says"),
    [
        ("Disallowed.", [{"type": "PolicyViolation", "info": INFO}], "Only Europe", "denies it: Disallowed."),
        (f"Disallowed by policy. {IDENTIFIERS}", [], "Only Europe", "denies it: Disallowed by policy."),
        ("Disallowed.", [{"info": REASON}], "Only Europe", "denies it: Use a European region."),
        ("Disallowed.", "odd", "unknown", "denies it"),
        ("Disallowed.", [{"info": "odd"}, 3], "unknown", "denies it"),
    ],
)
async def test_a_policy_is_named_with_its_assignment(message, additions, assignment, says):
    denied = detail("RequestDisallowedByPolicy", "stapp1", message, additionalInfo=additions)
    findings, _ = await send_request([ONE], refusal(denied))
    finding = only(findings)
    assert finding.verdict is CheckVerdict.REFUSED
    assert f'"{assignment}"' in finding.message
    assert says in finding.message
    assert finding.contact == f'Ask the owner of the policy assignment "{assignment}" for an exemption.'


@pytest.mark.parametrize("details", [{"shouldDeny": True}, [{"shouldDeny": True}]], ids=["an object", "a list"])
async def test_a_policy_that_needs_a_token_refuses_nothing_yet(details):
    token = {**INFO, "evaluationDetails": {"missingPolicyTokenDetails": details}}
    denied = detail("RequestDisallowedByPolicy", "stapp1", "No.", additionalInfo=[{"info": token}])
    findings, _ = await send_request([ONE], refusal(denied))
    finding = only(findings)
    assert (finding.verdict, finding.code, finding.contact) == (CheckVerdict.WARNING, "PolicyTokenNeeded", "")
    assert finding.message.startswith('The policy assignment "Only Europe" is evaluated outside')


async def test_a_policy_that_denies_beside_one_that_needs_a_token_refuses_it():
    infos = [{"info": TOKEN}, {"info": REASON}]
    denied = detail("RequestDisallowedByPolicy", "stapp1", "No.", additionalInfo=infos)
    findings, _ = await send_request([ONE], refusal(denied))
    assert [finding.verdict for _, finding in findings] == [CheckVerdict.WARNING, CheckVerdict.REFUSED]


async def test_each_policy_that_denies_is_named():
    infos = [{"info": {"policyAssignmentDisplayName": name}} for name in ("One", "Two")]
    findings, _ = await send_request(
        [ONE], refusal(detail("RequestDisallowedByPolicy", "stapp1", "No.", additionalInfo=infos))
    )
    assert [finding.message for _, finding in findings] == [
        'The policy assignment "One" denies it: No.',
        'The policy assignment "Two" denies it: No.',
    ]


async def test_reasons_find_their_resources_by_id_or_name_and_the_others_stay_open():
    hub, spoke = (f"{GROUP}/providers/Microsoft.Network/virtualNetworks/{name}/subnets" for name in ("hub", "spoke"))
    changes = [change(f"{hub}/one", called="hub-one"), change(f"{spoke}/one", called="spoke-one"), change(f"{hub}/two")]
    answer = refusal(
        detail("A", f"{hub}/ONE"),
        detail("Outer", "spoke/one", details=[detail("B", "properties.addressPrefix"), detail("C")]),
    )
    findings, bodies = await send_request(changes, answer)
    assert show(findings) == [
        ("hub-one", REFUSED, "A"),
        ("spoke-one", REFUSED, "B"),
        ("spoke-one", REFUSED, "C"),
        ("two", SILENT, NOT_VALIDATED),
    ]
    assert [finding.path for _, finding in findings] == ["", "/properties/addressPrefix", "", ""]
    assert len(bodies) == 1


@pytest.mark.parametrize("target", ["", "one", "properties.x"])
async def test_a_reason_that_may_be_about_several_refuses_none(target):
    changes = [
        change(f"{GROUP}/providers/Microsoft.Network/virtualNetworks/{name}/subnets/one", called=name)
        for name in ("hub", "spoke")
    ]
    findings, _ = await send_request(changes, refusal(detail("A", target, "The reason.")))
    assert show(findings) == [("hub", SILENT, "A"), ("spoke", SILENT, "A")]
    assert all("The reason." in finding.message for _, finding in findings)


@pytest.mark.parametrize(
    ("code", "verdict"),
    [("StorageAccountAlreadyTaken", SILENT), ("InvalidResourceLocation", SILENT), ("InvalidAddressPrefix", REFUSED)],
)
async def test_what_is_replaced_does_not_stand_in_its_own_way(code, verdict):
    findings, _ = await send_request([storage(replaces=True)], refusal(detail(code, "stapp1")))
    assert show(findings) == [("stapp1", verdict, code)]


async def test_text_of_azure_is_cut_and_on_one_line():
    findings, _ = await send_request([ONE], refusal(detail("A", "stapp1", "line\n" * 5000)))
    message = only(findings).message
    assert "\n" not in message
    assert len(message) < 400
