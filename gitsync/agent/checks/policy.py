"""The check `policy`: what Azure Policy would deny, change or report (docs/checks.md).

Azure evaluates a body without writing it. Its response does not show whether an assignment is enforced or has an
exemption, so both are looked up before anything is called refused.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from gitsync.agent.checks.allowance import Allowance, make_limit_finding
from gitsync.agent.checks.check_requests import UNKNOWN_VALUE, UNUSABLE_ANSWER, CheckRequests, Unanswered, shorten_text
from gitsync.agent.checks.planned_bodies import drop_unknown, list_unknown
from gitsync.agent.checks.policy_claims import Case, PolicyClaim, PolicyEffect, evaluate
from gitsync.desired.formats.arm_path import (
    choose_deployment_scope,
)
from gitsync.desired.formats.json_members import list_mappings
from gitsync.desired.formats.json_pointer import format_pointer
from gitsync.model.arm_id import ArmId, IdKey
from gitsync.model.check import CheckFinding, CheckName, CheckVerdict, Findings, HiddenValue, PlannedChange
from gitsync.model.gvk import Key
from gitsync.providers.arm.http.response_bodies import Entries

DENIED: Final = "RequestDisallowedByPolicy"
CHANGED: Final = "ChangedByPolicy"
"""The code of a field that a policy would add or change."""
AUDITED: Final = "ReportedByPolicy"
"""The code of a resource that a policy would report, and not stop."""
NOT_EVALUATED: Final = "PolicyNotEvaluated"
"""The code of a policy whose effect Azure's response does not show."""
SAMPLED: Final = "NameSampled"
"""The code of a resource that is equal to others that were checked, except for its name."""

_SAMPLED: Final = (
    "Policies were checked for equal resources with other names or groups, and none applies to those. "
    "A policy about names may still apply to this resource."
)
_SAMPLED_DOUBT: Final = (
    "Policies were checked for equal resources with other names or groups, and one applies to those. "
    "It may not apply to this resource."
)
_FORBIDDEN: Final = 403
SAMPLES: Final = 3
"""How many of the resources that differ in their names only are checked."""
AT_ONCE: Final = 8

_ASSIGNMENTS: Final = ("providers/Microsoft.Authorization/policyAssignments", "2023-04-01")
_EXEMPTIONS: Final = ("providers/Microsoft.Authorization/policyExemptions", "2022-07-01-preview")
_CHECK: Final = ("providers/Microsoft.PolicyInsights/checkPolicyRestrictions", "2024-10-01")
_GROUP: Final = "microsoft.resources/resourcegroups"
_GROUP_OF_POLICIES: Final = "Microsoft.Resources/subscriptions/resourceGroups"
_MANAGEMENT_GROUPS: Final = "/providers/microsoft.management/managementgroups/"
_EXTENSION: Final = "/providers/microsoft.authorization/policy"  # begins the steps of an assignment or exemption


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A policy, or a set of policies, that is in force at a scope."""

    id: ArmId
    title: str  # its display name
    scope: ArmId
    is_enforced: bool  # it refuses requests; if not, it only reports
    not_scopes: tuple[ArmId, ...]  # the ids that it does not apply to, nor to anything below
    messages: tuple[tuple[str, str], ...]  # pairs of a policy of the set, "" for all, and the text for people

    def covers(self, arm_id: ArmId) -> bool:
        return _covers(self.scope, arm_id) and not any(_covers(scope, arm_id) for scope in self.not_scopes)

    def find_message(self, reference: str) -> str:
        """Find its message for people about one of its policies."""
        texts = dict(reversed(self.messages))
        return texts.get(reference.casefold()) or texts.get("") or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exemption:
    """An exemption from an assignment, or from some policies of a set."""

    scope: ArmId
    assignment: ArmId  # the id of the assignment
    references: frozenset[str]  # those policies of the set, none for all
    expires: datetime | None  # None for an exemption without an end
    is_partial: bool  # it holds for some resources only, by a rule that is not evaluated here

    def concerns(self, claim: PolicyClaim, arm_id: ArmId, now: datetime) -> bool:
        is_valid = self.expires is None or now < self.expires
        is_meant = not self.references or claim.reference.casefold() in self.references
        return is_valid and is_meant and self.assignment.is_same(claim.assignment) and _covers(self.scope, arm_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The assignments of a scope."""

    assignments: Sequence[Assignment]
    gap: str = ""  # the reason why some may be missing, "" if none is

    def is_same_for_groups(self, subscription: ArmId) -> bool:
        """Return whether nothing is assigned to a part of a subscription, and no part of it left out."""
        scopes = (scope for rule in self.assignments for scope in (rule.scope, *rule.not_scopes))
        return not self.gap and not any(scope.is_below(subscription) for scope in scopes)


async def check_policy(changes: Sequence[PlannedChange], requests: CheckRequests) -> Findings:
    """Find what Azure Policy does to what would be created, updated or replaced."""
    findings: Findings = []
    new_groups = {
        change.arm_id.key
        for change in changes
        if change.arm_type.casefold() == _GROUP and change.creates and not change.replaces
    }
    cases: list[Case] = []
    for change in changes:
        if change.body is not None:
            case = build_case(change, new_groups)
            if isinstance(case, Case):
                cases.append(case)
            else:
                findings.append((change.key, case))
    scopes = Scopes(frozenset(case.scope for case in cases), requests)
    listed = await asyncio.gather(*(_read_rules(scope, scopes) for scope in sorted(scopes.all)))
    rules = dict(zip(sorted(scopes.all), listed, strict=True))
    concerned = []
    for case in cases:
        in_force = rules[case.scope]
        if in_force.gap or any(rule.covers(case.change.arm_id) for rule in in_force.assignments):
            concerned.append(case)
        else:
            findings.append((case.change.key, _find(CheckVerdict.FINE)))
    classes = group_equals(concerned, rules, requests.allowance)
    samples = [(case, equals) for equals in classes for case in choose_samples(equals)]
    granted = await requests.claim(
        # The first one of a class answers for all.
        [equal.change for equal in (equals if case is equals[0] else [case])]
        for case, equals in samples
    )
    gate = asyncio.Semaphore(AT_ONCE)
    sent = [case for (case, _), may_send in zip(samples, granted, strict=True) if may_send]
    said = await asyncio.gather(*(_send(case, requests, gate) for case in sent))
    answers = {case.change.key: answer for case, answer in zip(sent, said, strict=True)}
    runs = [_evaluate_class(equals, answers, rules, scopes) for equals in classes]
    return findings + [finding for found in await asyncio.gather(*runs) for finding in found]


@dataclass(frozen=True, slots=True)
class Scopes:
    """The scopes of a plan, and how what is assigned there is listed: where several are in one subscription, its own
    list has all of them, unless the identity may only read the groups.
    """

    all: frozenset[ArmId]
    requests: CheckRequests

    async def list(self, scope: str, what: tuple[str, str]) -> Entries | Unanswered:
        path, api_version = what
        subscription = ArmId("/".join(scope.split("/")[:3]))
        if sum(other.is_within(subscription) for other in self.all) > 1:
            answer = await self.requests.list(f"{subscription}/{path}", api_version)
            if not isinstance(answer, Unanswered) or answer.status != _FORBIDDEN:
                return answer
        # Without a filter: the list has what is inherited, and also what is assigned to a single resource.
        return await self.requests.list(f"{scope}/{path}", api_version)


def group_equals(cases: Sequence[Case], rules: Mapping[ArmId, Rules], allowance: Allowance) -> list[list[Case]]:
    """Group the cases that differ in nothing but names, the riskiest of each first.

    The group is one of these names if what is assigned makes no difference between groups.
    """
    classes: defaultdict[str, list[Case]] = defaultdict(list)
    for case in sorted(cases, key=lambda case: allowance.rate_change(case.change)):
        subscription = ArmId("/".join(case.scope.split("/")[:3]))
        is_same = rules[case.scope].is_same_for_groups(subscription)
        deployment_scope = subscription if is_same else choose_deployment_scope(case.change.arm_id)
        classes[_make_class(case, deployment_scope)].append(case)
    return list(classes.values())


def _make_class(case: Case, deployment_scope: str) -> str:
    """Make a text that is the same for equal cases. Children differ in the names of their parents, too."""
    details = case.request_body["resourceDetails"]
    content = {name: value for name, value in details["resourceContent"].items() if name != "name"}
    pending, is_in_new_group = case.request_body["pendingFields"], case.scope.resource_group is None
    same = [
        deployment_scope.casefold(),
        is_in_new_group,
        content,
        details["apiVersion"],
        "scope" in details,
        pending,
        case.left_out,
    ]
    return json.dumps(same, sort_keys=True)


def choose_samples(equals: Sequence[Case]) -> list[Case]:
    """Choose those to check: the riskiest, and the shortest and the longest name, since policies about names look at
    their form. Each pair of a name and a group is checked once.
    """
    by_length = sorted(equals, key=lambda case: (len(case.change.arm_id), case.change.arm_id))
    chosen = (equals[0], by_length[-1], by_length[0], by_length[len(equals) // 2])
    return list({case.change.key: case for case in chosen}.values())[:SAMPLES]


async def _evaluate_class(
    equals: Sequence[Case],
    answers: Mapping[Key, Mapping[str, Any] | Unanswered],
    rules: Mapping[ArmId, Rules],
    scopes: Scopes,
) -> Findings:
    """Find what the answers about some of the equal cases say of each."""
    findings: Findings = []
    said = [answers[case.change.key] for case in equals if case.change.key in answers]
    sample = next((answer for answer in said if not isinstance(answer, Unanswered)), None)
    unanswered = next((answer.as_finding(CheckName.POLICY) for answer in said if isinstance(answer, Unanswered)), None)
    for case in equals:
        key, in_force = case.change.key, rules[case.scope]
        if key in answers:
            found = await _evaluate_case(case, answers[key], in_force, scopes)
        elif sample is not None:
            found = await _evaluate_by_sample(case, sample, in_force, scopes)
        else:
            found = [unanswered or make_limit_finding(CheckName.POLICY)]
        findings += [(key, finding) for finding in found]
    return findings


async def _evaluate_case(
    case: Case, answer: Mapping[str, Any] | Unanswered, rules: Rules, scopes: Scopes
) -> list[CheckFinding]:
    if isinstance(answer, Unanswered):
        return [answer.as_finding(CheckName.POLICY)]
    claims = evaluate(case, answer)
    if claims is None:
        message = "Azure's response about policies is malformed."
        return [_find(CheckVerdict.NOT_CHECKED, UNUSABLE_ANSWER, message)]
    return await _evaluate_all(case, claims, rules, scopes) or [_make_unhindered(case)]


async def _evaluate_by_sample(
    case: Case, answer: Mapping[str, Any], rules: Rules, scopes: Scopes
) -> list[CheckFinding]:
    """Evaluate a case by the response for an equal one with another name."""
    claims = evaluate(case, answer) or []
    # A claim on the body applies to both cases; one on the name may not.
    ours = [
        claim for claim in claims if claim.is_of_body and claim.effect in {PolicyEffect.DENIES, PolicyEffect.REPORTS}
    ]
    found = await _evaluate_all(case, ours, rules, scopes)
    if any(finding.verdict is CheckVerdict.REFUSED for finding in found):
        return found
    return [*found, _find(CheckVerdict.NOT_CHECKED, SAMPLED, _SAMPLED_DOUBT if len(ours) < len(claims) else _SAMPLED)]


async def _evaluate_all(case: Case, claims: Sequence[PolicyClaim], rules: Rules, scopes: Scopes) -> list[CheckFinding]:
    exemptions: Entries | Unanswered = []
    if any(claim.effect is not PolicyEffect.UNCLEAR for claim in claims):
        exemptions = await scopes.list(case.scope, _EXEMPTIONS)
    found = [evaluate_claim(case.change.arm_id, claim, rules, exemptions, scopes.requests.now) for claim in claims]
    return list(dict.fromkeys(finding for finding in found if finding))


def build_case(change: PlannedChange, new_groups: set[IdKey]) -> Case | CheckFinding:
    """Build the request about a change, without what is secret or unknown; or return why there is none."""
    parent, _, name = change.arm_id.rstrip("/").rpartition("/")
    if change.doubt or "<" in parent:
        return _find(CheckVerdict.NOT_CHECKED, UNKNOWN_VALUE, change.id_gap)
    scope = ArmId(choose_deployment_scope(change.arm_id))
    if scope == "/":
        return _find(CheckVerdict.NOT_CHECKED, NOT_EVALUATED, "Azure evaluates policies in a subscription only.")
    owner = _find_owner(change)
    # A group of the plan does not exist yet, so the request goes to its subscription.
    if scope.key in new_groups:
        scope, owner = ArmId("/".join(scope.split("/")[:3])), owner or scope
    body = change.body or {}
    left_out = tuple(path for path, _ in list_unknown(body))
    is_group = change.arm_type.casefold() == _GROUP
    content = {**drop_unknown(body), "type": _GROUP_OF_POLICIES if is_group else change.arm_type}
    content.pop("name", None)
    pending = []
    if "<" in name:
        pending.append({"field": "name"})
    else:
        content["name"] = name
    if ("location",) in left_out:
        pending.append({"field": "location"})
    if "location" in body or "tags" in body:  # what has neither has no tags
        pending.append({"field": "tags"})
    details = {"resourceContent": content, "apiVersion": change.api_version, **({"scope": owner} if owner else {})}
    request_body = {"resourceDetails": details, "pendingFields": pending, "includeAuditEffect": True}
    return Case(change=change, scope=scope, request_body=request_body, left_out=left_out)


def _find_owner(change: PlannedChange) -> str:
    """The id of the resource that a change is a child or an extension of; "" if it is neither."""
    above = change.arm_id[: change.arm_id.key.rfind("/providers/")]
    if change.arm_type.count("/") > 1:
        return change.arm_id.rstrip("/").rsplit("/", 2)[0]
    return above if "/providers/" in above.casefold() else ""


async def _read_rules(scope: ArmId, scopes: Scopes) -> Rules:
    answer = await scopes.list(scope, _ASSIGNMENTS)
    if isinstance(answer, Unanswered):
        return Rules(assignments=(), gap=f"The assignments at {scope} cannot be read: {answer.reason}")
    found = [read_assignment(row) for row in answer]
    gap = f"Azure's list of assignments at {scope} has an entry that cannot be read." if None in found else ""
    return Rules(assignments=[each for each in found if each], gap=gap)


def read_assignment(row: Mapping[str, Any]) -> Assignment | None:
    """Read an entry of a list of assignments; None if it is not one."""
    own_id, properties = row.get("id"), row.get("properties")
    if not isinstance(own_id, str) or not isinstance(properties, Mapping):
        return None
    at = own_id.casefold().rfind(_EXTENSION)
    if at < 0:
        return None
    messages = [
        (str(each.get("policyDefinitionReferenceId") or "").casefold(), shorten_text(each.get("message")))
        for each in list_mappings(properties, "nonComplianceMessages")
    ]
    not_scopes = properties.get("notScopes")
    return Assignment(
        id=ArmId(own_id),
        title=shorten_text(properties.get("displayName")) or shorten_text(own_id.rpartition("/")[2]),
        scope=ArmId(own_id[:at]),
        is_enforced=str(properties.get("enforcementMode") or "Default").casefold() != "donotenforce",
        not_scopes=tuple(ArmId(scope) for scope in not_scopes if isinstance(scope, str))
        if isinstance(not_scopes, list)
        else (),
        messages=tuple(messages),
    )


def read_exemption(row: Mapping[str, Any]) -> Exemption | None:
    """Read an entry of a list of exemptions; None if it is not one."""
    own_id, properties = row.get("id"), row.get("properties")
    if not isinstance(own_id, str) or not isinstance(properties, Mapping):
        return None
    at, assignment = own_id.casefold().rfind(_EXTENSION), properties.get("policyAssignmentId")
    references, expires = properties.get("policyDefinitionReferenceIds") or [], properties.get("expiresOn")
    if at < 0 or not isinstance(assignment, str) or not isinstance(references, list):
        return None
    try:
        ends = datetime.fromisoformat(expires) if expires else None
    except (TypeError, ValueError):
        return None
    return Exemption(
        scope=ArmId(own_id[:at]),
        assignment=ArmId(assignment),
        references=frozenset(str(reference).casefold() for reference in references),
        expires=ends if ends is None or ends.tzinfo else ends.replace(tzinfo=UTC),
        is_partial=bool(properties.get("resourceSelectors")),
    )


async def _send(case: Case, requests: CheckRequests, gate: asyncio.Semaphore) -> Mapping[str, Any] | Unanswered:
    async with gate:
        return await requests.send(f"{case.scope}/{_CHECK[0]}", _CHECK[1], case.request_body)


def _make_unhindered(case: Case) -> CheckFinding:
    """Make the finding of a change that no policy refuses as far as it is known."""
    if "<" in case.change.arm_id:
        message = "No policy denies what is known of it, but its name is not known yet."
        return _find(CheckVerdict.NOT_CHECKED, UNKNOWN_VALUE, message)
    # Policies do not read secrets, so only values that are known later leave a doubt.
    later = [path for path, kind in list_unknown(case.change.body) if kind is HiddenValue.LATER]
    if later:
        pointer = format_pointer(later[0])
        message = f"No policy denies what is known of it, but the value of {pointer} is not known yet."
        return _find(CheckVerdict.NOT_CHECKED, UNKNOWN_VALUE, message, path=pointer)
    return _find(CheckVerdict.FINE)


def evaluate_claim(
    arm_id: ArmId, claim: PolicyClaim, rules: Rules, exemptions: Entries | Unanswered, now: datetime
) -> CheckFinding | None:
    """Make the finding of a claim, from what was looked up. None if it does not hold for the resource."""
    assignment = next((each for each in rules.assignments if each.id.is_same(claim.assignment)), None)
    if assignment and not assignment.covers(arm_id):
        return None
    title = assignment.title if assignment else shorten_text(claim.assignment.rpartition("/")[2]) or "unknown"
    named = f'The policy assignment "{title}"' + (f" at {assignment.scope}" if assignment else "")
    contact = f'Ask the owner of the policy assignment "{title}"'
    if claim.effect is PolicyEffect.UNCLEAR:
        message = f"{named} is not checked: {claim.text}"
        return _find(CheckVerdict.NOT_CHECKED, NOT_EVALUATED, message, path=claim.path)
    exempt, doubt = _decide_exemption(arm_id, claim, exemptions, now)
    if exempt:
        return None
    reason = (assignment.find_message(claim.reference) if assignment else "") or claim.text
    reason = f": {reason.rstrip('.')}." if reason else "."
    advice = "Change the manifest so that it complies with the policy."
    is_enforced = assignment is None or assignment.is_enforced
    if claim.effect is PolicyEffect.REPORTS:
        message = f"{named} would report it as not compliant{reason}"
        return _find(CheckVerdict.WARNING, AUDITED, message, advice, contact=f"{contact}.", path=claim.path)
    if claim.denies:
        verdict, message = CheckVerdict.REFUSED, f"{named} denies it{reason}"
        gap = doubt or ("" if assignment else rules.gap or "The assignment is not in Azure's list of them.")
        if not is_enforced:  # Azure evaluates such an assignment, and denies nothing by it
            verdict, message = CheckVerdict.WARNING, f"{named} is not enforced; otherwise it would deny it{reason}"
        elif gap:
            verdict, message = CheckVerdict.WARNING, f"{message} The denial is not certain. {gap}"
        return _find(verdict, DENIED, message, advice, contact=f"{contact} for an exemption.", path=claim.path)
    # What Azure answers to a write becomes the baseline, so no later plan finds a difference there.
    advice = "Set the fields in the manifest to the values that the policy sets."
    message = f"{named} would {claim.text}. Azure would then differ from git, and later plans would not show it."
    return _find(CheckVerdict.WARNING, CHANGED, message, advice, path=claim.path) if is_enforced else None


def _decide_exemption(
    arm_id: ArmId, claim: PolicyClaim, exemptions: Entries | Unanswered, now: datetime
) -> tuple[bool, str]:
    """Return whether a resource is exempt from a policy, and why that is not certain."""
    if isinstance(exemptions, Unanswered):
        return False, f"The exemptions cannot be read: {exemptions.reason}"
    found = [read_exemption(row) for row in exemptions]
    matching = [each for each in found if each and each.concerns(claim, arm_id, now)]
    if any(not each.is_partial for each in matching):
        return True, ""
    if matching:
        return False, "An exemption applies to some resources only."
    return False, "Azure's list of exemptions has an entry that cannot be read." if None in found else ""


def _find(
    verdict: CheckVerdict, code: str = "", message: str = "", advice: str = "", *, contact: str = "", path: str = ""
) -> CheckFinding:
    return CheckFinding(
        check=CheckName.POLICY,
        verdict=verdict,
        code=code,
        message=message,
        advice=advice,
        contact=contact,
        path=path,
    )


def _covers(scope: ArmId, arm_id: ArmId) -> bool:
    """Return whether a scope contains a resource."""
    # Of management groups, Azure lists only those that contain the resource.
    is_group = f"{scope.casefold()}/".startswith(_MANAGEMENT_GROUPS)
    return is_group or arm_id.is_within(scope)
