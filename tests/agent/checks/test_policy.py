"""What the check `policy` requests, and what the answers mean. The real client queries a scripted server."""

import pytest

from gitsync.agent.checks.allowance import LIMIT_REACHED, MOST
from gitsync.agent.checks.check_requests import UNKNOWN_VALUE, UNUSABLE_ANSWER
from gitsync.agent.checks.policy import AUDITED, CHANGED, DENIED, NOT_EVALUATED, SAMPLED, SAMPLES, check_policy
from gitsync.model.check import CheckVerdict, HiddenValue
from gitsync.model.verdict import Action
from tests.agent.checks.asking import GROUP, SUB, change, only, requesting, show, storage, storage_id
from tests.support.scripted_server import Say

FINE, REFUSED, WARNING, SILENT = "fine", "refused", "warning", "not-checked"
ASSIGNMENTS = "/providers/Microsoft.Authorization/policyAssignments"
EXEMPTIONS = "/providers/Microsoft.Authorization/policyExemptions"
REQUEST = "/providers/Microsoft.PolicyInsights/checkPolicyRestrictions"
EUROPE = f"{SUB}{ASSIGNMENTS}/only-europe"


def assignment(own_id: str = EUROPE, **properties) -> dict:
    return {"id": own_id, "properties": {"displayName": "Only Europe", "enforcementMode": "Default", **properties}}


def exemption(scope: str = GROUP, **properties) -> dict:
    properties = {"policyAssignmentId": EUROPE.upper(), **properties}
    return {"id": f"{scope}{EXEMPTIONS}/e", "properties": properties}


def evaluation(effect: str = "Deny", *paths: str, result: str = "NonCompliant", reference: str = "", **more) -> dict:
    expressions = [{"result": "True", "expressionKind": "field", "path": path} for path in ("type", *paths)]
    return {
        "policyInfo": {"policyAssignmentId": EUROPE.upper(), "policyDefinitionReferenceId": reference},
        "evaluationResult": result,
        "effectDetails": {"policyEffect": effect},
        "evaluationDetails": {"evaluatedExpressions": expressions, "reason": "Not in Europe."},
        **more,
    }


def answer(*evaluations, fields=()) -> Say:
    content = {"contentEvaluationResult": {"policyEvaluations": list(evaluations)}}
    return Say(200, {"fieldRestrictions": list(fields), **content})


def field(name: str, result: str = "Required", effect: str = "Modify", **more) -> dict:
    policy = {"policyAssignmentId": EUROPE}
    return {"field": name, "restrictions": [{"result": result, "policyEffect": effect, "policy": policy, **more}]}


def listed(*rows: dict) -> Say:
    return Say(200, {"value": list(rows)})


async def send_request(
    changes, said: Say, *, assignments: Say | None = None, exemptions: Say | None = None, scope: str = GROUP
):
    """Findings, and the requests that were sent."""
    async with requesting() as (rig, requests):
        rig.server.on("GET", scope + ASSIGNMENTS, assignments or listed(assignment()))
        rig.server.on("GET", scope + EXEMPTIONS, exemptions or listed())
        rig.server.on("POST", scope + REQUEST, said)
        findings = await check_policy(changes, requests)
        return findings, rig.server.seen


async def test_the_question_has_the_known_body_and_what_a_policy_might_add():
    body = {
        "name": "stapp1",
        "location": "westeurope",
        "properties": {"key": HiddenValue.SECRET, "a": [HiddenValue.SECRET, 1]},
    }
    findings, seen = await send_request([storage(body=body)], Say(200, {}))
    assert show(findings) == [("stapp1", FINE, "")]
    assert [request.line for request in seen] == [f"GET {GROUP}{ASSIGNMENTS}", f"POST {GROUP}{REQUEST}"]
    assert seen[1].body == {
        "resourceDetails": {
            "resourceContent": {
                "type": "Microsoft.Storage/storageAccounts",
                "name": "stapp1",
                "location": "westeurope",
                "properties": {"a": [1]},
            },
            "apiVersion": "2023-05-01",
        },
        "pendingFields": [{"field": "tags"}],
        "includeAuditEffect": True,
    }


SUBNET = f"{GROUP}/providers/Microsoft.Network/virtualNetworks/hub/subnets/one"
SETTING = f"{storage_id()}/providers/Microsoft.Insights/diagnosticSettings/d"


@pytest.mark.parametrize(
    ("planned", "scope", "type_", "owner"),
    [
        (change(SUBNET, {}), GROUP, "Microsoft.Network/virtualNetworks/subnets", SUBNET.rpartition("/subnets")[0]),
        (change(SETTING, {}), GROUP, "Microsoft.Insights/diagnosticSettings", storage_id()),
        (change(GROUP), SUB, "Microsoft.Resources/subscriptions/resourceGroups", None),
        (
            change(f"{GROUP}/providers/Microsoft.Authorization/locks/l", {}),
            GROUP,
            "Microsoft.Authorization/locks",
            None,
        ),
    ],
)
async def test_a_child_names_its_owner(planned, scope, type_, owner):
    _, seen = await send_request([planned], Say(200, {}), scope=scope)
    details = seen[1].body["resourceDetails"]
    assert details["resourceContent"]["type"] == type_
    assert details["resourceContent"]["name"] == planned.arm_id.rpartition("/")[2]
    assert details.get("scope") == owner


async def test_the_subscription_is_asked_about_what_goes_into_a_new_group():
    changes = [change(GROUP), storage(), storage("old", f"{SUB}/resourceGroups/old")]
    """Its request names the group anyway."""
    async with requesting() as (rig, requests):
        for scope in (SUB, f"{SUB}/resourceGroups/old"):
            rig.server.on("GET", scope + ASSIGNMENTS, listed(assignment()))
            rig.server.on("POST", scope + REQUEST, Say(200, {}))
        assert {verdict for _, verdict, _ in show(await check_policy(changes, requests))} == {FINE}
        assert sorted(rig.server.lines) == [
            f"GET {SUB}{ASSIGNMENTS}",  # which has what is assigned to its groups, too
            f"POST {SUB}{REQUEST}",
            f"POST {SUB}{REQUEST}",
            f"POST {SUB}/resourceGroups/old{REQUEST}",
        ]
        scopes = {seen.body["resourceDetails"].get("scope") for seen in rig.server.seen if seen.method == "POST"}
        assert scopes == {None, GROUP}


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [assignment(notScopes=[GROUP.upper()])],
        [assignment(f"{storage_id('other')}{ASSIGNMENTS}/one-resource")],
    ],
)
async def test_without_a_policy_in_force_nothing_more_is_asked(rows):
    changes = [*(storage(f"st{number}") for number in range(20)), storage("gone", action=Action.DELETE)]
    findings, seen = await send_request(changes, Say(200, {}), assignments=listed(*rows))
    assert [request.line for request in seen] == [f"GET {GROUP}{ASSIGNMENTS}"]
    assert show(findings) == sorted((f"st{number}", FINE, "") for number in range(20))


async def test_a_policy_of_one_resource_or_of_a_management_group_is_in_force():
    above = "/providers/Microsoft.Management/managementGroups/all"
    for own_id in (f"{storage_id()}{ASSIGNMENTS}/a", f"{above}{ASSIGNMENTS}/a"):
        _, seen = await send_request([storage()], Say(200, {}), assignments=listed(assignment(own_id)))
        assert len(seen) == 2


async def test_one_question_for_a_distinct_body():
    twice = [storage("a", called="first"), storage("a", called="second"), storage("b")]
    findings, seen = await send_request(twice, answer(evaluation()))
    assert sorted(request.method for request in seen) == ["GET", "GET", "POST", "POST"]
    assert {verdict for _, verdict, _ in show(findings)} == {REFUSED}


def sized(number: int):
    """A storage account whose body no other one has."""
    return storage(f"st{number:03}", body={"location": "westeurope", "properties": {"number": number}})


async def test_more_than_the_limit_is_not_checked_and_says_how_to_go_on():
    findings, seen = await send_request([sized(number) for number in range(MOST)], Say(200, {}))
    left_out = [finding for _, finding in findings if finding.code == LIMIT_REACHED]
    assert len(seen) + len(left_out) == 1 + MOST
    assert len(seen) <= MOST
    assert "--only" in left_out[0].advice


async def test_many_names_of_one_body_are_sampled_and_that_is_said():
    changes = [storage(f"st{'x' * (number % 7)}{number:03}") for number in range(50)]
    findings, seen = await send_request(changes, Say(200, {}))
    names = [request.body["resourceDetails"]["resourceContent"]["name"] for request in seen[1:]]
    assert len(names) == SAMPLES
    assert {min(map(len, names)), max(map(len, names))} == {5, 11}
    assert show(findings) == sorted(
        (resource.key.name, FINE, "") if resource.key.name in names else (resource.key.name, SILENT, SAMPLED)
        for resource in changes
    )


FIELD_OF_BODY, FIELD_OF_NAME = evaluation("Deny", "location"), evaluation("Deny", "location", "name")
OF_GROUP = evaluation("Deny", "location")
OF_GROUP["evaluationDetails"]["evaluatedExpressions"][1]["expressionKind"] = "value"


@pytest.mark.parametrize(
    ("said", "verdicts", "why"),
    [
        (FIELD_OF_BODY, {(REFUSED, DENIED)}, "the body alone decides, and it is equal"),
        (FIELD_OF_NAME, {(SILENT, SAMPLED)}, "the name decides too, and it is another one"),
        (OF_GROUP, {(SILENT, SAMPLED)}, "a value may be of the name or of the group"),
        (
            evaluation("Audit", "location"),
            {(WARNING, AUDITED), (SILENT, SAMPLED)},
            "an audit says nothing of other rules",
        ),
        (evaluation("Modify", "location"), {(SILENT, SAMPLED)}, "what it sets may come from the group"),
    ],
)
async def test_what_a_sample_says_of_the_others(said, verdicts, why):
    findings, seen = await send_request([storage(f"st{number}") for number in range(9)], answer(said))
    requested = {request.body["resourceDetails"]["resourceContent"]["name"] for request in seen if request.body}
    others = {(verdict, code) for name, verdict, code in show(findings) if name not in requested}
    assert others == verdicts, why


@pytest.mark.parametrize(
    ("assigned", "requests", "why"),
    [
        (assignment(), SAMPLES, "what is assigned to the subscription holds for all groups"),
        (assignment(f"/providers/Microsoft.Management/managementGroups/m{ASSIGNMENTS}/a"), SAMPLES, "and so above it"),
        (assignment(notScopes=[f"{GROUP}0"]), 5, "one group is left out, so each other one is asked about"),
        (assignment(f"{GROUP}5{ASSIGNMENTS}/a"), 1, "one group has it, and the others nothing to ask about"),
        (assignment(notScopes=[f"{SUB}2/resourceGroups/x"]), 3, "another subscription is left out"),
    ],
)
async def test_groups_share_a_question_if_the_assignments_are_the_same_for_all(assigned, requests, why):
    changes = [storage(f"st{number}", f"{GROUP}{number}") for number in range(6)]
    async with requesting() as (rig, requested):
        rig.server.on("GET", SUB + ASSIGNMENTS, listed(assigned))
        for number in range(6):
            rig.server.on("POST", f"{GROUP}{number}{REQUEST}", Say(200, {}))
        await check_policy(changes, requested)
        lines = [request.line for request in rig.server.seen]
    assert len(lines) == 1 + requests, why


async def test_who_may_read_only_groups_lists_the_assignments_of_each():
    changes = [storage("st", f"{GROUP}{number}", called=f"st{number}") for number in range(2)]
    async with requesting() as (rig, requests):
        rig.server.on("GET", SUB + ASSIGNMENTS, Say(403, {"error": {"code": "AuthorizationFailed", "message": "No."}}))
        for number in range(2):
            rig.server.on("GET", f"{GROUP}{number}{ASSIGNMENTS}", listed())
        assert show(await check_policy(changes, requests)) == [("st0", FINE, ""), ("st1", FINE, "")]


@pytest.mark.parametrize(
    ("planned", "said", "verdict", "code"),
    [
        (storage(), answer(), FINE, ""),
        (storage(), Say(200, {"contentEvaluationResult": None, "fieldRestrictions": None}), FINE, ""),
        (storage(), answer(evaluation("Deny", "location")), REFUSED, DENIED),
        (storage(), answer(evaluation("dENY")), REFUSED, DENIED),
        (storage(), answer(evaluation("Audit")), WARNING, AUDITED),
        (storage(), answer(evaluation("AuditIfNotExists")), WARNING, AUDITED),
        (storage(), answer(evaluation("Modify", "properties.minimumTlsVersion")), WARNING, CHANGED),
        (storage(), answer(evaluation("Disabled")), FINE, ""),
        (storage(), answer(evaluation("DenyAction")), FINE, ""),
        (storage(), answer(evaluation("Surprise")), SILENT, NOT_EVALUATED),
        (storage(), answer({**evaluation(), "effectDetails": None}), SILENT, NOT_EVALUATED),
        (storage(), answer(evaluation("Deny", result="Error")), SILENT, NOT_EVALUATED),
        (storage(), Say(200, {"contentEvaluationResult": "odd"}), SILENT, UNUSABLE_ANSWER),
        (storage(), Say(200, {"fieldRestrictions": "odd"}), SILENT, UNUSABLE_ANSWER),
        (storage(), answer("odd"), SILENT, UNUSABLE_ANSWER),
        (storage(), Say(200, "<html>"), SILENT, UNUSABLE_ANSWER),
        (storage(), Say(404, {"error": {"code": "ResourceGroupNotFound", "message": "-"}}), SILENT, "ResourceGroupNotFound"),
        (storage(), Say(403, {"error": {"code": "AuthorizationFailed", "message": "-"}}), SILENT, "AuthorizationFailed"),
        (storage(), Say(409, {"error": {"code": "MissingSubscriptionRegistration"}}), SILENT, "MissingSubscriptionRegistration"),
        (storage(), Say(500), SILENT, "UnknownError"),
        (storage(body={"location": HiddenValue.LATER}), answer(evaluation("Deny", "location")), SILENT, NOT_EVALUATED),
        (storage(body={"properties": {"a": {"b": HiddenValue.SECRET}}}), answer(evaluation("Deny", "properties.a")), SILENT, NOT_EVALUATED),
        (storage(body={"properties": {"a": HiddenValue.SECRET}}), answer(evaluation("Deny", "properties.A.b")), SILENT, NOT_EVALUATED),
        (storage(body={"properties": {"a": HiddenValue.SECRET}}), answer(evaluation("Deny")), SILENT, NOT_EVALUATED),
        (storage(body={"properties": {"a": HiddenValue.SECRET}}), answer(evaluation("Deny", "location")), REFUSED, DENIED),
        (storage(doubt="no subscription is set"), answer(), SILENT, UNKNOWN_VALUE),
        (storage("x", f"{SUB}/resourceGroups/<the group>"), answer(), SILENT, UNKNOWN_VALUE),
        (change("/providers/Microsoft.Management/managementGroups/all", {}), answer(), SILENT, NOT_EVALUATED),
    ],
)  # fmt: skip
async def test_each_answer_has_its_verdict(planned, said, verdict, code):
    findings, _ = await send_request([planned], said)
    [(_, found, found_code)] = show(findings)
    assert (found, found_code) == (verdict, code)


TAGGED = {"location": "westeurope", "tags": {"Env": "prod"}}


@pytest.mark.parametrize(
    ("body", "row", "verdict", "code"),
    [
        ({"location": "westeurope"}, field("tags.env", defaultValue="dev"), WARNING, CHANGED),
        ({"location": "westeurope"}, field("tags['env']", defaultValue="dev"), WARNING, CHANGED),
        (TAGGED, field("tags.env", defaultValue="prod"), FINE, ""),
        (TAGGED, field("tags.env", defaultValue="dev"), WARNING, CHANGED),
        (TAGGED, field("tags.env", "Removed"), WARNING, CHANGED),
        ({"location": "westeurope"}, field("tags.env", "Removed"), FINE, ""),
        ({"location": "westeurope"}, field("tags.env", effect="Deny", values=["a"]), REFUSED, DENIED),
        (TAGGED, field("tags.env", effect="Deny", values=["a"]), FINE, ""),
        (TAGGED, field("tags.env", effect="Audit"), FINE, ""),
        (TAGGED, field("location", "Deny", "Deny", values=["West Europe"]), REFUSED, DENIED),
        (TAGGED, field("location", "Deny", "Deny", values=["eastus"]), FINE, ""),
        ({"location": HiddenValue.LATER}, field("location", "Deny", "Deny", values=["eastus"]), SILENT, NOT_EVALUATED),
        ({"location": HiddenValue.LATER}, field("location", effect="Deny", values=["eastus"]), SILENT, NOT_EVALUATED),
        ({"location": HiddenValue.LATER}, field("location", effect="Deny"), SILENT, UNKNOWN_VALUE),
        ({"location": "x", "properties": {"a": HiddenValue.SECRET}}, field("location", effect="Deny"), FINE, ""),
        (
            {"location": "x", "properties": {"a": HiddenValue.LATER}},
            field("location", effect="Deny"),
            SILENT,
            UNKNOWN_VALUE,
        ),
        ({"location": "x", "tags": HiddenValue.LATER}, field("tags.a", effect="Deny"), SILENT, NOT_EVALUATED),
        ({"location": "x", "tags": {"a": HiddenValue.LATER}}, field("tags.a", effect="Deny"), SILENT, UNKNOWN_VALUE),
        ({"location": "x", "tags": {"a": HiddenValue.LATER}}, field("tags.a", defaultValue="b"), SILENT, UNKNOWN_VALUE),
        (TAGGED, field("tags.env", effect="Append", defaultValue="dev"), REFUSED, DENIED),
        (TAGGED, field("tags.env", "Removed", "Deny"), REFUSED, DENIED),
        (TAGGED, field("tags.env", effect="Surprise"), SILENT, NOT_EVALUATED),
        (TAGGED, field("", effect="Deny"), SILENT, NOT_EVALUATED),
        (TAGGED, field("x" * 500, effect="Deny"), SILENT, NOT_EVALUATED),
        (
            {"location": "x", "tags": HiddenValue.LATER},
            field("tags.a", effect="Deny", values=["b"]),
            SILENT,
            NOT_EVALUATED,
        ),
    ],
)
async def test_each_restriction_of_a_field_has_its_verdict(body, row, verdict, code):
    findings, _ = await send_request([storage(body=body)], answer(fields=[row]))
    assert show(findings) == [("stapp1", verdict, code)]


async def test_an_unknown_name_or_region_is_a_pending_field():
    _, seen = await send_request([storage("<the name>", body={"location": HiddenValue.LATER})], answer())
    assert seen[1].body["pendingFields"] == [{"field": "name"}, {"field": "location"}, {"field": "tags"}]
    assert seen[1].body["resourceDetails"]["resourceContent"] == {"type": "Microsoft.Storage/storageAccounts"}


LATER, BEFORE = "2099-01-01T00:00:00Z", "2020-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("rows", "exempt", "verdict", "says"),
    [
        (listed(assignment()), listed(), REFUSED, "denies it: Not in Europe."),
        (listed(assignment(enforcementMode="DoNotEnforce")), listed(), WARNING, "is not enforced"),
        (listed(assignment()), listed(exemption()), FINE, ""),
        (listed(assignment()), listed(exemption(expiresOn=LATER)), FINE, ""),
        (listed(assignment()), listed(exemption(expiresOn=BEFORE)), REFUSED, "denies it"),
        (listed(assignment()), listed(exemption(expiresOn="soon")), WARNING, "entry that cannot be read"),
        (listed(assignment()), listed(exemption(storage_id())), FINE, ""),
        (listed(assignment()), listed(exemption(storage_id("other"))), REFUSED, "denies it"),
        (listed(assignment()), listed(exemption(policyDefinitionReferenceIds=["REF1"])), FINE, ""),
        (listed(assignment()), listed(exemption(policyDefinitionReferenceIds=["ref2"])), REFUSED, "denies it"),
        (listed(assignment()), listed(exemption(policyAssignmentId=f"{EUROPE}2")), REFUSED, "denies it"),
        (listed(assignment()), listed(exemption(resourceSelectors=[{"name": "x"}])), WARNING, "some resources only"),
        (listed(assignment()), Say(403, {"error": {"code": "AuthorizationFailed"}}), WARNING, "exemptions cannot be read"),
        (listed(assignment()), Say(500), WARNING, "exemptions cannot be read"),
        (Say(403, {"error": {"code": "AuthorizationFailed"}}), listed(), WARNING, "assignments at"),
        (listed({"id": "odd"}), listed(), WARNING, "entry that cannot be read"),
        (listed(assignment(f"{EUROPE}2")), listed(), WARNING, "not in Azure's list"),
    ],
)  # fmt: skip
async def test_a_denial_is_looked_up_before_it_is_called_refused(rows, exempt, verdict, says):
    said = answer(evaluation("Deny", "location", reference="ref1"))
    findings, _ = await send_request([storage()], said, assignments=rows, exemptions=exempt)
    finding = only(findings)
    assert finding.verdict == verdict
    assert says in finding.message


async def test_what_is_exempt_or_not_enforced_changes_nothing():
    said = answer(evaluation("Modify", "properties.a"), evaluation("Audit"))
    findings, _ = await send_request([storage()], said, exemptions=listed(exemption()))
    assert only(findings).verdict is CheckVerdict.FINE
    findings, _ = await send_request([storage()], said, assignments=listed(assignment(enforcementMode="DoNotEnforce")))
    assert show(findings) == [("stapp1", WARNING, AUDITED)]


async def test_a_finding_names_the_assignment_its_words_and_the_field():
    texts = [{"message": "Use Europe."}, {"message": "Use Paris.", "policyDefinitionReferenceId": "paris"}]
    rows = listed(assignment(nonComplianceMessages=texts))
    for reference, text in (("", "Use Europe."), ("other", "Use Europe."), ("PARIS", "Use Paris.")):
        said = answer(evaluation("Deny", "location", reference=reference))
        finding = only((await send_request([storage()], said, assignments=rows))[0])
        assert finding.message == f'The policy assignment "Only Europe" at {SUB} denies it: {text}'
        assert finding.contact == 'Ask the owner of the policy assignment "Only Europe" for an exemption.'
        assert finding.path == "/location"


async def test_a_change_of_a_policy_is_foretold():
    findings, _ = await send_request([storage()], answer(fields=[field("tags.cost/center", defaultValue="7")]))
    finding = only(findings)
    assert finding.message.endswith(
        'would set tags.cost/center to "7". Azure would then differ from git, and later plans would not show it.'
    )
    assert finding.path == "/tags/cost~1center"


async def test_a_field_and_a_body_denied_by_one_policy_are_one_finding():
    said = answer(evaluation("Deny", "tags.env"), fields=[field("tags.env", effect="Deny")])
    assert len((await send_request([storage()], said))[0]) == 1
