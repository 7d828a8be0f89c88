"""What a plan found in Azure and git could take: the fields of manifests, each with the value that Azure has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gitsync.model.attribution import Attribution
from gitsync.model.gvk import Key
from gitsync.model.lines import Step
from gitsync.model.problem import SourceLocation


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftedField:
    """A field of a manifest that Azure has changed.

    `path` are its steps in the manifest (`("spec", "sku", "name")`), `pointer` is that of the ARM body. `old` is what
    the manifest has, `new` what it needs to be like Azure; `REMOVED` stands for a side that is not there. `changed_by`
    is who changed it, None if that is not known. `source` is its location, or that of its nearest parent.
    """

    path: tuple[Step, ...]
    pointer: str
    old: Any
    new: Any
    changed_by: Attribution | None = None
    source: SourceLocation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftedResource:
    """A resource whose drift git could take. `is_gone`: it was deleted in Azure, so its document goes.

    `source` is the location of its manifest, and `unit` the name of the unit that renders it; "" for a plain document.
    """

    key: Key
    arm_id: str
    arm_type: str
    source: SourceLocation
    unit: str = ""
    fields: tuple[DriftedField, ...] = ()
    is_gone: bool = False
    changed_by: tuple[Attribution, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAccepted:
    """Drift that was skipped. `reason` is in full sentences, `advice` an order. `places` are where a person would edit,
    best first, if gitsync found any. `field` is as people write it (`spec.sku.name`), "" for the whole resource.
    """

    key: Key
    field: str
    reason: str
    advice: str = ""
    places: tuple[SourceLocation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """Drift that the new texts contain, proven. `texts` are the whole new files by path, relative to the root of the
    repository; None for one that goes. Nothing is written yet.
    """

    resources: tuple[DriftedResource, ...] = ()
    texts: dict[str, bytes | None]
    left: tuple[NotAccepted, ...] = ()
