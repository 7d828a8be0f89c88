"""What a response of `checkPolicyRestrictions` shows of each policy, before anything is looked up."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final

from gitsync.agent.checks.check_requests import shorten_text
from gitsync.desired.formats.arm_path import normalize_region
from gitsync.desired.formats.json_members import list_mappings, read_mapping
from gitsync.desired.formats.json_pointer import JsonPath, format_pointer
from gitsync.model.arm_id import ArmId, IdKey
from gitsync.model.check import HiddenValue, PlannedChange

_IN_FIELD: Final = re.compile(r"[^.\[\]'\"]+")


class PolicyEffect(Enum):
    DENIES = auto()
    CHANGES = auto()
    REPORTS = auto()
    UNCLEAR = auto()


# What is not here does nothing to a write, or only after it.
_EFFECTS: Final = {
    "deny": PolicyEffect.DENIES,
    "append": PolicyEffect.CHANGES,
    "modify": PolicyEffect.CHANGES,
    "audit": PolicyEffect.REPORTS,
    "auditifnotexists": PolicyEffect.REPORTS,
    **dict.fromkeys(("none", "disabled", "deployifnotexists", "manual", "denyaction", "supportscapability"), None),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyClaim:
    """What a response shows of one policy, before anything is looked up."""

    effect: PolicyEffect
    assignment: ArmId
    reference: str = ""  # names the policy in a set, "" for a single one
    text: str = ""  # what the policy reports
    path: str = ""  # of the member that it refuses, "" if it names none
    is_of_body: bool = False
    """Only the body decided: the same holds for an equal body of another name, or in another group."""

    @property
    def denies(self) -> bool:
        return self.effect is PolicyEffect.DENIES

    @property
    def policy(self) -> tuple[IdKey, str]:
        return self.assignment.key, self.reference.casefold()


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A change to check."""

    change: PlannedChange
    scope: ArmId
    request_body: Mapping[str, Any]  # the body of the request
    left_out: tuple[JsonPath, ...]  # the paths that the request leaves out


def evaluate(case: Case, answer: Mapping[str, Any]) -> list[PolicyClaim] | None:
    """Find what an answer claims of each policy; None if it has another shape than such answers have."""
    restrictions, content = answer.get("fieldRestrictions") or [], answer.get("contentEvaluationResult") or {}
    evaluations = (content.get("policyEvaluations") or []) if isinstance(content, Mapping) else None
    if not isinstance(restrictions, list) or not isinstance(evaluations, list):
        return None
    if not all(isinstance(row, Mapping) for row in (*restrictions, *evaluations)):
        return None
    claims = [claim for row in evaluations if (claim := _read_evaluation(case, row))]
    denied = {claim.policy for claim in claims if claim.denies}
    for row in restrictions:
        path = _parse_field(row.get("field"))
        found = [_read_restriction(case, path, each) for each in list_mappings(row, "restrictions")]
        claims += [claim for claim in found if claim and not (claim.denies and claim.policy in denied)]
    return claims


def _read_evaluation(case: Case, row: Mapping[str, Any]) -> PolicyClaim | None:
    """Return the claim of a policy that the body does not comply with. None if it does not affect a write."""
    info, details = read_mapping(row, "policyInfo"), read_mapping(row, "evaluationDetails")
    effect = shorten_text(read_mapping(row, "effectDetails").get("policyEffect")).casefold()
    paths = [_parse_field(each.get("path")) for each in list_mappings(details, "evaluatedExpressions")]
    expressions = [path for path in paths if path and path not in {("type",), ("name",)}]
    is_of_body = bool(expressions) and all(map(_is_of_body, list_mappings(details, "evaluatedExpressions"), paths))
    assignment, reference = _read_policy(info)
    text, known = shorten_text(details.get("reason")), _EFFECTS.get(effect, PolicyEffect.UNCLEAR)
    if str(row.get("evaluationResult")).casefold() != "noncompliant":
        known, text = (
            PolicyEffect.UNCLEAR,
            f"Azure could not evaluate it ({shorten_text(row.get('evaluationResult'))}).",
        )
    elif known is PolicyEffect.UNCLEAR:
        text = f"Azure's response does not show what it would do{f' ({effect})' if effect else ''}."
    elif known is PolicyEffect.CHANGES:
        rule = f", by a rule on {'.'.join(map(str, expressions[0]))}" if expressions else ""
        text = f"change the resource{rule}"
    elif known and (unseen := _find_unseen(case, expressions)):
        known, text = PolicyEffect.UNCLEAR, f"It depends on {unseen}, whose value is a secret or not known yet."
    if known is None:
        return None
    pointer = format_pointer(expressions[0]) if expressions else ""
    return PolicyClaim(
        effect=known, assignment=assignment, reference=reference, text=text, path=pointer, is_of_body=is_of_body
    )


def _is_of_body(expression: Mapping[str, Any], path: JsonPath) -> bool:
    """Return whether an expression of a policy is about a field that a body has. Values may be of the group."""
    of_names = path in {("name",), ("fullName",), ("id",)}
    return bool(path) and not of_names and str(expression.get("expressionKind")).casefold() == "field"


def _find_unseen(case: Case, expressions: Sequence[JsonPath]) -> str:
    """Find the field that decides and was left out of the request; the first one if Azure does not name the deciding
    field. "" if none.
    """
    for left_out in case.left_out:
        for path in expressions:
            pairs = zip(left_out, path, strict=False)
            if all(str(first).casefold() == str(other).casefold() for first, other in pairs):
                return format_pointer(left_out)
    return format_pointer(case.left_out[0]) if case.left_out and not expressions else ""


def _read_restriction(case: Case, path: JsonPath, row: Mapping[str, Any]) -> PolicyClaim | None:
    """Return the claim of a policy on a field that the request calls pending. None if the change complies."""
    word, present = str(row.get("policyEffect")).casefold(), _find_present(case, path)
    effect, field = _EFFECTS.get(word, PolicyEffect.UNCLEAR), ".".join(map(str, path))
    if effect is None or effect is PolicyEffect.REPORTS:  # audits are among the evaluations
        return None
    if effect is PolicyEffect.UNCLEAR or not path:
        effect, text = PolicyEffect.UNCLEAR, "Azure's response does not show what it would do."
    elif isinstance(present, HiddenValue):
        if path in case.left_out and not row.get("values"):  # any value will do
            return None
        effect, text = PolicyEffect.UNCLEAR, f"It depends on {field}, whose value is a secret or not known yet."
    else:
        effect, text = _compare_with_restriction(word, field, present, row)
    if not text:
        return None
    assignment, reference = _read_policy(read_mapping(row, "policy"))
    return PolicyClaim(effect=effect, assignment=assignment, reference=reference, text=text, path=format_pointer(path))


def _compare_with_restriction(word: str, field: str, present: Any, row: Mapping[str, Any]) -> tuple[PolicyEffect, str]:
    """Return what a policy of an effect does to a field with this value, None for no value; "" for nothing."""
    changes, default, values = word in {"append", "modify"}, row.get("defaultValue"), row.get("values")
    reason = shorten_text(row.get("reason"))
    match str(row.get("result")).casefold():
        case "required" if changes and present != default:
            if word == "append" and present is not None:  # it overwrites nothing: another value is denied
                return PolicyEffect.DENIES, reason or f"{field} must be {_show(default)}"
            return PolicyEffect.CHANGES, f"set {field} to {_show(default)}"
        case "removed" if present is not None:
            removed = (PolicyEffect.CHANGES, f"remove {field}")
            return removed if changes else (PolicyEffect.DENIES, reason or f"{field} is not allowed")
        case "required" if not changes and present is None:
            return PolicyEffect.DENIES, reason or f"{field} is required"
        case "deny" if isinstance(values, list) and normalize_region(present) in map(normalize_region, values):
            return PolicyEffect.DENIES, reason or f"{field} is {_show(present)}"
        case _:  # whether a value is one of those allowed is among the evaluations
            return PolicyEffect.CHANGES, ""


def _find_present(case: Case, path: JsonPath) -> Any:
    """Find what a change has in a field: `HiddenValue.LATER` for what is not known, None if there is nothing."""
    if path == ("name",):
        return case.request_body["resourceDetails"]["resourceContent"].get("name", HiddenValue.LATER)
    value: Any = case.change.body
    for step in path:
        if isinstance(value, HiddenValue):
            return HiddenValue.LATER
        members = value if isinstance(value, Mapping) else {}
        value = next((members[key] for key in members if key.casefold() == str(step).casefold()), None)
    return HiddenValue.LATER if isinstance(value, HiddenValue) else value


def _parse_field(field: object) -> JsonPath:
    """Parse a field as policies write it, `tags['env']` or `properties.a[0].b`."""
    if not isinstance(field, str) or field != shorten_text(field):  # no field has such a name
        return ()
    if field.casefold().startswith("tags."):
        # The name of a tag may have dots: all after `tags.` is one name.
        return ("tags", field[5:])
    return tuple(int(step) if step.isdecimal() else step for step in _IN_FIELD.findall(field) if step != "*")


def _read_policy(info: Mapping[str, Any]) -> tuple[ArmId, str]:
    assignment, reference = info.get("policyAssignmentId"), info.get("policyDefinitionReferenceId")
    return ArmId(assignment or ""), str(reference or "")


def _show(value: object) -> str:
    return shorten_text(json.dumps(value, ensure_ascii=False))
