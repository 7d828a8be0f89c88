"""What leaves a run, without the secrets that a register knows: the report as a value, and an exception.

A report is masked once, before anything is made of it, so that no form can spell a secret in a way of its own. Masked
is what is told: messages, reasons, and values on either side of a difference. What names things stays: keys, ids,
paths, api-versions, digests. Git says all of these in clear, and a program that reads a report needs them whole. The
bodies in records stay too: secrets stand there as digests, and a masked body would look like a change to the next run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from gitsync.model.condition import Condition
from gitsync.model.problem import Problem
from gitsync.model.record import Record
from gitsync.model.report import Report
from gitsync.model.result import Attempt, Result
from gitsync.model.verdict import Difference

Mask = Callable[[str], str]

_PLAIN = frozenset({str, bytes, dict, list, tuple})


def masked(report: Report, mask: Mask) -> Report:
    """The report as it may be shown, kept and returned."""
    return replace(
        report,
        problems=tuple(masked_problem(problem, mask) for problem in report.problems),
        results=tuple(_result(result, mask) for result in report.results),
    )


def masked_problem(problem: Problem, mask: Mask) -> Problem:
    return replace(problem, message=mask(problem.message), hint=mask(problem.hint))


def masked_condition(condition: Condition, mask: Mask) -> Condition:
    return replace(condition, reason=mask(condition.reason), message=mask(condition.message))


def mask_exception(error: BaseException, mask: Mask) -> None:
    """Take the secrets out of what an exception says, and out of all that led to it.

    It stays the object that it is: who catches it knows it by its type, and its traceback tells where it was raised.
    """
    for one in _chain(error, set()):
        one.args = tuple(masked_value(argument, mask) for argument in one.args)
        if hasattr(one, "__notes__"):
            one.__notes__ = [mask(note) for note in one.__notes__]
        for name, value in list(vars(one).items()):
            if type(value) in _PLAIN:
                setattr(one, name, masked_value(value, mask))


def masked_value(value: Any, mask: Mask) -> Any:
    """A value as JSON has it, or bytes, every text in it masked; the names of members stay."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, bytes):
        return mask(value.decode(errors="surrogateescape")).encode(errors="surrogateescape")
    if isinstance(value, Mapping):
        return {name: masked_value(member, mask) for name, member in value.items()}
    if isinstance(value, list | tuple):
        members = [masked_value(member, mask) for member in value]
        return members if isinstance(value, list) else tuple(members)
    return value


def _chain(error: BaseException | None, seen: set[int]) -> Iterator[BaseException]:
    """The exception, its causes, what was being handled when it was raised, and the members of groups: each once."""
    if error is None or id(error) in seen:
        return
    seen.add(id(error))
    yield error
    members = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    for other in (error.__cause__, error.__context__, *members):
        yield from _chain(other, seen)


def _result(result: Result, mask: Mask) -> Result:
    if result.fault:
        mask_exception(result.fault, mask)
    return replace(
        result,
        condition=masked_condition(result.condition, mask),
        differences=tuple(_difference(difference, mask) for difference in result.differences),
        because={path: mask(why) for path, why in result.because.items()},
        attempts=tuple(_attempt(attempt, mask) for attempt in result.attempts),
        record=_record(result.record, mask) if result.record else None,
    )


def _difference(difference: Difference, mask: Mask) -> Difference:
    desired, live = masked_value(difference.desired, mask), masked_value(difference.live, mask)
    return replace(difference, desired=desired, live=live)


def _attempt(attempt: Attempt, mask: Mask) -> Attempt:
    return replace(attempt, code=mask(attempt.code), message=mask(attempt.message))


def _record(record: Record, mask: Mask) -> Record:
    return replace(record, condition=masked_condition(record.condition, mask) if record.condition else None)
