"""Names and orders resources for people: Kind/name, by resource group, an owner before what it owns; and by urgency, in
the sections that every form of a report has: what failed, what Azure would refuse, new app roles, deletes, changes of
identity, replacements, changes, what waits. A cause comes before its victims.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple

from gitsync.desired.catalog.own_kinds import ASSIGNMENT
from gitsync.model.arm_id import NO_ID
from gitsync.model.gvk import Key
from gitsync.model.result import Outcome, Result
from gitsync.model.verdict import Action, Verdict
from gitsync.report.wording import is_quiet
from gitsync.settings.logging import escape_controls

_GROUP = "resourcegroups"

_IN_GROUP = re.compile(r"^/subscriptions/([^/]+)/resourceGroups/([^/]+)", re.IGNORECASE)


def order_results(results: Iterable[Result]) -> list[Result]:
    """Order results as a tree that is read from top to bottom. Those without a resource group come first, those whose
    id is unknown last; siblings are sorted by namespace and key.
    """
    by_key = {result.key: result for result in sorted(results, key=lambda result: (result.key.namespace, result.key))}
    owned: Mapping[Key | None, list[Result]] = defaultdict(list)
    for result in by_key.values():
        owned[result.manifest.owner if result.manifest.owner in by_key else None].append(result)
    roots = sorted(owned[None], key=_make_group_order)
    ordered = list(chain.from_iterable(_walk(root, owned) for root in roots))
    seen = {result.key for result in ordered}
    return [*ordered, *(result for result in by_key.values() if result.key not in seen)]  # owners in a circle


def _walk(root: Result, owned: Mapping[Key | None, Sequence[Result]]) -> Iterator[Result]:
    """Yield a result and everything below it."""
    # There may be many levels, so this does not recur.
    ahead = [root]
    while ahead:
        result = ahead.pop()
        yield result
        ahead.extend(reversed(owned.get(result.key, ())))


def _make_group_order(result: Result) -> tuple[bool, str]:
    """Make the sort key of a resource group: by name, those without one first, those without an id last."""
    words = (result.arm_id or NO_ID).key.split("/")
    name = words[words.index(_GROUP) + 1 : words.index(_GROUP) + 2] if _GROUP in words else []
    return (not result.arm_id, "".join(name))


def shorten_names(keys: Iterable[Key]) -> Mapping[Key, str]:
    """Shorten keys to Kind/name; with the group if two groups have such a kind and name in one namespace."""
    unique = set(keys)
    times = Counter((key.namespace, key.kind, key.name) for key in unique)
    names: dict[Key, str] = {}
    for key in unique:
        is_shared = times[key.namespace, key.kind, key.name] > 1
        names[key] = escape_controls(f"{key.kind}.{key.group}/{key.name}" if is_shared else f"{key.kind}/{key.name}")
    return names


def make_reading_order(key: Key) -> tuple[str, Key]:
    """Make the sort key of a resource for people: namespace by namespace, and by key inside one."""
    return (key.namespace, key)


def has_namespaces(keys: Iterable[Key]) -> bool:
    """Return whether there is more than one namespace."""
    return len({key.namespace for key in keys}) > 1


class Section(NamedTuple):
    """A part of a report: the name that links use, and its title in a plan and in a sync."""

    name: str
    planned: str
    done: str

    def choose_title(self, *, writes: bool) -> str:
        return self.done if writes else self.planned


FAILED: Final = Section("failed", "Failed", "Failed")
REFUSED: Final = Section("refused", "Azure would refuse", "Azure would refuse")
GRANTS: Final = Section("grants", "App roles to assign", "App roles assigned")
DELETES: Final = Section("deletes", "To delete", "Deleted")
REMOVED: Final = Section("removed", "Removed from git, not deleted", "Removed from git, not deleted")
REPLACED: Final = Section("replaced", "To replace", "Replaced")
REPLACES: Final = Section("replaces", "Replace needed", "Replace needed")
IDENTITY: Final = Section("identity", "To write as another identity", "Written as another identity")
CHANGES: Final = Section("changes", "To change", "Changed")
OUTSIDE: Final = Section("outside", "Changed outside of git", "Changed outside of git")
WAITING: Final = Section("waiting", "Waiting", "Waiting")
HELD: Final = Section("held", "Held", "Held")
OTHERS: Final = Section("others", "No change in Azure", "No change in Azure")
IN_SYNC: Final = Section("in-sync", "In sync", "In sync")

LOSING: Final = frozenset({DELETES, REPLACED, REPLACES})
"""Whose resources a delete takes, with what is in them."""

TITLED: Final = frozenset({DELETES, REMOVED, REPLACED, REPLACES, OUTSIDE})
"""Whose title names what happens to each resource, so that no line has to."""

SECTIONS: Final = (
    FAILED,
    REFUSED,
    GRANTS,
    DELETES,
    IDENTITY,
    REPLACED,
    REPLACES,
    REMOVED,
    CHANGES,
    OUTSIDE,
    WAITING,
    HELD,
    OTHERS,
    IN_SYNC,
)
"""In the order of a report."""

_OUTSIDE: Final = SECTIONS.index(OUTSIDE)

_RULES: Final[tuple[tuple[Section, Callable[[Result], bool]], ...]] = (
    (FAILED, lambda result: result.outcome is Outcome.FAILED),
    (REFUSED, lambda result: result.is_refused),
    # Before what waits: a held resource is blocked as well, and so is one that would have to be replaced.
    (HELD, lambda result: result.manifest.hold is not None),
    (REPLACES, lambda result: result.needs_replacement),
    (WAITING, lambda result: result.outcome is Outcome.BLOCKED),
    (REPLACED, lambda result: result.action is Action.REPLACE),
    # Apart from other creates, since each gives an identity a permission.
    (GRANTS, lambda result: result.key[:2] == ASSIGNMENT and result.action is Action.CREATE),
    (DELETES, lambda result: result.action is Action.DELETE),
    # Such a write is a change as well, but a reader must see who makes it.
    (IDENTITY, lambda result: result.change.identity is not None),
    (CHANGES, lambda result: result.action is not Action.NONE),
    (REMOVED, lambda result: result.verdict is Verdict.DELETE),
    (OUTSIDE, lambda result: bool(result.comparison.outside)),
    # Failed tries are worth a line, although the resource is in sync.
    (IN_SYNC, lambda result: is_quiet(result) and not result.attempts),
    (OTHERS, lambda _result: True),
)
"""The first that applies."""

VERDICTS: Final = (
    Verdict.UNKNOWN,
    Verdict.INVALID,
    Verdict.BLOCKED,
    Verdict.CONFLICT,
    Verdict.MISSING,
    Verdict.DRIFTED,
    Verdict.FAILED_BEFORE,
    Verdict.PENDING,
    Verdict.ADOPT,
    Verdict.CREATE,
    Verdict.DELETE,
    Verdict.DETACH,
    Verdict.HELD,
    Verdict.SKIP,
    Verdict.IN_SYNC,
)
"""The most urgent first: what Azure changed comes before what git changed, and both before what is new."""


def choose_section(result: Result) -> Section:
    return next(section for section, applies in _RULES if applies(result))


def rate_urgency(result: Result) -> tuple[int, int]:
    """Find the sort key of a resource: by section, then by verdict."""
    return (SECTIONS.index(choose_section(result)), VERDICTS.index(result.verdict))


def takes_away(section: Section, result: Result) -> bool:
    """Return whether a delete takes, or would take, a resource of a section."""
    is_refused_delete = section is REFUSED and (result.action is Action.DELETE or result.change.replacement is not None)
    return section in LOSING or is_refused_delete


def sort_by_urgency(results: Iterable[Result]) -> list[Result]:
    """Sort results by section. In each, what blocks most comes first, and what waits for another after that one; among
    equals by verdict, then by resource group, and an owner before what it owns. Of changes outside of git, those that
    weaken the estate come first.
    """
    ordered = order_results(results)
    blocks = count_waiting(ordered)

    def make_order(result: Result) -> tuple[int, bool, int, bool, int]:
        section, verdict = rate_urgency(result)
        is_harmless = section == _OUTSIDE and not any(change.weakens for change in result.comparison.outside)
        waits = result.ending.blocked_by is not None
        return (section, is_harmless, -blocks.get(result.key, 0), waits, verdict)

    return sorted(ordered, key=make_order)


def split_results(results: Iterable[Result]) -> Mapping[Section, list[Result]]:
    """Split results into sections, in their order and without empty ones; the most urgent first."""
    found: dict[Section, list[Result]] = defaultdict(list)
    for result in sort_by_urgency(results):
        found[choose_section(result)].append(result)
    return found


def collect_causes(results: Iterable[Result]) -> Mapping[Key, Key]:
    """Collect for each resource that waits for another the one that all began with: itself not waiting for a third."""
    waiting = {result.key: result.ending.blocked_by for result in results if result.ending.blocked_by}
    return {key: _follow(key, waiting) for key in waiting}


def count_waiting(results: Iterable[Result]) -> Mapping[Key, int]:
    """Count for each resource that others wait for how many they are, those that wait for these included."""
    return Counter(collect_causes(results).values())


def describe_causes(results: Sequence[Result]) -> Mapping[Key, str]:
    """Describe for each resource that waits for another what it waits for: `blocked by Kind/name`."""
    names = shorten_names(result.key for result in results)
    # One that waits for a resource outside of the run keeps its message: no other row has the reason.
    return {key: f"blocked by {names[cause]}" for key, cause in collect_causes(results).items() if cause in names}


def _follow(key: Key, waiting: Mapping[Key, Key]) -> Key:
    """Follow a chain to its end; owners have no circles, and one in the input ends where it began."""
    seen = {key}
    while key in waiting and waiting[key] not in seen:
        key = waiting[key]
        seen.add(key)
    return key


class GroupName(NamedTuple):
    """A resource group: its subscription and its name, in lower case; both "" for resources outside of any group."""

    subscription: str
    name: str

    @property
    def label(self) -> str:
        return escape_controls(self.name) or "in no resource group"

    @property
    def id(self) -> str:
        return f"{self.subscription}/{self.name}" if self.name else ""


NO_GROUP = GroupName("", "")


def group_results(results: Iterable[Result]) -> Mapping[Key, GroupName]:
    """Find the resource group of each result by its ARM id, and where it has none by its nearest owner that has one."""
    known = {result.key: result for result in results}
    return {key: _find_nearest_group(key, known) for key in known}


def _find_nearest_group(key: Key, known: Mapping[Key, Result]) -> GroupName:
    seen: set[Key] = set()
    result = known.get(key)
    while result and result.key not in seen:
        seen.add(result.key)
        found = _IN_GROUP.match(result.arm_id or "")
        if found:
            return GroupName(found[1].casefold(), found[2].casefold())
        result = known.get(result.manifest.owner) if result.manifest.owner else None
    return NO_GROUP
