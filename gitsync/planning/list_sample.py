"""The sample of listed resources that a run also reads singly, so that a list which does not change is noticed."""

from __future__ import annotations

import hashlib
from datetime import date

from gitsync.model.gvk import Key

ROTATION = 50
"""Days in which every resource is in the sample once; so one in fifty is each day."""


def is_sampled(key: Key, day: date) -> bool:
    """Tell whether a resource is in the sample of a day."""
    digest = hashlib.sha256(str(key).encode()).digest()
    return (int.from_bytes(digest[:4]) + day.toordinal()) % ROTATION == 0
