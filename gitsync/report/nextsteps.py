"""What a person may do next, from what a report holds: a table of situations and advice."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from gitsync.model.report import Report
from gitsync.model.result import Result
from gitsync.model.verdict import Action, Verdict
from gitsync.planning.flapping import FLAPPING
from gitsync.planning.secret_digest import TO_COME


class _Step(NamedTuple):
    applies: Callable[[Report], bool]
    advice: str


def _any(*verdicts: Verdict, command: str = "") -> Callable[[Report], bool]:
    """A run of that command, one that asked Azure, has a resource with one of these verdicts."""
    return lambda report: (
        command in {"", report.command}
        and not (command and report.base)
        and any(r.verdict in verdicts and not _is_flapping(r) for r in report.results)
    )


def _is_flapping(result: Result) -> bool:
    return result.condition.reason == FLAPPING and not result.is_fine


def _unread(report: Report) -> bool:
    """Azure was asked and gave no usable answer; neither a turn that was not reached nor one that we broke off."""
    return any(r.verdict is Verdict.UNKNOWN and r.condition.reason == "Failed" and not r.fault for r in report.results)


def _not_ready(report: Report) -> bool:
    return report.command == "sync" and any(
        not r.is_fine and r.verdict not in {Verdict.INVALID, Verdict.BLOCKED} and not _is_flapping(r)
        for r in report.results
    )


def _left_to_a_sync(report: Report) -> bool:
    """Something is in sync as far as a plan can tell, and only a sync can tell whether a secret of it changed."""
    return report.command == "plan" and any(
        r.action is Action.NONE and TO_COME in r.because.values() for r in report.results
    )


_TO_WRITE = (Verdict.CREATE, Verdict.PENDING, Verdict.DRIFTED, Verdict.MISSING, Verdict.CONFLICT)

_CREDENTIALS = frozenset({"CredentialNotUsable"})


def _errors(report: Report) -> frozenset[str]:
    return frozenset(problem.code for problem in report.problems if problem.is_error)


_STEPS = (
    _Step(
        lambda report: bool(_errors(report) & _CREDENTIALS),
        "As whom some resources are reconciled could not be told: mend their credentials, or the place that they are "
        "looked for in, and run again.",
    ),
    _Step(
        lambda report: bool(_errors(report) - _CREDENTIALS) or (not _errors(report) and _any(Verdict.INVALID)(report)),
        "Mend the manifests; `gitsync validate` shows every problem without a login.",
    ),
    _Step(
        lambda report: any(r.fault for r in report.results),
        "Report the fault in gitsync with the lines on stderr; they hold no values.",
    ),
    _Step(
        _unread,
        "What could not be read was left alone; see that the identity may read it, and run again.",
    ),
    _Step(
        lambda report: any(map(_is_flapping, report.results)),
        "What is flapping is left as it is until git or Azure changes; find out what sets it, and leave the field to "
        "it with the annotation gitsync/ignore, or write its value into the manifest.",
    ),
    _Step(
        _any(Verdict.DRIFTED, Verdict.CONFLICT, command="plan"),
        "To keep what Azure has, write it into the manifest; `gitsync sync` writes git's values.",
    ),
    _Step(
        _any(Verdict.ADOPT, command="plan"),
        "What exists without a record of ours is adopted by `gitsync sync`; `--adopt report` leaves it as it is.",
    ),
    _Step(
        _any(Verdict.DELETE, command="plan"),
        "What left git is deleted only by `gitsync sync --prune`.",
    ),
    _Step(_any(*_TO_WRITE, command="plan"), "`gitsync sync` makes these changes."),
    _Step(
        _left_to_a_sync,
        "A plan asks for no secret that is exported or kept elsewhere: where one changed, `gitsync sync` writes it.",
    ),
    _Step(
        lambda report: report.base is not None,
        "`gitsync plan` without --from asks Azure, and tells what a sync would do to what is really there.",
    ),
    _Step(
        _not_ready, "`gitsync describe KIND/NAME` shows all that is recorded of a resource; the next run tries again."
    ),
)


def list_next_steps(report: Report) -> list[str]:
    """Advice that applies, in the order of the table."""
    return [step.advice for step in _STEPS if step.applies(report)]
