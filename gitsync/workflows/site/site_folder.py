"""The folder of a site: what is in it, and how it is written.

A list in it names the files that gitsync wrote, with their digests. So a folder of somebody else is never mixed with a
site, what others changed counts for nothing, and files that the site no longer has are removed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from gitsync.desired.formats.strict_json import read_json
from gitsync.errors import ConfigError
from gitsync.settings.files.output_path import check_output_path
from gitsync.settings.files.target_folder import TargetFolder, find_replaced

LIST: Final = ".gitsync-site.json"
_PATH: Final = re.compile(r"(?:index\.html|(?:assets|data)(?:/[a-z0-9_-]+)+\.(?:js|css))")
"""Files that a site has: nothing else is removed, whatever the list names."""

_FORMAT: Final = 1
_MOST_BYTES: Final = 500_000_000
"""Of a file of an earlier site. A larger one is not read, and so written again."""


class SiteFigures(NamedTuple):
    """What was written."""

    files: int  # of the site
    changed: int  # written or removed
    size: int  # of all files, in bytes


class SiteFolder:
    """A folder with a site, or for one. ConfigError if it has other files, or a link leads out of it."""

    def __init__(self, folder: Path, sources: tuple[str, ...] = ()) -> None:
        for source in sources or (None,):
            check_output_path(folder, source, "The site")
        self._folder = folder
        self._target = TargetFolder(folder, sources[0] if sources else None, most_bytes=_MOST_BYTES)
        self._target.check(LIST)
        self._digests = _read_list(self._target.read(LIST))
        self._refuse_others()

    def _refuse_others(self) -> None:
        """Raise ConfigError for a file that gitsync did not write: a site beside it would publish it too."""
        others = sorted(set(_list_files(self._folder)) - {LIST, *self._digests, *self._list_leftovers()})
        if others:
            raise ConfigError(
                f"{self._folder} has {others[0]}, which gitsync did not write.",
                hint="Set --out to a new folder, or to one that only has a site of gitsync.",
            )

    def _list_leftovers(self) -> Iterator[str]:
        """List the temporary files of a write that was killed."""
        own = {LIST, *self._digests}
        return (path for path in _list_files(self._folder) if find_replaced(path) in own)

    def read(self, path: str) -> bytes | None:
        """Read a file of the site; None if the site has none. ValueError for one that is not as gitsync wrote it."""
        if path not in self._digests:
            return None
        content = self._target.read(path)
        # A history that somebody edited would be published as gitsync's.
        if content is None or _digest(content) != self._digests[path]:
            raise ValueError(f"{path} was changed")
        return content

    def write(self, files: Mapping[str, bytes]) -> SiteFigures:
        """Write the files of a site that are not there yet, and remove those that it no longer has."""
        digests = {path: _digest(content) for path, content in sorted(files.items())}
        for path in tuple(self._list_leftovers()):
            self._target.remove(path)
        # A write that is cut short leaves files that the list names, with digests that are not theirs.
        self._target.replace(LIST, _write_list({**self._digests, **digests}))
        changed = sum(self._target.replace(path, content) for path, content in sorted(files.items()))
        # The list is a file in the folder, and could name any other file for removal.
        gone = {path for path in self._digests.keys() - digests.keys() if _PATH.fullmatch(path)}
        for path in sorted(gone & set(_list_files(self._folder))):
            self._target.remove(path)
        self._target.replace(LIST, _write_list(digests))
        self._digests = digests
        return SiteFigures(len(files), changed + len(gone), sum(map(len, files.values())))


def _list_files(folder: Path) -> Iterator[str]:
    """List what is in a folder, by path; links are not followed."""
    for parent, folders, names in os.walk(folder):
        # os.walk lists links to folders as folders and does not enter them; one in a site counts as a file of others.
        links = [name for name in folders if (Path(parent) / name).is_symlink()]
        yield from (str((Path(parent) / name).relative_to(folder)) for name in (*names, *links))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _write_list(digests: Mapping[str, str]) -> bytes:
    return (json.dumps({"format": _FORMAT, "files": dict(sorted(digests.items()))}, indent=0) + "\n").encode()


def _read_list(content: bytes | None) -> Mapping[str, str]:
    """Read the list of a site; empty if there is none, or it is malformed."""
    try:
        document = read_json(content or b"")
        files = document["files"] if document["format"] == _FORMAT else {}
        return {path: digest for path, digest in files.items() if isinstance(digest, str)}
    except (ValueError, LookupError, TypeError, AttributeError):
        return {}
