"""Exports into a folder: FOLDER/secrets/NAMESPACE/NAME/KEY and FOLDER/config-maps/…, for this user alone.

An object is replaced as a whole: its new folder is built next to it, and then replaces it by two renames, as folders
cannot be replaced by one. If a run is killed between them, the next run restores the old folder. The owner of an
object, its annotations and labels are in a separate file without values. The folder `secrets` can be read as a source.
If the folder is in a working tree, git and gitsync ignore its content.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gitsync.errors import ConfigError, SecretStoreError, UnsafePathError
from gitsync.model.export import Address, Export, ObjectKind, Owner
from gitsync.repository.secrets.private_files import (
    FILE_MODE,
    check_private_folder,
    ensure_private_folder,
    lock_folder,
    sync_folder,
    write_new,
)
from gitsync.repository.secrets.sources.mounted_folder import NOTE, read_note
from gitsync.repository.secrets.store_rules import check_export, check_names, check_owner, encode_value
from gitsync.settings.files.output_path import choose_output_path

_IGNORES = (".gitignore", ".gitsyncignore")
"""Prevents accidental commits of secrets, and that exports are read as manifests."""

PARTS: Mapping[ObjectKind, str] = {ObjectKind.SECRET: "secrets", ObjectKind.CONFIG_MAP: "config-maps"}
_NEW, _OLD, _REMOVED = ".new-", ".old-", ".gone-"
"""Prefixes of temporary folders: one being written, one replaced, one being removed."""


class FolderSink:
    """A Sink. No link of a checkout or of `source` leads to its folder; below it, all is private to this user."""

    name = "folder"

    def __init__(self, folder: Path, source: str | None = None) -> None:
        self._top = folder
        self._source = source

    async def check(self) -> None:
        """Create the folder, and remove what a killed run left. ConfigError if other users can read it."""
        try:
            for folder in (self._top, *(self._top / part for part in PARTS.values())):
                ensure_private_folder(folder, self._source)
            with lock_folder(self._top):
                self._remove_leftovers()
                self._write_ignore_files()
        except (UnsafePathError, SecretStoreError) as error:
            raise ConfigError(f"Secrets cannot be exported: {error.message}", hint=error.hint) from error
        except OSError as error:
            raise ConfigError(
                f"Secrets cannot be exported to {error.filename or self._top}: {error.strerror}.",
                hint="Grant this user write access, or change --export-folder.",
            ) from error

    async def owner(self, address: Address) -> str | None:
        check_names(address)
        with _as_store_error(self._top):
            return _read_owner(_read_note(self._find_folder(address)))

    def examine(self, exports: Sequence[Export]) -> None:
        for export in exports:
            check_export(export)
            if NOTE in export.data:
                raise SecretStoreError(
                    f"{export.address} is not written to {self._top}: {NOTE} is not allowed as a key."
                )

    async def write(self, export: Export) -> None:
        self.examine((export,))
        files = _make_files(export)
        with _as_store_error(self._top), lock_folder(self._top):
            folder = self._find_folder(export.address)
            check_owner(export, _read_owner(_read_note(folder)), f"{export.address} in {self._top}")
            # An unchanged object keeps its folder, so that its readers see no new one.
            if _read_object(folder) != files:
                ensure_private_folder(folder.parent, self._source)
                _swap(folder, files)

    async def remove(self, address: Address, owner: Owner) -> None:
        """The folder goes aside first, so that no reader finds half of it."""
        check_names(address)
        with _as_store_error(self._top), lock_folder(self._top):
            folder = self._find_folder(address)
            if (_read_note(folder) or {}).get("owner") == str(owner):
                aside = _move_aside(folder, _REMOVED)
                sync_folder(folder.parent)
                shutil.rmtree(aside)

    def _find_folder(self, address: Address) -> Path:
        """Find the folder of an object, after a check of those above it."""
        choose_output_path(self._top, self._source)  # a link may have come since the run began
        part_folder = self._top / PARTS[address.object_kind]
        for folder in (self._top, part_folder, part_folder / address.namespace):
            if os.path.lexists(folder):
                check_private_folder(folder)
        return part_folder / address.namespace / address.name

    def _write_ignore_files(self) -> None:
        for name in _IGNORES:
            if not os.path.lexists(self._top / name):
                write_new(self._top / name, b"*\n")

    def _remove_leftovers(self) -> None:
        for aside in self._top.glob(f"*/*/{_OLD}*"):
            original = aside.parent / str((_read_note(aside) or {}).get("name", ""))
            if original != aside.parent and not os.path.lexists(original):
                # The run was killed between the two renames of a write: the old object comes back.
                aside.rename(original)
            else:
                shutil.rmtree(aside)
        for prefix in (_NEW, _REMOVED):
            for leftover in self._top.glob(f"*/*/{prefix}*"):
                shutil.rmtree(leftover)


@contextmanager
def _as_store_error(top: Path) -> Iterator[None]:
    try:
        yield
    except UnsafePathError as error:
        raise SecretStoreError(f"Nothing is written to {top}: {error.message}", hint=error.hint) from error
    except OSError as error:
        raise SecretStoreError(
            f"{error.filename or top} cannot be read or written: {error.strerror}.",
            hint="Grant this user write access, and check that the disk is not full.",
        ) from error


def _make_files(export: Export) -> Mapping[str, bytes]:
    """Make the files of an object."""
    note = {
        "name": export.address.name,
        "owner": str(export.owner),
        "annotations": dict(export.annotations),
        "labels": dict(export.labels),
    }
    values = {key: encode_value(value, export.address, key) for key, value in export.data.items()}
    return values | {NOTE: json.dumps(note, indent=2, sort_keys=True).encode() + b"\n"}


def _read_object(folder: Path) -> Mapping[str, bytes] | None:
    """Read the object in a folder; None if there is none, if no sink wrote it, or if other users can read it."""
    if not os.path.lexists(folder):
        return None
    check_private_folder(folder)
    files = {}
    for file in folder.iterdir():
        mode = file.lstat().st_mode
        if not stat.S_ISREG(mode) or stat.S_IMODE(mode) != FILE_MODE:
            return None  # written again, with the right modes
        files[file.name] = file.read_bytes()
    return files


def _read_note(folder: Path) -> Mapping[str, Any] | None:
    """Read the note about an object; empty if no sink wrote it, None if there is no object. SecretStoreError if the
    note cannot be read.
    """
    if not os.path.lexists(folder):
        return None
    check_private_folder(folder)
    try:
        content = (folder / NOTE).read_bytes()
    except FileNotFoundError:
        return {}
    return read_note(content, folder)


def _read_owner(note: Mapping[str, Any] | None) -> str | None:
    return None if note is None else str(note.get("owner", ""))


def _swap(folder: Path, files: Mapping[str, bytes]) -> None:
    """Replace a folder with a new one. If that fails, restore the old one."""
    new = Path(tempfile.mkdtemp(prefix=_NEW, dir=folder.parent))  # made with mode 0700
    try:
        for name, content in sorted(files.items()):
            write_new(new / name, content)
        sync_folder(new)
        aside = _move_aside(folder, _OLD) if os.path.lexists(folder) else None
        try:
            new.rename(folder)
        except OSError:  # the disk may be full, or the folder there again: the old object goes back
            if aside:
                aside.rename(folder)
            raise
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    # Only once the new name is on the disk may the old content go: a crash in between would leave neither.
    sync_folder(folder.parent)
    if aside:
        shutil.rmtree(aside)


def _move_aside(folder: Path, prefix: str) -> Path:
    aside = Path(tempfile.mkdtemp(prefix=prefix, dir=folder.parent))  # a rename replaces an empty folder
    folder.rename(aside)
    return aside
