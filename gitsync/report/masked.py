"""Masks the known secrets in a report before it is stored, shown or returned, and in exceptions.

A report is masked once, before any form is rendered, so that no form can encode a secret in another way. Messages,
reasons, request ids (a proxy may echo what it was sent) and both values of a difference are masked. Names stay: keys,
ids, paths, api-versions, digests. They are in git in plain text, and a program that reads a report needs them unmasked.
The bodies in records stay too: they contain digests of secrets, and a masked body would look like a change to the next
run.

An exception is not copied if possible but changed in place: code that catches it relies on its type, and its traceback
shows where it was raised.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

from gitsync.model.attribution import Attribution
from gitsync.model.check import CheckFinding
from gitsync.model.condition import Condition
from gitsync.model.hold import HeldUntil
from gitsync.model.manifests import Coverage
from gitsync.model.outside import OutsideChange, ResetValue
from gitsync.model.problem import Problem
from gitsync.model.record import Record, RecordedManifest
from gitsync.model.report import Report, RunTarget
from gitsync.model.result import (
    NOTHING_CHANGED,
    NOTHING_NOTED,
    AttemptEnding,
    ComparisonNotes,
    FailedRequest,
    ManifestOrigin,
    Replacement,
    Result,
    ResultChange,
)

T = TypeVar("T", RunTarget, Problem, Condition, FailedRequest, CheckFinding, HeldUntil, Attribution, Replacement)
V = TypeVar("V", Result, ManifestOrigin, ComparisonNotes, ResultChange, AttemptEnding, Record, RecordedManifest)
Mask = Callable[[str], str]
_PLAIN = frozenset({str, bytes, dict, list, tuple})

_OF_THE_LANGUAGE = ("strerror", "filename", "filename2", "reason", "object", "msg", "text")
"""Attributes in which Python's own exceptions store text, in addition to `args`."""


def mask_report(report: Report, mask: Mask) -> Report:
    """Mask the known secrets of a report."""
    return replace(
        report,
        target=mask_target(report.target, mask),
        problems=tuple(mask_problem(problem, mask) for problem in report.problems),
        source=replace(report.source, coverage=mask_coverage(report.source.coverage, mask)),
        results=tuple(_mask_result(result, mask) for result in report.results),
    )


def mask_target(target: RunTarget, mask: Mask) -> RunTarget:
    """Mask the texts of a target: the display name is Azure's text, and the others may quote a setting. Ids stay."""
    return mask_texts(target, mask, "repository", "subscription_name", "endpoint", "identity")


def mask_problem(problem: Problem, mask: Mask) -> Problem:
    return mask_texts(problem, mask, "message", "hint")


def mask_coverage(coverage: Coverage, mask: Mask) -> Coverage:
    return replace(coverage, notes=tuple(mask_problem(problem, mask) for problem in coverage.notes))


def mask_condition(condition: Condition, mask: Mask) -> Condition:
    """Mask the texts of a condition: before it is compared with the recorded one, or each run would commit."""
    return mask_texts(condition, mask, "reason", "message", "request_id", "advice")


def mask_hold(hold: HeldUntil | None, mask: Mask) -> HeldUntil | None:
    """Mask the reason of a hold."""
    return mask_texts(hold, mask, "reason") if hold else None


def mask_texts(value: T, mask: Mask, *names: str) -> T:
    """Mask members of a value; return the same value if nothing in them is secret, as in most."""
    masked_texts: dict[str, Any] = {
        name: masked for name in names if (masked := mask(text := getattr(value, name))) != text
    }
    return replace(value, **masked_texts) if masked_texts else value


def mask_all(values: tuple[T, ...], mask: Mask, *names: str) -> tuple[T, ...]:
    """Mask members of each value; return the same tuple if nothing in them is secret."""
    masked = tuple(mask_texts(value, mask, *names) for value in values)
    return values if all(map(operator.is_, masked, values)) else masked


def renew(value: V, **members: Any) -> V:
    """Return a value with other members; the same value if none of them is another."""
    other = {name: member for name, member in members.items() if member is not getattr(value, name)}
    return replace(value, **other) if other else value


def _mask_result(result: Result, mask: Mask) -> Result:
    """Mask a result; return the same one if it has nothing to mask, as most."""
    ending = result.ending
    return renew(
        result,
        condition=mask_condition(result.condition, mask),
        manifest=_mask_manifest(result.manifest, mask),
        differences=tuple(
            replace(difference, desired=mask_value(difference.desired, mask), live=mask_value(difference.live, mask))
            for difference in result.differences
        ),
        changed_by=mask_all(result.changed_by, mask, "name", "label", "client", "operation", "correlation_id", "doubt"),
        comparison=_mask_notes(result.comparison, mask),
        change=_mask_change(result.change, mask),
        attempts=mask_all(result.attempts, mask, "code", "message", "request_id"),
        ending=renew(ending, fault=mask_exception(ending.fault, mask) if ending.fault else None),
        record=_mask_record(result.record, mask) if result.record else None,
    )


def _mask_notes(notes: ComparisonNotes, mask: Mask) -> ComparisonNotes:
    if notes is NOTHING_NOTED:  # as most
        return notes
    return renew(
        notes,
        # An empty mapping stays the same object, or `renew` would make a new value for nothing.
        because={path: mask(reason) for path, reason in notes.because.items()} or notes.because,
        outside=mask_outside(notes.outside, mask),
    )


def _mask_change(change: ResultChange, mask: Mask) -> ResultChange:
    if change is NOTHING_CHANGED:  # as most
        return change
    return renew(
        change,
        checks=mask_all(change.checks, mask, "code", "message", "advice", "contact"),
        body=mask_value(change.body, mask) if change.body is not None else None,
        resets=mask_resets(change.resets, mask),
        restores=mask_outside(change.restores, mask),
    )


def mask_outside(changes: tuple[OutsideChange, ...], mask: Mask) -> tuple[OutsideChange, ...]:
    """Mask both sides of outside changes."""
    masked = (replace(c, before=mask_value(c.before, mask), now=mask_value(c.now, mask)) for c in changes)
    return tuple(masked) or changes


def mask_resets(values: tuple[ResetValue, ...], mask: Mask) -> tuple[ResetValue, ...]:
    """Mask values that a write may reset."""
    return tuple(replace(value, live=mask_value(value.live, mask)) for value in values) or values


def _mask_manifest(manifest: ManifestOrigin, mask: Mask) -> ManifestOrigin:
    commit = manifest.last_commit
    if commit:
        commit = replace(commit, author=mask(commit.author), subject=mask(commit.subject))
    return renew(
        manifest, policy_reason=mask(manifest.policy_reason), hold=mask_hold(manifest.hold, mask), last_commit=commit
    )


def _mask_record(record: Record, mask: Mask) -> Record:
    manifest = renew(record.manifest, hold=mask_hold(record.manifest.hold, mask))
    return renew(
        record, condition=mask_condition(record.condition, mask) if record.condition else None, manifest=manifest
    )


def mask_exception(error: Exception, mask: Mask) -> Exception:
    """Mask the exception, its causes, its contexts and the members of groups.

    An exception that cannot be changed, such as a group with its message, or one that computes its text each time, is
    replaced by another exception that names its type.
    """
    masked = _mask_chain(error, mask, {})
    return masked if isinstance(masked, Exception) else error


def _mask_chain(error: BaseException, mask: Mask, masked_by_id: dict[int, BaseException]) -> BaseException:
    # Causes and contexts may be in a circle.
    if id(error) in masked_by_id:
        return masked_by_id[id(error)]
    _mask_attributes(error, mask)
    masked = masked_by_id[id(error)] = (
        _mask_group(error, mask, masked_by_id) if isinstance(error, BaseExceptionGroup) else _mask_single(error, mask)
    )
    cause, context, is_silent = error.__cause__, error.__context__, error.__suppress_context__
    masked.__cause__ = _mask_chain(cause, mask, masked_by_id) if cause else None
    masked.__context__ = _mask_chain(context, mask, masked_by_id) if context else None
    masked.__suppress_context__ = is_silent  # setting the cause has changed it
    return masked


def _mask_attributes(error: BaseException, mask: Mask) -> None:
    error.args = tuple(mask_value(argument, mask) for argument in error.args)
    for name in (*vars(error), *_OF_THE_LANGUAGE):
        value = getattr(error, name, None)
        # Subclasses are skipped: `mask_value` would make a plain text or tuple of one.
        if type(value) in _PLAIN:
            with suppress(AttributeError, TypeError):  # an attribute that cannot be set is still in the text
                setattr(error, name, mask_value(value, mask))


def _mask_single(error: BaseException, mask: Mask) -> BaseException:
    text = f"{error} {error!r}"
    if mask(text) == text:
        return error
    replacement = RuntimeError(f"{type(error).__qualname__}: {mask(str(error))}")
    return replacement.with_traceback(error.__traceback__)


def _mask_group(
    group: BaseExceptionGroup[BaseException], mask: Mask, masked_by_id: dict[int, BaseException]
) -> BaseExceptionGroup[BaseException]:
    members = [_mask_chain(member, mask, masked_by_id) for member in group.exceptions]
    if mask(group.message) == group.message and all(map(operator.is_, members, group.exceptions)):
        return group
    return BaseExceptionGroup(mask(group.message), members).with_traceback(group.__traceback__)


def mask_value(value: Any, mask: Callable[[str], str]) -> Any:
    """Mask every text in the value, and bytes too; names of members stay."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, bytes):
        # Bytes that are not UTF-8 must come out as they went in.
        return mask(value.decode(errors="surrogateescape")).encode(errors="surrogateescape")
    if isinstance(value, Mapping):
        return {name: mask_value(member, mask) for name, member in value.items()}
    if isinstance(value, list | tuple):
        members = [mask_value(member, mask) for member in value]
        return members if isinstance(value, list) else tuple(members)
    return value
