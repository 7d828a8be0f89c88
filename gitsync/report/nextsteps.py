"""Lists the next steps for a report, from a table of situations and advice."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from gitsync.desired.request.allow_list import NOT_ALLOWED
from gitsync.model.problem import REFUSALS, is_refused
from gitsync.model.report import Report
from gitsync.model.result import Result
from gitsync.model.verdict import Action, Verdict
from gitsync.planning.diff.unknown_values import is_not_known
from gitsync.planning.record_counts import FLAPPING
from gitsync.planning.removed_values import KEPT
from gitsync.report.outside_texts import OUTSIDE_ADVICE, RESETS_ADVICE
from gitsync.report.wording import count_resets

_MOST = 2


class _NextStep(NamedTuple):
    applies: Callable[[Report], bool]
    advice: str


def _has_verdict(*verdicts: Verdict, command: str = "") -> Callable[[Report], bool]:
    """Make a condition: a run of this command, compared with Azure, has a resource with one of these verdicts."""
    return lambda report: (
        command in {"", report.command}
        and not (command and report.source.base)
        and any(r.verdict in verdicts and not (_is_paused(r) or r.needs_replacement) for r in report.results)
    )


def _is_flapping(result: Result) -> bool:
    return result.condition.reason == FLAPPING and not result.is_fine


def _is_paused(result: Result) -> bool:
    """Return whether no sync writes a resource before git or Azure changes."""
    return _is_flapping(result) or (result.condition.reason == KEPT and not result.is_fine)


def _is_unread(result: Result) -> bool:
    """Return whether a read failed."""
    # Resources that were not reached or had an internal error do not count.
    return result.verdict is Verdict.UNKNOWN and result.condition.reason == "Failed" and not result.ending.fault


def _is_denied(result: Result) -> bool:
    """Return whether the last answer refused the identity: another error of a read does not mean a missing right."""
    return bool(result.attempts) and result.attempts[-1].status in _DENIED


def _has_not_ready(report: Report) -> bool:
    return report.command == "sync" and any(
        not (r.is_fine or r.needs_replacement or _is_paused(r)) and r.verdict not in {Verdict.INVALID, Verdict.BLOCKED}
        for r in report.results
    )


def _has_unknown_values(report: Report) -> bool:
    """Return whether a resource is in sync for a plan that did not read all of its values."""
    return report.command == "plan" and any(
        r.action is Action.NONE and any(map(is_not_known, r.comparison.because.values())) for r in report.results
    )


_TO_WRITE = (
    Verdict.CREATE,
    Verdict.FAILED_BEFORE,
    Verdict.PENDING,
    Verdict.DRIFTED,
    Verdict.MISSING,
    Verdict.CONFLICT,
)

_CREDENTIALS = frozenset({"CredentialNotUsable"})
_FOUND_ELSEWHERE = frozenset({"ExportNotOwned", NOT_ALLOWED})
"""Codes of problems that may be in a secret source, where `validate` does not look; their hints have the fix."""
_EXPORTS = frozenset({"ExportNotRemoved"})
_DENIED = frozenset({401, 403})
_OWN_WRITES = frozenset({"StatusNotWritten", "HeartbeatNotMoved", "MetricsNotWritten"})
"""Codes of what the run itself could not write; their hints have the fix."""


def _has_delete(report: Report, action: Action) -> bool:
    """Return whether the plan of a run deletes a removed resource, or leaves it, as one without --prune does."""
    # A replacement deletes, too.
    replaces = action is Action.DELETE and any(r.action is Action.REPLACE for r in report.results)
    return replaces or any(r.verdict is Verdict.DELETE and r.action is action and r.is_fine for r in report.results)


def _list_error_codes(report: Report) -> frozenset[str]:
    return frozenset(problem.code for problem in report.problems if problem.is_error)


def _has_bad_manifests(report: Report) -> bool:
    """Return whether a manifest is wrong."""
    # An error without a file, such as a record that is not trusted, has a hint of its own.
    errors = {problem.code for problem in report.problems if problem.is_error and problem.path} - REFUSALS
    return bool(errors - _CREDENTIALS - _FOUND_ELSEWHERE - _EXPORTS - _OWN_WRITES) or (
        not errors and _has_verdict(Verdict.INVALID)(report)
    )


_FIXES = (
    _NextStep(
        lambda report: is_refused(report.problems),
        "`gitsync sync` refuses this run and changes nothing. Fix the errors, or set the flags that they name.",
    ),
    _NextStep(
        lambda report: bool(_list_error_codes(report) & _CREDENTIALS),
        "The credential of some resources could not be determined. Fix the credential Secret or its source, then "
        "run again.",
    ),
    _NextStep(
        _has_bad_manifests,
        "Fix the manifests. Run `gitsync validate` to show every problem, without a login.",
    ),
    _NextStep(
        lambda report: bool(_list_error_codes(report) & _EXPORTS),
        "Some exports of deleted resources remain. Run `gitsync status` to list them. The next run tries again.",
    ),
    _NextStep(
        lambda report: any(r.ending.fault for r in report.results),
        "Report the internal error with the lines on stderr; they contain no values.",
    ),
    _NextStep(
        lambda report: any(_is_unread(r) and _is_denied(r) for r in report.results),
        "Some resources could not be read and were left unchanged. Grant the identity read access, then run again.",
    ),
    _NextStep(
        lambda report: any(_is_unread(r) and not _is_denied(r) for r in report.results),
        "Some resources could not be read and were left unchanged. Fix the cause that each message names, then run "
        "again.",
    ),
    _NextStep(
        lambda report: report.command == "plan" and any(r.is_refused for r in report.results),
        "Fix what Azure would refuse before you sync. A sync skips these resources, or fails to write them.",
    ),
    _NextStep(
        lambda report: any(map(_is_flapping, report.results)),
        "Flapping resources are paused until git or Azure changes. Find what resets the field, then ignore the field "
        "with gitsync/ignore, or set its value in git.",
    ),
    _NextStep(
        lambda report: any(r.needs_replacement for r in report.results),
        "`gitsync sync` does not replace a resource without consent. Follow the advice for each resource, or restore "
        "its old values in git.",
    ),
    _NextStep(
        _has_verdict(Verdict.HELD),
        "Held resources stay as they are until the date of their hold. To end a hold earlier, remove the annotation "
        "gitsync/hold.",
    ),
    _NextStep(
        _has_verdict(Verdict.FAILED_BEFORE, command="plan"),
        "Fix the causes of the writes that failed before, or the next sync fails again.",
    ),
)
"""What to do before a sync, or about a failed one."""


def _format_sync_step(report: Report) -> str:
    """Format how to apply a plan, and how to keep the values in Azure where they have drifted; "" for nothing to do."""
    if report.command != "plan" or report.source.base is not None:
        return ""
    has_drift = _has_verdict(Verdict.DRIFTED, Verdict.CONFLICT)(report)
    keep = "To keep the values in Azure, run `gitsync accept`: it writes them into the manifests." if has_drift else ""
    keep = " ".join(filter(None, (keep, RESETS_ADVICE if count_resets(report) else "")))
    # The sync would be refused, so only what needs no sync is left to advise.
    if is_refused(report.problems):
        return keep
    apply = prune = ""
    if _has_delete(report, Action.DELETE):
        apply = "Run `gitsync sync` with the flags of this plan to apply these changes."
    elif _has_verdict(*_TO_WRITE)(report):
        apply = "Run `gitsync sync` to apply these changes."
    if _has_delete(report, Action.NONE):
        order = "Add `--prune` to also" if apply else "Run `gitsync sync --prune` to"
        prune = f"{order} delete resources that were removed from git."
    return " ".join(filter(None, (apply, prune, keep)))


_NOTES = (
    _NextStep(
        _has_verdict(Verdict.ADOPT, command="plan"),
        "`gitsync sync` adopts existing resources that have no record. Set `--adopt report` to leave them unchanged.",
    ),
    _NextStep(
        _has_unknown_values,
        "This plan did not read every exported or external value. If one changed, `gitsync sync` writes it. "
        "Set `--plan-secrets` to let a plan read external Secrets.",
    ),
    _NextStep(
        lambda report: report.source.base is not None,
        "Run `gitsync plan` without --from to compare with Azure.",
    ),
    _NextStep(
        _has_not_ready,
        "Run `gitsync describe KIND/NAME` to show everything recorded about a resource. The next run retries.",
    ),
)


def _has_open_outside_change(report: Report) -> bool:
    """Return whether somebody can decide on a change outside of git."""
    # A write of the resource has decided already.
    return any(r.comparison.outside and (report.command == "plan" or r.action is Action.NONE) for r in report.results)


def list_next_steps(report: Report) -> list[str]:
    """List the first advice that applies, in the order of the tables."""
    # Problems alone have their own hints.
    if report.command == "validate":
        return []
    fixes, notes = ([step.advice for step in steps if step.applies(report)] for steps in (_FIXES, _NOTES))
    outside = OUTSIDE_ADVICE if _has_open_outside_change(report) else ""
    return list(filter(None, (*fixes, _format_sync_step(report), outside, *notes)))[:_MOST]
