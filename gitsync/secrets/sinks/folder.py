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

from gitsync.errors import ConfigError
from gitsync.model.export import Address, Export, Holder, Owner
from gitsync.secrets.content import check_export, check_owner, encode_value
from gitsync.secrets.naming import check_names
from gitsync.secrets.private_files import (
    FILE_MODE,
    UnfitError,
    ensure_private_folder,
    judge_folder,
    lock_folder,
    sync_folder,
    write_new,
)
from gitsync.secrets.protocols import VaultError
from gitsync.secrets.sources.folder import NOTE

_IGNORES = (".gitignore", ".gitsyncignore")
"""Prevents accidental commits of secrets, and that exports are read as manifests."""

PARTS: Mapping[Holder, str] = {Holder.SECRET: "secrets", Holder.CONFIG_MAP: "config-maps"}
_NEW, _OLD, _GONE = ".new-", ".old-", ".gone-"
"""What a folder that is not in its place begins with: one half made, one replaced, one that is taken away."""


class FolderSink:
    """A Sink."""

    name = "folder"

    def __init__(self, folder: Path) -> None:
        self._top = folder

    async def check(self) -> None:
        """Make the folder, and clear what a killed run left. ConfigError where others may read it."""
        try:
            for folder in (self._top, *(self._top / part for part in PARTS.values())):
                ensure_private_folder(folder)
            with lock_folder(self._top):
                self._clear()
                self._hide()
        except (UnfitError, VaultError) as error:
            raise ConfigError(f"Secrets cannot be exported: {error.message}", hint=error.hint) from error
        except OSError as error:
            raise ConfigError(
                f"Secrets cannot be exported to {error.filename or self._top}: {error.strerror}.",
                hint="Grant this user write access, or change --export-folder.",
            ) from error

    async def owner(self, address: Address) -> str | None:
        check_names(address)
        with _as_vault_error(self._top):
            return _owner(_note(self._place(address)))

    def examine(self, exports: Sequence[Export]) -> None:
        for export in exports:
            check_export(export)
            if NOTE in export.data:
                raise VaultError(f"{export.address} is not written to {self._top}: {NOTE} is not allowed as a key.")

    async def write(self, export: Export) -> None:
        self.examine((export,))
        files = _files(export)
        with _as_vault_error(self._top), lock_folder(self._top):
            folder = self._place(export.address)
            check_owner(export, _owner(_note(folder)), f"{export.address} in {self._top}")
            if _present(folder) != files:
                ensure_private_folder(folder.parent)
                _swap(folder, files)

    async def remove(self, address: Address, owner: Owner) -> None:
        """The folder goes aside first, so that no reader finds half of it."""
        check_names(address)
        with _as_vault_error(self._top), lock_folder(self._top):
            folder = self._place(address)
            if (_note(folder) or {}).get("owner") == str(owner):
                aside = _aside(folder, _GONE)
                sync_folder(folder.parent)
                shutil.rmtree(aside)

    def _place(self, address: Address) -> Path:
        """The folder of an object, once those above it are judged."""
        above = self._top / PARTS[address.holder]
        for folder in (self._top, above, above / address.namespace):
            if os.path.lexists(folder):
                judge_folder(folder)
        return above / address.namespace / address.name

    def _hide(self) -> None:
        for name in _IGNORES:
            if not os.path.lexists(self._top / name):
                write_new(self._top / name, b"*\n")

    def _clear(self) -> None:
        for aside in self._top.glob(f"*/*/{_OLD}*"):
            place = aside.parent / str((_note(aside) or {}).get("name", ""))
            if place != aside.parent and not os.path.lexists(place):
                aside.rename(place)
            else:
                shutil.rmtree(aside)
        for prefix in (_NEW, _GONE):
            for half in self._top.glob(f"*/*/{prefix}*"):
                shutil.rmtree(half)


@contextmanager
def _as_vault_error(top: Path) -> Iterator[None]:
    try:
        yield
    except UnfitError as error:
        raise VaultError(f"Nothing is written to {top}: {error.message}", hint=error.hint) from error
    except OSError as error:
        raise VaultError(
            f"{error.filename or top} cannot be read or written: {error.strerror}.",
            hint="Grant this user write access, and check that the disk is not full.",
        ) from error


def _files(export: Export) -> Mapping[str, bytes]:
    """What the folder of an object holds."""
    note = {
        "name": export.address.name,
        "owner": str(export.owner),
        "annotations": dict(export.annotations),
        "labels": dict(export.labels),
    }
    values = {key: encode_value(value, export.address, key) for key, value in export.data.items()}
    return values | {NOTE: json.dumps(note, indent=2, sort_keys=True).encode() + b"\n"}


def _present(folder: Path) -> Mapping[str, bytes] | None:
    """The object in a folder; None if there is none, if no sink wrote it, or if other users can read it."""
    if not os.path.lexists(folder):
        return None
    judge_folder(folder)
    found = {}
    for each in folder.iterdir():
        mode = each.lstat().st_mode
        if not stat.S_ISREG(mode) or stat.S_IMODE(mode) != FILE_MODE:
            return None
        found[each.name] = each.read_bytes()
    return found


def _note(folder: Path) -> Mapping[str, Any] | None:
    """What is noted of an object, nothing where no sink wrote it; None where there is none. VaultError where the note
    cannot be read.
    """
    if not os.path.lexists(folder):
        return None
    judge_folder(folder)
    try:
        note = json.loads((folder / NOTE).read_bytes())
    except FileNotFoundError:
        return {}
    except ValueError:
        note = None
    if not isinstance(note, dict):
        raise VaultError(
            f"{folder / NOTE} is damaged, so the owner of its files is unknown.",
            hint=f"Remove {folder} if a resource can export it again.",
        )
    return note


def _owner(note: Mapping[str, Any] | None) -> str | None:
    return None if note is None else str(note.get("owner", ""))


def _swap(folder: Path, files: Mapping[str, bytes]) -> None:
    """Replace a folder with a new one. If that fails, restore the old one."""
    new = Path(tempfile.mkdtemp(prefix=_NEW, dir=folder.parent))  # made with mode 0700
    try:
        for name, content in sorted(files.items()):
            write_new(new / name, content)
        sync_folder(new)
        aside = _aside(folder, _OLD) if os.path.lexists(folder) else None
        try:
            new.rename(folder)
        except OSError:
            if aside:
                aside.rename(folder)
            raise
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    sync_folder(folder.parent)
    if aside:
        shutil.rmtree(aside)


def _aside(folder: Path, prefix: str) -> Path:
    aside = Path(tempfile.mkdtemp(prefix=prefix, dir=folder.parent))  # a rename replaces an empty folder
    folder.rename(aside)
    return aside
