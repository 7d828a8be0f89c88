"""Writes and reads the data files of the site: scripts, since a page that was opened from a disk can load nothing else.

The bytes are ASCII whatever the values, so that no text ends a line or a script, and a page of any encoding reads them.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from gitsync.desired.formats.strict_json import read_json

FOLDER: Final = "data"
_NAME: Final = re.compile(r"[a-z0-9-]+(?:/[a-z0-9-]+)*")
_CALL: Final = b"gitsyncData("
_END: Final = b");\n"


def name_data_file(name: str) -> str:
    """Return the path of a data file in the site. ValueError for a name that no file may have."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not the name of a data file")
    return f"{FOLDER}/{name}.js"


def encode_data(name: str, value: Any) -> bytes:
    """Write a data file: the same bytes for the same value."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return b"".join((_CALL, json.dumps(name).encode(), b",", text.encode(), _END))


def decode_data(name: str, content: bytes) -> Any:
    """Read what `encode_data` wrote. ValueError for anything else."""
    start = _CALL + json.dumps(name).encode() + b","
    if not (content.startswith(start) and content.endswith(_END)):
        raise ValueError(f"not the data file {name}")
    return read_json(content[len(start) : -len(_END)])
