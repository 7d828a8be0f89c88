"""A plan of two revisions: what a change of the manifests means in requests to ARM, with no access to Azure.

It reads and prepares both revisions, and reports the difference as a plan in which the old revision stands in for
Azure. It needs no login, no subscription and no recorded state, so it can run in a pull request.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from gitsync.agent.run.allowed_secrets import decide_about_manifests, read_identity_files, reads_all_secrets
from gitsync.agent.run.connections import name_source
from gitsync.agent.run.git_settings import make_git_access
from gitsync.agent.run.guards import refuse_invalid
from gitsync.agent.run.known_ids import ForeignRecords, add_foreign_ids, read_known_from
from gitsync.agent.run.prepared_manifests import (
    PLACEHOLDER_SUBSCRIPTION,
    add_unbuilt,
    check_rules_of_source,
    coverage_of,
    drop_units,
    prepare_resources,
    read_declared_manifests,
    read_unambiguous,
    redact_manifests,
)
from gitsync.agent.run.removals import collect_unreadable
from gitsync.agent.run.run_plan import is_deleted_alone, list_problems, list_released, mark_undeletable, release
from gitsync.agent.run.unread_source import UnreadSource, list_blobs
from gitsync.agent.run.watch import log_start
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.catalog.releases import read_catalog_release
from gitsync.desired.manifests.selection import check_namespaces, make_selection, select_prepared, spell_selection
from gitsync.desired.manifests.units import list_manifest_paths, make_declaration
from gitsync.desired.request.allow_list import NOT_ALLOWED
from gitsync.desired.request.credential_choice import choose_offline
from gitsync.desired.request.offline_identities import describe_offline
from gitsync.desired.request.placeholders import Secrets
from gitsync.errors import ConfigError, ExitCode
from gitsync.model.clock import Clock, format_rfc3339
from gitsync.model.export import ObjectKind
from gitsync.model.gvk import Key
from gitsync.model.manifests import Coverage, Manifests
from gitsync.model.plan import LastCommit, Plan, Removal, RestOfSource
from gitsync.model.problem import Problem
from gitsync.model.report import Report, ReportSource, RequestCounts, RunTarget
from gitsync.model.resource import Prepared, Resource
from gitsync.model.result import Result
from gitsync.model.secret import Secret
from gitsync.planning.changed_fields import locate_fields
from gitsync.planning.claims import assign_writers
from gitsync.planning.delete_guards import NO_REMOVALS, Evidence, Moment, Removals, decide_deletes, list_removed
from gitsync.planning.hidden_manifests import NO_SOURCE, index_source
from gitsync.planning.managed_locks import LockView, list_recorded_locks
from gitsync.planning.moved_manifests import LastDeclared, UnreadParts
from gitsync.planning.planner import make_plan, note_holds
from gitsync.planning.replacement import note_renames
from gitsync.planning.revision_diff import Revised, compare_revisions, make_records
from gitsync.planning.run_problems import DEFAULT_AGENT, find_too_many_deletes, warn_empty_source
from gitsync.planning.status.exit_code import decide_exit_code
from gitsync.report.masked import mask_report
from gitsync.repository.git.git_access import GitAccess
from gitsync.repository.git.source.checkout import Checkout, open_checkout
from gitsync.repository.git.source.commit_signatures import read_trusted_keys
from gitsync.repository.git.source.history import ManifestPaths
from gitsync.repository.git.source.revisions import RevisionManifests, find_commits_before, read_revision
from gitsync.repository.secrets.stores import MANIFESTS
from gitsync.repository.units.build_sandbox import Builds
from gitsync.settings.config.config import Config
from gitsync.settings.config.config_file import join_source_settings
from gitsync.settings.redaction import Redactions


def plan_revisions(config: Config, clock: Clock, redactions: Redactions, access: GitAccess | None = None) -> Report:
    """Report what changes between `from_revision` and `to_revision`, or the files that a plan would read if
    `to_revision` is None. `access` is that of the settings unless it is given.

    Raises ConfigError if `from_revision` is None, SourceError if a revision cannot be read.
    """
    if config.from_revision is None:
        raise ConfigError("--to requires --from.", hint="Set the revision to compare with: --from main.")
    _refuse_files(config)
    with ExitStack() as opened:
        access = access or make_git_access(config)
        return _plan_revisions(config, config.from_revision, clock, redactions, access, opened)


def _plan_revisions(
    config: Config, from_revision: str, clock: Clock, redactions: Redactions, access: GitAccess, opened: ExitStack
) -> Report:
    started_at = format_rfc3339(clock.now())
    read = _open_reader(config, access, opened)
    before, after = read(config.from_revision), read(config.to_revision)
    reader = RevisionReader(config, clock, redactions, read_known_from(config, None, None, redactions.add))
    old, former = read_revised(reader.without_allow_list(), before, from_revision)
    new, manifests = read_revised(reader, after, config.to_revision or "")
    check_namespaces(
        # One of two revisions may have nothing in a namespace, as before it was added.
        config.target_namespaces,
        [former, manifests],
        (*before.contents.problems, *after.contents.problems),
    )
    target = _make_target(config, after)
    log_start("plan", target)
    config = spell_selection(config, (resource.key for revised in (old, new) for resource in revised.prepared))
    reader = reader._replace(config=config)
    find_commits = partial(find_commits_before, config.source, access=access)
    removed = _collect_removals(find_commits, before, after, old, new, manifests)
    plan = _make_plan(reader, old, new, (*after.contents.problems, *manifests.problems), manifests, removed)
    refuse_invalid(config, plan)
    plan = _with_refusal(config, plan, old)
    results = _compare(config, plan, old, new)
    problems = list_problems(_add_identity_problems(plan, results, old, new))
    report = Report(
        command="plan",
        revision=after.commit,
        started=started_at,
        finished=format_rfc3339(clock.now()),
        exit_code=_decide_exit_code(config, results, problems),
        requests=RequestCounts(),
        problems=problems,
        results=results,
        source=ReportSource(root=after.root, base=before.commit, coverage=coverage_of(after, manifests)),
        target=target,
    )
    return mask_report(report, redactions.mask)


def _compare(config: Config, plan: Plan, old: Revised, new: Revised) -> tuple[Result, ...]:
    """Compare the resources that the run is about, and find the fields that differ."""
    selection = make_selection(config)
    selected = (result for result in compare_revisions(plan, old, new, prune=config.prune) if selection.has(result.key))
    return locate_fields(selected, plan.applies, open_catalog())


def _decide_exit_code(config: Config, results: tuple[Result, ...], problems: tuple[Problem, ...]) -> ExitCode:
    return decide_exit_code(
        results, problems, writes=False, detailed_exitcode=config.detailed_exitcode, fail_on=config.fail_on
    )


def _refuse_files(config: Config) -> None:
    """Refuse what this plan does not write. Raises ConfigError."""
    if config.plan_out:
        raise ConfigError(
            "--out cannot be used with a plan of two revisions, which a sync cannot apply.", hint="Remove --out."
        )
    if config.metrics:
        raise ConfigError(
            "--metrics cannot be used with a plan of two revisions, which sends no requests.", hint="Remove --metrics."
        )


def _with_refusal(config: Config, plan: Plan, old: Revised) -> Plan:
    """Return the plan with the problem for which a sync with --prune would refuse it, if there is one."""
    # A sync without --prune deletes nothing, so no number of removals refuses it.
    if not config.prune:
        return plan
    ours = sum(record.claim.is_ours for record in make_records(old).values())
    found = find_too_many_deletes(plan, ours, config.max_deletes)
    return replace(plan, problems=(*plan.problems, found)) if found else plan


def _add_identity_problems(plan: Plan, results: Iterable[Result], old: Revised, new: Revised) -> Plan:
    """Add the problems of the allow-list that the manifests do not have themselves."""
    if new.allowed is None:
        return plan
    former = {prepared.key: prepared.resource for prepared in old.prepared}
    refused = [result.key for result in results if result.condition.reason == NOT_ALLOWED]
    deleted = [former[key] for key in refused if key in plan.prunes]
    declared = [apply.prepared.resource for apply in plan.applies.values()]
    reported = deleted if new.allowed.allow_list.refuses else declared  # what is declared has its own error
    problems = (*new.allowed.report(reported), *new.allowed.warn_unread(declared, new.identity_of))
    return replace(plan, problems=(*plan.problems, *problems))


def _make_target(config: Config, after: RevisionManifests) -> RunTarget:
    """Azure has no part in it, so the target has no identity."""
    return RunTarget(
        repository=after.repository,
        revision=after.commit,
        ref=config.to_revision or after.ref,
        agent=config.agent or DEFAULT_AGENT,
        catalog=str(read_catalog_release()),
    )


def read_resources(
    config: Config, revision: str | None, clock: Clock, redactions: Redactions
) -> tuple[str, tuple[Prepared, ...]]:
    """Read the resources of a revision, those that the settings select; of the files that a plan would read for None.

    Returns the repository too. Raises SourceError if they cannot be read.
    """
    with ExitStack() as opened:
        found = _open_reader(config, make_git_access(config), opened)(revision)
        reader = RevisionReader(config, clock, redactions, read_known_from(config, None, None, redactions.add))
        revised, manifests = read_revised(reader.without_allow_list(), found, revision or "")
    if revision is None:  # one of two revisions may have nothing in a namespace
        check_namespaces(config.target_namespaces, [manifests], found.contents.problems)
    config = spell_selection(config, (resource.key for resource in revised.prepared))
    return found.repository, select_prepared(revised.prepared, make_selection(config))


def _open_reader(config: Config, access: GitAccess, opened: ExitStack) -> Callable[[str | None], RevisionManifests]:
    """Return what reads a revision by its name, and for None the files that a plan would read."""
    status_dir = Path(config.status_dir) if config.status_dir else None
    trusted = read_trusted_keys(config.trusted_keys) if config.trusted_keys else None
    builds = Builds(grace=access.grace)

    def read(revision: str | None) -> RevisionManifests:
        if revision is not None:
            return read_revision(
                config.source,
                revision,
                opened,
                path=config.path,
                access=access,
                status_dir=status_dir,
                trusted=trusted,
                units=config.units,
                variables=config.variables,
                builds=builds,
            )
        checkout = open_checkout(
            config.source,
            ref=config.ref,
            path=config.path,
            access=access,
            status_dir=status_dir,
            config_file=config.config_file,
            trusted=trusted,
            units=config.units,
            variables=config.variables,
            builds=builds,
        )
        return _take_manifests(opened.enter_context(checkout))

    return read


def _take_manifests(checkout: Checkout) -> RevisionManifests:
    return RevisionManifests(
        commit=None if checkout.dirty else checkout.revision,
        contents=checkout.contents,
        list_left_out=checkout.list_left_out,
        tree=checkout.open_tree(checkout.revision),
        root=checkout.root,
        repository=name_source(checkout),
        ref=checkout.ref or "",
    )


class RevisionReader(NamedTuple):
    """What every revision is read with."""

    config: Config
    clock: Clock
    redactions: Redactions
    foreign: ForeignRecords  # the records of other sources

    def without_allow_list(self) -> RevisionReader:
        """Return the reader of what has been applied, with whatever identity."""
        return self._replace(config=replace(self.config, allow_identities=None))


def read_revised(reader: RevisionReader, revision: RevisionManifests, name: str) -> tuple[Revised, Manifests]:
    """Read and prepare the manifests of a revision, which is called `name` in messages."""
    config, clock, redactions, foreign = reader
    settings = join_source_settings(config, revision.contents.settings)
    catalog = open_catalog()

    def read(without: Collection[str]) -> Manifests:
        files = drop_units(revision.contents.files, revision.contents.units, without)
        return read_declared_manifests(config, settings, files, revision.contents.units)

    manifests = read_unambiguous(read, catalog)
    redact_manifests(manifests, redactions)
    allowed = decide_about_manifests(config, manifests, os.environ)
    subscription = choose_offline(
        manifests.objects.secrets,
        config.subscription or PLACEHOLDER_SUBSCRIPTION,
        allowed.find_refusal if allowed else None,
    )
    manifests = add_unbuilt(add_foreign_ids(manifests, foreign, catalog), revision.contents.problems)
    prepared = prepare_resources(config, settings, manifests, catalog, subscription, clock.now().date())
    wrong_rules = check_rules_of_source(config, settings, manifests, prepared, clock.now().date())
    manifests = replace(manifests, problems=(*manifests.problems, *wrong_rules))
    prepared = assign_writers(prepared, {})
    secrets = {**_list_encrypted(manifests), **manifests.objects.secrets}
    revised = Revised(
        name=name,
        prepared=prepared,
        config_maps=manifests.objects.config_maps,
        secrets=secrets,
        identity_of=describe_offline(
            secrets if MANIFESTS in config.secret_sources else {},
            manifests.objects.declared,
            config.subscription or "",
            read_identity_files(config, manifests.objects.secrets),
            reads_all=reads_all_secrets(config),
        ),
        allowed=allowed,
    )
    return revised, manifests


def _list_encrypted(manifests: Manifests) -> Secrets:
    """Return the encrypted Secrets with their encrypted values.

    Nothing is decrypted, so a value that was encrypted again counts as changed.
    """
    return {
        (address.namespace, address.name): {key: Secret(value) for key, value in manifest.values.items()}
        for address, manifest in manifests.objects.encrypted.items()
        if address.object_kind is ObjectKind.SECRET
    }


def _collect_removals(
    find_commits: Callable[[str, set[ManifestPaths]], Mapping[ManifestPaths, LastCommit]],
    before: RevisionManifests,
    after: RevisionManifests,
    old: Revised,
    new: Revised,
    manifests: Manifests,
) -> Removals:
    """Find the resources that only the old revision has, with the commits that changed them last, and what the new one
    does not read.
    """
    keys = {resource.key for resource in new.prepared}
    removed = {entry.key: entry.resource for entry in old.prepared if entry.key not in keys}
    if not removed:
        return NO_REMOVALS
    declared = {key: make_declaration(resource) for key, resource in removed.items()}
    contents = after.contents
    unreadable = collect_unreadable(declared, contents.explain_unreadable, contents.units.values(), contents.files)
    path_sets = {key: list_manifest_paths(resource) for key, resource in removed.items()}
    found: Mapping[ManifestPaths, LastCommit] = {}
    if before.commit is not None:
        found = find_commits(before.commit, set(path_sets.values()))
    removals = {
        key: Removal(line=removed[key].source.line, unreadable=unreadable.get(key), last_commit=found.get(paths))
        for key, paths in path_sets.items()
    }
    return Removals(removals, *_search_unread(before, after, removed, manifests))


def _search_unread(
    before: RevisionManifests, after: RevisionManifests, removed: Mapping[Key, Resource], manifests: Manifests
) -> tuple[dict[Key, LastDeclared], UnreadParts]:
    """Return where each resource was declared last, and the paths to which its manifest may have moved, as in a run."""
    blobs, revision = list_blobs(before.tree), before.commit or ""
    last = {
        key: LastDeclared(
            key=key,
            path=resource.source.path,
            declared_by=make_declaration(resource)["declared_by"],
            revision=revision,
            blobs=blobs,
        )
        for key, resource in removed.items()
    }
    unread = UnreadSource(
        unread=after.contents.find_unread(),
        tree=after.tree,
        is_dirty=after.commit is None,
        left_out=after.list_left_out(),
        files=after.contents.files,
        manifests=manifests,
        problems=(*after.contents.problems, *manifests.problems),
        explain=after.contents.explain_unreadable,
    )
    return last, unread.search(last.values())


def _make_plan(
    reader: RevisionReader,
    old: Revised,
    new: Revised,
    problems: tuple[Problem, ...],
    manifests: Manifests,
    removals: Removals,
) -> Plan:
    """Make the plan of a run after one that applied the old revision."""
    selection, records = make_selection(reader.config), make_records(old)
    keys = {resource.key for resource in new.prepared}
    # The records of a run that has applied the old revision, as far as this run covers it.
    selected = {key: record for key, record in records.items() if key in keys or selection.has(key)}
    read = Coverage(resources=len(manifests.resources), unread=manifests.unread)
    problems = (*problems, *warn_empty_source(read, reader.config.target_namespaces))
    around = RestOfSource(others=new.prepared, unread=manifests.unread, elsewhere=manifests.elsewhere)
    catalog, gone = open_catalog(), {key: record for key, record in selected.items() if key not in keys}
    released = list_released(reader.config.release, removals.by_key)
    removals = replace(removals, by_key=release(removals.by_key, gone, released, catalog))
    prepared = select_prepared(new.prepared, selection)
    evidence = Evidence(
        removed=list_removed(gone, removals),
        source=index_source(prepared, selected, problems, around) if gone else NO_SOURCE,
        removals=removals,
        locks=LockView(standing=list_recorded_locks(records, without=gone)),
    )
    undeletable = {key for key, record in gone.items() if not is_deleted_alone(catalog, record)}
    plan = mark_undeletable(make_plan(prepared, selected, problems, evidence, undeletable), catalog)
    plan = note_holds(note_renames(plan), new.prepared, reader.clock.now().date())
    prunes = decide_deletes(plan.prunes, evidence, Moment.PLAN)
    return replace(plan, prunes=prunes, problems=(*plan.problems, *reader.foreign.problems))
