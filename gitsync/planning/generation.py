"""Which spec an attempt is about: its generation, which counts the changes of the spec as Kubernetes does, and the
digest by which a change is seen (docs/reference/reconciliation.md#generation).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from gitsync.model.record import Record

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)


class SpecGeneration(NamedTuple):
    """A spec, by how often it was changed and its digest."""

    generation: int
    digest: str


def find_generation(record: Record | None, spec: Mapping[str, Any]) -> SpecGeneration:
    """The generation of a spec after what is on record; the first is 1."""
    digest = digest_spec(spec)
    changed = record is not None and bool(record.spec_digest) and record.spec_digest != digest
    return SpecGeneration((record.generation if record else 1) + changed, digest)


def digest_spec(spec: Mapping[str, Any]) -> str:
    """Return a digest of a spec that does not depend on the order of its keys."""
    return hashlib.sha256(_ENCODER.encode(spec).encode()).hexdigest()[:16]
