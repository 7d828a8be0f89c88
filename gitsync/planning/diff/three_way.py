"""Compare the desired state, what gitsync last sent, the baseline, and the live state (docs/reference/design.md#drift).

Only leaves that git sets count. With a record, the live state is compared with what Azure returned after our last
write, so Azure's own spelling of a value is not drift; without one, git is compared with Azure by the rules of
`equivalence`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any, Final

from gitsync.desired.formats.json_pointer import JsonPath, format_pointer, parse_pointer
from gitsync.desired.formats.leaf_changes import compute_changes, find, find_removed, is_same
from gitsync.desired.formats.list_pairing import ATOMIC_MAPPINGS, TAGS, is_same_key
from gitsync.model.outside import RecordedOutside
from gitsync.model.secret import MASKED
from gitsync.model.verdict import Comparison, Difference, Verdict
from gitsync.planning.diff.equivalence import READ_FROM_ANSWER, compare_values
from gitsync.planning.diff.first_sight import Unverified, compare_first_sight, format_value, is_equal, name_rule
from gitsync.planning.diff.hints import Hints
from gitsync.planning.diff.projection import drop_empty, project, select_desired
from gitsync.planning.diff.rules.masks import is_secret
from gitsync.planning.diff.rules.rule import RuleOutcome
from gitsync.planning.diff.unnamed_entries import sort_as_before

MOVED = "changed in Azure since it was last seen"
COMMITTED = "changed in git"
REMOVED = "removed from git"
HALF_DONE = "left by a write that failed"

UNDONE = frozenset({COMMITTED, REMOVED, HALF_DONE})
"""Rules of differences that git made: a sync writes them, and nothing changed them in Azure."""

_BY_TWO_LEAVES = frozenset(map(name_rule, READ_FROM_ANSWER))
"""Rules by which git and Azure are compared even if there is a baseline: it has one of the two leaves."""

_VERDICTS = {  # (git moved, Azure moved)
    (False, False): Verdict.IN_SYNC,
    (True, False): Verdict.PENDING,
    (False, True): Verdict.DRIFTED,
    (True, True): Verdict.CONFLICT,
}


@dataclass(slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class Remembered:
    """The state on record."""

    applied: Mapping[str, Any]  # the body last sent
    baseline: Mapping[str, Any] | None  # the live values of its leaves after that, None if they cannot be compared
    undone: frozenset[str] = frozenset()  # JSON pointers of what a later write was to change, which failed
    outside: RecordedOutside | None = None  # what Azure showed beside the body, None if it cannot be compared

    def has_all(self, desired: Mapping[str, Any], live: Mapping[str, Any]) -> bool:
        """Return whether nothing has changed, in git or in Azure: so it is with nearly all resources of nearly all
        runs. A run checks this before it compares, since then no rule has to decide.
        """
        return self.baseline is not None and is_untouched(desired, self.applied, self.baseline, live)


def compare(
    desired: Mapping[str, Any], live: Mapping[str, Any], remembered: Remembered | None, hints: Hints | None = None
) -> Comparison:
    """Compare one resource that exists. `desired` and `live` are ARM bodies; secrets in `desired` are never compared.

    Without `remembered` the verdict is ADOPT, with or without differences. Leaves that Azure does not return are in
    `unverified` and justify no write.
    """
    # What requests nothing, such as an empty object, is not compared.
    desired = select_desired(desired)
    hints = hints or Hints()
    own_id = hints.own_id or live.get("id")
    # Some rules need the answer as a whole, and the id by which the resource names itself.
    hints = replace(hints, answer=live, own_id=own_id if isinstance(own_id, str) else "")
    first_sight = [_leave_unproven(found, hints) for found in compare_first_sight(desired, live, hints)]
    differences = tuple(difference for difference in first_sight if isinstance(difference, Difference))
    unverified_paths = [difference.path for difference in first_sight if isinstance(difference, Unverified)]
    if remembered is not None:
        # Azure is compared with the baseline where that has the leaf.
        unverified_paths = [
            path
            for path in unverified_paths
            if is_secret(path, hints) or find(remembered.baseline, path, desired) is None
        ]
    unverified = tuple(sorted(set(map(format_pointer, unverified_paths))))
    if remembered is None:
        return Comparison(verdict=Verdict.ADOPT, differences=_sort(differences), unverified=unverified)
    # Only an AzureResource pairs such entries by value. ASO's kinds keep the pairing by position.
    if hints.body_type is not None:
        live = sort_as_before(live, select_desired(remembered.applied), remembered.baseline)
    pending = tuple(_list_pending(desired, select_desired(remembered.applied), live, hints))
    paths = {difference.path for difference in pending}
    unpending = _remove_reported(differences, paths)
    # Without a baseline, nothing shows which side changed: what git has not changed since counts as drift.
    drifted = unpending
    # With a baseline, Azure is compared with itself, so its own spelling of a value is not drift.
    if remembered.baseline is not None:
        # The baseline has one leaf of the two, so it cannot show that they have parted.
        by_two_leaves = tuple(difference for difference in unpending if difference.rule in _BY_TWO_LEAVES)
        moved = tuple(_list_drifted(desired, remembered, live, hints))
        # What a failed write did in part has not drifted: it is still to be done.
        left = tuple(
            replace(difference, rule=HALF_DONE) for difference in moved if difference.path in remembered.undone
        )
        pending += _remove_reported(left, paths)
        moved = _remove_reported(moved, remembered.undone)
        drifted = moved + _remove_reported(by_two_leaves, {difference.path for difference in moved})
    verdict = _VERDICTS[bool(pending), bool(drifted)]
    paths = {difference.path for difference in pending}
    drifted = _remove_reported(drifted, paths)  # a leaf that changed on both sides is reported once
    return Comparison(verdict=verdict, differences=_sort(pending + drifted), unverified=unverified)


def _leave_unproven(found: Difference | Unverified, hints: Hints) -> Difference | Unverified:
    if isinstance(found, Unverified):
        return found
    path = parse_pointer(found.path)
    return Unverified(path) if hints.is_unproven(path, found.desired) or hints.is_set_by_azure(path) else found


def make_baseline(desired: Mapping[str, Any], live: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the live values of the leaves that git sets: the baseline of later reads."""
    return dict(project(select_desired(desired), live))


def remove_secrets(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a body as a record may keep it: without the values of secrets."""
    return dict(format_value(body))


def _list_pending(
    desired: Mapping[str, Any], applied: Mapping[str, Any], live: Mapping[str, Any], hints: Hints
) -> Iterator[Difference]:
    """Leaves that git changed since the last write, unless Azure has the new value already."""
    for path, now, before in compute_changes(format_value(desired), applied):
        live_value = find_removed(live, path, desired, applied) if now is None else find(live, path, desired)
        # An empty list that was removed from git meant no entries, and an empty one in Azure counts as absent.
        if now is None and live_value not in (None, []) and before not in (None, []):
            if not hints.is_set_by_azure(path):  # Azure keeps it, whether a request has it or not
                yield Difference(format_pointer(path), None, live_value, REMOVED)
        elif now is not None and not is_equal(path, now, live_value, hints):
            yield Difference(format_pointer(path), now, live_value, COMMITTED)


def _list_drifted(
    desired: Mapping[str, Any], remembered: Remembered, live: Mapping[str, Any], hints: Hints
) -> Iterator[Difference]:
    """Leaves that git sets and that changed in Azure since the last read, unless they now have the desired value."""
    applied = select_desired(remembered.applied)
    now = project(applied, live)
    for path, current, before in compute_changes(now, remembered.baseline):
        # Indexes are those of `now`, except for an entry that only the baseline has.
        is_there = current is not None or find(remembered.baseline, path, now) == before
        reference = now if is_there else remembered.baseline
        desired_value = find(desired, path, reference)
        if isinstance(desired_value, list) and desired_value == find(live, path, now):
            continue  # of entries without a name, `current` may have less than git and Azure have
        is_empty = desired_value in (None, []) and current in (None, [])
        if is_empty and find(applied, path, reference) is not None:
            continue  # removed from git and deleted in Azure: both agree
        # Of an entry that is new in Azure, `current` has the key only; git may have all of it by now.
        live_value = find(live, path, now) if before is None and desired_value is not None else current
        # ARM's types are wrong about some values. One that Azure took from git is not Azure's alone.
        if hints.is_set_by_azure(path) and not is_equal(path, find(applied, path, reference), before, hints):
            continue
        # A change to what git has by now is not drift: both agree.
        if current is None or not any(
            is_equal(path, value, live_value, hints) for value in _list_fine_values(path, desired_value, before, hints)
        ):
            yield Difference(format_pointer(_spell_tag(path, desired)), format_value(desired_value), current, MOVED)


def _spell_tag(path: JsonPath, desired: Mapping[str, Any]) -> JsonPath:
    """Return a path with the name of a tag as git spells it now: one tag is reported once."""
    tags = desired.get(TAGS)
    if path[0] != TAGS or len(path) == 1 or not isinstance(tags, Mapping):
        return path
    name = next((name for name in tags if is_same_key(name, str(path[1]), TAGS)), path[1])
    return (TAGS, name, *path[2:])


def _list_fine_values(path: JsonPath, desired_value: Any, before: Any, hints: Hints) -> Iterator[Any]:
    """The values that a leaf may have now: its old one and the desired one, except if Azure sets it regardless of the
    request: any change of a leaf that only Azure sets counts.
    """
    if before is not None:
        yield before
    if desired_value is not None and compare_values(path, desired_value, before, hints)[0] is not RuleOutcome.UNTOLD:
        yield desired_value


def _remove_reported(differences: tuple[Difference, ...], paths: AbstractSet[str]) -> tuple[Difference, ...]:
    return tuple(difference for difference in differences if difference.path not in paths)


def _sort(differences: tuple[Difference, ...]) -> tuple[Difference, ...]:
    return tuple(sorted(differences, key=lambda difference: difference.path))


_SCALARS: Final = frozenset({str, bool, int, float})


def is_untouched(
    desired: Mapping[str, Any], applied: Mapping[str, Any], baseline: Mapping[str, Any], live: Mapping[str, Any]
) -> bool:
    """Return whether all four have the same values for what git sets, in the order of lists and the types of numbers
    too. False where that is not plain to see: for a secret, whose value no other side has, and for a member that git
    and the last write do not have alike. One walk looks at all four, and copies nothing.
    """
    return _agree(desired, applied, baseline, live, left_out="name")  # the name is in the URL, and no value of the body


def _agree(
    desired: Mapping[str, Any],
    applied: Mapping[str, Any],
    baseline: Mapping[str, Any],
    live: Mapping[str, Any],
    left_out: str | None = None,
) -> bool:
    # A member that came or went in git may be a change, which the full comparison finds.
    if desired.keys() != applied.keys():
        return False
    requested = 0
    for key, value in desired.items():
        sent = applied[key]
        if key == left_out or (value is None and sent is None):
            continue
        if key not in baseline:
            if value == [] and sent == [] and live.get(key) in (None, []):
                continue  # Azure does not return an empty list
            if _is_empty(value) and _is_empty(sent) and not key.startswith("/"):
                continue  # an empty object requests nothing
            return False
        if not _agree_on_value(key, value, sent, baseline[key], live.get(key)):
            return False
        requested += 1
    # The baseline has a leaf that git no longer sets.
    return requested == len(baseline)


def _agree_on_value(key: str, desired: Any, applied: Any, baseline: Any, live: Any) -> bool:
    kind = type(desired)
    if not (type(applied) is type(baseline) is type(live) is kind):
        return False
    # A mask is equal on every side, whatever the secret is: the full comparison decides.
    if kind in _SCALARS:
        return bool(desired == applied == baseline == live != MASKED)
    if kind is dict:
        if key in ATOMIC_MAPPINGS and live.keys() != desired.keys():
            return False
        if key == TAGS and not live.keys() >= desired.keys():  # Azure has their names in another case
            live = project(desired, live, TAGS)
        return bool(baseline or key.startswith("/")) and _agree(desired, applied, baseline, live)
    if kind is list:
        # Nearly all lists have as many entries on each side, in the same order. In others they are found by their keys.
        is_same_length = len(desired) == len(applied) == len(baseline) == len(live)
        if is_same_length and all(map(_agree_on_value, repeat(""), desired, applied, baseline, live)):
            return True
        requested = drop_empty(desired)
        return (
            is_same(requested, baseline)
            and is_same(requested, drop_empty(applied))
            and is_same(requested, project(requested, live, key))
        )
    return False


def _is_empty(value: Any) -> bool:
    """Return whether a value requests nothing: an object without members, or with such members only."""
    return value is None or (type(value) is dict and drop_empty(value) == {})
