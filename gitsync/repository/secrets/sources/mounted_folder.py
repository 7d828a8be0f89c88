"""Secrets and config maps from a folder: one folder an object, one file a key, as Kubernetes mounts them.

An object is in FOLDER/NAMESPACE/NAME, or, if its namespace is the run's own, in FOLDER/NAME. Contents are taken exactly
as they are, a newline at the end with them (docs/reference/reconciliation.md#secret-and-config-map-inputs). An
unreadable value is unknown, not absent.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gitsync.desired.formats.strict_json import read_json
from gitsync.errors import SecretStoreError
from gitsync.model.export import Address, ObjectKind
from gitsync.model.secret import Secret
from gitsync.repository.secrets.store_rules import MOST_BYTES, check_names, decode_secret

NOTE = ".gitsync.json"
"""The file in which the sink of such folders keeps its note; a key may not have this name."""

_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW  # a pipe is not waited for


class FolderSource:
    """A Source. `namespace` is that of objects with a folder at the top."""

    name = "folder"
    is_remote = False

    def __init__(self, *, secrets: Path | None, config_maps: Path | None, namespace: str) -> None:
        self._tops = {ObjectKind.SECRET: secrets, ObjectKind.CONFIG_MAP: config_maps}
        self._namespace = namespace

    async def read(self, address: Address, keys: Sequence[str]) -> Mapping[str, Secret] | None:
        """As `SecretSource.read`."""
        top = self._tops[address.object_kind]
        if top is None:
            return None
        check_names(address, keys)
        with _explain_unreadable(address, top):
            folder = self._find_folder(top, address)
            if folder is None:
                return None
            # Names that begin with a dot belong to Kubernetes or an editor; a key with such a name can be read.
            names = keys or sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith("."))
            contents = {name: _read_content(top, folder / name) for name in names if name != NOTE}
        return {
            name: decode_secret(content, str(folder / name))
            for name, content in contents.items()
            if content is not None
        }

    async def owner(self, address: Address) -> str | None:
        """Return the owner in the note of the sink of such folders; "" without a note."""
        top = self._tops[address.object_kind]
        if top is None:
            return None
        check_names(address)
        with _explain_unreadable(address, top):
            folder = self._find_folder(top, address)
            if folder is None:
                return None
            note = _read_content(top, folder / NOTE)
            return "" if note is None else str(read_note(note, folder).get("owner", ""))

    def _find_folder(self, top: Path, address: Address) -> Path | None:
        if not _is_folder(top):
            setting = "--secrets-folder" if address.object_kind is ObjectKind.SECRET else "--config-maps-folder"
            raise SecretStoreError(f"There is no folder {top}.", hint=f"Create it, or check {setting}.")
        nested = top / address.namespace / address.name
        if _is_folder(nested):
            return nested
        flat = top / address.name
        return flat if address.namespace == self._namespace and _is_object(flat) else None


@contextmanager
def _explain_unreadable(address: Address, top: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SecretStoreError(
            f"{error.filename or top} cannot be read, so the values of {address} are unknown: {error.strerror}.",
            hint="Grant this user read access.",
        ) from error


def read_note(content: bytes, folder: Path) -> Mapping[str, Any]:
    """Read the note of the sink in the folder of an object. SecretStoreError if it is damaged."""
    try:
        note = read_json(content)
    except ValueError:
        note = None
    if not isinstance(note, dict):
        raise SecretStoreError(
            f"{folder / NOTE} is damaged, so the owner of its files is unknown.",
            hint=f"Remove {folder} if a resource can export it again.",
        )
    return note


def _is_folder(path: Path) -> bool:
    """Unlike `Path.is_dir`, distinguishes an unreadable folder from a missing one."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def _is_object(path: Path) -> bool:
    """Return whether a path is the folder of an object."""
    if not _is_folder(path):
        return False
    entries = [entry for entry in path.iterdir() if not entry.name.startswith(".")]
    # A folder of folders alone is a namespace, which may have the name of an object.
    return not entries or any(not entry.is_dir() for entry in entries)


def _read_content(top: Path, file: Path) -> bytes | None:
    """Read the bytes of a file, one more than allowed at most; None if it does not exist or is a folder."""
    try:
        real = file.resolve(strict=True)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except RuntimeError as error:  # links that lead to each other
        raise SecretStoreError(f"{file} is a broken symbolic link.", hint="Fix the link.") from error
    # Kubernetes mounts values as links within the folder; one that leads out of it is not followed.
    if not real.is_relative_to(top.resolve(strict=True)):
        raise SecretStoreError(
            f"{file} is a link to a target outside {top}, which gitsync does not follow.",
            hint="Replace it with the file.",
        )
    # Opened once and then checked: the file at a path may change between two looks at it.
    descriptor = os.open(real, _READ)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            return None
        if not stat.S_ISREG(mode):
            raise SecretStoreError(f"{file} is not a file.", hint="Write the value to a file.")
        return _read(descriptor)
    finally:
        os.close(descriptor)


def _read(descriptor: int) -> bytes:
    content = b""
    # One byte more than allowed is enough to see that a file is too large.
    while chunk := os.read(descriptor, MOST_BYTES + 1 - len(content)):
        content += chunk
    return content
