"""Documents that SOPS encrypted: which texts belong together, and their encrypted values.

Separate from `reader`, because a file is encrypted as a whole, but its documents are sorted one by one.
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
    """Return the encrypted Secrets and ConfigMaps. `documents` are all that SOPS encrypted, of any kind."""
    texts = _join_texts(documents)
    return {
        address: Encrypted(
            source=SourceLocation(document.path, document.line()),
            text=texts[_find_seal(document)],
            values=_read_values(document),
        )
        for address, document in objects.items()
    }


def _join_texts(documents: Iterable[Document]) -> Mapping[tuple[str, int], bytes]:
    """Map each seal to the text of its documents, joined once.

    SOPS seals a file of several documents as a whole, and writes the same member `sops` into each of them.
    """
    seal_texts: dict[tuple[str, int], str] = {}
    texts: dict[tuple[str, str], dict[bytes, None]] = {}
    for document in documents:
        if _find_seal(document) not in seal_texts:  # items of a list have one seal, and one text
            seal_texts[_find_seal(document)] = json.dumps(document.value[ENCRYPTED], sort_keys=True)
        texts.setdefault((document.path, seal_texts[_find_seal(document)]), {})[document.text] = None
    joined = {group: b"".join(parts) for group, parts in texts.items()}
    return {seal: joined[seal[0], seal_text] for seal, seal_text in seal_texts.items()}


def _find_seal(document: Document) -> tuple[str, int]:
    return document.path, id(document.value[ENCRYPTED])


def _read_values(document: Document) -> dict[str, str]:
    """The encrypted values of an object, which show only whether they differ."""
    members = [document.value.get(member) for member in ("data", "stringData")]
    pairs = [pair for member in members if isinstance(member, dict) for pair in member.items()]
    return {key: value for key, value in pairs if isinstance(value, str)}
