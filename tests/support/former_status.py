"""Status trees as earlier versions wrote them: YAML, with an index of schema 1."""

from __future__ import annotations

import json
from pathlib import Path

from gitsync.desired.manifests.yaml_output import dump

DOCUMENTS = ("*/*/*/*.json", "*/ConfigMap/*.json")


def make_former(folder: Path) -> None:
    """Turn the status in a folder into one of an earlier version."""
    for path in [found for pattern in DOCUMENTS for found in folder.glob(pattern)]:
        _write(path.with_suffix(".yaml"), json.loads(path.read_text()))
        path.unlink()
    inventory = folder / "inventory.json"
    _write(inventory.with_suffix(".yaml"), {**json.loads(inventory.read_text()), "schema": 1})
    inventory.unlink()


def _write(path: Path, document: dict[str, object]) -> None:
    path.write_bytes(dump(document))
