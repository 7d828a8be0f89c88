"""PREFLIGHT: Azure Resource Manager validates the bodies that a run would send, and changes nothing.

One request validates all resources of a type, location and scope. The providers that take part look at more than the
form: at values that do not go together, at names that are taken, and at policies.
"""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from loguru import logger

from gitsync.agent.checks.allowance import make_limit_finding
from gitsync.agent.checks.check_requests import (
    UNKNOWN_VALUE,
    CheckRequests,
    Unanswered,
    find_missing_right,
    shorten_text,
)
from gitsync.agent.checks.planned_bodies import list_unknown, write_expressions
from gitsync.desired.formats.arm_path import choose_deployment_scope, normalize_region
from gitsync.desired.formats.json_members import read_mapping
from gitsync.desired.formats.json_pointer import format_pointer
from gitsync.desired.formats.policy_violations import list_violations, read_token_demand
from gitsync.model.arm_id import ArmId
from gitsync.model.check import CheckFinding, CheckName, CheckVerdict, Findings, PlannedChange

PATH: Final = "/providers/Microsoft.Resources/validateResources"
API_VERSION: Final = "2022-06-01"
AT_ONCE: Final = 8

NOT_VALIDATED: Final = "NotValidated"
"""The code of a resource that Azure's answer does not name."""
NO_PREFLIGHT: Final = "NoPreflight"
"""The code of a resource that preflight does not take."""

EVALUATED_OUTSIDE: Final = "PolicyTokenNeeded"
"""The code of a resource whose write needs a policy token."""

_NO_GROUP: Final = "ResourceGroupNotFound"
_GROUP: Final = "microsoft.resources/resourcegroups"
_GROUPS_VERSION: Final = "2021-04-01"
_POLICY: Final = "requestdisallowedbypolicy"
_OUR_FAULT: Final = re.compile(r"invalidtemplate.*|invalidrequest(content|format)?", re.IGNORECASE)
_PASSES: Final = re.compile(
    r"\d+|internal.*error|serviceunavailable|servertimeout|.*timeout|.*timedout|toomanyrequests|.*throttl.*|.*retryable.*",
    re.IGNORECASE,
)
# Another resource of the same plan may be created first, and a resource that the plan deletes first does not block it.
_WAITS: Final = re.compile(r".*(notfound|doesnotexist|notexist)", re.IGNORECASE)
_HELD_BY_ITSELF: Final = re.compile(
    r".*(exist|taken|inuse|invalidresourcelocation|notallowed|change|immutable).*", re.IGNORECASE
)
_TAKEN: Final = re.compile(r".*(taken|nameunavailable|namenotavailable|alreadyexists|nameinuse)", re.IGNORECASE)
_QUOTA: Final = re.compile(r".*quota.*", re.IGNORECASE)
_ASSIGNMENT: Final = re.compile(r'"policyAssignment":\s*\{[^{}]*?"name":\s*"([^"]{1,200})"')
_FIELD: Final = re.compile(r"(properties|sku|identity|zones|location|tags|kind)([./\[].*)?")


class _Batch(NamedTuple):
    """What one request is about."""

    provider: str  # the namespace; this and the rest in lower case, since ids may be in any
    type: str
    location: str
    scope: str  # the id of the subscription or the group


@dataclass(frozen=True, slots=True)
class _Leaf:
    """One reason of a refusal."""

    code: str
    message: str
    targets: tuple[str, ...]  # those of the reason and of what is around it, the nearest first
    additions: Sequence[Any]  # what else Azure returned about it, such as a policy


async def check_preflight(changes: Sequence[PlannedChange], requests: CheckRequests) -> Findings:
    """Find what Azure refuses of what would be created, updated or replaced."""
    findings: Findings = []
    batches: defaultdict[_Batch, list[PlannedChange]] = defaultdict(list)
    for change in changes:
        if change.body is None:
            continue
        # One resource that cannot be validated would fail the request for all of its batch.
        if obstacle := find_obstacle(change):
            findings.append((change.key, obstacle))
        else:
            batches[_find_batch(change)].append(change)
    # Azure validates nothing below a group that does not exist, so its batches are not worth a request.
    missing = await _list_missing_groups(changes, [batch.scope for batch in batches], requests)
    findings += [
        (change.key, _leave_without_group(_NO_GROUP))
        for batch in batches
        if batch.scope in missing
        for change in batches[batch]
    ]
    sent = [same for batch, same in batches.items() if batch.scope not in missing]
    granted = await requests.claim(sent)
    gate = asyncio.Semaphore(AT_ONCE)

    async def send(batch: Sequence[PlannedChange], *, may_send: bool) -> Findings:
        if not may_send:
            return [(change.key, make_limit_finding(CheckName.PREFLIGHT)) for change in batch]
        async with gate:
            answer = await requests.send(PATH, API_VERSION, build_request(batch))
        return evaluate(batch, answer)

    runs = (send(same, may_send=may_send) for same, may_send in zip(sent, granted, strict=True))
    return findings + [finding for found in await asyncio.gather(*runs) for finding in found]


async def _list_missing_groups(
    changes: Sequence[PlannedChange], scopes: Collection[str], requests: CheckRequests
) -> Collection[str]:
    """List which of these scopes are resource groups that a plan creates and that Azure does not have: it validates
    nothing below them, so one list for each subscription saves a request for each type in each group.

    A group that cannot be looked up is none of them.
    """
    created = {change.arm_id.key for change in changes if change.arm_type.casefold() == _GROUP and change.creates}
    groups = created & set(scopes)
    subscriptions = sorted({group.partition("/resourcegroups/")[0] for group in groups})
    lists = await asyncio.gather(
        *(requests.list(f"{subscription}/resourcegroups", _GROUPS_VERSION) for subscription in subscriptions)
    )
    for subscription, rows in zip(subscriptions, lists, strict=True):
        ids = [] if isinstance(rows, Unanswered) else [row.get("id") for row in rows]
        is_known = not isinstance(rows, Unanswered) and all(isinstance(arm_id, str) for arm_id in ids)
        here = {group for group in groups if group.startswith(f"{subscription}/")}
        # A group that cannot be looked up is not known to be missing.
        groups -= here & {ArmId(arm_id).key for arm_id in ids} if is_known else here
    return groups


def find_obstacle(change: PlannedChange) -> CheckFinding | None:
    """Find why a change cannot be validated; None if it can."""
    if change.id_gap:
        return _leave(UNKNOWN_VALUE, change.id_gap)
    if len(re.findall("/providers/", change.arm_id, re.IGNORECASE)) > 1:
        return _leave(NO_PREFLIGHT, "Preflight does not support a resource that extends another one.")
    outside = [path for path, _ in list_unknown(change.body) if path[:1] != ("properties",)]
    if not outside:
        return None
    pointer = format_pointer(outside[0])
    message = (
        f"The value of {pointer} is a secret or not known yet. Preflight supports such values below /properties only."
    )
    return replace(_leave(UNKNOWN_VALUE, message), path=pointer)


def build_request(batch: Sequence[PlannedChange]) -> dict[str, Any]:
    """Build the request about changes of one type, location and scope. No secret is in it."""
    first = batch[0]
    provider, _, short_type = first.arm_type.partition("/")
    location = normalize_region(first.location)
    return {
        "provider": provider,
        "type": short_type,
        **({"location": location} if location else {}),
        "scope": choose_deployment_scope(first.arm_id),
        # With it the right to read is enough.
        "performPreflightWithoutRbacWriteCheck": True,
        "resources": [
            {
                **write_expressions(change.body),
                **({"location": location} if location else {}),
                "name": _make_name(change),
                "apiVersion": change.api_version,
            }
            for change in batch
        ],
    }


def evaluate(batch: Sequence[PlannedChange], answer: Mapping[str, Any] | Unanswered) -> Findings:
    """Make the findings of a response. A change that it does not name is not checked."""
    if isinstance(answer, Unanswered):
        if answer.status == 400 and answer.code.casefold() == "resourcevalidationfailed":
            return _evaluate_refusal(batch, list(_list_leaves(answer.error.details)))
        if answer.code.casefold() == _NO_GROUP.casefold():
            return [(change.key, _leave_without_group(answer.code)) for change in batch]
        if answer.status == 400:
            logger.bind(code=answer.code).warning("Azure does not accept the preflight request")
        return [(change.key, answer.as_finding(CheckName.PREFLIGHT)) for change in batch]
    listed = read_mapping(answer, "properties").get("validatedResources")
    validated = {ArmId(arm_id).key for arm_id in listed if isinstance(arm_id, str)} if isinstance(listed, list) else ()
    fine = CheckFinding(check=CheckName.PREFLIGHT, verdict=CheckVerdict.FINE)
    # A 200 alone proves nothing: providers without preflight are skipped by Azure, and only the list names what it
    # validated.
    silent = _leave(NOT_VALIDATED, "Azure's response does not confirm that the resource was validated.")
    return [(change.key, fine if change.arm_id.key in validated else silent) for change in batch]


def _evaluate_refusal(batch: Sequence[PlannedChange], leaves: Sequence[_Leaf]) -> Findings:
    findings: Findings = []
    astray: list[_Leaf] = []
    for leaf in leaves:
        if change := _find_change(batch, leaf):
            is_policy = leaf.code.casefold() == _POLICY
            evaluated = (
                _evaluate_policies(leaf) if is_policy else [_find_no_answer(leaf) or _evaluate_provider(change, leaf)]
            )
            findings += [(change.key, finding) for finding in evaluated]
        else:
            astray.append(leaf)
    named = {key for key, _ in findings}
    for change in batch:
        if change.key not in named:
            findings.append((change.key, _evaluate_unnamed(len(batch), astray)))
    return list(dict.fromkeys(findings))


def _evaluate_unnamed(count: int, astray: Sequence[_Leaf]) -> CheckFinding:
    """Make the finding of a change that a refusal does not name."""
    if not astray:
        message = "Azure refuses other resources of the same request, and its response does not name this one."
        return replace(
            _leave(NOT_VALIDATED, message), advice="Correct the refused resources, then run `gitsync plan` again."
        )
    leaf = astray[0]
    if unheard := _find_no_answer(leaf):
        return unheard
    message = f"Azure refuses one of {count} resources and does not name it: {shorten_text(leaf.message)}"
    return _leave(shorten_text(leaf.code), message)


def _list_leaves(details: Sequence[Any], targets: tuple[str, ...] = ()) -> Iterator[_Leaf]:
    """List the innermost reasons of a refusal, in order."""
    for detail in details:
        if not isinstance(detail, Mapping):
            continue
        target, inner = detail.get("target"), detail.get("details")
        around = (target, *targets) if isinstance(target, str) and target else targets
        if isinstance(inner, list) and any(isinstance(each, Mapping) for each in inner):
            yield from _list_leaves(inner, around)
        else:
            additions = detail.get("additionalInfo")
            yield _Leaf(
                code=str(detail.get("code") or "UnknownError"),
                message=str(detail.get("message") or "Azure gives no reason."),
                targets=around,
                additions=additions if isinstance(additions, list) else (),
            )


def _find_change(batch: Sequence[PlannedChange], leaf: _Leaf) -> PlannedChange | None:
    """Find the change that a reason is about: its target is an id or a name. None if it may be about several."""
    # With one resource in the request, a reason can be about no other.
    if len(batch) == 1:
        return batch[0]
    for target in leaf.targets:
        wanted = ArmId(target).key
        for name in (lambda change: change.arm_id, _make_name, lambda change: change.arm_id.name):
            # A target may be the last name alone, which several resources of a request can share: then it names none of
            # them.
            if len(found := [change for change in batch if ArmId(name(change)).key == wanted]) == 1:
                return found[0]
    return None


def _evaluate_provider(change: PlannedChange, leaf: _Leaf) -> CheckFinding:
    """Make the finding of a refusal by a provider, or by Azure itself."""
    code, text = shorten_text(leaf.code), shorten_text(leaf.message)
    if _WAITS.fullmatch(leaf.code):
        return _leave(
            code,
            f"The resource needs something that does not exist in Azure yet, and the sync may create it first: {text}",
        )
    # Azure sees the old resource, which the sync deletes first.
    if change.replaces and _HELD_BY_ITSELF.fullmatch(leaf.code):
        return _leave(code, f"Azure compares it with the resource that the sync deletes first: {text}")
    field = next((target for target in leaf.targets if _FIELD.fullmatch(target)), "")
    # A limit may rise, and a delete of the same plan may come first.
    is_quota = _QUOTA.fullmatch(leaf.code) is not None
    advice = "Choose another azureName in the manifest." if _TAKEN.fullmatch(leaf.code) else "Correct the manifest."
    return CheckFinding(
        check=CheckName.PREFLIGHT,
        verdict=CheckVerdict.WARNING if is_quota else CheckVerdict.REFUSED,
        code=code,
        message=text,
        advice="Request a higher limit, or use another size or region." if is_quota else advice,
        path=format_pointer(tuple(step for step in re.split(r"[./\[\]]+", field) if step)),
    )


def _evaluate_policies(leaf: _Leaf) -> Iterator[CheckFinding]:
    """Name each assignment that denies it: of the structured part, else of the message."""
    named = _ASSIGNMENT.search(leaf.message)
    for info in list_violations(leaf.additions) or [{}]:
        title = shorten_text(info.get("policyAssignmentDisplayName")) or shorten_text(named[1] if named else "")
        evaluation = read_mapping(info, "evaluationDetails")
        assignment = f'The policy assignment "{title or "unknown"}"'
        # Azure's sentence ends with the policies as JSON.
        sentence = re.sub(r"\s*Policy identifiers:.*", "", leaf.message, flags=re.DOTALL)
        reason = shorten_text(evaluation.get("reason")) or shorten_text(sentence)
        if read_token_demand([info]):
            yield _make_token_finding(assignment)
            continue
        yield CheckFinding(
            check=CheckName.PREFLIGHT,
            verdict=CheckVerdict.REFUSED,
            code=shorten_text(leaf.code),
            message=f"{assignment} denies it: {reason}",
            advice="Change the manifest so that it complies with the policy.",
            contact=f'Ask the owner of the policy assignment "{title or "unknown"}" for an exemption.',
        )


def _make_token_finding(assignment: str) -> CheckFinding:
    """Make the finding of a policy that is evaluated when a policy token is requested, which no check does."""
    return CheckFinding(
        check=CheckName.PREFLIGHT,
        verdict=CheckVerdict.WARNING,
        code=EVALUATED_OUTSIDE,
        message=f"{assignment} is evaluated outside Azure Resource Manager. The sync requests a policy token for the "
        "write, and only then Azure allows or denies it.",
    )


def _find_no_answer(leaf: _Leaf) -> CheckFinding | None:
    """Find a reason that is not about the body: a right is missing, the request is wrong, or the provider is down."""
    text = shorten_text(leaf.message)
    if "authorization failed" in leaf.message.casefold() or leaf.code.casefold().endswith("authorizationfailed"):
        right = find_missing_right(leaf.message)
        return replace(
            _leave(shorten_text(leaf.code), f"The identity lacks the right {right}." if right else text),
            advice=f"Grant {right} to gitsync's identity." if right else "",
            missing_right=right,
        )
    if _OUR_FAULT.fullmatch(leaf.code):
        logger.bind(code=leaf.code).warning("Azure does not accept the preflight request")
        return _leave(shorten_text(leaf.code), f"Azure does not accept the preflight request: {text}")
    if _PASSES.fullmatch(leaf.code):
        return _leave(shorten_text(leaf.code), f"Azure cannot validate the resource now: {text}")
    return None


def _leave(code: str, message: str) -> CheckFinding:
    return CheckFinding(check=CheckName.PREFLIGHT, verdict=CheckVerdict.NOT_CHECKED, code=code, message=message)


def _leave_without_group(code: str) -> CheckFinding:
    return _leave(code, "The resource group does not exist yet, so Azure validates nothing in it.")


def _find_batch(change: PlannedChange) -> _Batch:
    provider, _, short_type = change.arm_type.casefold().partition("/")
    return _Batch(
        provider, short_type, normalize_region(change.location), choose_deployment_scope(change.arm_id).casefold()
    )


def _make_name(change: PlannedChange) -> str:
    """The name with one segment for each of the type: `hub/subnet1`."""
    count = change.arm_type.count("/")
    return "/".join(change.arm_id.rstrip("/").split("/")[1 - 2 * count :: 2]) if count else ""
