"""Recordings beside the checkout: cases and answers that are too large for the repository. Tests that need them are
skipped where they are not, and counted at the end of a run. GITSYNC_REQUIRE_RECORDINGS=1 makes a missing one an error.
"""

import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

FOLDER = Path(__file__).resolve().parents[3] / "shared"
REASON = "needs recordings that are not here"
ARE_REQUIRED = os.environ.get("GITSYNC_REQUIRE_RECORDINGS") == "1"


def needs_recordings(path: Path) -> pytest.MarkDecorator:
    """Skip a test that needs a file or folder of recordings. Raises UsageError if it is missing and required."""
    if ARE_REQUIRED and not path.exists():
        raise pytest.UsageError(f"{path} is missing, and GITSYNC_REQUIRE_RECORDINGS is set")
    return pytest.mark.skipif(not path.exists(), reason=REASON)


@cache
def read_aso_list() -> dict[str, Any]:
    """What ASO's extensions do, as recorded; empty where the recordings are not here."""
    file = FOLDER / "spec" / "extensions.yaml"
    if not file.exists():
        return {}
    told: dict[str, Any] = yaml.load(file.read_bytes(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return {
        part: [row for row in rows if not _is_of_a_fork(row)] if isinstance(rows, list) else rows
        for part, rows in told.items()
    }


def _is_of_a_fork(row: Any) -> bool:
    """Return whether a row is about the kind that no release of ASO has: the list was made of a fork."""
    return isinstance(row, dict) and row.get("kind") == "HcpOpenShiftCluster"
