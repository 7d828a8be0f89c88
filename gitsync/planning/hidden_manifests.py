"""What in git may still declare a resource that was removed: the removal may be a mistake.

A typo in a manifest looks like its removal. So a resource is deleted only if all of its unit can be read, no document
that gitsync does not understand names it, and no new manifest has nearly the same key. `delete_guards` has the order.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from gitsync.desired.manifests.units import find_unit, find_unit_name, may_hide
from gitsync.desired.problems.suggest import measure_distance
from gitsync.model.arm_id import NO_ID, ArmId, IdKey
from gitsync.model.gvk import AZURE_RESOURCE, Key
from gitsync.model.manifests import UnreadDocument
from gitsync.model.plan import Removal, RestOfSource
from gitsync.model.problem import Level, Problem, SourceLocation
from gitsync.model.record import Record
from gitsync.model.resource import Prepared, Resource
from gitsync.planning.moved_manifests import LastDeclared

_ANY_KIND: Final = AZURE_RESOURCE[1].casefold()
_UNKNOWN_TYPE: Final = "UnknownType"  # of an AzureResource whose ARM type may be misspelt

NOTHING_ELSE: Final = RestOfSource()
_NOT_KNOWN: Final = Removal()


class _Trace(NamedTuple):
    """What identifies an unread document."""

    source: SourceLocation
    kind: str  # "" may be any
    names: frozenset[str]  # in lower case
    why: str  # it may be any resource: a clause for messages
    is_ours: bool  # it was meant for gitsync


@dataclass(frozen=True, slots=True)
class RemovedResource:
    """A resource that was removed from git: its record as it was read, and how it was removed."""

    record: Record
    removal: Removal = _NOT_KNOWN
    last: LastDeclared | None = None  # None if what is not read is not searched for it

    @property
    def last_units(self) -> tuple[str, ...]:
        """The units that declared it last; none if they are not known."""
        return self.removal.units or ((find_unit(self.removal.path),) if self.removal.path else ())


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceIndex:
    """Everything in git that may still declare a removed resource, or need it. Made by `index_source`."""

    named_ids: Mapping[IdKey, ArmId] = field(default_factory=dict)  # as `_index_named_ids` has them
    owned: Mapping[Key, Prepared] = field(default_factory=dict)  # a manifest for each owner, by the owner's key
    owners: Mapping[ArmId, Prepared] = field(default_factory=dict)  # and by its ARM id
    faults: tuple[Problem, ...] = ()  # they may hide manifests of their units
    invalid: tuple[Problem, ...] = ()
    traces: Mapping[str, tuple[_Trace, ...]] = field(default_factory=dict)  # by each of their names
    nameless: tuple[Prepared, ...] = ()  # their names in Azure are in config maps
    new: Mapping[str, tuple[Prepared, ...]] = field(default_factory=dict)  # without a record, or twice, by `list_near`
    twice: frozenset[Key] = frozenset()
    moves: Mapping[str, frozenset[str]] = field(default_factory=dict)  # from a recorded unit to where it is now
    strays: tuple[Resource, ...] = ()  # alone in a namespace outside of the run
    built: frozenset[str] = frozenset()  # the names of units that are built


NO_SOURCE: Final = SourceIndex()


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherFiles:
    """The files beside the only one that a run reads."""

    file: str  # the one that the run reads
    folder: str = ""  # that of the file, "." for the root
    declared: tuple[Prepared, ...] = ()  # the manifests of the other files
    source: SourceIndex = NO_SOURCE
    error: str = ""  # why they cannot be read, "" if they can


def find_declaring(record: Record, beside: OtherFiles) -> Prepared | None:
    """Find a manifest in another file that has the key of a record, or stands for its resource in Azure, or for one
    below that.
    """
    return next((prepared for prepared in beside.declared if _declares(prepared, record)), None)


def _declares(prepared: Prepared, record: Record) -> bool:
    arm_id = prepared.arm_id or NO_ID
    return prepared.key == record.key or arm_id.is_within(record.arm_id)


def index_source(
    declared: Iterable[Prepared],
    records: Mapping[Key, Record],
    problems: Iterable[Problem] = (),
    around: RestOfSource = NOTHING_ELSE,
) -> SourceIndex:
    """Index one revision.

    `declared` are all manifests of the source, also those outside of the run; `records` has at least those of their
    keys. `problems` are those of the source's files, and `around` has their other content.
    """
    # A watched resource is a copy of one outside of the run: each manifest counts once.
    declared = tuple({(entry.key, entry.resource.source): entry for entry in (*declared, *around.others)}.values())
    problems, unread = tuple(problems), around.unread
    counts = Counter(entry.key for entry in declared)
    # A valid manifest whose id is not known yet stands for the resource on record, and for no other.
    recorded = {key for key, record in records.items() if record.arm_id}
    unknown = [entry for entry in declared if not (entry.is_valid and (entry.arm_id or entry.key in recorded))]
    return SourceIndex(
        named_ids=_index_named_ids(declared, records),
        owned={
            entry.relations.owner.key: entry
            for entry in declared
            if entry.relations.owner and entry.relations.owner.key
        },
        owners={
            entry.relations.owner.arm_id: entry
            for entry in declared
            if entry.relations.owner and entry.relations.owner.arm_id
        },
        faults=_sort_problems((*problems, *_make_rejections(unread, problems), *_list_doubts(declared))),
        invalid=_sort_problems(p for entry in declared if not entry.is_valid for p in entry.problems),
        traces=_index_by_name((*map(_trace_document, unread), *map(_trace_manifest, unknown))),
        nameless=tuple(entry for entry in unknown if "azureNameFromConfig" in entry.resource.spec),
        new=index_by_variant(entry for entry in declared if entry.key not in records or counts[entry.key] > 1),
        twice=frozenset(key for key, count in counts.items() if count > 1),
        moves=_collect_moves(declared, records),
        strays=_list_strays(around.elsewhere),
        built=frozenset(entry.resource.unit.name for entry in declared if entry.resource.unit),
    )


def _index_named_ids(declared: Iterable[Prepared], records: Mapping[Key, Record]) -> Mapping[IdKey, ArmId]:
    """Map every ARM id that a manifest names, and each of its parents, to that id; an id maps to itself first.

    The recorded ids count too, since the id of an invalid manifest may be unknown.
    """
    ids = {
        arm_id
        for entry in declared
        for arm_id in (entry.arm_id, records[entry.key].arm_id if entry.key in records else None)
        if arm_id
    }
    named_ids: dict[IdKey, ArmId] = {}
    for arm_id in sorted(ids, key=lambda arm_id: (arm_id.count("/"), arm_id)):
        for ancestor in arm_id.lineage:
            if ancestor in named_ids:
                break  # its parents are, too
            named_ids[ancestor] = arm_id
    return named_ids


def _sort_problems(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    return tuple(sorted(problems, key=lambda problem: problem.order))


def _make_rejections(unread: Iterable[UnreadDocument], problems: Iterable[Problem]) -> Iterator[Problem]:
    """Make a problem for each rejected document of a file without another problem."""
    # One fault for each file is enough to hold a delete, and its own problem explains it better.
    files_with_errors = {(problem.path, problem.unit) for problem in problems if problem.may_hide_manifest}
    for document in unread:
        if document.is_rejected and (document.source.path, document.unit) not in files_with_errors:
            message = "The document is not recognized."
            source = document.source
            yield Problem(code="Rejected", message=message, path=source.path, line=source.line, unit=document.unit)


def _list_doubts(declared: Iterable[Prepared]) -> Iterator[Problem]:
    """Find what may hide a resource. An unknown kind or ARM type may be a misspelt one. Where a variable has no value,
    the missing value may decide which resources there are.
    """
    for prepared in declared:
        is_unknown = prepared.api_version is None
        for problem in prepared.problems:
            if (problem.is_error and (is_unknown or problem.code == _UNKNOWN_TYPE)) or problem.code == "VariableNotSet":
                unit = prepared.resource.unit.name if prepared.resource.unit else ""
                # As a warning it would hide nothing; a note does (`Problem.may_hide_manifest`).
                yield replace(problem, level=Level.NOTE, unit=unit, path=prepared.resource.source.path)


def _trace_document(document: UnreadDocument) -> _Trace:
    names = _list_names(document.name, document.azure_name)
    why = "which gitsync does not recognize"
    return _Trace(document.source, document.kind.casefold(), names, why, document.is_rejected)


def _trace_manifest(prepared: Prepared) -> _Trace:
    azure_name = prepared.resource.spec.get("azureName")
    # It may be an expression, or anything in an invalid manifest.
    names = _list_names(prepared.key.name, azure_name if isinstance(azure_name, str) else "")
    why = "whose ARM id is not known yet" if prepared.is_valid else "whose manifest is invalid"
    return _Trace(prepared.resource.source, prepared.key.kind.casefold(), names, why, is_ours=True)


def _list_names(name: str, azure_name: str) -> frozenset[str]:
    """List what a resource may be called, in lower case: the name in Azure may have several steps, as `site/web`."""
    names = (name, azure_name, azure_name.rpartition("/")[2])
    return frozenset(text.casefold() for text in names if text)


def _index_by_name(traces: Iterable[_Trace]) -> dict[str, tuple[_Trace, ...]]:
    by_name: dict[str, list[_Trace]] = defaultdict(list)
    for trace in sorted(traces, key=lambda trace: trace.source):
        for name in trace.names:
            by_name[name].append(trace)
    return {name: tuple(same) for name, same in by_name.items()}


def _collect_moves(declared: Iterable[Prepared], records: Mapping[Key, Record]) -> dict[str, frozenset[str]]:
    """Find the units to which resources of a recorded unit were moved: those are checked too."""
    moves: dict[str, set[str]] = defaultdict(set)
    for prepared in declared:
        former_unit = records[prepared.key].manifest.unit if prepared.key in records else ""
        if former_unit and former_unit != (current_unit := find_unit_name(prepared.resource)):
            moves[former_unit].add(current_unit)
    return {former_unit: frozenset(current_unit) for former_unit, current_unit in moves.items()}


def _list_strays(elsewhere: Iterable[Resource]) -> tuple[Resource, ...]:
    """Return the resources that are alone in their namespace, which may be mistyped. One of several is intended."""
    elsewhere = tuple(elsewhere)
    counts = Counter(resource.key.namespace for resource in elsewhere)
    return tuple(resource for resource in elsewhere if counts[resource.key.namespace] == 1)


# Each of these returns why a resource is kept, with file and line, and how to fix it; "" if this does not keep it.


def explain_named(removed: RemovedResource, index: SourceIndex) -> str:
    """Keep what contains something that a manifest names."""
    named_id = index.named_ids.get(removed.record.arm_id.key)
    return f"A manifest still names {named_id}, which is below it." if named_id else ""


def explain_owner(removed: RemovedResource, index: SourceIndex) -> str:
    """Keep what a manifest names as its owner, or is below that."""
    record = removed.record
    children = (child for arm_id, child in index.owners.items() if arm_id.is_within(record.arm_id))
    child = index.owned.get(record.key) or next(children, None)
    if child is None:
        return ""
    return (
        f"Held: {child.resource.source} still names it as the owner of {child.key}. Remove that manifest too, "
        "or restore this one."
    )


def explain_any_error(removed: RemovedResource, index: SourceIndex) -> str:
    """Keep it for any error if its record is of an older gitsync, which has no unit: it does not show where to look."""
    if removed.record.manifest.unit:
        return ""
    fault = next((p for p in (*index.faults, *index.invalid) if p.may_hide_manifest), None)
    if fault is None:
        return ""
    return (
        f"Held: {fault.location or 'The source'} has an error, and the record does not show which folder declared this "
        f"resource: {fault.message} Fix the error, and run again."
    )


def explain_unread_unit(removed: RemovedResource, index: SourceIndex) -> str:
    unit = removed.record.manifest.unit
    units = {unit, *index.moves.get(unit, ()), *removed.last_units} - {""}
    fault = next((p for p in index.faults if any(may_hide(p, unit_name, index.built) for unit_name in units)), None)
    if fault is None:
        return ""
    return (
        f"Held: {fault.location or 'The source'} cannot be read, and may declare this resource: {fault.message} Fix "
        "it; if it is not a manifest, name it in .gitsyncignore."
    )


def explain_unread_document(removed: RemovedResource, index: SourceIndex) -> str:
    key = removed.record.key
    kind = key.kind.casefold()
    # A manifest may give the resource its Azure name, which is the end of its ARM id.
    names = {key.name.casefold(), removed.record.arm_id.name.casefold()} - {""}
    # A set has another order in each process, and the message must be the same in every run.
    for trace in (trace for name in sorted(names) for trace in index.traces.get(name, ())):
        if _may_be_same_kind(trace, kind):
            return (
                f"Held: {trace.source} has a document named {min(trace.names & names)}, {trace.why}, and which "
                f"may be this {key.kind}. Fix the document; if it is another resource, rename it."
            )
    return ""


def _may_be_same_kind(trace: _Trace, kind: str) -> bool:
    """Return whether a document may stand for a resource of a kind, in lower case: without a kind, it may be any. A
    manifest that changes its kind to or from an AzureResource keeps its resource.
    """
    if not trace.kind or (trace.is_ours and kind == _ANY_KIND):
        return True
    return any(measure_distance(trace.kind, near, MOST_LETTERS_OF_KIND) is not None for near in (kind, _ANY_KIND))


def explain_name_from_config(removed: RemovedResource, index: SourceIndex) -> str:
    """An Azure name from a config map may be any name."""
    manifests = (manifest for manifest in index.nameless if manifest.key[:3] == removed.record.key[:3])
    manifest = next(manifests, None)
    if manifest is None:
        return ""
    return (
        f"Held: {manifest.resource.source} reads the Azure name of {manifest.key} from a config map, and it may be "
        "this resource. If that manifest is invalid, fix it; the next run that reads the name decides."
    )


def explain_similar_key(removed: RemovedResource, index: SourceIndex) -> str:
    for manifest in list_near(removed.record.key.name, index.new):
        likeness = describe_typo(manifest.key, removed.record.key)
        # A new name counts for one run. A duplicate is new in every run, so it holds the delete until it is removed.
        if likeness and manifest.key in index.twice:
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


def explain_similar_namespace(removed: RemovedResource, index: SourceIndex) -> str:
    for stray in index.strays:
        is_same_resource = stray.key._replace(namespace=removed.record.key.namespace) == removed.record.key
        # Without the line, the namespace is a default, so its letters show nothing.
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


def list_near(name: str, manifests_by_variant: Mapping[str, tuple[Prepared, ...]]) -> list[Prepared]:
    """Return the manifests whose names may be within one letter of this one, in the order of the files."""
    near = {
        (entry.resource.source, entry.key): entry
        for text in _make_variants(name)
        for entry in manifests_by_variant.get(text, ())
    }
    return [near[source_and_key] for source_and_key in sorted(near)]


def _make_variants(name: str) -> frozenset[str]:
    """A name, and the name without each of its letters: names within one letter of each other have one in common."""
    return frozenset({name, *(name[:at] + name[at + 1 :] for at in range(len(name)))})
