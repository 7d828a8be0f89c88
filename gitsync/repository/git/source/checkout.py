"""Read the manifests of one revision of SOURCE, and where they come from.

A folder is read from its working tree, with uncommitted changes; a revision of a repository (a URL, or a folder with
--ref) is read from its objects and needs no working tree. Symbolic links out of the source and submodules are skipped
and reported.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from gitsync.desired.formats.repository_name import normalize_repository
from gitsync.errors import GitError, SourceError
from gitsync.model.plan import LastCommit
from gitsync.model.unit import UnitEntry
from gitsync.repository.git.git_access import GitAccess, Remote, open_remote
from gitsync.repository.git.source.clone import fetch_ref, open_clone
from gitsync.repository.git.source.commit_signatures import TrustedKeys, check_signature
from gitsync.repository.git.source.contents import (
    SourceContents,
    SourcePart,
    list_inputs,
    read_contents,
)
from gitsync.repository.git.source.git_directory import list_submodules, read_prefix, refuse_look_alike, select_headers
from gitsync.repository.git.source.history import History, ManifestPaths
from gitsync.repository.git.source.listing import EntryKind, Revision, SourceListing
from gitsync.repository.git.source.location import Folder, Url, check_path, check_ref, parse_location
from gitsync.repository.git.source.worktree import (
    FolderListing,
    WorkTree,
    find_remote_url,
    find_work_tree,
    name_folder,
    name_url,
    read_head,
)
from gitsync.repository.units.all_units import FollowContext
from gitsync.repository.units.build_sandbox import Builds
from gitsync.settings.config.config_file import FILE_NAME, SourceFile
from gitsync.settings.files.checkouts import is_in_repository


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """The manifests of one revision. It is a context manager: leaving it deletes what was fetched."""

    name: str
    contents: SourceContents
    root: str = ""  # the folder that paths of files are relative to, inside the repository; "" for its top
    revision: str | None = None
    """The id of a commit; None for a folder that is not a git working tree, or has no commit."""

    ref: str | None = None  # the branch or tag, if it is one
    dirty: bool = False  # the files differ from the revision
    folder: Path | None = None  # set if SOURCE is a local folder
    tree: WorkTree | None = field(default=None, repr=False)  # set if that folder is in a working tree
    remote: Remote | None = None  # the remote repository of SOURCE
    remote_refused: str = ""  # why a remote cannot be used
    wanted: SourcePart = field(default_factory=SourcePart)
    history: History | None = field(default=None, repr=False)  # None for a folder without one

    def open_tree(self, revision: str | None) -> Revision | None:
        """Open the files of a revision of the same source, used or not; None if they cannot be listed."""
        return self.history.open_tree(revision) if self.history and revision else None

    def list_left_out(self) -> frozenset[str]:
        """List the files of the commit that a sparse checkout leaves out."""
        return self.tree.list_left_out() if self.tree and self.dirty else frozenset()

    def contents_at(self, revision: str) -> SourceContents | None:
        """Read the manifests of another revision of the same source; None if it cannot be read."""
        return self.history.contents_at(revision, self.wanted) if self.history else None

    def settings_at(self, revision: str) -> SourceFile | None:
        """Read the settings of the same source at another revision; None if there are none or they cannot be read."""
        return self.history.settings_at(revision) if self.history else None

    def revisions_since(self, revision: str) -> tuple[str, ...]:
        """List the revisions, newest first, that may have a manifest that was removed since `revision`."""
        return self.history.revisions_since(revision, self.wanted.path) if self.history else ()

    def has_history_since(self, revision: str) -> bool:
        """Return whether `revisions_since` misses no change."""
        return self.history is not None and self.history.has_since(revision)

    def list_last_commits(
        self, revision: str, path_sets: Collection[ManifestPaths]
    ) -> Mapping[ManifestPaths, LastCommit]:
        """Return the last commit, at or before a revision, that changed each group of paths; none for a source without
        git.
        """
        return self.history.list_last_commits(revision, path_sets) if self.history else {}

    def close(self) -> None:
        if self.history is not None:
            self.history.close()
        if self.tree is not None:
            self.tree.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def open_checkout(  # noqa: PLR0913 - each selects what is read
    location: str,
    *,
    ref: str | None = None,
    path: str = ".",
    access: GitAccess | None = None,
    status_dir: Path | None = None,
    config_file: Path | None = None,
    offline: bool = False,
    trusted: TrustedKeys | None = None,
    units: tuple[UnitEntry, ...] | None = None,
    builds: Builds | None = None,
    variables: tuple[tuple[str, str], ...] = (),
) -> Checkout:
    """Read SOURCE, without manifests below `status_dir` if it is in the source, and without its gitsync.yaml if that is
    the operator's own `config_file`, which has been read already.

    `units` are those that the operator names, None to take those of the source; `builds` are those of the run, and
    `variables` those of the operator.
    `offline` is for commands that only need the files: the revision, state and remote of a folder are not read.
    With `trusted`, only a commit that one of these keys signed is read, and exactly as it was committed.
    Raises SourceError if SOURCE cannot be read, or is not signed so; ConfigError if its gitsync.yaml is invalid.
    """
    access = access or GitAccess()
    source = parse_location(location)
    builds = builds or Builds(grace=access.grace)
    wanted = SourcePart(path=check_path(path), entries=units, builds=builds, aliases=access.aliases)
    if isinstance(source, Url):
        wanted = replace(wanted, follow=FollowContext(name_url(source, ref), variables))
        return _read_url(source, ref, wanted, access, trusted)
    refuse_look_alike(source.path / wanted.path)
    wanted = replace(wanted, follow=FollowContext(name_folder(source.path, access, ref), variables))
    without = list_excluded(source.path, status_dir)
    has_settings = ref is not None or config_file is None or not _is_settings_file(source.path, config_file)
    wanted = replace(wanted, without=without, has_settings=has_settings)
    tree = None if offline and ref is None else find_work_tree(source.path, access)
    if tree is None and trusted:
        raise SourceError(
            f"{source.path} is not in a git repository, so no commit of it is signed.", hint="Remove --trusted-keys."
        )
    if tree is None:
        return _read_plain_folder(source, ref, wanted)
    # From here on the mirror of the repository must be removed, whatever happens.
    try:
        return _read_work_tree(source, tree, ref, wanted, access, trusted)
    except BaseException:
        tree.close()
        raise


def _is_settings_file(folder: Path, config_file: Path) -> bool:
    """Return whether the operator's own file is the gitsync.yaml of a folder: then it has been read already."""
    settings_file = folder / FILE_NAME
    return settings_file.exists() and config_file.exists() and settings_file.samefile(config_file)


def list_excluded(root: Path, folder: Path | None) -> tuple[str, ...]:
    """List the path of a folder below `root`, to exclude it; nothing if it is elsewhere."""
    excluded = Path(os.path.realpath(folder)) if folder else root
    return (excluded.relative_to(root).as_posix(),) if excluded != root and excluded.is_relative_to(root) else ()


def _read_url(
    url: Url, ref: str | None, wanted: SourcePart, access: GitAccess, trusted: TrustedKeys | None
) -> Checkout:
    remote = open_remote(url, access)
    clone = open_clone(remote)
    try:
        tip = fetch_ref(clone, check_ref(ref) if ref is not None else None)
        if trusted:  # before anything is parsed or built: an unsigned commit may be hostile
            check_signature(clone.repository, tip.commit, trusted)
        contents = read_contents(Revision(repository=clone.repository, commit=tip.commit), wanted)
    except BaseException:
        clone.close()
        raise
    return Checkout(
        name=url.text,
        revision=tip.commit,
        ref=tip.ref,
        contents=contents,
        remote=remote,
        wanted=wanted,
        history=History(clone.repository, tip.commit, root="", remote=remote, clone=clone, trusted=trusted),
    )


def _read_plain_folder(source: Folder, ref: str | None, wanted: SourcePart) -> Checkout:
    if ref is not None:
        raise SourceError(f"{source.path} is not in a git repository, so it has no {ref}.", hint="Remove --ref.")
    # A ConfigMap that is mounted consists of links. In a checkout a link could lead to a file of the machine.
    follow_links, submodules = not is_in_repository(source.path), list_submodules(source.path)
    listing = FolderListing(root=source.path, follow_links=follow_links, submodules=submodules)
    contents = read_contents(listing, wanted)
    return Checkout(
        name=str(source.path),
        contents=contents,
        folder=source.path,
        root=read_prefix(source.path),
        wanted=wanted,
    )


def _read_work_tree(
    source: Folder, tree: WorkTree, ref: str | None, wanted: SourcePart, access: GitAccess, trusted: TrustedKeys | None
) -> Checkout:
    try:
        remote, refusal = find_remote(tree, access)
        head = read_head(tree)
        commit = head.commit if ref is None else _resolve_commit(tree, check_ref(ref))
        revision = _make_revision(tree, commit) if commit else None
        folder = FolderListing(root=source.path, submodules=list_submodules(source.path))
        listing: SourceListing = folder if ref is None or revision is None else revision
        contents = read_contents(_check_signed(source, tree, commit, trusted) if trusted else listing, wanted)
        dirty = False
        if ref is None:
            # The contents come from signed commits, so the files of the folder are listed again.
            inputs = _read_unsigned(folder, contents, wanted) if trusted else contents.read_inputs()
            dirty = _is_dirty(inputs, revision, wanted, has_declared=contents.has_declared)
        if dirty and trusted:
            raise SourceError(
                f"{source.path} has uncommitted changes, which are not signed.",
                hint="Commit and sign them, or remove --trusted-keys.",
            )
    except GitError as error:
        raise SourceError(f"git cannot read {source.path}: {error.message}", hint=error.hint) from error
    return Checkout(
        name=str(source.path),
        revision=commit,
        ref=ref or head.branch,
        contents=contents,
        dirty=dirty,
        folder=source.path,
        root=tree.prefix,
        tree=tree,
        remote=remote,
        remote_refused=refusal,
        wanted=wanted,
        history=History(tree.repository, commit, root=tree.prefix, remote=remote, trusted=trusted) if commit else None,
    )


def _check_signed(source: Folder, tree: WorkTree, commit: str | None, trusted: TrustedKeys) -> Revision:
    """Return the commit itself, once its signature is checked."""
    check_outside(tree, trusted)
    if commit is None:
        raise SourceError(f"{source.path} has no commit yet, so none is signed.", hint="Commit and sign it.")
    check_signature(tree.repository, commit, trusted)
    # The commit itself, since changes in the folder are not signed.
    return _make_revision(tree, commit)


def check_outside(tree: WorkTree, trusted: TrustedKeys) -> None:
    """Raise SourceError if the file of keys is in the working tree: an unsigned commit could then add a key."""
    if trusted.file.is_relative_to(tree.top):
        raise SourceError(
            f"--trusted-keys {trusted.name} is in the working tree {tree.top}.", hint="Move it out of there."
        )


def _make_revision(tree: WorkTree, commit: str) -> Revision:
    return Revision(repository=tree.repository, commit=commit, root=tree.prefix)


def _resolve_commit(tree: WorkTree, ref: str) -> str:
    try:
        return tree.repository.line("rev-parse", "--verify", "--end-of-options", f"{ref}^{{commit}}")
    except GitError as error:
        raise SourceError(
            f"The repository at {tree.top} has no branch, tag or commit {ref}.", hint="Fetch it first, or check --ref."
        ) from error


def _read_unsigned(folder: FolderListing, signed: SourceContents, wanted: SourcePart) -> Mapping[str, bytes]:
    """Read the files of a folder that would be read if they were signed."""
    # The files are read and not built.
    inputs = list_inputs(folder, wanted, has_declared=signed.has_declared)
    return folder.read(entry for entry in folder.find(inputs) if entry.kind is EntryKind.FILE)


def _is_dirty(
    inputs: Mapping[str, bytes], revision: Revision | None, wanted: SourcePart, *, has_declared: bool
) -> bool:
    """Return whether the inputs of a folder differ from the commit: manifests that git ignores count, other files and
    line ends do not. `has_declared` is that of the folder: if only one of them declares units, files differ.
    """
    if revision is None:
        return bool(inputs)
    # git finds sizes one by one, and they matter only for files that are too large to be read
    quick = replace(revision, has_sizes=False)
    return not any(_has_inputs(listing, inputs, wanted, has_declared=has_declared) for listing in (quick, revision))


def _has_inputs(revision: Revision, inputs: Mapping[str, bytes], wanted: SourcePart, *, has_declared: bool) -> bool:
    """Return whether these files are all that is read of a revision."""
    try:
        committed = list_inputs(revision, wanted, has_declared=has_declared)
    except SourceError:  # the commit does not have the folder, or another kustomization
        return not inputs
    is_same = all(is_content_of(blob, inputs[path]) for path, blob in committed.items() if path in inputs)
    return is_same and committed.keys() == inputs.keys()


def find_remote(tree: WorkTree, access: GitAccess) -> tuple[Remote | None, str]:
    """Find the remote of a work tree, or the reason why it must not be used."""
    try:
        url = find_remote_url(tree)
    except SourceError as error:
        return None, str(error)
    if url is None:
        return None, ""
    return open_remote(url, access, select_headers(url, tree.settings)), ""


# Compare a file with a blob of a commit, without git: git would run the filters that the repository names. A filter
# (LFS, git-crypt) may be any program. So a file that a filter changed counts as different from the committed one.


_ALGORITHMS = {40: hashlib.sha1, 64: hashlib.sha256}  # git's, by the length of an id


def is_content_of(blob: str, content: bytes) -> bool:
    """Return whether `content` is the blob with this id, unchanged or with the line ends that git stores (LF)."""
    make_digest = _ALGORITHMS[len(blob)]
    texts = (content, content.replace(b"\r\n", b"\n")) if b"\r\n" in content else (content,)
    return any(make_digest(b"blob %d\0" % len(text) + text).hexdigest() == blob for text in texts)


# The name of a source in a plan file: the same on the machine that plans and on the one that applies. A folder's path
# and a URL's user are matters of one machine, so neither is used.


def find_repository(source: Checkout) -> str:
    """Find the name of the source's remote: host and path, for https and ssh alike, such as github.com/acme/estate.

    "" for a source without a remote: its revision, a digest of the whole history, identifies it.
    """
    return normalize_repository(source.remote.url) if source.remote else ""


def find_revision(source: Checkout) -> str:
    """Find the commit that a source is at; for a folder without one, a digest of the files that were read."""
    if source.revision is not None:
        return source.revision
    digest = hashlib.sha256()
    for path, content in sorted(source.contents.files.items()):
        # With the length, the bytes of one file cannot be taken for those of the next.
        digest.update(f"{path}\0{len(content)}\0".encode())
        digest.update(content)
    return f"files:{digest.hexdigest()}"
