"""Exports of Secrets as manifests that are encrypted with SOPS: FOLDER/NAMESPACE/NAME.yaml, safe to commit.

Metadata stays readable, and an annotation names the owner of the Secret. A file is only rewritten if its content
changes, since each encryption results in other bytes. Config maps are not written: they are not confidential.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gitsync.errors import ConfigError
from gitsync.manifests.yaml_documents import Document, read_documents
from gitsync.model.export import Address, Export, Holder, Owner
from gitsync.secrets.content import check_export, check_owner
from gitsync.secrets.naming import check_names
from gitsync.secrets.private_files import lock_folder, replace, sync_folder
from gitsync.secrets.protocols import VaultError
from gitsync.secrets.sops import Sops

OWNER = "gitsync/owner"
"""The annotation that says which resource exported a Secret."""

_FILE_MODE = 0o644  # what is secret in it is encrypted
_CIPHERTEXT = "ENC["


class SopsSink:
    """A Sink."""

    name = "sops"

    def __init__(self, folder: Path, sops: Sops) -> None:
        self._top = Path(os.path.abspath(folder))  # noqa: PTH100 - links are judged, and so not resolved
        self._sops = sops

    async def check(self) -> None:
        """Make the folder and encrypt a word for it. ConfigError where there is no program, or no key."""
        try:
            _make(self._top)
            await self._encrypt({"stringData": {"check": "check"}}, self._top / "default" / "check.yaml", self._top)
        except VaultError as error:
            raise ConfigError(f"Secrets cannot be exported with sops: {error.message}", hint=error.hint) from error

    async def owner(self, address: Address) -> str | None:
        check_names(address)
        found = self._read(address)
        return None if found is None else _owner(found.value)

    def examine(self, exports: Sequence[Export]) -> None:
        for export in exports:
            check_export(export)

    async def write(self, export: Export) -> None:
        self.examine((export,))
        if export.address.holder is not Holder.SECRET:
            return
        manifest = _manifest(export)
        found = self._read(export.address)
        file = self._file(export.address)
        if found is not None and await self._decrypted(found) == manifest:
            return
        _make(file.parent)
        encrypted = await self._encrypt(manifest, file, file.parent)
        try:
            with lock_folder(file.parent):
                check_owner(export, await self.owner(export.address), f"{export.address} in {self._top}")
                replace(file, encrypted, _FILE_MODE)
        except OSError as error:
            raise _unwritable(file, error) from error

    async def remove(self, address: Address, owner: Owner) -> None:
        """Who exported a Secret is readable, so this takes no key."""
        check_names(address)
        file = self._file(address)
        if self._read(address) is None:
            return
        try:
            with lock_folder(file.parent):
                found = self._read(address)
                if found is not None and _owner(found.value) == str(owner):
                    file.unlink()
                    sync_folder(file.parent)
        except OSError as error:
            raise _unwritable(file, error) from error

    def _file(self, address: Address) -> Path:
        return self._top / address.namespace / f"{address.name}.yaml"

    def _read(self, address: Address) -> Document | None:
        """The existing manifest; None if there is none. Raises VaultError if it is not that of the Secret."""
        file = self._file(address)
        if address.holder is not Holder.SECRET or not os.path.lexists(file):
            return None
        for path in (file.parent, file):
            _refuse_link(path)
        try:
            documents = read_documents(str(file), file.read_bytes()).documents
        except OSError as error:
            raise VaultError(
                f"{file} cannot be read: {error.strerror}.", hint="Grant this user read access."
            ) from error
        if len(documents) != 1 or not _is(documents[0].value, address) or "sops" not in documents[0].value:
            raise VaultError(
                f"{file} is not the manifest of {address}, encrypted with SOPS, and is not overwritten.",
                hint="Move it, or use another folder.",
            )
        return documents[0]

    async def _decrypted(self, found: Document) -> Mapping[str, Any]:
        plain = await self._sops.decrypt(found.text, form="yaml", where=found.path)
        value = _first(found.path, plain)
        return value if isinstance(value, dict) else {}

    async def _encrypt(self, manifest: Mapping[str, Any], file: Path, folder: Path) -> bytes:
        """Encrypt, and look at the result: rules that leave a value plain must not be found out in git."""
        encrypted = await self._sops.encrypt(json.dumps(manifest).encode(), file, folder)
        shown = _first(str(file), encrypted)
        if not _hides(shown, manifest):
            raise VaultError(f"sops did not encrypt all values of {file}.", hint="Check the rules in .sops.yaml.")
        return encrypted


def _first(path: str, text: bytes) -> Any:
    """What the program answered; None where that is no document."""
    return next((one.value for one in read_documents(path, text).documents), None)


def _manifest(export: Export) -> Mapping[str, Any]:
    labels = {"labels": dict(sorted(export.labels.items()))} if export.labels else {}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": export.address.name,
            "namespace": export.address.namespace,
            "annotations": dict(sorted({**export.annotations, OWNER: str(export.owner)}.items())),
            **labels,
        },
        "stringData": {key: export.data[key].reveal() for key in sorted(export.data)},
    }


def _is(value: Any, address: Address) -> bool:
    metadata = value.get("metadata") if isinstance(value, dict) else None
    if not isinstance(metadata, dict):
        return False
    place = (metadata.get("namespace"), metadata.get("name"))
    return value.get("kind") == address.holder and place == (address.namespace, address.name)


def _owner(manifest: Mapping[str, Any]) -> str:
    annotations = manifest["metadata"].get("annotations")
    return str(annotations.get(OWNER, "")) if isinstance(annotations, dict) else ""


def _hides(shown: Any, manifest: Mapping[str, Any]) -> bool:
    """Whether each value is encrypted. An empty one is not, as there is nothing to hide."""
    values = shown.get("stringData") if isinstance(shown, dict) else None
    if not isinstance(values, dict) or values.keys() != manifest["stringData"].keys():
        return not manifest["stringData"]
    return all(
        isinstance(values[key], str) and values[key].startswith(_CIPHERTEXT)
        for key, plain in manifest["stringData"].items()
        if plain
    )


def _make(folder: Path) -> None:
    _refuse_link(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from error


def _refuse_link(path: Path) -> None:
    if path.is_symlink():
        raise VaultError(
            f"{path} is a symbolic link, which gitsync does not follow.", hint="Replace it with its target."
        )


def _unwritable(path: Path, error: OSError) -> VaultError:
    return VaultError(f"{path} cannot be written: {error.strerror}.", hint="Grant this user write access.")
