"""What the check `policy` asks, and what the answers mean. The real client asks a scripted server."""

import pytest

from gitsync.checks.policy import AUDITED, CHANGED, DENIED, MOST, NOT_EVALUATED, TOO_MANY, check_policy
from gitsync.checks.questions import ODD_ANSWER, UNKNOWN_VALUE
from gitsync.model.check import CheckVerdict, HiddenValue
from gitsync.model.verdict import Action
from tests.checks.asking import GROUP, SUB, asking, change, only, show, storage, storage_id
from tests.support.scripted_server import Say

FINE, REFUSED, WARNING, SILENT = "fine", "refused", "warning", "not-checked"
ASSIGNMENTS = "/providers/Microsoft.Authorization/policyAssignments"
EXEMPTIONS = "/providers/Microsoft.Authorization/policyExemptions"
ASK = "/providers/Microsoft.PolicyInsights/checkPolicyRestrictions"
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


async def ask(changes, said: Say, *, assignments: Say | None = None, exemptions: Say | None = None, scope: str = GROUP):
    """Findings, and the requests that were sent."""
    async with asking() as (rig, questions):
        rig.server.on("GET", scope + ASSIGNMENTS, assignments or listed(assignment()))
        rig.server.on("GET", scope + EXEMPTIONS, exemptions or listed())
        rig.server.on("POST", scope + ASK, said)
        findings = await check_policy(changes, questions)
        return findings, rig.server.seen


async def test_the_question_has_the_known_body_and_what_a_policy_might_add():
    body = {
        "name": "stapp1",
        "location": "westeurope",
        "properties": {"key": HiddenValue.SECRET, "a": [HiddenValue.SECRET, 1]},
    }
    findings, seen = await ask([storage(body=body)], Say(200, {}))
    assert show(findings) == [("stapp1", FINE, "")]
    assert [one.line for one in seen] == [f"GET {GROUP}{ASSIGNMENTS}", f"POST {GROUP}{ASK}"]
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
    _, seen = await ask([planned], Say(200, {}), scope=scope)
    details = seen[1].body["resourceDetails"]
    assert details["resourceContent"]["type"] == type_
    assert details["resourceContent"]["name"] == planned.arm_id.rpartition("/")[2]
    assert details.get("scope") == owner


async def test_the_subscription_is_asked_about_what_goes_into_a_new_group():
    changes = [change(GROUP), storage(), storage("old", f"{SUB}/resourceGroups/old")]
    """Its question names the group all the same."""
    async with asking() as (rig, questions):
        for scope in (SUB, f"{SUB}/resourceGroups/old"):
            rig.server.on("GET", scope + ASSIGNMENTS, listed(assignment()))
            rig.server.on("POST", scope + ASK, Say(200, {}))
        assert {verdict for _, verdict, _ in show(await check_policy(changes, questions))} == {FINE}
        assert sorted(rig.server.lines) == [
            f"GET {SUB}{ASSIGNMENTS}",
            f"GET {SUB}/resourceGroups/old{ASSIGNMENTS}",
            f"POST {SUB}{ASK}",
            f"POST {SUB}{ASK}",
            f"POST {SUB}/resourceGroups/old{ASK}",
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
    findings, seen = await ask(changes, Say(200, {}), assignments=listed(*rows))
    assert [one.line for one in seen] == [f"GET {GROUP}{ASSIGNMENTS}"]
    assert show(findings) == sorted((f"st{number}", FINE, "") for number in range(20))


async def test_a_policy_of_one_resource_or_of_a_management_group_is_in_force():
    above = "/providers/Microsoft.Management/managementGroups/all"
    for own_id in (f"{storage_id()}{ASSIGNMENTS}/a", f"{above}{ASSIGNMENTS}/a"):
        _, seen = await ask([storage()], Say(200, {}), assignments=listed(assignment(own_id)))
        assert len(seen) == 2


async def test_one_question_for_a_distinct_body():
    twice = [storage("a", called="first"), storage("a", called="second"), storage("b")]
    findings, seen = await ask(twice, answer(evaluation()))
    assert sorted(one.method for one in seen) == ["GET", "GET", "POST", "POST"]
    assert {verdict for _, verdict, _ in show(findings)} == {REFUSED}


async def test_more_than_the_most_is_not_checked_and_says_how_to_go_on():
    findings, seen = await ask([storage(f"st{number:03}") for number in range(MOST + 5)], Say(200, {}))
    assert len(seen) == MOST + 1
    assert [code for _, verdict, code in show(findings) if verdict == SILENT] == [TOO_MANY] * 5
    assert "--only" in findings[0][1].advice


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
        (storage(), Say(200, {"contentEvaluationResult": "odd"}), SILENT, ODD_ANSWER),
        (storage(), Say(200, {"fieldRestrictions": "odd"}), SILENT, ODD_ANSWER),
        (storage(), answer("odd"), SILENT, ODD_ANSWER),
        (storage(), Say(200, "<html>"), SILENT, ODD_ANSWER),
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
    findings, _ = await ask([planned], said)
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
    findings, _ = await ask([storage(body=body)], answer(fields=[row]))
    assert show(findings) == [("stapp1", verdict, code)]


async def test_an_unknown_name_or_region_is_a_pending_field():
    _, seen = await ask([storage("<the name>", body={"location": HiddenValue.LATER})], answer())
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
    findings, _ = await ask([storage()], said, assignments=rows, exemptions=exempt)
    finding = only(findings)
    assert finding.verdict == verdict
    assert says in finding.message


async def test_what_is_exempt_or_not_enforced_changes_nothing():
    said = answer(evaluation("Modify", "properties.a"), evaluation("Audit"))
    findings, _ = await ask([storage()], said, exemptions=listed(exemption()))
    assert only(findings).verdict is CheckVerdict.FINE
    findings, _ = await ask([storage()], said, assignments=listed(assignment(enforcementMode="DoNotEnforce")))
    assert show(findings) == [("stapp1", WARNING, AUDITED)]


async def test_a_finding_names_the_assignment_its_words_and_the_field():
    texts = [{"message": "Use Europe."}, {"message": "Use Paris.", "policyDefinitionReferenceId": "paris"}]
    rows = listed(assignment(nonComplianceMessages=texts))
    for reference, text in (("", "Use Europe."), ("other", "Use Europe."), ("PARIS", "Use Paris.")):
        said = answer(evaluation("Deny", "location", reference=reference))
        finding = only((await ask([storage()], said, assignments=rows))[0])
        assert finding.message == f'The policy assignment "Only Europe" at {SUB} denies it: {text}'
        assert finding.contact == 'Ask the owner of the policy assignment "Only Europe" for an exemption.'
        assert finding.path == "/location"


async def test_a_change_of_a_policy_is_foretold():
    findings, _ = await ask([storage()], answer(fields=[field("tags.cost/center", defaultValue="7")]))
    finding = only(findings)
    assert finding.message.endswith(
        'would set tags.cost/center to "7". Azure would then differ from git, and later plans would not show it.'
    )
    assert finding.path == "/tags/cost~1center"


async def test_a_field_and_a_body_denied_by_one_policy_are_one_finding():
    said = answer(evaluation("Deny", "tags.env"), fields=[field("tags.env", effect="Deny")])
    assert len((await ask([storage()], said))[0]) == 1
