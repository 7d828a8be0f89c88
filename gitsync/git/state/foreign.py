"""The status of other manifests, to read only: a branch of another repository, or a folder with the files of a status.

A place is written `REPOSITORY[#BRANCH]`, with a URL or a folder. Without a repository it is a branch of the source.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from gitsync.errors import GitsyncError, StateError
from gitsync.formats.repository_name import normalize_repository
from gitsync.git.access import GitAccess, Remote, open_remote
from gitsync.git.source.checkout import Checkout
from gitsync.git.source.location import Url, check_ref, parse_location
from gitsync.git.state.branch import StatusBranch
from gitsync.git.state.folder import StatusFolder
from gitsync.git.state.paths import INVENTORY
from gitsync.git.state.seal import RecordSeals, name_place
from gitsync.git.state.store import StateStore
from gitsync.git.state.stores import DEFAULT_BRANCH, find_status_remote
from gitsync.model.clock import Clock
from gitsync.model.record import State
from gitsync.model.secret import Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusReader:
    """What reading needs. The token of `access` goes to the host of `source` only. `seals` check the records."""

    source: Checkout | None
    access: GitAccess
    seals: RecordSeals
    clock: Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignStatus:
    """The recorded state at another place. `name` is that of the place, for messages."""

    name: str
    state: State


def read_foreign_status(place: str, reader: StatusReader, redact: Callable[[Secret], None]) -> ForeignStatus:
    """Read the status at a place. `redact` gets the password in its URL.

    Raises StateError if it cannot be read, or if there is none: unknown is not empty.
    """
    try:
        found = _find_place(place, reader)
        for secret in () if isinstance(found, Path) else found.secrets:
            redact(secret)
        with _open_store(found, place.partition("#")[2], reader) as store:
            state = store.load()
    except GitsyncError as error:
        raise StateError(f"A status of --known-from cannot be read: {error.message}", hint=error.hint) from error
    if not state.records and state.revision is None:
        raise StateError(f"The {store.name} has no status of gitsync.", hint="Fix the place in --known-from.")
    return ForeignStatus(name=store.name, state=state)


def _find_place(place: str, reader: StatusReader) -> Remote | Path:
    """The repository that a place names, or its folder of status files."""
    location = place.partition("#")[0]
    if not location and reader.source is None:
        raise StateError(f"{place} is a branch of the source, which has none here.", hint="Name its repository.")
    if not location and reader.source is not None:
        return find_status_remote(reader.source)
    found = parse_location(location)
    if isinstance(found, Url):
        return open_remote(found, _limit_token(found, reader))
    if (found.path / INVENTORY).is_file():
        return found.path
    return open_remote(Url(str(found.path), "file"), replace(reader.access, token=None))


def _limit_token(url: Url, reader: StatusReader) -> GitAccess:
    """The token of the source's host stays there."""
    own = reader.source.remote if reader.source else None
    is_same = own is not None and urlsplit(own.url).netloc.casefold() == urlsplit(url.text).netloc.casefold()
    return reader.access if is_same else replace(reader.access, token=None)


def _open_store(found: Remote | Path, branch: str, reader: StatusReader) -> StateStore:
    if isinstance(found, Path):
        return StatusFolder(found, replace(reader.seals, place=None))
    name = check_ref(branch or DEFAULT_BRANCH)
    repository = normalize_repository(found.url)
    # A repository on this machine may be a clone of the one that its runs know.
    place = None if repository.startswith("/") else name_place(repository, name)
    return StatusBranch(found, name, clock=reader.clock, seals=replace(reader.seals, place=place))
