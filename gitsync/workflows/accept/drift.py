"""What a plan found in Azure and git could take: the fields of manifests, each with the value that Azure has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gitsync.model.arm_id import ArmId
from gitsync.model.attribution import Attribution
from gitsync.model.gvk import Key
from gitsync.model.lines import Step
from gitsync.model.problem import SourceLocation


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftedField:
    """A field of a manifest that Azure has changed."""

    path: tuple[Step, ...]  # its steps in the manifest, such as `("spec", "sku", "name")`
    pointer: str  # the JSON pointer in the ARM body
    old: Any  # what the manifest has; `REMOVED` if it has nothing
    new: Any  # what the manifest needs to be like Azure; `REMOVED` for nothing
    changed_by: Attribution | None = None  # who changed it, None if that is not known
    source: SourceLocation | None = None  # its location, or that of its nearest parent


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftedResource:
    """A resource whose drift git could take."""

    key: Key
    arm_id: ArmId
    arm_type: str
    source: SourceLocation  # the location of its manifest
    unit: str = ""  # the name of the unit that renders it; "" for a plain document
    fields: tuple[DriftedField, ...] = ()
    is_gone: bool = False  # it was deleted in Azure, so its document goes
    changed_by: tuple[Attribution, ...] = ()  # who changed it, the newest change first


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAccepted:
    """Drift that was skipped."""

    key: Key
    field: str  # as people write it (`spec.sku.name`), "" for the whole resource
    reason: str  # in full sentences
    advice: str = ""  # an order, "" for none
    locations: tuple[SourceLocation, ...] = ()  # where a person would edit, best first, if gitsync found any


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """Drift that the new texts contain, proven. Nothing is written yet."""

    resources: tuple[DriftedResource, ...] = ()
    texts: dict[str, bytes | None]
    """The new files in full by path, relative to the root of the repository; None for one that goes."""

    left: tuple[NotAccepted, ...] = ()  # the drift that was skipped
