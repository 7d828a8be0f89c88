"""Folds the resources of a section: equal changes into one line, and many of which there is no more to say into counts
by kind and resource group.

Each resource has a line of its own or is in one fold, so that the numbers add up. Deletes, replacements and failures
never fold: a reader must see each of them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from gitsync.desired.formats.name_list import name_first
from gitsync.model.gvk import Key
from gitsync.model.result import Outcome, Result
from gitsync.model.verdict import Action, Verdict
from gitsync.planning.status.advice import find_condition_advice
from gitsync.report.alike import MOST_NAMED, split_alike
from gitsync.report.author_texts import find_authors
from gitsync.report.check_texts import format_remedy, list_shown
from gitsync.report.differences import name_path
from gitsync.report.identity_texts import format_identity
from gitsync.report.ordering import CHANGES, HELD, IDENTITY, OTHERS, OUTSIDE, WAITING, GroupName, Section
from gitsync.report.outside_texts import sort_outside
from gitsync.report.wording import format_message, format_plural, format_state, list_reset
from gitsync.settings.logging import escape_controls

MOST_PLAIN: Final = 50
"""Resources of one state without details that are listed; more than these are counted."""

_FOLDED: Final = frozenset({IDENTITY, CHANGES, OUTSIDE, WAITING, HELD, OTHERS})
_TAKEN: Final = frozenset({Action.DELETE, Action.DETACH, Action.REPLACE})
_LEAVING: Final = frozenset({Verdict.DELETE, Verdict.DETACH})


class Fold(NamedTuple):
    """Resources of one kind and state that are shown as one."""

    results: tuple[Result, ...]  # in the order of the report
    has_details: bool  # they have details, all the same ones

    @property
    def first(self) -> Result:
        return self.results[0]


def fold_results(
    section: Section, results: Sequence[Result], causes: Mapping[Key, str], *, writes: bool
) -> tuple[list[Result], list[Fold]]:
    """Split the results of a section into those that are listed and those that fold. `causes` has what each resource
    waits for, and `writes` is true for a sync.
    """
    if section not in _FOLDED:
        return list(results), []
    details = {result.key: _find_details(result, causes, writes=writes) for result in results}
    states = {result.key: (format_state(result), causes.get(result.key, "")) for result in results}
    plain = Counter(states[key] for key, found in details.items() if found == ())
    many = {key for key, found in details.items() if found == () and plain[states[key]] > MOST_PLAIN}

    def make_likeness(result: Result) -> Hashable:
        """Make what two resources have in common that are shown as one."""
        return (states[result.key], result.key.kind, result.key.group, details[result.key])

    counted: dict[Hashable, list[Result]] = {}
    for result in results:
        if result.key in many:
            counted.setdefault(make_likeness(result), []).append(result)
    others = (result for result in results if result.key not in many)
    # Those without details have nothing to show once for all, so a few of them are listed.
    alike = split_alike(others, lambda result: make_likeness(result) if details[result.key] else None)
    folds = [
        *(Fold(tuple(same), has_details=True) for same in alike if len(same) > 1),
        *(Fold(tuple(same), has_details=False) for same in counted.values()),
    ]
    return [same[0] for same in alike if len(same) == 1], folds


def _find_details(result: Result, causes: Mapping[Key, str], *, writes: bool) -> tuple[Hashable, ...] | None:
    """Find what a report shows of a resource beside its state, location and ids: () for nothing, None for a resource
    that must be listed in any case.
    """
    is_lost = (
        result.action in _TAKEN or result.found in _LEAVING or result.change.replacement or result.manifest.last_commit
    )
    if is_lost or result.is_refused or result.outcome is Outcome.FAILED:
        return None
    # The cause is part of the state, and a report has it in place of this message.
    message, notes = "" if result.key in causes else format_message(result), result.comparison
    # Times, ids and lines are left out: they differ for each resource.
    parts: tuple[Hashable, ...] = (
        format_identity(result),
        message,
        find_condition_advice(result.condition, result.arm_id),
        tuple(
            (finding.check, finding.verdict, finding.statement, finding.path, format_remedy(finding))
            for finding in list_shown(result, writes=writes)
        ),
        tuple(
            (
                name_path(result, difference.path),
                _write_value(difference.live),
                _write_value(difference.desired),
                difference.rule,
            )
            for difference in sorted(result.differences, key=lambda difference: difference.path)
        ),
        # A report names these only for a resource that differs.
        tuple((path, notes.because.get(path, "")) for path in sorted(notes.unverified)) if result.differences else (),
        tuple(
            (name_path(result, change.path), _write_value(change.before), _write_value(change.now), change.weakens)
            for change in sort_outside(result)
        ),
        tuple(
            (name_path(result, value.path), _write_value(value.live), value.entries)
            for value in list_reset(result, writes=writes)
        ),
        find_authors(result),
        # A fold lists each kind of failed try once, so neither order nor number distinguishes two resources.
        frozenset((attempt.stage, attempt.status, attempt.code) for attempt in result.attempts),
    )
    return parts if any(parts) else ()


def _write_value(value: object) -> str:
    # A report shortens long values: those that only begin alike must not be shown as one.
    return json.dumps(value, sort_keys=True, default=str)


def name_kinds(keys: Iterable[Key]) -> Mapping[tuple[str, str], str]:
    """Name each kind, by kind and group: with the group if two groups have such a kind."""
    kinds = {(key.kind, key.group) for key in keys}
    times = Counter(kind for kind, _ in kinds)
    return {(kind, group): escape_controls(f"{kind}.{group}" if times[kind] > 1 else kind) for kind, group in kinds}


def describe_members(fold: Fold, groups: Mapping[Key, GroupName], *, with_namespaces: bool) -> str:
    """Describe which resources a fold has: the first names of equal changes, else how many are in each resource group,
    the largest first.
    """
    times = Counter(groups[result.key].label for result in fold.results)
    # Where each resource is in a group of its own, every count would be 1, and names say more.
    if fold.has_details or len(times) == len(fold.results):
        keys = [result.key for result in fold.results]
        names = [escape_controls(f"{key.namespace}/{key.name}" if with_namespaces else key.name) for key in keys]
        return name_first(names, MOST_NAMED)
    if len(times) == 1:
        (label,) = times
        return label if label.startswith("in ") else f"in {label}"
    ordered = sorted(times.items(), key=lambda row: (-row[1], row[0]))
    return (
        f"in {len(times)} resource groups: {name_first([f'{label} ({count})' for label, count in ordered], MOST_NAMED)}"
    )


def describe_folds(folds: Sequence[Fold]) -> str:
    """Describe how many resources folds have, as the subject of a sentence: `4,950 resources are folded`."""
    count = sum(len(fold.results) for fold in folds)
    return f"{format_plural(count, 'resource')} are folded"


def list_failed_requests(fold: Fold) -> list[str]:
    """List the failed tries that the resources of a fold had, each kind once."""
    kinds = {
        (attempt.stage.value, attempt.status or "", attempt.code)
        for result in fold.results
        for attempt in result.attempts
    }
    return [
        f"failed tries, {stage}: {' '.join(filter(None, (str(status), code)))}"
        for stage, status, code in sorted(kinds, key=str)
    ]
