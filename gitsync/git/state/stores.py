"""Chooses the store of state: a branch or a folder (docs/reference/design.md#state-location)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from gitsync.errors import ConfigError, SourceError, StateError
from gitsync.git.access import GitAccess, Remote, open_remote
from gitsync.git.source.checkout import Checkout
from gitsync.git.source.identity import find_repository
from gitsync.git.source.location import Url, check_ref
from gitsync.git.state.branch import StatusBranch
from gitsync.git.state.codec import UNSEALED
from gitsync.git.state.commit import Author
from gitsync.git.state.folder import StatusFolder
from gitsync.git.state.seal import RecordSeals, name_place
from gitsync.git.state.store import StateStore
from gitsync.model.clock import Clock

DEFAULT_BRANCH = "gitsync/status"
DEFAULT_FOLDER = ".gitsync"


def open_store(
    source: Checkout,
    *,
    branch: str | None = None,
    directory: Path | None = None,
    clock: Clock,
    environment: Mapping[str, str] = os.environ,
    seals: RecordSeals = UNSEALED,
) -> StateStore:
    """The default is the branch `gitsync/status` of the remote, or `.gitsync` in a folder without a remote.

    Without a remote, a named branch is one of the repository itself. The author of commits is gitsync, unless git's own
    variables in `environment` name another. `seals` sign and check records, as those of this place. ConfigError if the
    choice is not possible; StateError for a `.gitsync` that git tracks.
    """
    if branch is not None and directory is not None:
        raise ConfigError("--status-branch and --status-dir exclude each other.", hint="Use only one of them.")
    seals = replace(seals, place=name_place(find_repository(source)))
    if directory is not None:
        return StatusFolder(Path(os.path.abspath(directory)), seals)  # noqa: PTH100 - resolve() would follow a link
    if branch is None and source.remote is None and not source.remote_refused:
        _refuse_tracked(source)
        return StatusFolder((source.folder or Path.cwd()) / DEFAULT_FOLDER, seals)
    name = _check_branch_name(branch or DEFAULT_BRANCH, source)
    seals = replace(seals, place=name_place(find_repository(source), name))
    return StatusBranch(find_status_remote(source), name, clock=clock, author=_make_author(environment), seals=seals)


def _refuse_tracked(source: Checkout) -> None:
    """Refuse state that is tracked by git: otherwise a commit would decide what is deleted."""
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
    if source.ref in {name, f"refs/heads/{name}"}:
        raise ConfigError(f"The branch {name} contains the manifests.", hint="Set --status-branch to another branch.")
    return name


def find_status_remote(source: Checkout) -> Remote:
    """The repository that has the status branch of a source. ConfigError if there is none."""
    if source.remote is not None:
        return source.remote
    if source.remote_refused:
        raise ConfigError(f"The status branch cannot be used: {source.remote_refused}", hint="Use --status-dir.")
    if source.tree is None:
        raise ConfigError(f"{source.name} is not in a git repository, so it has no branches.", hint="Use --status-dir.")
    mirror = source.tree.repository  # the mirror: settings and hooks of the repository itself run no program
    return open_remote(
        Url(str(mirror.folder), "file"),
        GitAccess(timeout=mirror.timeout, grace=mirror.grace),
        label=str(source.tree.top),
    )


def _make_author(environment: Mapping[str, str]) -> Author:
    default = Author()
    return Author(
        environment.get("GIT_AUTHOR_NAME") or default.name, environment.get("GIT_AUTHOR_EMAIL") or default.email
    )
