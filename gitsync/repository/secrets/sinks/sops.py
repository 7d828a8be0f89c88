"""Exports of Secrets as manifests that are encrypted with SOPS: FOLDER/NAMESPACE/NAME.yaml, safe to commit.

Metadata stays readable, and an annotation names the owner of the Secret. A file is only rewritten
if its content changes, since each encryption results in other bytes. Config maps are not written:
they are not confidential.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gitsync.desired.manifests.yaml_documents import Document, read_documents
from gitsync.errors import ConfigError, SecretStoreError, UnsafePathError
from gitsync.model.export import Address, Export, ObjectKind, Owner
from gitsync.repository.secrets.private_files import lock_folder, sync_folder
from gitsync.repository.secrets.sops_program import Sops
from gitsync.repository.secrets.store_rules import check_export, check_names, check_owner
from gitsync.settings.files.output_path import choose_output_path, open_folder
from gitsync.settings.files.whole_files import open_parent, replace_file

OWNER = "gitsync/owner"
"""The annotation that names the resource that exported a Secret."""

_FILE_MODE = 0o644  # its secrets are encrypted
_FOLDER_MODE = 0o777  # as the umask allows
_CIPHERTEXT = "ENC["


class SopsSink:
    """A Sink. No link of a checkout or of `source` leads to its folder, and no link in it is followed."""

    name = "sops"

    def __init__(self, folder: Path, sops: Sops, source: str | None = None) -> None:
        self._source = source
        self._top = Path(os.path.abspath(folder))  # noqa: PTH100 - links are checked, and so not resolved
        self._sops = sops

    async def check(self) -> None:
        """Create the folder and encrypt a word for it. ConfigError if there is no program, or no key."""
        try:
            self._make_folder(self._top)
            await self._encrypt({"stringData": {"check": "check"}}, self._top / "default" / "check.yaml", self._top)
        except SecretStoreError as error:
            raise ConfigError(f"Secrets cannot be exported with sops: {error.message}", hint=error.hint) from error

    async def owner(self, address: Address) -> str | None:
        check_names(address)
        document = self._read(address)
        return None if document is None else _read_owner(document.value)

    def examine(self, exports: Sequence[Export]) -> None:
        for export in exports:
            check_export(export)

    async def write(self, export: Export) -> None:
        self.examine((export,))
        if export.address.object_kind is not ObjectKind.SECRET:
            return
        manifest = _make_manifest(export)
        document = self._read(export.address)
        file = self._find_file(export.address)
        # Each encryption gives other bytes, so only the plain content shows whether there is something new.
        if document is not None and await self._decrypt(document) == manifest:
            return
        self._make_folder(file.parent)
        encrypted = await self._encrypt(manifest, file, file.parent)
        try:
            with lock_folder(file.parent):
                # Another run may have written the file since it was read without the lock.
                check_owner(export, await self.owner(export.address), f"{export.address} in {self._top}")
                with open_parent(file, self._source) as folder:
                    replace_file(folder, file.name, encrypted, _FILE_MODE)
                    os.fsync(folder)  # a rename is on the disk only with its folder
        except UnsafePathError as error:
            raise SecretStoreError(error.message, hint=error.hint) from error
        except OSError as error:
            raise _make_write_error(file, error) from error

    async def remove(self, address: Address, owner: Owner) -> None:
        """The owner of a Secret is not encrypted, so this needs no key."""
        check_names(address)
        file = self._find_file(address)
        if self._read(address) is None:
            return
        try:
            with lock_folder(file.parent):
                document = self._read(address)  # again, under the lock
                if document is not None and _read_owner(document.value) == str(owner):
                    file.unlink()
                    sync_folder(file.parent)
        except OSError as error:
            raise _make_write_error(file, error) from error

    def _make_folder(self, folder: Path) -> None:
        _refuse_link(folder)
        try:
            with open_folder(choose_output_path(folder, self._source), makes=_FOLDER_MODE):
                pass
        except UnsafePathError as error:
            raise SecretStoreError(error.message, hint=error.hint) from error
        except OSError as error:
            raise _make_write_error(folder, error) from error

    def _find_file(self, address: Address) -> Path:
        return self._top / address.namespace / f"{address.name}.yaml"

    def _read(self, address: Address) -> Document | None:
        """Read the existing manifest; None if there is none. Raises SecretStoreError if it is not that of the
        Secret.
        """
        file = self._find_file(address)
        if address.object_kind is not ObjectKind.SECRET or not os.path.lexists(file):
            return None
        # A link could lead the manifest of one team into the folder of another.
        for path in (file.parent, file):
            _refuse_link(path)
        try:
            documents = read_documents(str(file), file.read_bytes()).documents
        except OSError as error:
            raise SecretStoreError(
                f"{file} cannot be read: {error.strerror}.", hint="Grant this user read access."
            ) from error
        if len(documents) != 1 or not _is_manifest_of(documents[0].value, address) or "sops" not in documents[0].value:
            raise SecretStoreError(
                f"{file} is not the manifest of {address}, encrypted with SOPS, and is not overwritten.",
                hint="Move it, or use another folder.",
            )
        return documents[0]

    async def _decrypt(self, document: Document) -> Mapping[str, Any]:
        plain = await self._sops.decrypt(document.text, form="yaml", path=document.path)
        value = _read_first(document.path, plain)
        return value if isinstance(value, dict) else {}

    async def _encrypt(self, manifest: Mapping[str, Any], file: Path, folder: Path) -> bytes:
        """Encrypt, and check the result: the rules of SOPS may leave a value plain."""
        encrypted = await self._sops.encrypt(json.dumps(manifest).encode(), file, folder)
        result = _read_first(str(file), encrypted)
        if not _is_encrypted(result, manifest):
            raise SecretStoreError(f"sops did not encrypt all values of {file}.", hint="Check the rules in .sops.yaml.")
        return encrypted


def _read_first(path: str, text: bytes) -> Any:
    """Read the first document of the program's output; None if there is none."""
    return next((document.value for document in read_documents(path, text).documents), None)


def _make_manifest(export: Export) -> Mapping[str, Any]:
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


def _is_manifest_of(value: Any, address: Address) -> bool:
    metadata = value.get("metadata") if isinstance(value, dict) else None
    if not isinstance(metadata, dict):
        return False
    identity = (metadata.get("namespace"), metadata.get("name"))
    return value.get("kind") == address.object_kind and identity == (address.namespace, address.name)


def _read_owner(manifest: Mapping[str, Any]) -> str:
    annotations = manifest["metadata"].get("annotations")
    return str(annotations.get(OWNER, "")) if isinstance(annotations, dict) else ""


def _is_encrypted(encrypted: Any, manifest: Mapping[str, Any]) -> bool:
    """Return whether each value is encrypted."""
    values = encrypted.get("stringData") if isinstance(encrypted, dict) else None
    if not isinstance(values, dict) or values.keys() != manifest["stringData"].keys():
        return not manifest["stringData"]
    # An empty value is not encrypted, as there is nothing to hide.
    return all(
        isinstance(values[key], str) and values[key].startswith(_CIPHERTEXT)
        for key, plain in manifest["stringData"].items()
        if plain
    )


def _refuse_link(path: Path) -> None:
    if path.is_symlink():
        raise SecretStoreError(
            f"{path} is a symbolic link, which gitsync does not follow.", hint="Replace it with its target."
        )


def _make_write_error(path: Path, error: OSError) -> SecretStoreError:
    return SecretStoreError(f"{path} cannot be written: {error.strerror}.", hint="Grant this user write access.")
