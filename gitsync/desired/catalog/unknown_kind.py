"""Why the catalog does not have the kind of a manifest, or ASO not its version: misspelt, or another version."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final

from gitsync.desired.catalog.catalog import LEGACY, Catalog
from gitsync.desired.catalog.later_versions import find_later_version
from gitsync.desired.catalog.type_words import join_with_and, join_with_or
from gitsync.desired.problems.finding import Finding
from gitsync.desired.problems.suggest import measure_distance, suggest
from gitsync.model.gvk import GVK
from gitsync.model.problem import Level

_MOST_FIELDS: Final = 3  # that a hint names
_ARM_VERSION: Final = re.compile(r"(\d{4})-?(\d{2})-?(\d{2})(?:-?(preview))?", re.IGNORECASE)


def explain_unknown_kind(gvk: GVK, spec: Any, catalog: Catalog, unknown: Level = Level.ERROR) -> Finding:
    """The finding for a manifest whose kind or version the catalog does not have. Its spec decides which later version
    is named, and `unknown`, the level of an unknown field, whether such fields are in the way.
    """
    if catalog.has_kind(gvk.group, gvk.kind):
        return _explain_unknown_version(gvk, spec, catalog, unknown)
    known_kinds = catalog.kinds(gvk.group)
    if known_kinds:
        close = suggest(gvk.kind, known_kinds)
        return Finding(
            code="UnknownKind",
            path=("kind",),
            message=f"{gvk.kind} is not a kind of {gvk.group}.",
            hint=f"Did you mean {close}?" if close else f"Known kinds: {join_with_or(known_kinds)}.",
        )
    return Finding(
        code="UnknownKind",
        path=("apiVersion",),
        message=f"{gvk.group} is not an ASO group.",
        hint=suggest_group(gvk.group, gvk.kind, catalog),
    )


def check_served_version(gvk: GVK, catalog: Catalog) -> Iterator[Finding]:
    """A warning if ASO serves the version in its other spelling only: a cluster refuses what gitsync reads."""
    served = catalog.find_served_version(gvk)
    if served not in {None, gvk.version}:
        yield Finding(
            code="VersionNotServed",
            path=("apiVersion",),
            message=f"ASO does not serve {gvk.kind} of {gvk.group} at {gvk.version}: a cluster refuses the manifest.",
            hint=f"Change it to {served}, which is the same version in Azure.",
            level=Level.WARNING,
        )


def _explain_unknown_version(gvk: GVK, spec: Any, catalog: Catalog, unknown: Level) -> Finding:
    versions = catalog.versions(gvk.group, gvk.kind)
    known_versions = f"Known versions: {join_with_or(reversed(versions))}."
    advice = _suggest_version(gvk, spec, catalog, unknown)
    return Finding(
        code="UnknownVersion",
        path=("apiVersion",),
        message=f"{gvk.kind} of {gvk.group} has no version {gvk.version or '(none)'}.",
        hint=f"{advice} {known_versions}" if advice else known_versions,
    )


def _suggest_version(gvk: GVK, spec: Any, catalog: Catalog, unknown: Level) -> str:
    """A version one letter away was meant; else ASO has removed it, and a later one replaces it."""
    if meant := suggest_spelling(gvk, catalog):
        return meant
    close = suggest(gvk.version, catalog.versions(gvk.group, gvk.kind))
    is_typo = close is not None and measure_distance(gvk.version, close, 1) is not None
    later = None if is_typo else find_later_version(gvk, spec, catalog)
    if later is None:
        return f"Did you mean {close}?" if close else ""
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
    return (
        f"Change it to {version}, the nearest later one, which has all fields of the manifest{but}, or set "
        "`migrateVersions: true` for the unit in gitsync.yaml to read it as that version."
    )


def suggest_spelling(gvk: GVK, catalog: Catalog) -> str:
    """A hint for a version that is written as ARM writes its api-versions; "" for any other."""
    match = _ARM_VERSION.fullmatch(gvk.version)
    versions = catalog.versions(gvk.group, gvk.kind) if match else ()
    if match is None or not versions:
        return ""
    meant = "".join(filter(None, match.groups())).lower()
    same = [version for version in versions if version.removeprefix(LEGACY).removeprefix("v") == meant]
    return f"ASO's versions begin with v: {(same or versions)[-1]}."


def _name_fields(fields: Sequence[str]) -> str:
    more = len(fields) - _MOST_FIELDS
    return join_with_and([*fields[:_MOST_FIELDS], *([f"{more} more"] if more > 0 else [])])


def suggest_group(group: str, kind: str, catalog: Catalog) -> str:
    """A hint for an unknown group: the nearest one, or the group of the kind."""
    close = _find_close_group(group, catalog)
    if close:
        return f"Did you mean {close}?"
    groups = [group for group in catalog.all_groups() if catalog.has_kind(group, kind)]
    return f"{kind} is a kind of {join_with_or(groups)}." if groups else "`gitsync explain` lists all kinds."


@lru_cache(maxsize=1024)  # the same slip is often in many documents
def _find_close_group(group: str, catalog: Catalog) -> str | None:
    return suggest(group, catalog.all_groups())
