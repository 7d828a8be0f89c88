"""The kinds and names in a text that is not read as manifests: another file type, a chart, or text that does not parse.

Used for one check: may a text declare a resource that seems removed from git? So it finds too much rather than too
little, and ignores groups and versions.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gitsync.desired.manifests.headers import PLACEHOLDER
from gitsync.desired.manifests.yaml_documents import read_documents, split_documents

NamedObject = tuple[str, str]
"""Kind and name, in lower case; the name is "" if a tool fills it in."""

_KIND: Final = re.compile(r"""(?:^|[{,\s-])["']?kind["']?[ \t]*:[ \t]*["']?([A-Za-z][A-Za-z0-9]*)""", re.MULTILINE)
_NAME: Final = re.compile(
    r"""(?:^|[{,\s-])["']?(?:name|azureName)["']?[ \t]*:[ \t]*["']?([^\s"',}#]+(?:[^\n"',}#]*\}\})?)""", re.MULTILINE
)


def list_named_objects(path: str, content: bytes) -> frozenset[NamedObject]:
    """List the objects in a text, at any depth."""
    is_wide = content.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
    # The patterns below search bytes, where each letter of UTF-16 is two.
    text = content.decode("utf-16", "replace").encode() if is_wide else content
    contents = read_documents(path, text)
    found = {pair for document in contents.documents for pair in _walk(document.value)}
    # What does not parse may still declare the resource, so its lines are searched too.
    if contents.problems:
        found |= {pair for _, _, chunk in split_documents(text) for pair in _search(chunk)}
    return frozenset(found)


def _walk(value: Any) -> Iterator[NamedObject]:
    if isinstance(value, Mapping):
        kind, metadata, spec = value.get("kind"), value.get("metadata"), value.get("spec")
        if isinstance(kind, str) and isinstance(metadata, Mapping):
            names = (metadata.get("name"), spec.get("azureName") if isinstance(spec, Mapping) else None)
            yield from ((kind.casefold(), _fold(name)) for name in names if isinstance(name, str))
        value = list(value.values())
    if isinstance(value, list):
        for member in value:
            yield from _walk(member)
    elif isinstance(value, str) and "kind" in value:  # a text of a ConfigMap may be a manifest
        yield from _search(value.encode())


def _search(chunk: bytes) -> Iterator[NamedObject]:
    text = chunk.decode("utf-8", "replace")
    kinds = {match[1].casefold() for match in _KIND.finditer(text)}
    names = {_fold(match[1]) for match in _NAME.finditer(text)} if kinds else set()
    yield from ((kind, name) for kind in kinds for name in names)


def _fold(name: str) -> str:
    return "" if "${" in name or PLACEHOLDER.search(name) else name.casefold()
