"""Choose the store of state, a branch or a folder (docs/reference/design.md#status-branch), and open those of other
manifests to read only.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from gitsync.desired.formats.repository_name import normalize_repository
from gitsync.errors import ConfigError, GitsyncError, SourceError, StateError
from gitsync.model.clock import Clock
from gitsync.model.record import State
from gitsync.model.secret import Secret
from gitsync.repository.git.git_access import GitAccess, Remote, open_remote
from gitsync.repository.git.source.checkout import Checkout, find_repository
from gitsync.repository.git.source.location import Url, check_ref, parse_location
from gitsync.repository.git.source.worktree import WorkTree
from gitsync.repository.git.state.branch import StatusBranch
from gitsync.repository.git.state.commits import Author
from gitsync.repository.git.state.former_tree import FORMER_INVENTORY
from gitsync.repository.git.state.record_files import INVENTORY, UNSEALED
from gitsync.repository.git.state.seal import RecordSeals, name_source
from gitsync.repository.git.state.state_folder import StatusFolder
from gitsync.repository.git.state.store import StateStore

DEFAULT_BRANCH = "gitsync/status"
DEFAULT_FOLDER = ".gitsync"


def open_store(
    source: Checkout,
    *,
    status_branch: str | None = None,
    status_dir: Path | None = None,
    clock: Clock,
    environment: Mapping[str, str] = os.environ,
    seals: RecordSeals = UNSEALED,
) -> StatusBranch | StatusFolder:
    """Open the store: by default the branch `gitsync/status` of the remote, or `.gitsync` in a folder without a remote.

    Without a remote, a named branch is one of the repository itself. The author of commits is gitsync, unless git's own
    variables in `environment` name another. `seals` sign and check records, as those of this location. ConfigError if
    the choice is not possible; StateError for a `.gitsync` that git tracks.
    """
    if status_branch is not None and status_dir is not None:
        raise ConfigError("--status-branch and --status-dir exclude each other.", hint="Use only one of them.")
    seals = replace(seals, source_name=name_source(find_repository(source)))
    if status_dir is not None:
        return StatusFolder(status_dir.absolute(), seals, source.folder)
    if status_branch is None and source.remote is None and not source.remote_refused:
        _refuse_tracked(source)
        folder = (source.folder or Path.cwd()) / DEFAULT_FOLDER
        return StatusFolder(folder, seals, source.folder, keeps_from_git=True)
    name = _check_branch_name(status_branch or DEFAULT_BRANCH, source)
    seals = replace(seals, source_name=name_source(find_repository(source), name))
    return StatusBranch(find_status_remote(source), name, clock=clock, author=make_author(environment), seals=seals)


def _refuse_tracked(source: Checkout) -> None:
    """Refuse state that git tracks: otherwise a commit would decide what is deleted."""
    folder = PurePosixPath(source.root, DEFAULT_FOLDER)
    if source.tree is None or source.revision is None:
        return
    if source.tree.repository.line("ls-tree", "--name-only", source.revision, "--", f"{folder}/"):
        raise StateError(
            f"{folder}/ is tracked by git, so its records are not used.",
            hint=f"Run `git rm -r --cached {folder}`, name it in .gitignore, and commit; or use --status-dir.",
        )


def _check_branch_name(name: str, source: Checkout) -> str:
    try:
        check_ref(name)
    except SourceError:
        raise ConfigError(f"--status-branch {name!r} is not the name of a branch.") from None
    if name.startswith("refs/"):
        raise ConfigError(f"--status-branch {name!r} must be a short name.", hint=f"Write it like {DEFAULT_BRANCH}.")
    # Each status commit would be a new revision of the manifests.
    if source.ref in {name, f"refs/heads/{name}"}:
        raise ConfigError(f"The branch {name} contains the manifests.", hint="Set --status-branch to another branch.")
    return name


def find_status_remote(source: Checkout) -> Remote:
    """Find the repository that has the status branch of a source. ConfigError if there is none."""
    if source.remote is not None:
        return source.remote
    if source.remote_refused:
        raise ConfigError(f"The status branch cannot be used: {source.remote_refused}", hint="Use --status-dir.")
    if source.tree is None:
        raise ConfigError(f"{source.name} is not in a git repository, so it has no branches.", hint="Use --status-dir.")
    return open_own_repository(source.tree)


def open_own_repository(tree: WorkTree) -> Remote:
    """Open the repository of a working tree as a remote, to write its branches."""
    mirror = tree.repository  # the mirror: settings and hooks of the repository itself run no program
    access = GitAccess(timeout=mirror.timeout, grace=mirror.grace)
    return open_remote(Url(str(mirror.folder), "file"), access, label=str(tree.top))


def make_author(environment: Mapping[str, str], default: Author | None = None) -> Author:
    """Make the author of commits: the default, which is gitsync, unless git's own variables name another."""
    default = default or Author()
    return Author(
        environment.get("GIT_AUTHOR_NAME") or default.name, environment.get("GIT_AUTHOR_EMAIL") or default.email
    )


# The status of other manifests, to read only: a branch of another repository, or a folder with the files of a status.
#
# A location is written `REPOSITORY[#BRANCH]`, with a URL or a folder. Without one it is a branch of the source.


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusReader:
    """What reading needs."""

    source: Checkout | None  # the only host that the token goes to
    access: GitAccess
    seals: RecordSeals  # check the records
    clock: Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignStatus:
    """The recorded state at another location."""

    name: str  # of the location, for messages
    state: State


def read_foreign_status(address: str, reader: StatusReader, redact: Callable[[Secret], None]) -> ForeignStatus:
    """Read the status at a location. `redact` gets the password in its URL.

    Raises StateError if it cannot be read, or if there is none: unknown is not empty.
    """
    try:
        home = _find_status(address, reader)
        for secret in () if isinstance(home, Path) else home.secrets:
            redact(secret)
        with _open_store(home, address.partition("#")[2], reader) as store:
            state = store.load()
    except GitsyncError as error:
        raise StateError(f"A status of --known-from cannot be read: {error.message}", hint=error.hint) from error
    # An empty status means that nothing is declared there, which a misspelt location must not.
    if not state.records and state.revision is None:
        raise StateError(f"The {store.name} has no gitsync status.", hint="Fix the location in --known-from.")
    return ForeignStatus(name=store.name, state=state)


def _find_status(address: str, reader: StatusReader) -> Remote | Path:
    """Find the repository that a location names, or its folder of status files."""
    location = address.partition("#")[0]
    if not location and reader.source is None:
        raise StateError(
            f"{address} is a branch of the source, and this command has no source.",
            hint="Write it as REPOSITORY#BRANCH.",
        )
    if not location and reader.source is not None:
        return find_status_remote(reader.source)
    parsed = parse_location(location)
    if isinstance(parsed, Url):
        return open_remote(parsed, _limit_token(parsed, reader))
    if any((parsed.path / inventory).is_file() for inventory in (INVENTORY, FORMER_INVENTORY)):
        return parsed.path
    return open_remote(Url(str(parsed.path), "file"), replace(reader.access, token=None))


def _limit_token(url: Url, reader: StatusReader) -> GitAccess:
    """Return the access for a URL: the token of the source's host stays there."""
    own = reader.source.remote if reader.source else None
    is_same = own is not None and urlsplit(own.url).netloc.casefold() == urlsplit(url.text).netloc.casefold()
    return reader.access if is_same else replace(reader.access, token=None)


def _open_store(home: Remote | Path, branch: str, reader: StatusReader) -> StateStore:
    if isinstance(home, Path):
        return StatusFolder(home.resolve(), replace(reader.seals, source_name=None))
    name = check_ref(branch or DEFAULT_BRANCH)
    repository = normalize_repository(home.url)
    # A repository on this machine may be a clone of the one that its runs know.
    address = None if repository.startswith("/") else name_source(repository, name)
    return StatusBranch(home, name, clock=reader.clock, seals=replace(reader.seals, source_name=address))
