"""Reads a report from its JSON: the other direction of `gitsync.report.json`, for what the workers of a run have left.

Others can push to their branches, so each member is checked when it is read. What JSON lacks stays out: records, live
bodies, the fields of manifests where differences are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any, Final

from gitsync.desired.formats.strict_json import read_json
from gitsync.desired.problems.checked_mapping import CheckedMapping
from gitsync.desired.problems.field_path import FieldPath, format_field
from gitsync.errors import ExitCode, StateError
from gitsync.model.arm_id import ArmId
from gitsync.model.attribution import Attribution, AuthorKind, ChangeSource
from gitsync.model.check import CheckFinding, CheckName, CheckVerdict
from gitsync.model.condition import Condition, ConditionStatus, Severity
from gitsync.model.gvk import GVK, Key
from gitsync.model.hold import HeldUntil
from gitsync.model.identity import IdentityChange, IdentityIds, WritingIdentity
from gitsync.model.manifests import Coverage, UnreadDocument
from gitsync.model.outside import OutsideChange, ResetValue
from gitsync.model.plan import LastCommit
from gitsync.model.problem import Level, Problem, SourceLocation
from gitsync.model.reconcile_policy import Policy
from gitsync.model.report import Report, ReportSource, RequestCounts, RequestUse, RunTarget
from gitsync.model.result import (
    AttemptEnding,
    ComparisonNotes,
    FailedRequest,
    ManifestField,
    ManifestOrigin,
    Outcome,
    Replacement,
    Result,
    ResultChange,
    Stage,
)
from gitsync.model.verdict import Action, Difference, Verdict, Written
from gitsync.planning.status.advice import find_code_advice
from gitsync.report.json import SCHEMA_VERSION
from gitsync.report.run_facts import estimate_sync

MOST_DOCUMENTS: Final = 1_000_000
"""Documents of one kind that were skipped in a source: they are only counted, and a count can be any number."""

_HINT = "Remove this branch, then run its worker again."
_NOWHERE: Final = SourceLocation("", 0)


def read_report(content: bytes, name: str) -> Report:
    """Read the report of a sync or a plan; `name` is the branch that has it. StateError for anything that
    `gitsync.report.json` did not make.
    """

    def refuse(where: FieldPath, problem: str) -> StateError:
        return StateError(f"The report on {name} cannot be used: {format_field(where)} {problem}.", hint=_HINT)

    try:
        members = read_json(content)
    except ValueError as error:
        raise StateError(f"The report on {name} is not JSON: {error}.", hint=_HINT) from error
    if not isinstance(members, dict):
        raise StateError(f"The report on {name} is not a JSON object.", hint=_HINT)
    document = CheckedMapping(members, refuse)
    if document.count("schemaVersion") != SCHEMA_VERSION:
        raise document.refusal("schemaVersion", f"is not {SCHEMA_VERSION}")
    return _read_unrepeated(document, _read(document))


def _read(document: CheckedMapping) -> Report:
    command = document.text("command")
    if command not in {"sync", "plan"}:
        raise document.refusal("command", "is neither sync nor plan")
    requests = document.within("requests")
    return Report(
        command=command,
        revision=_read_optional(document, "revision"),
        target=_read_target(document.within("target")),
        started=document.moment("started"),
        finished=document.moment("finished"),
        exit_code=read_exit_code(document, "exitCode"),
        interrupted=document.switch("interrupted"),
        requests=RequestCounts(
            reads=requests.count("reads"),
            writes=requests.count("writes"),
            deletes=requests.count("deletes"),
            polls=requests.count("polls"),
            checks=requests.count("questions"),
            throttled=requests.count("throttled"),
        ),
        use=RequestUse(by_type=_read_types(requests), hour_shares=_read_shares(requests.within("hourShares"))),
        source=ReportSource(
            base=_read_optional(document, "base"), coverage=_read_coverage(document.within("coverage"))
        ),
        problems=tuple(_read_problem(entry) for entry in document.each("problems")),
        results=tuple(_read_result(entry) for entry in document.each("resources")),
    )


def _read_unrepeated(document: CheckedMapping, report: Report) -> Report:
    """Find the requests of a plan that its sync does not repeat: the report has what the sync needs."""
    sync = estimate_sync(report)
    if sync is None or document.mapping("syncNeeds") is None:
        return report
    need = document.within("syncNeeds")
    reads, checks = sync.reads - need.count("reads"), sync.checks - need.count("questions")
    return replace(report, plan=replace(report.plan, unrepeated=RequestCounts(reads=reads, checks=checks)))


def read_exit_code(document: CheckedMapping, name: str) -> ExitCode:
    try:
        return ExitCode(document.count(name))
    except ValueError:
        raise document.refusal(name, "is not a gitsync exit code") from None


def _read_optional(fields: CheckedMapping, name: str) -> str | None:
    return None if fields.values.get(name) is None else fields.text(name)


def _read_target(target: CheckedMapping) -> RunTarget:
    return RunTarget(
        repository=target.text("repository"),
        revision=_read_optional(target, "revision"),
        ref=target.text("ref"),
        subscription=target.text("subscription"),
        subscription_name=target.text("subscriptionName"),
        other_subscriptions=target.texts("otherSubscriptions"),
        endpoint=target.text("endpoint"),
        identity=target.text("identity"),
        agent=target.text("agent"),
        catalog=target.text("catalog", ""),
    )


def _read_types(requests: CheckedMapping) -> Mapping[str, Mapping[str, int]]:
    by_type = requests.within("byType")
    types = {name: by_type.within(name) for name in by_type.values}
    return {name: {kind: times.count(kind) for kind in times.values} for name, times in types.items()}


def _read_shares(shares: CheckedMapping) -> Mapping[str, float]:
    for name, share in shares.values.items():
        # In Python, true is an int.
        if not isinstance(share, int | float) or isinstance(share, bool) or share < 0:
            raise shares.refusal(name, "must be a share")
    return dict(shares.values)


def _read_coverage(coverage: CheckedMapping) -> Coverage:
    """Read the counts."""

    def repeat(fields: CheckedMapping, name: str, blank: Any) -> tuple[Any, ...]:
        times = fields.count(name)
        if times > MOST_DOCUMENTS:
            raise fields.refusal(name, f"is more than {MOST_DOCUMENTS}")
        return (blank,) * times

    # The documents that are counted are not known, so a blank of each kind stands for them.
    unread = [repeat(coverage, "rejected", UnreadDocument(source=_NOWHERE, is_rejected=True))]
    for member, is_followed in (("followed", True), ("passedOver", False)):
        kinds = coverage.within(member)
        for kind in kinds.values:
            blank = UnreadDocument(source=_NOWHERE, form=kind, is_followed=is_followed)
            unread.append(repeat(kinds, kind, blank))
    return Coverage(
        files=coverage.count("files"),
        resources=coverage.count("resources"),
        unread=tuple(document for same in unread for document in same),
        ignored=repeat(coverage, "ignoredFiles", ""),
        skipped=repeat(coverage, "skippedKustomizations", ""),
        notes=repeat(coverage, "notes", Problem(code="", message="", level=Level.NOTE)),
        unnamed={"": unnamed} if (unnamed := coverage.count("unnamed", 0)) else {},
    )


def _read_problem(fields: CheckedMapping) -> Problem:
    return Problem(
        code=fields.text("code"),
        message=fields.text("message"),
        hint=fields.text("hint"),
        level=fields.one_of("severity", Level),
        path=fields.text("path"),
        line=fields.count("line"),
        field=fields.text("field"),
        rendered_by=fields.texts("renderedBy"),
    )


def _read_result(fields: CheckedMapping) -> Result:
    api_version, kind = fields.text("apiVersion"), fields.text("kind")
    group = GVK.parse(api_version, kind).group
    key = Key(group, kind, fields.text("namespace"), fields.text("name"))
    because = fields.within("because", {})
    verdict, hold = fields.one_of("verdict", Verdict), _read_hold(fields)
    # A held resource has the verdict held; its hold has the one that the comparison found.
    found = fields.within("hold").one_of("verdict", Verdict) if hold else verdict
    outside = tuple(_read_outside(entry) for entry in fields.each("outside"))
    restored = {entry.text("path") for entry in fields.each("outside") if "restored" in entry.values}
    arm_id = ArmId(text) if (text := _read_optional(fields, "armId")) is not None else None
    blank = Result(
        key=key,
        arm_id=arm_id,
        manifest=_read_manifest(fields, hold),
        verdict=verdict,
        action=fields.one_of("action", Action),
        condition=_read_condition(fields, arm_id),
        is_fine=False,
        differences=tuple(_read_difference(entry) for entry in fields.each("differences")),
        changed_by=tuple(_read_change(entry) for entry in fields.each("changedBy")),
        comparison=ComparisonNotes(
            unverified=fields.texts("unverified"),
            because={path: because.text(path) for path in because.values},
            withheld=None if found is verdict else found,
            fields=_read_fields(fields),
            outside=outside,
        ),
        change=ResultChange(
            checks=tuple(_read_check(entry) for entry in fields.each("checks")),
            replacement=_read_replacement(fields),
            renamed=fields.key("renamed"),
            identity=_read_identity(fields),
            resets=tuple(_read_reset(entry) for entry in fields.each("resets")),
            restores=tuple(change for change in outside if change.path in restored),
        ),
        attempts=tuple(_read_failed_request(entry) for entry in fields.each("attempts")),
        ending=_read_ending(fields),
    )
    return _read_end(fields, blank)


def _read_manifest(fields: CheckedMapping, hold: HeldUntil | None) -> ManifestOrigin:
    return ManifestOrigin(
        api_version=fields.text("apiVersion"),
        source=_read_source(fields),
        policy=fields.one_of("policy", Policy),
        policy_reason=fields.text("policyReason", ""),
        rendered_by=fields.text("renderedBy", ""),
        hold=hold,
        last_commit=_read_commit(fields),
    )


def _read_ending(fields: CheckedMapping) -> AttemptEnding:
    return AttemptEnding(
        blocked_by=None if fields.values.get("blockedBy") is None else fields.key("blockedBy"),
        failed_since=fields.text("failedSince", ""),
        requests=fields.count("requests"),
        sent=fields.texts("sent"),
        # JSON has it only for a write that failed, or whose end is not known.
        written=fields.one_of("written", Written) if "written" in fields.values else Written.NOTHING,
    )


def _read_end(fields: CheckedMapping, blank: Result) -> Result:
    """Find how the attempt ended: what gives the outcome that the report has."""
    outcome, is_ready = fields.one_of("outcome", Outcome), blank.condition.is_ready
    # A failure of what only waits otherwise was a fault.
    fault = RuntimeError(blank.condition.message)
    for is_fine, raised in ((is_ready, None), (not is_ready, None), (False, fault)):
        result = replace(blank, is_fine=is_fine, ending=replace(blank.ending, fault=raised))
        if result.outcome is outcome:
            return result
    raise fields.refusal("outcome", f"is {outcome.value!r}, which its other members contradict")


def _read_source(fields: CheckedMapping) -> SourceLocation | None:
    if fields.values.get("source") is None:
        return None
    source = fields.within("source")
    return SourceLocation(source.text("path"), source.count("line"))


def _read_hold(fields: CheckedMapping) -> HeldUntil | None:
    if "hold" not in fields.values:
        return None
    hold = fields.within("hold")
    try:
        return HeldUntil(date.fromisoformat(hold.text("until")), hold.text("reason"))
    except ValueError:
        raise hold.refusal("until", "must be a date such as 2030-12-31") from None


def _read_condition(fields: CheckedMapping, arm_id: ArmId | None) -> Condition:
    condition = Condition(
        status=fields.one_of("ready", ConditionStatus),
        severity=fields.one_of("severity", Severity),
        reason=fields.text("reason"),
        message=fields.text("message"),
    )
    # The report has the advice of the attempt, then that of its code, which the condition does not keep.
    advice, known = fields.text("advice"), find_code_advice(condition, arm_id)
    return replace(condition, advice=advice.removesuffix(known).rstrip(" ") if known else advice)


def _read_difference(fields: CheckedMapping) -> Difference:
    return Difference(fields.text("path"), fields.values.get("desired"), fields.values.get("live"), fields.text("rule"))


def _read_fields(fields: CheckedMapping) -> Mapping[str, ManifestField]:
    """Read the fields that are named: those of outside changes and of what a write may reset. Lines are not known."""
    entries = (*fields.each("outside"), *fields.each("resets"))
    named = {entry.text("path"): entry.text("field") for entry in entries}
    # A field that is not known has its path for a name.
    return {path: ManifestField(name, _NOWHERE) for path, name in named.items() if name != path}


def _read_outside(fields: CheckedMapping) -> OutsideChange:
    return OutsideChange(
        path=fields.text("path"),
        before=fields.values.get("before"),
        now=fields.values.get("now"),
        weakens=fields.text("weakens"),
        is_restorable=fields.switch("restorable"),
    )


def _read_reset(fields: CheckedMapping) -> ResetValue:
    return ResetValue(path=fields.text("path"), live=fields.values.get("live"), entries=fields.count("entries", 0))


def _read_change(fields: CheckedMapping) -> Attribution:
    source = _read_optional(fields, "source")
    return Attribution(
        author=fields.one_of("author", AuthorKind),
        name=fields.text("name"),
        label=fields.text("label"),
        client=fields.text("client"),
        at=_read_optional(fields, "at") or "",
        operation=fields.text("operation"),
        correlation_id=fields.text("correlationId"),
        commit=fields.text("commit"),
        paths=fields.texts("paths"),
        source=None if source is None else fields.one_of("source", ChangeSource),
        doubt=fields.text("doubt"),
    )


def _read_check(fields: CheckedMapping) -> CheckFinding:
    return CheckFinding(
        check=fields.one_of("check", CheckName),
        verdict=fields.one_of("verdict", CheckVerdict),
        code=fields.text("code"),
        message=fields.text("message"),
        advice=fields.text("advice"),
        contact=fields.text("contact"),
        path=fields.text("path"),
        missing_right=fields.text("missingRight"),
    )


def _read_identity(fields: CheckedMapping) -> IdentityChange | None:
    if "identity" not in fields.values:
        return None
    change = fields.within("identity")
    return IdentityChange(before=_read_writer(change.within("before")), now=_read_writer(change.within("now")))


def _read_writer(fields: CheckedMapping) -> WritingIdentity:
    return WritingIdentity(
        credential=fields.text("credential"),
        ids=IdentityIds(fields.text("clientId"), fields.text("tenantId")),
        subscription=fields.text("subscription"),
        source=_read_source(fields),
        store=fields.text("store"),
        is_unread=fields.switch("unread"),
    )


def _read_replacement(fields: CheckedMapping) -> Replacement | None:
    name = next((member for member in ("replacement", "replaceNeeded") if member in fields.values), "")
    if not name:
        return None
    members = fields.within(name)
    away = members.values.get("awaySeconds")
    if away is not None and (not isinstance(away, int | float) or isinstance(away, bool) or away < 0):
        raise members.refusal("awaySeconds", "must be a number of seconds")
    return Replacement(
        reason=members.text("reason"),
        takes=members.keys("takes"),
        refers=members.keys("refers") if "refers" in members.values else (),
        is_due=name == "replacement",
        away=away,
    )


def _read_commit(fields: CheckedMapping) -> LastCommit | None:
    if "lastCommit" not in fields.values:
        return None
    commit = fields.within("lastCommit")
    if "unknown" in commit.values:
        return LastCommit(doubt=commit.text("unknown"))
    return LastCommit(commit=commit.text("commit"), author=commit.text("author"), subject=commit.text("subject"))


def _read_failed_request(fields: CheckedMapping) -> FailedRequest:
    return FailedRequest(
        at=fields.text("at"),
        stage=fields.one_of("stage", Stage),
        status=fields.count("status"),
        code=fields.text("code"),
        message=fields.text("message"),
        request_id=fields.text("requestId"),
    )
