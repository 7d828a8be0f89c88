"""Why a resource that was removed from git is held: not deleted in this run, since the removal may be a mistake.

A typo in a manifest looks like its removal. So a resource is deleted only if all of its unit can be read, no document
that gitsync does not understand names it, and no new manifest is nearly equal.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from gitsync.formats.arm_path import is_below
from gitsync.manifests.units import find_unit, may_hide
from gitsync.model.gvk import Key
from gitsync.model.manifests import UnreadDocument
from gitsync.model.plan import Surroundings
from gitsync.model.problem import Problem, SourceLocation
from gitsync.model.record import Record
from gitsync.model.resource import Prepared, Resource
from gitsync.planning.near_keys import FURTHEST_KIND, FURTHEST_NAME, describe_typo, find_near, index_by_variant
from gitsync.problems.suggest import measure_distance

ALONE: Final = Surroundings()


class _Trace(NamedTuple):
    """What identifies a document that is not understood. Names are in lower case; an empty kind may be any."""

    source: SourceLocation
    kind: str
    names: frozenset[str]
    why: str


@dataclass(frozen=True, slots=True)
class Gap:
    """A resource that was removed from git. `path` is the file that declared it last, "" if unknown."""

    record: Record
    path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holds:
    """What in git decides about deletes. Made by `holds_of`.

    `faults` may hide manifests of their units; `traces` are of documents that are not understood, by each name they
    say; `new` are manifests without a record, or that stand twice, by the variants of their names (near_keys);
    `owned` and `owners` have a manifest for each owner that is named, by its key and by its ARM id; `moves` has the
    units in which the resources of a recorded unit stand now; `strays` are alone in a namespace that the run is not
    about.
    """

    faults: tuple[Problem, ...] = ()
    invalid: tuple[Problem, ...] = ()
    traces: Mapping[str, tuple[_Trace, ...]] = field(default_factory=dict)
    nameless: tuple[Prepared, ...] = ()
    new: Mapping[str, tuple[Prepared, ...]] = field(default_factory=dict)
    twice: frozenset[Key] = frozenset()
    owned: Mapping[Key, Prepared] = field(default_factory=dict)
    moves: Mapping[str, frozenset[str]] = field(default_factory=dict)
    strays: tuple[Resource, ...] = ()
    owners: Mapping[str, Prepared] = field(default_factory=dict)

    def on(self, gap: Gap) -> str:
        """Return why a resource is held, with the file and line that hold it and what to do; "" where it may go."""
        return next((text for rule in _RULES if (text := rule(self, gap))), "")


def find_holds(
    declared: Collection[Prepared],
    records: Mapping[Key, Record],
    problems: Iterable[Problem] = (),
    around: Surroundings = ALONE,
) -> Holds:
    """Find what holds deletes back in one revision.

    `declared` are all manifests of the source, also those that the run is not about; `records` are those of their keys
    at least. `problems` are those of the source's files, and `around` is what else they hold.
    """
    problems, unread = tuple(problems), around.unread
    counts = Counter(one.key for one in declared)
    unknown = [one for one in declared if not one.is_valid or not _known_id(one, records)]
    return Holds(
        faults=_sorted((*problems, *_rejections(unread, problems), *_of_unknown_kinds(declared))),
        invalid=_sorted(p for one in declared if not one.is_valid for p in one.problems),
        traces=_by_name((*map(_of_document, unread), *map(_of_manifest, unknown))),
        nameless=tuple(one for one in unknown if "azureNameFromConfig" in one.resource.spec),
        new=index_by_variant(one for one in declared if one.key not in records or counts[one.key] > 1),
        twice=frozenset(key for key, count in counts.items() if count > 1),
        owned={one.owner.key: one for one in declared if one.owner and one.owner.key},
        moves=_moves(declared, records),
        strays=_strays(around.elsewhere),
        owners={one.owner.arm_id: one for one in declared if one.owner and one.owner.arm_id},
    )


def _sorted(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    return tuple(sorted(problems, key=lambda problem: problem.order))


def _rejections(unread: Iterable[UnreadDocument], problems: Iterable[Problem]) -> Iterator[Problem]:
    """A problem for each rejected document of a file without another problem."""
    told = {problem.path for problem in problems if problem.is_error}
    for document in unread:
        if document.is_rejected and document.source.path not in told:
            message = "The document is not understood."
            yield Problem(code="Rejected", message=message, path=document.source.path, line=document.source.line)


def _of_unknown_kinds(declared: Iterable[Prepared]) -> Iterator[Problem]:
    """A resource of an unknown kind may be one of a known kind, misspelt."""
    for one in declared:
        if one.api_version is None:
            yield from (problem for problem in one.problems if problem.is_error)


def _known_id(one: Prepared, records: Mapping[Key, Record]) -> bool:
    recorded = records.get(one.key)
    return bool(one.arm_id or (recorded and recorded.arm_id))


def _of_document(document: UnreadDocument) -> _Trace:
    names = frozenset(name.casefold() for name in (document.name, document.azure_name) if name)
    return _Trace(document.source, document.kind.casefold(), names, "which gitsync does not understand")


def _of_manifest(one: Prepared) -> _Trace:
    given = one.resource.spec.get("azureName")
    names = {one.key.name, given} if isinstance(given, str) else {one.key.name}
    why = "whose ARM id is not known yet" if one.is_valid else "whose manifest is invalid"
    return _Trace(one.resource.source, one.key.kind.casefold(), frozenset(n.casefold() for n in names if n), why)


def _by_name(traces: Iterable[_Trace]) -> dict[str, tuple[_Trace, ...]]:
    found: dict[str, list[_Trace]] = defaultdict(list)
    for trace in sorted(traces, key=lambda trace: trace.source):
        for name in trace.names:
            found[name].append(trace)
    return {name: tuple(same) for name, same in found.items()}


def _moves(declared: Iterable[Prepared], records: Mapping[Key, Record]) -> dict[str, frozenset[str]]:
    """A unit that is moved to another folder is read there: its resources show where that is."""
    found: dict[str, set[str]] = defaultdict(set)
    for one in declared:
        before = records[one.key].unit if one.key in records else ""
        if before and before != (now := find_unit(one.resource.source.path)):
            found[before].add(now)
    return {before: frozenset(now) for before, now in found.items()}


def _strays(elsewhere: Iterable[Resource]) -> tuple[Resource, ...]:
    """A namespace that is mistyped in one manifest has no other; the same name in two that are meant holds nothing."""
    elsewhere = tuple(elsewhere)
    counts = Counter(one.key.namespace for one in elsewhere)
    return tuple(one for one in elsewhere if counts[one.key.namespace] == 1)


def _by_owner(holds: Holds, gap: Gap) -> str:
    below = (one for arm_id, one in holds.owners.items() if is_below(f"{arm_id}/", gap.record.arm_id))
    one = holds.owned.get(gap.record.key) or next(below, None)
    if one is None:
        return ""
    return (
        f"Held: {one.resource.source} still names it as the owner of {one.key}. Remove that manifest too, or restore "
        "this one."
    )


def _by_anything(holds: Holds, gap: Gap) -> str:
    """Records of before units were kept do not say where to look, so nothing at all may be unread."""
    if gap.record.unit:
        return ""
    fault = next((p for p in (*holds.faults, *holds.invalid) if p.is_error), None)
    if fault is None:
        return ""
    return (
        f"Held: {_place(fault)} has an error, and the record does not say which folder declared this resource: "
        f"{fault.message} Fix the error, and run again."
    )


def _by_unit(holds: Holds, gap: Gap) -> str:
    unit = gap.record.unit
    places = {unit, *holds.moves.get(unit, ()), *([find_unit(gap.path)] if gap.path else [])} - {""}
    fault = next((p for p in holds.faults if any(may_hide(p, place) for place in places)), None)
    if fault is None:
        return ""
    return (
        f"Held: {_place(fault)} cannot be read, and may declare this resource: {fault.message} Fix it; if it is not a "
        "manifest, name it in .gitsyncignore."
    )


def _by_trace(holds: Holds, gap: Gap) -> str:
    key = gap.record.key
    kind, names = key.kind.casefold(), _names(gap.record)
    for trace in (trace for name in sorted(names) for trace in holds.traces.get(name, ())):
        if not trace.kind or measure_distance(trace.kind, kind, FURTHEST_KIND) is not None:
            return (
                f"Held: {trace.source} has a document named {min(trace.names & names)}, {trace.why}, and which "
                f"may be this {key.kind}. Fix the document; if it is another resource, rename it."
            )
    return ""


def _by_config(holds: Holds, gap: Gap) -> str:
    """A name that only a config map says may be any."""
    same = (one for one in holds.nameless if one.key[:3] == gap.record.key[:3])
    one = next(same, None)
    if one is None:
        return ""
    return (
        f"Held: {one.resource.source} reads the Azure name of {one.key} from a config map, and it may be this "
        "resource. Fix that manifest if it is invalid; the next run that knows the name decides."
    )


def _by_typo(holds: Holds, gap: Gap) -> str:
    for one in find_near(gap.record.key.name, holds.new):
        member = describe_typo(one.key, gap.record.key)
        if member and one.key in holds.twice:
            return (
                f"Held: {one.resource.source} declares {one.key} again, and it {member}. Keep one manifest of each "
                "resource."
            )
        if member:
            return f"Held for this run: {one.key} was added in the same change and {member}. The next run deletes it."
    return ""


def _by_stray(holds: Holds, gap: Gap) -> str:
    for one in holds.strays:
        same = one.key._replace(namespace=gap.record.key.namespace) == gap.record.key
        is_written = "metadata.namespace" in one.lines
        if same and not (
            is_written and measure_distance(one.key.namespace, gap.record.key.namespace, FURTHEST_NAME) is None
        ):
            return (
                f"Held: {one.source} declares {one.key}, alone in a namespace outside of this run. Fix its "
                "metadata.namespace; if it is correct, add that namespace to --target-namespaces."
            )
    return ""


def _names(record: Record) -> frozenset[str]:
    """What a manifest may call it, in lower case: its name in Azure ends its ARM id."""
    return frozenset({record.key.name.casefold(), record.arm_id.rpartition("/")[2].casefold()} - {""})


def _place(problem: Problem) -> str:
    if not problem.path:
        return "The source"
    return f"{problem.path}:{problem.line}" if problem.line else problem.path


_RULES: tuple[Callable[[Holds, Gap], str], ...] = (
    _by_owner,
    _by_anything,
    _by_unit,
    _by_trace,
    _by_config,
    _by_typo,
    _by_stray,
)
