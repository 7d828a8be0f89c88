"""What to write in place of a version that ASO does not serve, in the words of hints."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gitsync.desired.catalog.arm_types import open_arm_types
from gitsync.desired.catalog.catalog import LEGACY, Catalog
from gitsync.desired.catalog.later_versions import LaterVersion
from gitsync.desired.catalog.type_words import join_with_and
from gitsync.desired.catalog.version_annotation import API_VERSION
from gitsync.model.gvk import GVK
from gitsync.model.problem import Level

_MOST_FIELDS: Final = 3  # that a hint names
ARM_VERSION: Final = re.compile(r"(\d{4})-?(\d{2})-?(\d{2})(?:-?(preview))?", re.IGNORECASE)
"""A version as ARM writes it, also without its dashes."""


def describe_later(later: LaterVersion, unknown: Level, *, may_migrate: bool = True) -> str:
    """A hint to take a later version, with what keeps the manifest from it. `unknown` is the level of unknown
    fields; `may_migrate` offers `migrateVersions`, which helps gitsync, but no cluster.
    """
    version = later.gvk.version
    if later.lacks:
        has = "has another type at" if later.retypes else "has no"
        return f"Change it to a later one; the nearest, {version}, {has} {later.lacks}."
    fields = _name_fields(later.unknown)
    if fields and unknown is Level.ERROR:
        return (
            f"Fix or remove {fields}, which no version has, and change it to {version}, the nearest later one, which "
            "has all other fields. To drop unknown fields as an API server does, use --unknown-fields warn."
        )
    but = f" but {fields}, which no version has" if fields else ""
    change = f"Change it to {version}, the nearest later one, which has all fields of the manifest{but}"
    if not may_migrate:
        return f"{change}."
    return f"{change}, or set `migrateVersions: true` for the unit in gitsync.yaml to read it as that version."


def keep_arm_version(gvk: GVK, served: str, catalog: Catalog) -> str:
    """How to send a resource at ARM's version of that name, with the fields of a version that the catalog has. "" for
    a version that ARM does not have, unless it may be newer than the types of ARM.
    """
    match = ARM_VERSION.fullmatch(gvk.version.removeprefix(LEGACY).removeprefix("v"))
    arm_type = catalog.arm_type(gvk.group, gvk.kind)
    if match is None or not arm_type:
        return ""
    version = "-".join(filter(None, match.groups())).lower()
    known = open_arm_types().find_type(arm_type)
    # The packed types have a day, and Azure may have the version by now.
    is_newer = known is not None and version > (known.newest_stable or "")
    if known is None or not (known.find_version(version) or is_newer):
        return ""
    condition = "To have gitsync send it as" if known.find_version(version) else "If Azure has"
    return (
        f"{condition} version {version} of {known.name}, write `apiVersion: {gvk.group}/{served}` and the annotation "
        f'`{API_VERSION}: "{version}"`.'
    )


def _name_fields(fields: Sequence[str]) -> str:
    more = len(fields) - _MOST_FIELDS
    return join_with_and([*fields[:_MOST_FIELDS], *([f"{more} more"] if more > 0 else [])])
