"""The plan of one revision and the records, or its refusal.

Nothing here reads from Azure. `planning` decides; this module applies the settings.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from gitsync.agent.reconcile.context import Connections
from gitsync.agent.run.prepared_manifests import (
    add_unbuilt,
    coverage_of,
    prepare_resources,
    read_selected_manifests,
    redact_manifests,
)
from gitsync.agent.run.removals import Reading, collect_removals
from gitsync.agent.run.run_input import RunInput
from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.manifests.selection import (
    Selection,
    find_keys,
    make_ambiguous_error,
    make_selection,
    select_prepared,
)
from gitsync.desired.manifests.units import find_unit
from gitsync.errors import ConfigError, GitsyncError
from gitsync.model.gvk import Key
from gitsync.model.manifests import Manifests
from gitsync.model.plan import Plan, Removal, RestOfSource, Review
from gitsync.model.problem import Level, Problem
from gitsync.model.provider import KEEPS_ADOPTED, Provider
from gitsync.model.reconcile_policy import Policy
from gitsync.model.record import Claim, Record, State, Trust
from gitsync.model.resource import Prepared
from gitsync.planning.claims import MovedClaims, move_claims, note_moves
from gitsync.planning.delete_guards import (
    Evidence,
    Moment,
    Removals,
    collect_bystanders,
    decide_deletes,
    list_removed,
)
from gitsync.planning.hidden_manifests import NO_SOURCE, OtherFiles, SourceIndex, index_source
from gitsync.planning.managed_locks import NO_LOCKS, LockView, list_recorded_locks
from gitsync.planning.planner import UNTRUSTED, make_plan, note_holds, skip_untrusted
from gitsync.planning.record_trust import collect_untrusted
from gitsync.planning.replacement import note_renames
from gitsync.planning.run_problems import merge_shared, warn_empty_source
from gitsync.planning.status.conditions import has_refused_delete
from gitsync.report.wording import join_renderers
from gitsync.repository.git.source.checkout import Checkout
from gitsync.settings.config.config import Config


def plan_run(  # noqa: PLR0913 - what a plan depends on
    config: Config,
    connections: Connections,
    run_input: RunInput,
    state: State,
    agent: str,
    selection: Selection | None = None,
    *,
    review: Review | None = None,
) -> Plan:
    """Make one plan of the manifests and records that the settings, or another `selection`, select. `agent` is the
    run's, and `review` the reviewed plan that it is limited to.

    Raises StateError if the records contradict each other.
    """
    selection, catalog = selection or make_selection(config), connections.catalog
    declared = {resource.key: resource.arm_id for resource in run_input.prepared}
    own_records = state.list_own(agent)
    gone = {key: record for key, record in own_records.items() if key not in declared}
    removed = {k: record for k, record in gone.items() if selection.has(k) and covers(connections.source, record)}
    remaining = {key: record for key, record in state.records.items() if key in declared}
    untrusted = collect_untrusted(own_records, catalog, declared)
    selected = select_prepared(run_input.prepared, selection)
    since = state.find_revision(agent) or state.revision
    removals = _collect_removals(config, connections, run_input, gone, removed, since)
    moved = _move_claims(selected, {**remaining, **removed}, own_records, untrusted)
    problems = _list_all_problems(config, connections, run_input, state, untrusted)
    evidence = Evidence(
        removed=list_removed({key: moved.records[key] for key in removed}, removals),
        source=_index_source(run_input, selected, moved.records, problems) if removed else NO_SOURCE,
        removals=removals,
        untrusted={**_collect_unproven(config, connections, removed), **untrusted},
        bystanders=collect_bystanders(selected, removed, state.records),
        review=review,
        locks=LockView(standing=list_recorded_locks(state.records, without=removed)) if removed else NO_LOCKS,
    )
    undeletable = {key for key, record in removed.items() if not is_deleted_alone(catalog, record)}
    plan = mark_undeletable(make_plan(selected, moved.records, problems, evidence, undeletable), catalog)
    plan = note_holds(note_renames(note_moves(plan, moved.moves)), run_input.prepared, connections.clock.now().date())
    prunes = decide_deletes(plan.prunes, evidence, Moment.PLAN)
    plan = replace(plan, prunes=prunes, problems=(*plan.problems, *run_input.problems))
    return skip_untrusted(plan, evidence.untrusted, own_records)


def _index_source(
    run_input: RunInput, selected: Iterable[Prepared], records: Mapping[Key, Record], problems: Iterable[Problem]
) -> SourceIndex:
    unread, elsewhere = run_input.manifests.unread, run_input.manifests.elsewhere
    around = RestOfSource(others=run_input.prepared, unread=unread, elsewhere=elsewhere)
    return index_source(selected, records, problems, around)


def _collect_removals(
    config: Config,
    connections: Connections,
    run_input: RunInput,
    gone: Mapping[Key, Record],
    removed: Mapping[Key, Record],
    since: str | None,
) -> Removals:
    """Find how resources were removed. --release may also name one of those that are `gone` but not covered."""
    today = connections.clock.now().date()
    reading = Reading(connections.settings.namespace, run_input.references, today)
    removals = collect_removals(connections.source, removed, since, config, reading, run_input.manifests)
    by_key = release(removals.by_key, removed, list_released(config.release, gone), connections.catalog)
    removals = replace(removals, by_key=_keep_adopted(by_key, removed, connections.catalog))
    if connections.source.contents.file and removed:
        return replace(removals, beside=_read_other_files(config, connections, run_input))
    return removals


def _list_all_problems(
    config: Config, connections: Connections, run_input: RunInput, state: State, untrusted: Mapping[Key, str]
) -> tuple[Problem, ...]:
    return (
        *_list_source_problems(config, connections, run_input.manifests),
        *_explain_untrusted(config, untrusted, state.records),
        *_warn_of_status(config, state),
    )


def _list_source_problems(config: Config, connections: Connections, manifests: Manifests) -> Iterator[Problem]:
    yield from connections.source.contents.problems
    yield from manifests.problems
    yield from warn_empty_source(coverage_of(connections.source, manifests), config.target_namespaces)
    yield from _warn_uncommitted(connections)


def covers(source: Checkout, record: Record) -> bool:
    """Return whether a run decides about a resource that none of its manifests declares."""
    # A run of a single file does if that file, or a unit that it declares, had the resource last.
    return not source.contents.file or record.manifest.unit in {unit.name for unit in source.contents.units.values()}


def _read_other_files(config: Config, connections: Connections, run_input: RunInput) -> OtherFiles:
    """Read the whole source of a run of a single file: what that file no longer declares may have been moved."""
    source = connections.source
    if source.contents.read_all is None:
        raise AssertionError("a file was read alone, and its source cannot be")
    try:
        everything = source.contents.read_all()
    except GitsyncError as error:
        return OtherFiles(file=source.contents.file, error=error.message)
    manifests = read_selected_manifests(
        config, connections.settings, everything.files, everything.units, run_input.references
    )
    manifests = add_unbuilt(manifests, everything.problems)
    redact_manifests(manifests, connections.redactions)
    today = connections.clock.now().date()
    others = prepare_resources(
        config, connections.settings, manifests, connections.catalog, run_input.credentials.of, today
    )
    index = index_source(others, {}, (*everything.problems, *manifests.problems), RestOfSource(unread=manifests.unread))
    index = replace(index, new={})  # files beside this one have similar names
    return OtherFiles(
        file=source.contents.file, folder=find_unit(source.contents.file), declared=tuple(others), source=index
    )


def _move_claims(
    selected: Iterable[Prepared],
    records: Mapping[Key, Record],
    own_records: Mapping[Key, Record],
    untrusted: Collection[Key],
) -> MovedClaims:
    """Move claims between the agent's own records; those of others stay as they are."""
    others = {key for key in records if key not in own_records}
    return move_claims(selected, records, {*untrusted, *others})


def _warn_uncommitted(connections: Connections) -> tuple[Problem, ...]:
    """A report names a revision, so it warns if the files read differ from that revision."""
    if not connections.source.dirty:
        return ()
    commit = connections.source.revision
    name = f"commit {commit[:12]}" if commit else "a commit"
    message = f"The files differ from {name}: the working tree has uncommitted changes."
    hint = "Commit them, so that the revision identifies what this report shows."
    return (Problem(code="Uncommitted", level=Level.WARNING, message=message, hint=hint),)


def _explain_untrusted(
    config: Config, untrusted: Mapping[Key, str], records: Mapping[Key, Record]
) -> tuple[Problem, ...]:
    """Make an error for each untrusted record: gitsync does not touch its resource until a person has checked it."""
    return tuple(
        Problem(
            code=UNTRUSTED,
            # A record that an older version signed is a warning in a run that deletes nothing.
            level=Level.ERROR if config.prune or not records[key].trust.is_former else Level.WARNING,
            message=f"{key}: {reason}",
        )
        for key, reason in sorted(untrusted.items())
    )


def _warn_unsigned(config: Config, state: State) -> tuple[Problem, ...]:
    """Without a key, everyone who can write the status decides what --prune deletes. No warning for an emulator."""
    if not config.prune or config.digest_key or not state.records or config.emulator is not None:
        return ()
    message = "Records are not signed, so anyone who can write the status decides what --prune deletes."
    hint = "Set GITSYNC_DIGEST_KEY and run `gitsync status --sign`."
    return (Problem(code="RecordsNotSigned", level=Level.WARNING, message=message, hint=hint),)


def _warn_of_status(config: Config, state: State) -> Iterator[Problem]:
    yield from _warn_unsigned(config, state)
    yield from _name_strays(state)


def _name_strays(state: State) -> Iterator[Problem]:
    """Name the branches among those of workers that were not read. What a worker recorded on one is not known."""
    for branch, reason in sorted(state.strays.items()):
        yield Problem(
            code="StrayBranch",
            level=Level.WARNING,
            message=f"The branch {branch} has the name of a worker's branch, but is not read: {reason}",
            hint="Remove the branch if no gitsync worker pushed it.",
        )


def _collect_unproven(config: Config, connections: Connections, removed: Mapping[Key, Record]) -> dict[Key, str]:
    """Return the unsigned records in a folder that is not in git: they may have come with the folder."""
    source = connections.source
    if not config.prune or config.status_dir or source.tree is not None or source.remote is not None:
        return {}
    reason = (
        "Its record is in the source folder, which is not in git, so it may have come with the folder. "
        "Set --status-dir, or sign records with GITSYNC_DIGEST_KEY."
    )
    return {key: reason for key, record in removed.items() if record.trust is not Trust.SIGNED}


def is_deleted_alone(catalog: Catalog, record: Record) -> bool:
    """Return whether a recorded resource is deleted by itself, although its parent is deleted too."""
    kind = catalog.kind_of_record(record)
    # Azure cannot delete some resources; and the users of a server go with it, whatever they own.
    return _can_delete(catalog, record) and (kind is None or kind.provider is Provider.ARM)


def list_released(names: Iterable[str], keys: Iterable[Key]) -> frozenset[Key]:
    """List the resources that --release names, among those that were removed from git. No name is abbreviated.

    Raises ConfigError for a name that none of them has, or several.
    """
    keys = tuple(keys) if names else ()
    return frozenset(_find_released_key(name, keys) for name in names)


def _find_released_key(name: str, keys: Iterable[Key]) -> Key:
    matches = find_keys(name, [key for key in keys if key.name == name.rpartition("/")[2]])
    if len(matches) > 1:
        raise make_ambiguous_error(name, matches)
    if not matches:
        raise ConfigError(
            f"--release {name}: no resource of this name was removed from git.",
            hint="Run `gitsync plan` to see what was removed. If the resource is gone, remove --release.",
        )
    return matches[0]


def release(
    removals: Mapping[Key, Removal], removed: Mapping[Key, Record], released: frozenset[Key], catalog: Catalog
) -> dict[Key, Removal]:
    """Return the removals with the released ones marked. What Azure cannot delete is detached, unless it goes with a
    parent.
    """
    changed = dict(removals)
    for key in released & removals.keys():
        changed[key] = replace(removals[key], is_released=True)
        arm_id = removed[key].arm_id
        if not _can_delete(catalog, removed[key]) and not any(
            arm_id.is_below(record.arm_id) for record in removed.values()
        ):
            changed[key] = replace(changed[key], policy=Policy.DETACH_ON_DELETE)
    return changed


def mark_undeletable(plan: Plan, catalog: Catalog) -> Plan:
    """Mark the prunes of kinds that Azure deletes with their parents only."""
    kept = {key: prune for key, prune in plan.prunes.items() if not _can_delete(catalog, prune.record)}
    return replace(
        plan, prunes={**plan.prunes, **{key: replace(prune, can_delete=False) for key, prune in kept.items()}}
    )


def _can_delete(catalog: Catalog, record: Record) -> bool:
    kind = catalog.kind_of_record(record)
    return (kind is None or kind.can_delete) and not has_refused_delete(record.condition)


def _keep_adopted(removals: dict[Key, Removal], removed: Mapping[Key, Record], catalog: Catalog) -> dict[Key, Removal]:
    """Detach what gitsync has adopted, and never deletes."""
    kinds = {key: catalog.kind_of_record(record) for key, record in removed.items()}
    kept = (key for key, kind in kinds.items() if kind and kind.provider in KEEPS_ADOPTED)
    adopted = [key for key in kept if removed[key].claim is Claim.ADOPTED]
    text = "It existed before gitsync, which does not delete it."
    return removals | {key: replace(removals[key], policy=Policy.DETACH_ON_DELETE, reason=text) for key in adopted}


def list_problems(plan: Plan) -> tuple[Problem, ...]:
    """List every problem of the run's files and resources, in the order of the files; one of a credential only once."""
    resource_problems = (p for apply in plan.applies.values() for p in apply.prepared.problems)
    every = join_renderers((*plan.problems, *resource_problems))  # one of a variable may be one of several resources
    return merge_shared(problem for problem in every if not problem.is_note)
