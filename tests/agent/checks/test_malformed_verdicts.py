"""Whatever Azure answers, the checks of preflight, policy and quota read it or report a failure: none raises, and an
unexpected answer is never fine.
"""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from gitsync.agent.checks import policy, policy_claims, preflight
from gitsync.agent.checks.check_requests import Unanswered
from gitsync.agent.checks.machines import read_size
from gitsync.errors import ArmError
from gitsync.model.check import CheckVerdict
from tests.agent.checks.asking import GROUP, storage, storage_id

ASSIGNMENT = f"{GROUP}/providers/Microsoft.Authorization/policyAssignments/p"
WORDS = [
    "id",
    "name",
    "properties",
    "displayName",
    "notScopes",
    "nonComplianceMessages",
    "message",
    "policyDefinitionReferenceId",
    "expiresOn",
    "policyAssignmentId",
    "policyDefinitionReferenceIds",
    "resourceSelectors",
    "fieldRestrictions",
    "field",
    "restrictions",
    "result",
    "values",
    "defaultValue",
    "policy",
    "policyEffect",
    "contentEvaluationResult",
    "policyEvaluations",
    "policyInfo",
    "evaluationResult",
    "effectDetails",
    "evaluationDetails",
    "evaluatedExpressions",
    "path",
    "reason",
    "code",
    "target",
    "details",
    "additionalInfo",
    "info",
    "validatedResources",
    "resourceType",
    "family",
    "locations",
    "locationInfo",
    "location",
    "zones",
    "capabilities",
    "value",
    "restrictions",
    "restrictionInfo",
    "type",
]
TEXTS = [ASSIGNMENT, storage_id(), "stapp1", "NonCompliant", "Deny", "Modify", "Required", "tags.env", "location", "4"]
TEXTS += [
    "virtualMachines",
    "westeurope",
    "vCPUs",
    "Location",
    "RequestDisallowedByPolicy",
    "2099-01-01",
    "properties.a",
]
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=5)
    | st.sampled_from(TEXTS)
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4),
    max_leaves=8,
)
ROWS = st.dictionaries(st.sampled_from(WORDS), VALUES, max_size=8)
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@given(answer=ROWS, rows=st.lists(ROWS, max_size=2), fields=st.lists(ROWS, max_size=2), listed=ROWS, exempt=ROWS)
def test_an_unexpected_answer_about_policies_raises_nothing(answer, rows, fields, listed, exempt):
    case = policy.build_case(storage(), set())
    assert isinstance(case, policy_claims.Case)
    claims = policy_claims.evaluate(case, answer) or []
    answer = {"contentEvaluationResult": {"policyEvaluations": rows}, "fieldRestrictions": fields}
    claims += policy_claims.evaluate(case, answer) or []
    assignment = policy.read_assignment(listed)
    rules = policy.Rules(assignments=[assignment] if assignment else [])
    for claim in claims:
        finding = policy.evaluate_claim(storage_id(), claim, rules, [exempt], NOW)
        assert finding is None or finding.verdict is not CheckVerdict.FINE
        assert finding is None or ("\n" not in finding.message and len(finding.message) < 2000)


@given(answer=ROWS, details=st.lists(ROWS, max_size=3))
def test_an_unexpected_answer_of_preflight_is_never_fine(answer, details):
    batch = [storage(), storage("stapp2")]
    error = ArmError("No.", status=400, code="ResourceValidationFailed", details=tuple(details))
    refusal = Unanswered(status=400, code="ResourceValidationFailed", reason="No.", error=error)
    found = preflight.evaluate(batch, refusal)
    assert {key for key, _ in found} == {change.key for change in batch}
    assert all(finding.verdict is not CheckVerdict.FINE and len(finding.message) < 1000 for _, finding in found)
    assert {key for key, _ in preflight.evaluate(batch, answer)} == {change.key for change in batch}


@given(row=ROWS)
def test_an_unexpected_size_raises_nothing(row):
    for unexpected in (
        row,
        {**row, "resourceType": "virtualMachines", "name": "x", "family": "f", "locations": ["westeurope"]},
    ):
        size = read_size(unexpected, "westeurope")
        assert size is None or size.cores >= 0
