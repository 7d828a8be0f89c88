"""Documents that SOPS encrypted: what shows of them, and their names, by which they are found once decrypted."""

from __future__ import annotations

import re
from typing import Any

from gitsync.manifests.yaml_documents import ENCRYPTED, Document, is_encrypted
from gitsync.model.manifests import Encrypted
from gitsync.model.problem import SourceLocation
from gitsync.problems.field_path import find_member

CIPHERTEXT = re.compile(r"ENC\[AES256_GCM,")


def is_one_cipher(document: Document) -> bool:
    """Tell whether SOPS encrypted a file as one value, without its keys: as it does with `--input-type binary`."""
    return is_encrypted(document) and document.value.keys() == {"data", ENCRYPTED}


def make_encrypted(document: Document) -> Encrypted:
    """Return the Secret or ConfigMap that is encrypted in a document."""
    return Encrypted(
        source=SourceLocation(document.path, document.line()),
        text=document.seal,
        name=find_written_name((document.original or document).value),
        values=read_values(document.value),
    )


def find_written_name(value: Any) -> tuple[str, str, str]:
    """Return kind, namespace and name of an object as its file has them, "" for what is not there."""
    kind, namespace, name = (
        find_member(value, *path) for path in (("kind",), ("metadata", "namespace"), ("metadata", "name"))
    )
    return str(kind or ""), str(namespace or ""), str(name or "")


def read_values(value: Any) -> dict[str, str]:
    """Return the encrypted values of an object, which show only whether they differ."""
    members = [find_member(value, member) for member in ("data", "stringData")]
    pairs = [pair for member in members if isinstance(member, dict) for pair in member.items()]
    return {key: value for key, value in pairs if isinstance(value, str)}
