"""The ARM types that the manifests of a folder seem to use: those whose bodies an editor completes.

Nothing is built or resolved: a text in a YAML file that looks like a type with its api-version counts, so that a file
that is not finished counts too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from gitsync.cli.shell.resource_names import walk_files
from gitsync.desired.catalog.any_type import TypeAndVersion
from gitsync.model.gvk import AZURE_GROUP

_MOST_FILES: Final = 100_000
_MOST_BYTES: Final = 2_000_000  # of a file
_TYPE: Final = re.compile(r"[A-Za-z][\w.-]{0,99}/[\w./-]{1,300}@\d{4}-\d\d-\d\d[\w-]{0,40}", re.ASCII)


def find_used_types(folder: Path) -> frozenset[TypeAndVersion]:
    """Find the types in the YAML files of a folder, without hidden folders."""
    files = (path for path in islice(walk_files(folder), _MOST_FILES) if path.endswith((".yaml", ".yml")))
    return frozenset(found for path in files for found in _find_types(Path(path)))


def _find_types(path: Path) -> Iterator[TypeAndVersion]:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            text = file.read(_MOST_BYTES)
    except OSError:
        return
    if f"{AZURE_GROUP}/" in text:
        yield from filter(None, map(TypeAndVersion.parse, _TYPE.findall(text)))
