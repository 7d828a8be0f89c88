"""Find how resources were removed from git: path and policy of their last manifests, and why they are no longer read.

If one commit sets detach-on-delete or a hold, and the next removes the manifest, with no run in between, the resource
must stay (docs/reference/design.md#prune). So the last manifest counts, which may have changed since the last run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import chain
from typing import Final, NamedTuple

from gitsync.agent.run.prepared_manifests import read_source
from gitsync.agent.run.unread_source import UnreadSource, list_blobs
from gitsync.desired.manifests.policy_annotations import decide_policy
from gitsync.desired.manifests.units import Declaration, find_unit, find_unit_name, is_inside, list_manifest_paths
from gitsync.desired.manifests.variable_values import References
from gitsync.desired.validation.hold_annotation import read_hold
from gitsync.errors import ConfigError
from gitsync.model.gvk import Key
from gitsync.model.hold import HeldUntil
from gitsync.model.manifests import NO_MANIFESTS, Manifests
from gitsync.model.plan import LastCommit, Removal, UnreadableFile
from gitsync.model.problem import Problem
from gitsync.model.reconcile_policy import Policy
from gitsync.model.record import Record
from gitsync.model.unit import Unit
from gitsync.model.unit_kind import UnitKind
from gitsync.planning.delete_guards import NO_REMOVALS, Removals
from gitsync.planning.moved_manifests import LastDeclared, UnreadParts
from gitsync.repository.git.source.checkout import Checkout
from gitsync.repository.git.source.contents import ExplainUnreadable, SourceContents
from gitsync.repository.git.source.history import ManifestPaths
from gitsync.settings.config.config import Config
from gitsync.settings.config.config_file import join_source_settings

MOST_REVISIONS = 50
"""Number of revisions that are read, newest first; beyond them the recorded policy counts."""

_FINALIZERS: Final = {kind.value.declared_by: kind.value.finalizer for kind in UnitKind if kind.value.finalizer}
"""The finalizer that makes a deleted object delete its resources, by the kind of the object."""


class Reading(NamedTuple):
    """How manifests of this run are read."""

    namespace: str  # of manifests that name none
    references: References | None = None  # the values of the Secrets and ConfigMaps that variables come from
    today: date | None = None  # decides whether a hold lasts


class _LastManifest(NamedTuple):
    """The last manifest of a resource."""

    policy: Policy | None = None  # None for an unknown one
    hold: HeldUntil | None = None  # None if there is none, or if it no longer applies
    path: str = ""
    line: int = 0
    units: tuple[str, ...] = ()  # the names of those that rendered it
    declared: Unit | None = None  # the unit if an object of a controller declares it
    paths: ManifestPaths = ()  # what the manifest was made of
    revision: str = ""  # the last one that had it


def collect_removals(
    source: Checkout,
    removed: Mapping[Key, Record],
    since: str | None,
    config: Config,
    reading: Reading,
    manifests: Manifests = NO_MANIFESTS,
) -> Removals:
    """Return how each of these resources was removed from git, as far as that is known.

    `since` is the revision of the records, None if it is not known. `manifests` are those of the source now.
    """
    if not removed:
        return NO_REMOVALS
    revisions = source.revisions_since(since) if since else ()
    last = _collect_last_manifests(source, removed, revisions, config, reading)
    # To read all of a long history would take longer than the run, so the recorded policy counts then.
    is_long = len(revisions) > MOST_REVISIONS
    is_searched = since is not None and not is_long and source.has_history_since(since)
    commits = list_last_commits(
        source,
        {
            key: (manifest.revision, manifest.paths)
            for key, manifest in last.items()
            if is_searched or manifest.revision != since
        },
    )
    unknown = explain_unknown(source, since, is_long=is_long)
    removals = {
        key: _make_removal(source, record, last.get(key, _LastManifest()), commits.get(key, unknown))
        for key, record in removed.items()
    }
    # A file that is there and cannot be read may still declare the resource.
    declared = {
        key: Declaration(
            unit=record.manifest.unit,
            path=removals[key].path or record.manifest.path,
            declared_by=record.manifest.declared_by,
        )
        for key, record in removed.items()
    }
    contents = source.contents
    unreadable = collect_unreadable(declared, contents.explain_unreadable, contents.units.values(), contents.files)
    removals = {key: replace(removal, unreadable=unreadable.get(key)) for key, removal in removals.items()}
    return Removals(removals, *_search_unread(source, removed, removals, manifests))


def _search_unread(
    source: Checkout, removed: Mapping[Key, Record], removals: Mapping[Key, Removal], manifests: Manifests
) -> tuple[dict[Key, LastDeclared], UnreadParts]:
    """Return where each resource was declared last, and the paths to which its manifest may have moved."""
    revisions = {removal.revision for removal in removals.values()}
    blobs = {revision: list_blobs(source.open_tree(revision)) for revision in revisions}
    last = {
        key: LastDeclared(
            key=key,
            arm_id=record.arm_id,
            path=removals[key].path or record.manifest.path,
            declared_by=removals[key].declared_by or record.manifest.declared_by,
            revision=removals[key].revision,
            blobs=blobs[removals[key].revision],
        )
        for key, record in removed.items()
    }
    unread = UnreadSource(
        unread=source.contents.find_unread(),
        tree=source.open_tree(source.revision),
        is_dirty=source.dirty,
        left_out=source.list_left_out(),
        files=source.contents.files,
        manifests=manifests,
        problems=(*source.contents.problems, *manifests.problems),
        explain=source.contents.explain_unreadable,
    )
    return last, unread.search(last.values())


def collect_unreadable(
    declared: Mapping[Key, Declaration],
    explain: ExplainUnreadable,
    units: Collection[Unit],
    files: Collection[str],
) -> dict[Key, UnreadableFile]:
    """Find the resources whose files have become something that is not read: a pointer, a cipher, a link.

    `declared` shows where they were declared last; without a path, that is any file of the folder. `units` are those
    that are built, and `files` those that are read.
    """
    paths = {
        key: {declaration["path"]}
        if declaration["path"]
        else {path for path in files if find_unit(path) == declaration["unit"]}
        for key, declaration in declared.items()
    }
    problems = explain(frozenset(chain.from_iterable(paths.values())))
    built = {unit.name for unit in units}
    return {
        key: UnreadableFile(path, problems[path])
        for key, declaration in declared.items()
        for path in sorted(paths[key] & problems.keys())
        if not _is_sound_template(problems[path], declaration, built)
    }


def _is_sound_template(problem: Problem, declared: Declaration, built: Collection[str]) -> bool:
    """Return whether a template of a chart is as it should be: rendered, or of a release that was removed."""
    is_template = problem.code == "Template" and "templates" in problem.path.split("/")
    return is_template and (declared["unit"] in built or bool(declared["declared_by"]))


def _make_removal(source: Checkout, record: Record, last: _LastManifest, last_commit: LastCommit | None) -> Removal:
    reason = _explain_removal(source, record, last)
    names = last.units or (record.manifest.unit,)
    unit = next((unit for unit in source.contents.units.values() if unit.name in names), None)  # if it is built now
    policy = _restrict(last.policy or record.manifest.policy, unit)
    # The object is gone, and a controller deletes nothing after one without the finalizer.
    if unit is None and last.declared and not last.declared.settings.cascades and policy is Policy.MANAGE:
        policy = Policy.DETACH_ON_DELETE
    # The record was written from a manifest, so that revision is used if no later one is known.
    recorded = record.manifest.last_revision or (record.writes.last.revision if record.writes.last else "")
    # An Application without the finalizer leaves its resources behind.
    finalizer = _FINALIZERS.get(record.manifest.declared_by, "") if unit is None and not last.revision else ""
    return Removal(
        policy=policy,
        hold=last.hold,
        path=last.path,
        line=last.line,
        units=last.units,
        declared_by=last.declared.declared_by if last.declared else "",
        revision=last.revision or recorded,
        reason=reason,
        unknown_finalizer=finalizer,
        last_commit=last_commit,
    )


def _restrict(policy: Policy, unit: Unit | None) -> Policy:
    """Return the policy of what a unit no longer contains: Flux deletes nothing of one that is suspended or not
    pruned.
    """
    if unit is None or policy is not Policy.MANAGE:
        return policy
    return Policy.SKIP if unit.settings.is_suspended else policy if unit.settings.prunes else Policy.DETACH_ON_DELETE


def _collect_last_manifests(
    source: Checkout, removed: Mapping[Key, Record], revisions: Sequence[str], config: Config, reading: Reading
) -> Mapping[Key, _LastManifest]:
    """Search the revisions, newest first; the last of them is that of the records."""
    # The working tree lacks the manifest, while its commit may still have it.
    uncommitted = (source.revision,) if revisions and source.dirty and source.revision else ()
    manifests: dict[Key, _LastManifest] = {}
    # The last revision is that of the records. It is read even if the history in between is too long to search.
    for revision in dict.fromkeys((*uncommitted, *revisions[:MOST_REVISIONS], *revisions[-1:])):
        if len(manifests) == len(removed):
            break
        contents = source.contents_at(revision)
        if contents is not None:
            former = reading._replace(namespace=_find_namespace(source, revision, config, reading.namespace))
            found = _read_last_manifests(contents, removed, config, former)
            manifests = {key: manifest._replace(revision=revision) for key, manifest in found.items()} | manifests
    return manifests


def _find_namespace(source: Checkout, revision: str, config: Config, namespace: str) -> str:
    """Return the namespace of manifests that name none at a revision, by its own source settings; `namespace`, the
    current one, if those settings are invalid.
    """
    try:
        return join_source_settings(config, source.settings_at(revision)).namespace
    except ConfigError:
        return namespace


def _read_last_manifests(
    contents: SourceContents, removed: Mapping[Key, Record], config: Config, reading: Reading
) -> dict[Key, _LastManifest]:
    manifests = read_source(config, reading.namespace, contents.files, contents.units, reading.references)
    default = Policy(config.default_policy)
    found: dict[Key, _LastManifest] = {}
    for resource in (resource for resource in manifests.resources if resource.key in removed):
        units = (*(found[resource.key].units if resource.key in found else ()), find_unit_name(resource))
        declared = resource.unit if resource.unit and resource.unit.is_declared else None
        decision = decide_policy(resource, manifests.namespaces, default)
        policy = decision.policy if decision else None
        hold, paths = read_hold(resource, reading.today), resource.source
        found[resource.key] = _LastManifest(
            policy, hold, paths.path, paths.line, units, declared, list_manifest_paths(resource)
        )
    return found


def _explain_removal(source: Checkout, record: Record, last: _LastManifest) -> str:
    """Return a sentence for people; the plain one if nothing more is known."""
    path, unit = last.path, last.units[0] if last.units else record.manifest.unit
    is_built = any(unit == other.name for other in source.contents.units.values())
    if last.declared and not is_built and is_inside(unit, source.wanted.path):
        return (
            f"Removed from git: the {last.declared.title} is no longer built (it was declared in {last.declared.file})."
        )
    if unit and not is_inside(unit, source.wanted.path):
        kind = "unit" if last.declared else "folder"
        return f"Removed from git: its {kind} {unit} is not in --path {source.wanted.path}."
    if path in source.contents.ignored:
        return f"Removed from git: its file {path} is now ignored by .gitsyncignore."
    if path not in source.contents.files and is_built:
        return f"Removed from git: the unit {unit} no longer contains it."
    if path and path not in source.contents.files:
        return f"Removed from git: {_explain_unread_file(source, path, unit)}"
    if path:
        return f"Removed from git: {path} no longer declares it."
    if unit and _has_files(unit, source.contents.ignored) and not _has_files(unit, source.contents.files):
        return f"Removed from git: the files of its folder {unit} are now ignored."
    return Removal().reason


def _explain_unread_file(source: Checkout, path: str, unit: str) -> str:
    """Explain what became of a file that the run does not read: only that of a kustomization may be gone."""
    unread_paths = source.contents.find_unread()
    tree = list_blobs(source.open_tree(source.revision)) or {}
    if path not in (unread_paths.files if unread_paths.covers(path) else tree):
        return f"its file {path} is gone."
    if unit == find_unit(path):
        return f"its file {path} is still there, and nothing includes it."
    return f"the unit {unit} is no longer built. Its file {path} is still there, and nothing includes it."


def _has_files(unit: str, paths: Iterable[str]) -> bool:
    return any(find_unit(path) == unit for path in paths)


# The last commits of manifests that were removed from git: their authors, and where to find the manifests again.
#
# A manifest that a unit was built from has no history of its own, so any change below its unit counts.


def list_last_commits(source: Checkout, last: Mapping[Key, tuple[str, ManifestPaths]]) -> dict[Key, LastCommit]:
    """Return the commit that changed each manifest last. `last` has the last revision with the manifest, and the paths
    that it was made of. git is started once for each revision.
    """
    commits: dict[Key, LastCommit] = {}
    for revision in dict.fromkeys(revision for revision, _ in last.values()):
        path_sets = {key: paths for key, (its_revision, paths) in last.items() if its_revision == revision}
        found = source.list_last_commits(revision, set(path_sets.values()))
        commits |= {key: found[paths] for key, paths in path_sets.items()}
    return commits


def explain_unknown(source: Checkout, since: str | None, *, is_long: bool) -> LastCommit | None:
    """Return why a commit is not known; None for a source without git. `since` is the revision of the records; it
    `is_long` ago if not every change since then was searched.
    """
    if source.history is None:
        return None
    if since is None:
        return LastCommit(doubt="the records name no revision")
    start = since[:12]
    if not source.has_history_since(since):
        return LastCommit(doubt=f"the history since {start} is not in this clone (fetch-depth: 0)")
    if is_long:
        return LastCommit(doubt=f"too many commits since {start} changed manifests")
    paths = f"--path {source.wanted.path}" if source.wanted.path else "the source"
    return LastCommit(doubt=f"no commit since {start} has its manifest in {paths}")
