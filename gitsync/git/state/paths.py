"""The path of the record of a resource: `<namespace>/<group>/<Kind>/<name>.yaml`. A config map has no group, so its
path is one folder shorter.

Names are data, and so is a status branch: a name can point neither out of the tree, nor to a hidden file, nor to one of
the files at its top. A path is only computed from a key, never parsed into one.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from urllib.parse import quote

from gitsync.model.export import Address, Holder
from gitsync.model.gvk import Key

INVENTORY = "inventory.yaml"
SUMMARY = "SUMMARY.md"
REPORT = "report.json"

_LONGEST = 200  # file systems take 255 bytes; Kubernetes allows names of 253
_DEPTH = 4
_AS_IT_IS = re.compile(rf"[A-Za-z0-9_-][A-Za-z0-9_.-]{{0,{_LONGEST - 1}}}")
"""Most names: encoding would not change them."""

_RECORD = re.compile(rf"(?!\.)[^/]*(?:/(?!\.)[^/]*){{{_DEPTH - 1}}}(?<=\.yaml)")


def make_record_path(key: Key) -> str:
    """Make the path of a key's record; another key has another path."""
    return f"{_make_folder(key.namespace, key.group, key.kind)}/{_encode(key.name)}.yaml"


@lru_cache(maxsize=1024)
def _make_folder(namespace: str, group: str, kind: str) -> str:
    return "/".join((_encode_namespace(namespace), _encode(group), _encode(kind)))


def is_record_path(path: str) -> bool:
    """Tell whether a path can be that of a record; other files are ignored."""
    return _RECORD.fullmatch(path) is not None


def make_config_map_path(address: Address) -> str:
    """Make the path of an exported config map: `<namespace>/ConfigMap/<name>.yaml`."""
    return "/".join((_encode_namespace(address.namespace), str(address.holder), _encode(address.name))) + ".yaml"


def is_config_map_path(path: str) -> bool:
    """Tell whether a path can be that of an exported config map."""
    parts = path.split("/")
    return len(parts) == _DEPTH - 1 and parts[1] == str(Holder.CONFIG_MAP) and path.endswith(".yaml")


def _encode_namespace(text: str) -> str:
    """Encode a namespace without a dot, so that its folder is not taken for a file at the top."""
    return _encode(text).replace(".", "%2E")


def _encode(text: str) -> str:
    """Encode a text with percent signs, without a leading dot. A long name is truncated and gets a
    digest.
    """
    if _AS_IT_IS.fullmatch(text):
        return text
    escaped = quote(text, safe="").replace("~", "%7E") or "%"
    escaped = "%2E" + escaped[1:] if escaped.startswith(".") else escaped
    if len(escaped) <= _LONGEST:
        return escaped
    return f"{escaped[:_LONGEST]}%{hashlib.sha256(text.encode()).hexdigest()[:32]}"
