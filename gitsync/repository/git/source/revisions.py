"""One revision of SOURCE by its name, for a plan of a change: from the local repository, else from its remote.

Separate from the checkout, which reads the source of a run: here a name may be relative (`main~2`, `HEAD^`), and a
temporary clone provides what a shallow or single-branch clone of a pipeline lacks. gitsync never writes to the local
repository.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from gitsync.desired.formats.repository_name import normalize_repository
from gitsync.errors import GitError, SourceError
from gitsync.model.plan import LastCommit
from gitsync.model.unit import UnitEntry
from gitsync.repository.git.git_access import GitAccess, Remote, open_remote
from gitsync.repository.git.source.checkout import check_outside, find_remote, list_excluded
from gitsync.repository.git.source.clone import Clone, fetch_commit, fetch_ref, open_clone
from gitsync.repository.git.source.commit_signatures import TrustedKeys, check_signature
from gitsync.repository.git.source.contents import SourceContents, SourcePart, read_contents
from gitsync.repository.git.source.git_directory import refuse_look_alike
from gitsync.repository.git.source.history import UNREADABLE, History, ManifestPaths
from gitsync.repository.git.source.listing import Revision
from gitsync.repository.git.source.location import Folder, Url, check_path, check_ref, parse_location
from gitsync.repository.git.source.worktree import WorkTree, find_work_tree, name_url, read_head
from gitsync.repository.units.all_units import FollowContext
from gitsync.repository.units.build_sandbox import Builds
from gitsync.repository.units.declarations import ThisRepository

_STEPS = re.compile(r"(?:[~^][0-9]{0,4})+\Z")
_DEEPENED = "refs/gitsync/deepened"


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionManifests:
    """The manifests of one revision."""

    commit: str | None  # its id; None for a folder that has none
    contents: SourceContents
    root: str = ""  # the folder that paths are relative to, in the repository; "" for its top
    repository: str = ""  # the URL of the remote, or the folder
    ref: str = ""  # the branch or tag that was named, "" for a commit
    list_left_out: Callable[[], frozenset[str]] = field(default=frozenset, repr=False)
    """Lists the paths of files in folders of kustomizations that none of them names."""

    tree: Revision | None = field(default=None, repr=False)
    """All of its files; for a folder, those of the commit that it is at."""


@dataclass(frozen=True, slots=True)
class _RevisionName:
    """A revision's name: a ref or commit id, and how far to go back from it (`~2`, `^`, "")."""

    ref: str
    steps: str

    @property
    def text(self) -> str:
        return self.ref + self.steps

    @property
    def depth(self) -> int:
        """The number of commits that are needed to go that far."""
        steps = re.findall(r"([~^])([0-9]*)", self.steps)
        return 1 + sum(int(count or 1) if sign == "~" else 1 for sign, count in steps)


def read_revision(  # noqa: PLR0913 - each selects what is read
    location: str,
    name: str,
    opened: ExitStack,
    *,
    path: str,
    access: GitAccess,
    status_dir: Path | None = None,
    trusted: TrustedKeys | None = None,
    units: tuple[UnitEntry, ...] | None = None,
    builds: Builds | None = None,
    variables: tuple[tuple[str, str], ...] = (),
) -> RevisionManifests:
    """Read one revision of SOURCE. A revision without the folder `path` has no manifests. `units` are those that the
    operator names, None to take those of the source; `builds` are those of the run, and `variables` those of the
    operator. What has to stay open is `opened`, for as long as the result is used.

    SourceError, which names the revision, if it cannot be read, or is not signed by a `trusted` key.
    """
    builds = builds or Builds(grace=access.grace)
    wanted = SourcePart(path=check_path(path), entries=units, builds=builds, aliases=access.aliases)
    parsed, source = _parse(name), parse_location(location)
    if isinstance(source, Url):
        wanted = replace(wanted, follow=FollowContext(name_url(source, parsed.ref), variables))
        manifests = _fetch(open_remote(source, access), parsed, wanted, None, trusted, opened)
        return replace(manifests, repository=source.text)
    refuse_look_alike(source.path / wanted.path)
    tree = find_work_tree(source.path, access)
    if tree is None:
        raise SourceError(
            f"{source.path} is not in a git repository, so it has no revision {name}.",
            hint="Set SOURCE to a git repository.",
        )
    opened.enter_context(tree)
    if trusted:
        check_outside(tree, trusted)
    wanted = replace(wanted, without=list_excluded(source.path, status_dir))
    remote, _ = find_remote(tree, access)
    repository = normalize_repository(remote.url) if remote else ""
    branch = (read_head(tree).branch or "") if parsed.ref == "HEAD" else parsed.ref
    wanted = replace(wanted, follow=FollowContext(ThisRepository(lambda: repository, lambda: branch), variables))
    manifests = _read_from(tree, parsed, wanted, access, trusted, opened)
    return replace(manifests, repository=remote.name if remote else str(source.path))


def find_commits_before(
    location: str, commit: str, path_sets: Collection[ManifestPaths], access: GitAccess
) -> Mapping[ManifestPaths, LastCommit]:
    """Return the last commit, at or before `commit`, that changed each group of paths. Only a local repository has a
    history.
    """
    source = parse_location(location)
    tree = find_work_tree(source.path, access) if isinstance(source, Folder) else None
    if tree is None:
        return dict.fromkeys(path_sets, UNREADABLE)
    with tree:
        return History(tree.repository, commit, root=tree.prefix, remote=None).list_last_commits(commit, path_sets)


def _read_from(
    tree: WorkTree,
    parsed: _RevisionName,
    wanted: SourcePart,
    access: GitAccess,
    trusted: TrustedKeys | None,
    opened: ExitStack,
) -> RevisionManifests:
    local_commit = _find_local_commit(tree, parsed.text)
    if local_commit is not None:
        return _read(Revision(repository=tree.repository, commit=local_commit, root=tree.prefix), wanted, trusted)
    remote, refusal = find_remote(tree, access)
    if remote is None:
        raise _make_missing_error(tree, parsed, refusal or "It has no remote to fetch it from.")
    return _fetch(remote, parsed, wanted, tree, trusted, opened)


def _parse(name: str) -> _RevisionName:
    match = _STEPS.search(name)
    ref = name[: match.start()] if match else name
    try:
        return _RevisionName("HEAD" if ref == "@" else check_ref(ref), match[0] if match else "")
    except SourceError:
        raise SourceError(
            f"{name!r} is not the name of a revision.",
            hint="Use a branch, a tag, a commit, or a revision such as main~2.",
        ) from None


def _read(revision: Revision, wanted: SourcePart, trusted: TrustedKeys | None) -> RevisionManifests:
    if trusted:
        check_signature(revision.repository, revision.commit, trusted)
    folder_path = "/".join(part for part in (revision.root, wanted.path) if part)
    # A folder that is not there yet, or no longer: then nothing is declared at this revision.
    if folder_path and not revision.repository.confirms("cat-file", "-e", f"{revision.commit}:{folder_path}"):
        contents = SourceContents(files={})
    else:
        contents = read_contents(revision, wanted)
    return RevisionManifests(commit=revision.commit, contents=contents, root=revision.root, tree=revision)


def _find_local_commit(tree: WorkTree, name: str) -> str | None:
    try:
        return tree.repository.line("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    except GitError:
        return None


def _fetch(
    remote: Remote,
    name: _RevisionName,
    wanted: SourcePart,
    tree: WorkTree | None,
    trusted: TrustedKeys | None,
    opened: ExitStack,
) -> RevisionManifests:
    """Read a revision from a temporary clone. `tree` is the local repository, which lacks it; None for a URL."""
    clone = open_clone(remote)
    opened.callback(clone.close)
    commit = _fetch_commit_of(clone, name, tree)
    revision = Revision(repository=clone.repository, commit=commit, root=tree.prefix if tree else "")
    return _read(revision, wanted, trusted)


def _fetch_commit_of(clone: Clone, name: _RevisionName, tree: WorkTree | None) -> str:
    """Fetch a revision into the clone."""
    try:
        # A local ref (`HEAD` in `HEAD^`) keeps its local meaning.
        start = _find_local_commit(tree, name.ref) if tree else None
        if start is None:
            # The default branch of the remote has no name here, and its branches are below `origin/`.
            start = fetch_ref(clone, None if name.ref == "HEAD" else name.ref.removeprefix("origin/")).commit
        if not name.steps:
            return start
        _deepen(clone, start, name.depth)
        return clone.repository.line("rev-parse", "--verify", "--end-of-options", f"{start}{name.steps}^{{commit}}")
    except GitError as error:
        reason = f"{clone.url} has no revision {name.text}: {error.message}"
        raise _make_missing_error(tree, name, reason) if tree else SourceError(reason, hint=error.hint) from error
    except SourceError as error:
        if tree is None:
            raise
        raise _make_missing_error(tree, name, str(error)) from error


def _deepen(clone: Clone, start: str, depth: int) -> None:
    try:
        clone.fetch(f"+{start}:{_DEEPENED}", depth=(f"--depth={depth}",))
    except GitError:  # a server that offers only branches and tags
        if not fetch_commit(clone, start):
            raise


def _make_missing_error(tree: WorkTree, name: _RevisionName, reason: str) -> SourceError:
    is_shallow = tree.repository.is_shallow
    hint = "The clone is shallow: fetch its history (fetch-depth: 0)." if is_shallow else "Check the name, or fetch it."
    return SourceError(f"The repository at {tree.top} has no revision {name.text}. {reason}", hint=hint)
