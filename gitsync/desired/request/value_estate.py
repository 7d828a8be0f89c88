"""Manifests with the values that expressions compute for them (docs/values.md).

Separate from `computed_values`, which makes them with an engine that most repositories do not need.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from gitsync.model.gvk import Key
from gitsync.model.resource import Resource
from gitsync.model.template import ComputedValue


class ValueEstate(NamedTuple):
    """Resources with computed values in their specs."""

    resources: tuple[Resource, ...]
    bodies: Mapping[Key, Mapping[str, Any]] = {}  # the members in `gitsync/body` where some are computed
    values: Mapping[Key, tuple[ComputedValue, ...]] = {}  # all of them, also those that make ids
