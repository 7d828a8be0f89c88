"""What SOPS encrypted, as it stands: which texts belong together, and which values there are.

Apart from the sorting of documents, because a file is encrypted as a whole while its documents are sorted one by one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from gitsync.manifests.yaml_documents import Document
from gitsync.model.export import Address
from gitsync.model.manifests import Encrypted
from gitsync.model.problem import SourceLocation

ENCRYPTED = "sops"  # the member that SOPS adds to a document it encrypts
CIPHERTEXT = re.compile(r"ENC\[AES256_GCM,")


def find_encrypted(objects: Mapping[Address, Document], documents: Iterable[Document]) -> Mapping[Address, Encrypted]:
    """The encrypted Secrets and ConfigMaps as they stand. `documents` are all that SOPS encrypted, of any kind."""
    texts = _sealed_at_once(documents)
    return {
        address: Encrypted(
            source=SourceLocation(one.path, one.line("")), text=texts[_seal(one)], values=_as_they_stand(one)
        )
        for address, one in objects.items()
    }


def _sealed_at_once(documents: Iterable[Document]) -> Mapping[tuple[str, int], bytes]:
    """The texts that belong together, by their seal, each joined once however many documents share it.

    SOPS seals a file of several documents as a whole, and writes the same member `sops` into each of them.
    """
    spelled: dict[tuple[str, int], str] = {}
    texts: dict[tuple[str, str], dict[bytes, None]] = {}
    for one in documents:
        if _seal(one) not in spelled:  # items of a list have one seal, and one text
            spelled[_seal(one)] = json.dumps(one.value[ENCRYPTED], sort_keys=True)
        texts.setdefault((one.path, spelled[_seal(one)]), {})[one.text] = None
    joined = {group: b"".join(together) for group, together in texts.items()}
    return {seal: joined[seal[0], said] for seal, said in spelled.items()}


def _seal(document: Document) -> tuple[str, int]:
    return document.path, id(document.value[ENCRYPTED])


def _as_they_stand(document: Document) -> dict[str, str]:
    """The values of an encrypted object, of which nothing more is known than whether they differ."""
    members = [document.value.get(member) for member in ("data", "stringData")]
    found = [pair for member in members if isinstance(member, dict) for pair in member.items()]
    return {key: value for key, value in found if isinstance(value, str)}
