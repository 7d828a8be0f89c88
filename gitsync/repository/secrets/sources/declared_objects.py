"""The Secrets and config maps that the repository's own manifests declare: the first source of values.

Those that are encrypted with SOPS are decrypted when the first value is needed, and kept in memory. So neither
`validate` nor a run without such values needs the key. A failure affects only the resources that need the value.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from itertools import chain

from gitsync.desired.manifests.document_forms import find_written_name, split_list
from gitsync.desired.manifests.headers import is_object
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.manifests.yaml_documents import read_documents
from gitsync.errors import SecretStoreError
from gitsync.model.export import Address, ObjectKind
from gitsync.model.manifests import Encrypted, Manifests
from gitsync.model.problem import Problem
from gitsync.model.secret import Secret
from gitsync.repository.secrets.protocols import SecretSource
from gitsync.repository.secrets.sops_program import Sops


class ManifestSource:
    """A Source."""

    name = "manifests"
    is_remote = False

    def __init__(self, manifests: Manifests) -> None:
        self._declared = manifests.objects.declared  # not the resources, which a worker drops
        self._secrets = manifests.objects.secrets
        self._config_maps = manifests.objects.config_maps

    async def owner(self, address: Address) -> str | None:
        declared = self._declared.get(address)
        return None if declared is None else declared.owner

    async def read(self, address: Address, _keys: Sequence[str]) -> Mapping[str, Secret] | None:
        identity = (address.namespace, address.name)
        if address.object_kind is ObjectKind.SECRET:
            return self._secrets.get(identity)
        config_map = self._config_maps.get(identity)
        return None if config_map is None else {key: Secret(value) for key, value in config_map.items()}


class EncryptedSource:
    """A Source: `plain` is that of the manifests that are not encrypted, and has all other values."""

    name = "manifests"
    is_remote = False

    def __init__(self, plain: SecretSource, encrypted: Mapping[Address, Encrypted], sops: Sops) -> None:
        self._plain = plain
        self._encrypted = encrypted
        self._sops = sops
        self._decrypted: dict[bytes, Mapping[tuple[str, str, str], Secret] | SecretStoreError] = {}
        self._lock = asyncio.Lock()

    async def read(self, address: Address, keys: Sequence[str]) -> Mapping[str, Secret] | None:
        """Read all values of the object. SecretStoreError if it cannot be decrypted, or decrypts to another object."""
        entry = self._encrypted.get(address)
        if entry is None:
            return await self._plain.read(address, keys)
        async with self._lock:  # one call of sops for a text that several resources need at once
            if entry.text not in self._decrypted:
                self._decrypted[entry.text] = await self._try_decrypt(entry)
        objects = self._decrypted[entry.text]
        # A new error for each caller: one that is raised twice would carry the tracebacks of both.
        if isinstance(objects, SecretStoreError):
            raise SecretStoreError(objects.message, hint=objects.hint)
        values = _read_values(objects[entry.name], address, entry) if entry.name in objects else None
        if values is None:
            raise SecretStoreError(
                f"{entry.source} does not decrypt to {address}.",
                hint="Encrypt only the values: `sops encrypt --encrypted-regex '^(data|stringData)$'`.",
            )
        return values

    async def _try_decrypt(self, entry: Encrypted) -> Mapping[tuple[str, str, str], Secret] | SecretStoreError:
        """Each text is decrypted once for all callers, and all callers get its error."""
        try:
            return await self._decrypt(entry)
        except SecretStoreError as error:
            return error

    async def _decrypt(self, entry: Encrypted) -> Mapping[tuple[str, str, str], Secret]:
        """Decrypt the objects of a text: as JSON, by the names that they have there."""
        form = "json" if entry.source.path.endswith(".json") else "yaml"
        plain = await self._sops.decrypt(entry.text, form=form, path=entry.source.path)
        contents = read_documents(entry.source.path, plain)
        if contents.problems:
            raise _make_unreadable(entry, contents.problems[0])
        documents = chain.from_iterable(map(split_list, contents.documents))
        return {
            find_written_name(document.value): Secret(json.dumps(document.value))
            for document in documents
            if is_object(document.value)
        }


def _read_values(text: Secret, address: Address, entry: Encrypted) -> Mapping[str, Secret] | None:
    """Read the values of an object, with the name that its unit gives it; None if it is something else."""
    metadata = {"namespace": address.namespace, "name": address.name}
    # Flux and kustomize may give an object another name than the text has: the text keeps its own.
    renamed = json.dumps({**json.loads(text.reveal()), "metadata": metadata}).encode()
    manifests = read_manifests({"secret.json": renamed})
    if problem := next((problem for problem in manifests.problems if problem.may_hide_manifest), None):
        raise _make_unreadable(entry, problem)
    identity = (address.namespace, address.name)
    if address.object_kind is ObjectKind.CONFIG_MAP and identity in manifests.objects.config_maps:
        return {key: Secret(value) for key, value in manifests.objects.config_maps[identity].items()}
    return manifests.objects.secrets.get(identity) if address.object_kind is ObjectKind.SECRET else None


def _make_unreadable(entry: Encrypted, problem: Problem) -> SecretStoreError:
    return SecretStoreError(f"{entry.source}, once decrypted: {problem.message}", hint=problem.hint)
