"""Names of people in what a report quotes from Azure: left out where the authors of changes are.

Only what may quote Azure is gone through: conditions, failed tries, findings of checks, doubts, problems of the run,
values outside of git.
Values of manifests stay, since git has them; what git does not set is Azure's.
"""

from __future__ import annotations

from dataclasses import replace

from gitsync.desired.formats.people import hide_people
from gitsync.model.condition import Condition
from gitsync.model.problem import Problem
from gitsync.model.record import Record
from gitsync.model.report import Report
from gitsync.model.result import (
    NOTHING_CHANGED,
    NOTHING_NOTED,
    ComparisonNotes,
    Replacement,
    Result,
    ResultChange,
)
from gitsync.report.masked import mask_all, mask_exception, mask_outside, mask_resets, mask_texts, renew


def leave_out_people(report: Report) -> Report:
    """Return a report without names of people in Azure's texts; the names of authors are left out where they are
    written.
    """
    return replace(
        report,
        problems=leave_out_of_problems(report.problems),
        results=tuple(map(_leave_out_of_result, report.results)),
    )


def leave_out_of_problems(problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """Leave names out of the problems of the run; those of a file quote that file."""
    return tuple(
        problem if problem.path else mask_texts(problem, hide_people, "message", "hint") for problem in problems
    )


def leave_out_of_condition(condition: Condition) -> Condition:
    """Leave names out of a condition; return the same one if it has none, as most."""
    return mask_texts(condition, hide_people, "message", "advice") if condition.message else condition


def leave_out_of_record(record: Record | None) -> Record | None:
    """Leave names out of the condition of a record; return the same one if it has none."""
    if record is None or record.condition is None:
        return record
    condition = leave_out_of_condition(record.condition)
    return record if condition is record.condition else replace(record, condition=condition)


def _leave_out_of_result(result: Result) -> Result:
    ending = result.ending
    return renew(
        result,
        condition=leave_out_of_condition(result.condition),
        changed_by=mask_all(result.changed_by, hide_people, "doubt"),
        comparison=_leave_out_of_notes(result.comparison),
        change=_leave_out_of_change(result.change),
        attempts=mask_all(result.attempts, hide_people, "message"),
        ending=renew(ending, fault=mask_exception(ending.fault, hide_people) if ending.fault else None),
        record=leave_out_of_record(result.record),
    )


def _leave_out_of_notes(notes: ComparisonNotes) -> ComparisonNotes:
    if notes is NOTHING_NOTED:  # as most
        return notes
    because = {path: hide_people(reason) for path, reason in notes.because.items()}
    return renew(
        notes,
        because=notes.because if because == notes.because else because,
        outside=mask_outside(notes.outside, hide_people),
    )


def _leave_out_of_change(change: ResultChange) -> ResultChange:
    if change is NOTHING_CHANGED:  # as most
        return change
    return renew(
        change,
        checks=mask_all(change.checks, hide_people, "message", "advice", "contact"),
        replacement=_leave_out_of_replacement(change.replacement),
        resets=mask_resets(change.resets, hide_people),
        restores=mask_outside(change.restores, hide_people),
    )


def _leave_out_of_replacement(replacement: Replacement | None) -> Replacement | None:
    return mask_texts(replacement, hide_people, "reason", "kept_because") if replacement else None
