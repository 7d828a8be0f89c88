"""Masks the known secrets in a report before it is stored, shown or returned.

A report is masked once, before any form is rendered, so that no form can encode a secret in another way. Messages,
reasons, request ids (a proxy may echo what it was sent) and both values of a difference are masked. Names stay: keys,
ids, paths, api-versions, digests. They are in git in plain text, and a program that reads a report needs them unmasked.
The bodies in records stay too: they contain digests of secrets, and a masked body would look like a change to the next
run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gitsync.model.commit import LastCommit
from gitsync.model.condition import Condition
from gitsync.model.problem import Problem
from gitsync.model.record import Record
from gitsync.model.report import Report
from gitsync.model.result import Attempt, Result
from gitsync.model.target import RunTarget
from gitsync.model.verdict import Difference
from gitsync.report.masked_fault import mask_exception
from gitsync.report.masked_value import mask_value

Mask = Callable[[str], str]


def mask_report(report: Report, mask: Mask) -> Report:
    """The report without known secrets."""
    return replace(
        report,
        target=mask_target(report.target, mask),
        problems=tuple(mask_problem(problem, mask) for problem in report.problems),
        results=tuple(_mask_result(result, mask) for result in report.results),
    )


def mask_target(target: RunTarget, mask: Mask) -> RunTarget:
    """The display name is Azure's text, and the others may quote a setting. Ids stay."""
    return replace(
        target,
        repository=mask(target.repository),
        subscription_name=mask(target.subscription_name),
        endpoint=mask(target.endpoint),
        identity=mask(target.identity),
    )


def mask_problem(problem: Problem, mask: Mask) -> Problem:
    return replace(problem, message=mask(problem.message), hint=mask(problem.hint))


def mask_condition(condition: Condition, mask: Mask) -> Condition:
    return replace(
        condition,
        reason=mask(condition.reason),
        message=mask(condition.message),
        request_id=mask(condition.request_id),
        advice=mask(condition.advice),
    )


def _mask_result(result: Result, mask: Mask) -> Result:
    return replace(
        result,
        fault=mask_exception(result.fault, mask) if result.fault else None,
        condition=mask_condition(result.condition, mask),
        differences=tuple(_mask_difference(difference, mask) for difference in result.differences),
        because={path: mask(reason) for path, reason in result.because.items()},
        attempts=tuple(_mask_attempt(attempt, mask) for attempt in result.attempts),
        record=_mask_record(result.record, mask) if result.record else None,
        body=mask_value(result.body, mask) if result.body is not None else None,
        policy_reason=mask(result.policy_reason),
        last_commit=_mask_commit(result.last_commit, mask) if result.last_commit else None,
    )


def _mask_commit(commit: LastCommit, mask: Mask) -> LastCommit:
    return replace(commit, author=mask(commit.author), subject=mask(commit.subject))


def _mask_difference(difference: Difference, mask: Mask) -> Difference:
    desired, live = mask_value(difference.desired, mask), mask_value(difference.live, mask)
    return replace(difference, desired=desired, live=live)


def _mask_attempt(attempt: Attempt, mask: Mask) -> Attempt:
    return replace(attempt, code=mask(attempt.code), message=mask(attempt.message), request_id=mask(attempt.request_id))


def _mask_record(record: Record, mask: Mask) -> Record:
    return replace(record, condition=mask_condition(record.condition, mask) if record.condition else None)
