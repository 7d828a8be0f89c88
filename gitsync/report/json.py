"""Renders a report for machines: `report.json`, schema version 1 (docs/schemas/report.schema.json).

The order is fixed (resources by key, problems by location, differences by path), so that equal reports are equal bytes.
"""

from __future__ import annotations

import json
from typing import Any

from gitsync.model.attribution import Attribution
from gitsync.model.check import CheckFinding
from gitsync.model.gvk import Key
from gitsync.model.hold import HeldUntil
from gitsync.model.identity import IdentityChange, WritingIdentity
from gitsync.model.outside import OutsideChange, ResetValue
from gitsync.model.plan import LastCommit
from gitsync.model.problem import Problem, SourceLocation
from gitsync.model.report import Report
from gitsync.model.result import FailedRequest, Result, ResultChange
from gitsync.model.verdict import Written
from gitsync.planning.record_counts import round_duration
from gitsync.planning.status.advice import find_condition_advice
from gitsync.report.author_texts import LONGEST_DOUBT, clean
from gitsync.report.differences import name_path
from gitsync.report.headline import format_headline
from gitsync.report.hidden_people import leave_out_people
from gitsync.report.ordering import collect_causes
from gitsync.report.outside_texts import sort_outside
from gitsync.report.run_facts import build_coverage, build_target, estimate_sync
from gitsync.report.wording import list_reset

SCHEMA_VERSION = 1


def render(report: Report, *, names: bool = False) -> str:
    """Render the report as JSON, a line for each member and each resource, with a newline at its end; with the names of
    people only if `names`.
    """
    # The blanks of an indented report would be a third of it, and each run fetches the one on the status branch.
    document = build_document(report, names=names)
    members = (f"  {json.dumps(name)}: {_format_member(value)}" for name, value in document.items())
    return "{\n" + ",\n".join(members) + "\n}\n"


def _format_member(value: Any) -> str:
    if not value or not isinstance(value, list):
        return json.dumps(value)
    entries = ",\n".join(f"    {json.dumps(entry)}" for entry in value)
    return f"[\n{entries}\n  ]"


def build_document(report: Report, *, names: bool = False) -> dict[str, Any]:
    """Build the report of plain JSON values; with the names of people only if `names`."""
    report = report if names else leave_out_people(report)
    requests, causes = report.requests, collect_causes(report.results)
    return {
        "schemaVersion": SCHEMA_VERSION,
        "command": report.command,
        "revision": report.revision,
        "base": report.source.base,
        "target": build_target(report.target),
        "started": report.started,
        "finished": report.finished,
        "exitCode": report.exit_code,
        "headline": format_headline(report),
        "interrupted": report.interrupted,
        "requests": {
            "reads": requests.reads,
            "writes": requests.writes,
            "deletes": requests.deletes,
            "polls": requests.polls,
            "questions": requests.checks,
            "throttled": requests.throttled,
            "byType": report.use.by_type,
            "hourShares": {kind: round(share, 6) for kind, share in report.use.hour_shares.items()},
        },
        "syncNeeds": _build_sync_needs(report),
        "coverage": build_coverage(report.source.coverage),
        "summary": dict(report.summary),
        "outcomes": {outcome.value: count for outcome, count in report.outcomes.items()},
        "problems": [build_problem(p) for p in sorted(report.problems, key=lambda p: p.order)],
        "resources": [
            _build_resource(r, causes.get(r.key), writes=report.command == "sync", names=names)
            for r in sorted(report.results, key=lambda r: r.key)
        ],
    }


def _build_sync_needs(report: Report) -> dict[str, Any] | None:
    need, schedule = estimate_sync(report), report.plan.schedule
    if need is None:
        return None
    time = {
        "polls": need.polls,
        "seconds": round_duration(schedule.seconds),
        "waves": schedule.waves,
        "durations": {estimate.value: times for estimate, times in schedule.count_estimates().items()},
    }
    return {
        "reads": need.reads,
        "writes": need.writes,
        "deletes": need.deletes,
        "questions": need.checks,
        **(time if schedule.bars else {}),
    }


def build_problem(problem: Problem) -> dict[str, Any]:
    """Build one problem of the input, as every command's JSON shows it."""
    return {
        "code": problem.code,
        "severity": problem.level.value,
        "message": problem.message,
        "hint": problem.hint,
        "path": problem.path,
        "line": problem.line,
        "field": problem.field,
        **({"renderedBy": list(problem.rendered_by)} if problem.rendered_by else {}),
    }


def build_source(source: SourceLocation | None) -> dict[str, Any] | None:
    """Build the location of a manifest; null if there is none."""
    return None if source is None else {"path": source.path, "line": source.line}


def _build_resource(result: Result, cause: Key | None, *, writes: bool, names: bool) -> dict[str, Any]:
    key, condition = result.key, result.condition
    return {
        "apiVersion": result.manifest.api_version,
        "kind": key.kind,
        "namespace": key.namespace,
        "name": key.name,
        "source": build_source(result.manifest.source),
        "armId": result.arm_id,
        **({"renderedBy": result.manifest.rendered_by} if result.manifest.rendered_by else {}),
        "policy": result.manifest.policy.value,
        **({"policyReason": result.manifest.policy_reason} if result.manifest.policy_reason else {}),
        **({"hold": _build_hold(result.manifest.hold, result)} if result.manifest.hold else {}),
        "outcome": result.outcome.value,
        "blockedBy": str(cause) if cause else None,
        "verdict": result.verdict.value,
        "action": result.action.value,
        **({"written": result.ending.written.value} if _is_open(result) else {}),
        **({"failedSince": result.ending.failed_since} if result.ending.failed_since else {}),
        "ready": condition.status.value,
        "severity": condition.severity.value,
        "reason": condition.reason,
        "message": condition.message,
        "advice": find_condition_advice(condition, result.arm_id),
        "differences": [
            {"path": d.path, "desired": d.desired, "live": d.live, "rule": d.rule}
            for d in sorted(result.differences, key=lambda d: d.path)
        ],
        "unverified": sorted(result.comparison.unverified),
        **_build_beside(result, writes=writes),
        **({"changedBy": [build_change(c, names=names) for c in result.changed_by]} if result.changed_by else {}),
        **({"checks": [_build_check(finding) for finding in result.change.checks]} if result.change.checks else {}),
        **({"because": dict(sorted(result.comparison.because.items()))} if result.comparison.because else {}),
        **_build_replacement(result),
        **_build_others(result.change),
        **({"lastCommit": _build_commit(result.manifest.last_commit)} if result.manifest.last_commit else {}),
        "attempts": [_build_failed_request(a) for a in result.attempts],
        "requests": result.ending.requests,
        **({"sent": list(result.ending.sent)} if result.ending.sent else {}),
    }


def _build_beside(result: Result, *, writes: bool) -> dict[str, Any]:
    """Build what changed in Azure beside the fields that git sets, and what the write may reset there."""
    outside = [_build_outside(change, result) for change in sort_outside(result)]
    resets = [_build_reset(value, result) for value in list_reset(result, writes=writes)]
    return {**({"outside": outside} if outside else {}), **({"resets": resets} if resets else {})}


def _build_outside(change: OutsideChange, result: Result) -> dict[str, Any]:
    return {
        "path": change.path,
        "field": name_path(result, change.path),
        "before": change.before,
        "now": change.now,
        "weakens": change.weakens,
        "restorable": change.is_restorable,
        **({"restored": True} if change.path in {each.path for each in result.change.restores} else {}),
    }


def _build_reset(value: ResetValue, result: Result) -> dict[str, Any]:
    entries = {"entries": value.entries} if value.entries else {}
    return {"path": value.path, "field": name_path(result, value.path), "live": value.live, **entries}


def _is_open(result: Result) -> bool:
    """Return whether a write failed, or has not ended yet."""
    written = result.ending.written
    return written is Written.UNKNOWN or (written is not Written.NOTHING and not result.is_fine)


def _build_hold(hold: HeldUntil, result: Result) -> dict[str, Any]:
    return {"until": str(hold.day), "reason": hold.reason, "verdict": result.found.value}


def _build_others(change: ResultChange) -> dict[str, Any]:
    """Build the other half of a rename, and the change of identity, as far as there is one."""
    renamed = {"renamed": str(change.renamed)} if change.renamed else {}
    return {**renamed, **({"identity": _build_identity(change.identity)} if change.identity else {})}


def _build_identity(change: IdentityChange) -> dict[str, Any]:
    return {"before": _build_writer(change.before), "now": _build_writer(change.now)}


def _build_writer(identity: WritingIdentity) -> dict[str, Any]:
    return {
        "credential": identity.credential,
        "clientId": identity.ids.client_id,
        "tenantId": identity.ids.tenant_id,
        "subscription": identity.subscription,
        "source": build_source(identity.source),
        "store": identity.store,
        "unread": identity.is_unread,
    }


def _build_replacement(result: Result) -> dict[str, Any]:
    """Build what a replacement is made for: needed, due or done; empty for any other resource."""
    replacement = result.change.replacement
    if replacement is None:
        return {}
    refers = list(map(str, replacement.refers))
    found: dict[str, Any] = {
        "reason": replacement.reason,
        "takes": list(map(str, replacement.takes)),
        **({"refers": refers} if refers else {}),
    }
    if not replacement.is_due:
        return {"replaceNeeded": found}
    away = {} if replacement.away is None else {"awaySeconds": round(replacement.away, 3)}
    return {"replacement": {**found, **away}}


def build_change(change: Attribution, *, names: bool) -> dict[str, Any]:
    """Build what is known of a change in Azure; the name of a person only with `names`."""
    shown = change if names else change.hide_name()
    return {
        "author": shown.author.value,
        "name": clean(shown.name),
        "label": clean(shown.label),
        "client": clean(shown.client),
        "at": clean(shown.at) or None,
        "operation": clean(shown.operation),
        "correlationId": clean(shown.correlation_id),
        "commit": shown.commit,
        "paths": list(shown.paths),
        "source": shown.source.value if shown.source else None,
        "doubt": clean(shown.doubt, LONGEST_DOUBT),
    }


def _build_check(finding: CheckFinding) -> dict[str, Any]:
    return {
        "check": finding.check.value,
        "verdict": finding.verdict.value,
        "code": finding.code,
        "message": finding.message,
        "advice": finding.advice,
        "contact": finding.contact,
        "path": finding.path,
        "missingRight": finding.missing_right,
    }


def _build_commit(commit: LastCommit) -> dict[str, Any]:
    if commit.doubt:
        return {"commit": None, "author": None, "subject": None, "unknown": commit.doubt}
    return {"commit": commit.commit, "author": commit.author, "subject": commit.subject}


def _build_failed_request(attempt: FailedRequest) -> dict[str, Any]:
    return {
        "at": attempt.at,
        "stage": attempt.stage.value,
        "status": attempt.status,
        "code": attempt.code,
        "message": attempt.message,
        "requestId": attempt.request_id,
    }
