"""Why the delete of a resource that was removed from git is held: the removal may be a mistake.

A typo in a manifest looks like its removal. So a resource is deleted only if all of its unit can be read, no document
that gitsync does not understand names it, and no new manifest has nearly the same key.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from gitsync.formats.arm_path import is_below
from gitsync.manifests.units import find_unit, find_unit_name, may_hide
from gitsync.model.gvk import Key
from gitsync.model.manifests import UnreadDocument
from gitsync.model.plan import RestOfSource
from gitsync.model.problem import Level, Problem, SourceLocation
from gitsync.model.record import Record
from gitsync.model.resource import Prepared, Resource
from gitsync.problems.suggest import measure_distance

NOTHING_ELSE: Final = RestOfSource()


class _Trace(NamedTuple):
    """What identifies an unread document."""

    source: SourceLocation
    kind: str  # "" may be any
    names: frozenset[str]  # in lower case
    why: str  # it may be any resource: a clause for messages


@dataclass(frozen=True, slots=True)
class RemovedResource:
    """A resource that was removed from git."""

    record: Record
    path: str = ""  # the file that declared it last, "" if it is not known
    units: tuple[str, ...] = ()  # the units that declared it last, none if they are not known

    @property
    def last_units(self) -> tuple[str, ...]:
        return self.units or ((find_unit(self.path),) if self.path else ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Holds:
    """Everything in git that can hold a delete. Made by `find_holds`."""

    faults: tuple[Problem, ...] = ()  # problems that may hide manifests of their units
    invalid: tuple[Problem, ...] = ()
    traces: Mapping[str, tuple[_Trace, ...]] = field(default_factory=dict)
    """Those of documents that gitsync does not understand, by each of their names."""

    nameless: tuple[Prepared, ...] = ()  # manifests without an ARM id, whose name in Azure a ConfigMap has
    new: Mapping[str, tuple[Prepared, ...]] = field(default_factory=dict)
    """Manifests without a record or with a duplicate key, by the variants of their names (`find_near`)."""

    twice: frozenset[Key] = frozenset()
    owned: Mapping[Key, Prepared] = field(default_factory=dict)  # a manifest for each owner, by the owner's key
    moves: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The units that now contain the resources of a recorded unit."""

    strays: tuple[Resource, ...] = ()  # alone in a namespace outside of the run
    owners: Mapping[str, Prepared] = field(default_factory=dict)  # a manifest for each owner, by its ARM id
    built: frozenset[str] = frozenset()  # the names of units that are built

    def on(self, removed: RemovedResource) -> str:
        """Return why a resource is held, with file and line, and how to fix it; "" if it may be deleted."""
        return next((text for rule in _RULES if (text := rule(self, removed))), "")

    def on_owner(self, record: Record) -> str:
        """Return the same of a resource that a manifest names as its owner; "" if none does."""
        children = (child for arm_id, child in self.owners.items() if is_below(f"{arm_id}/", record.arm_id))
        child = self.owned.get(record.key) or next(children, None)
        if child is None:
            return ""
        return (
            f"Held: {child.resource.source} still names it as the owner of {child.key}. Remove that manifest too, "
            "or restore this one."
        )


def find_holds(
    declared: Collection[Prepared],
    records: Mapping[Key, Record],
    problems: Iterable[Problem] = (),
    around: RestOfSource = NOTHING_ELSE,
) -> Holds:
    """Find everything in one revision that can hold a delete.

    `declared` are all manifests of the source, also those outside of the run; `records` has at least those of their
    keys. `problems` are those of the source's files, and `around` has their other content.
    """
    problems, unread = tuple(problems), around.unread
    counts = Counter(one.key for one in declared)
    recorded = {key for key, record in records.items() if record.arm_id}
    unknown = [one for one in declared if not (one.is_valid and (one.arm_id or one.key in recorded))]
    return Holds(
        faults=_sort_problems((*problems, *_find_rejections(unread, problems), *_find_doubts(declared))),
        invalid=_sort_problems(p for one in declared if not one.is_valid for p in one.problems),
        traces=_index_by_name((*map(_trace_document, unread), *map(_trace_manifest, unknown))),
        nameless=tuple(one for one in unknown if "azureNameFromConfig" in one.resource.spec),
        new=index_by_variant(one for one in declared if one.key not in records or counts[one.key] > 1),
        twice=frozenset(key for key, count in counts.items() if count > 1),
        owned={one.owner.key: one for one in declared if one.owner and one.owner.key},
        moves=_find_moves(declared, records),
        strays=_find_strays(around.elsewhere),
        owners={one.owner.arm_id: one for one in declared if one.owner and one.owner.arm_id},
        built=frozenset(one.resource.unit.name for one in declared if one.resource.unit),
    )


def _sort_problems(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    return tuple(sorted(problems, key=lambda problem: problem.order))


def _find_rejections(unread: Iterable[UnreadDocument], problems: Iterable[Problem]) -> Iterator[Problem]:
    """Make a problem for each rejected document of a file without another problem."""
    files_with_errors = {(problem.path, problem.unit) for problem in problems if problem.holds_deletes}
    for document in unread:
        if document.is_rejected and (document.source.path, document.unit) not in files_with_errors:
            message = "The document is not recognized."
            source = document.source
            yield Problem(code="Rejected", message=message, path=source.path, line=source.line, unit=document.unit)


def _find_doubts(declared: Iterable[Prepared]) -> Iterator[Problem]:
    """Find what may hide a resource. An unknown kind may be a misspelt one. Where a variable has no value, the missing
    value may decide which resources there are.
    """
    for prepared in declared:
        is_unknown = prepared.api_version is None
        for problem in prepared.problems:
            if (is_unknown and problem.is_error) or problem.code == "VariableNotSet":
                unit = prepared.resource.unit.name if prepared.resource.unit else ""
                yield replace(problem, level=Level.NOTE, unit=unit, path=prepared.resource.source.path)


def _trace_document(document: UnreadDocument) -> _Trace:
    names = frozenset(name.casefold() for name in (document.name, document.azure_name) if name)
    return _Trace(document.source, document.kind.casefold(), names, "which gitsync does not recognize")


def _trace_manifest(prepared: Prepared) -> _Trace:
    azure_name = prepared.resource.spec.get("azureName")
    names = {prepared.key.name, azure_name} if isinstance(azure_name, str) else {prepared.key.name}
    why = "whose ARM id is not known yet" if prepared.is_valid else "whose manifest is invalid"
    return _Trace(
        prepared.resource.source, prepared.key.kind.casefold(), frozenset(n.casefold() for n in names if n), why
    )


def _index_by_name(traces: Iterable[_Trace]) -> dict[str, tuple[_Trace, ...]]:
    by_name: dict[str, list[_Trace]] = defaultdict(list)
    for trace in sorted(traces, key=lambda trace: trace.source):
        for name in trace.names:
            by_name[name].append(trace)
    return {name: tuple(same) for name, same in by_name.items()}


def _find_moves(declared: Iterable[Prepared], records: Mapping[Key, Record]) -> dict[str, frozenset[str]]:
    """Find the units to which resources of a recorded unit were moved: those are checked too."""
    moves: dict[str, set[str]] = defaultdict(set)
    for prepared in declared:
        former_unit = records[prepared.key].manifest.unit if prepared.key in records else ""
        if former_unit and former_unit != (current_unit := find_unit_name(prepared.resource)):
            moves[former_unit].add(current_unit)
    return {former_unit: frozenset(current_unit) for former_unit, current_unit in moves.items()}


def _find_strays(elsewhere: Iterable[Resource]) -> tuple[Resource, ...]:
    """Return the resources that are alone in their namespace, which may be mistyped. One of several is intended."""
    elsewhere = tuple(elsewhere)
    counts = Counter(one.key.namespace for one in elsewhere)
    return tuple(one for one in elsewhere if counts[one.key.namespace] == 1)


def _check_any_fault(holds: Holds, removed: RemovedResource) -> str:
    """Hold a record of an older gitsync for any error: it has no unit, so it does not show where to look."""
    if removed.record.manifest.unit:
        return ""
    fault = next((p for p in (*holds.faults, *holds.invalid) if p.holds_deletes), None)
    if fault is None:
        return ""
    return (
        f"Held: {fault.place or 'The source'} has an error, and the record does not show which folder declared this "
        f"resource: {fault.message} Fix the error, and run again."
    )


def _check_unit(holds: Holds, removed: RemovedResource) -> str:
    unit = removed.record.manifest.unit
    places = {unit, *holds.moves.get(unit, ()), *removed.last_units} - {""}
    fault = next((p for p in holds.faults if any(may_hide(p, place, holds.built) for place in places)), None)
    if fault is None:
        return ""
    return (
        f"Held: {fault.place or 'The source'} cannot be read, and may declare this resource: {fault.message} Fix it; "
        "if it is not a manifest, name it in .gitsyncignore."
    )


def _check_traces(holds: Holds, removed: RemovedResource) -> str:
    key = removed.record.key
    kind = key.kind.casefold()
    # A manifest may give the resource its Azure name, which is the end of its ARM id.
    names = {key.name.casefold(), removed.record.arm_id.rpartition("/")[2].casefold()} - {""}
    for trace in (trace for name in sorted(names) for trace in holds.traces.get(name, ())):
        if not trace.kind or measure_distance(trace.kind, kind, MOST_LETTERS_OF_KIND) is not None:
            return (
                f"Held: {trace.source} has a document named {min(trace.names & names)}, {trace.why}, and which "
                f"may be this {key.kind}. Fix the document; if it is another resource, rename it."
            )
    return ""


def _check_config_names(holds: Holds, removed: RemovedResource) -> str:
    """An Azure name from a config map may be any name."""
    manifests = (manifest for manifest in holds.nameless if manifest.key[:3] == removed.record.key[:3])
    manifest = next(manifests, None)
    if manifest is None:
        return ""
    return (
        f"Held: {manifest.resource.source} reads the Azure name of {manifest.key} from a config map, and it may be "
        "this resource. If that manifest is invalid, fix it; the next run that reads the name decides."
    )


def _check_typos(holds: Holds, removed: RemovedResource) -> str:
    for manifest in find_near(removed.record.key.name, holds.new):
        likeness = describe_typo(manifest.key, removed.record.key)
        if likeness and manifest.key in holds.twice:
            return (
                f"Held: {manifest.resource.source} declares {manifest.key} again, and it {likeness}. "
                "Keep one manifest of each resource."
            )
        if likeness:
            return (
                f"Held for this run: {manifest.key} was added in the same change and {likeness}. "
                "The next run deletes it."
            )
    return ""


def _check_strays(holds: Holds, removed: RemovedResource) -> str:
    for stray in holds.strays:
        is_same_resource = stray.key._replace(namespace=removed.record.key.namespace) == removed.record.key
        is_written = stray.lines is not None and ("metadata", "namespace") in stray.lines
        if is_same_resource and not (
            is_written
            and measure_distance(stray.key.namespace, removed.record.key.namespace, MOST_LETTERS_OF_NAME) is None
        ):
            return (
                f"Held: {stray.source} declares {stray.key}, alone in a namespace outside of this run. Fix its "
                "metadata.namespace; if it is correct, add that namespace to --target-namespaces."
            )
    return ""


_RULES: tuple[Callable[[Holds, RemovedResource], str], ...] = (
    _check_any_fault,
    _check_unit,
    _check_traces,
    _check_config_names,
    _check_typos,
    _check_strays,
)


# When two keys are so similar that one may be a typo of the other.
#
# This compares words only. Names are indexed by their variants, so that not every new manifest is compared with every
# removed one.


MOST_LETTERS_OF_KIND = 2  # letters
MOST_LETTERS_OF_NAME = 1


def describe_typo(new: Key, removed: Key) -> str:
    """Return how a new key differs from one that was removed from git; "" if they are not alike.

    Namespace and group are not compared: a mistake in another line can change either.
    """
    if new.kind == removed.kind and new.name == removed.name:
        return "differs only in its namespace or group"
    if new.kind == removed.kind and measure_distance(new.name, removed.name, MOST_LETTERS_OF_NAME) is not None:
        return "its name differs by one letter"
    is_near_kind = (
        new.name == removed.name
        and measure_distance(new.kind.casefold(), removed.kind.casefold(), MOST_LETTERS_OF_KIND) is not None
    )
    return "its kind differs by one or two letters" if is_near_kind else ""


def index_by_variant(manifests: Iterable[Prepared]) -> dict[str, tuple[Prepared, ...]]:
    """Index manifests by the variants of their names."""
    by_variant: dict[str, list[Prepared]] = defaultdict(list)
    for manifest in manifests:
        for variant in _make_variants(manifest.key.name):
            by_variant[variant].append(manifest)
    return {variant: tuple(same) for variant, same in by_variant.items()}


def find_near(name: str, manifests_by_variant: Mapping[str, tuple[Prepared, ...]]) -> list[Prepared]:
    """Return the manifests whose names may be within one letter of this one, in the order of the files."""
    near = {
        (one.resource.source, one.key): one
        for text in _make_variants(name)
        for one in manifests_by_variant.get(text, ())
    }
    return [near[source_and_key] for source_and_key in sorted(near)]


def _make_variants(name: str) -> frozenset[str]:
    """A name, and the name without each of its letters: names within one letter of each other have one in common."""
    return frozenset({name, *(name[:at] + name[at + 1 :] for at in range(len(name)))})
