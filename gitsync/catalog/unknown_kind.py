"""Why the catalog does not have the kind of a manifest: not ARM's, misspelt, or another version."""

from __future__ import annotations

from gitsync.catalog.catalog import NOT_ARM, Catalog
from gitsync.catalog.type_words import join_with_or
from gitsync.model.gvk import GVK
from gitsync.problems.finding import Finding
from gitsync.problems.suggest import suggest


def explain_unknown_kind(gvk: GVK, catalog: Catalog) -> Finding:
    """The finding for a manifest whose kind or version the catalog does not have."""
    if (gvk.group, gvk.kind) in NOT_ARM:
        return Finding(
            code="NotArm",
            path=("kind",),
            message=f"{gvk.kind} of {gvk.group} is not a resource of Azure Resource Manager: gitsync does not sync it.",
            hint="Leave it to ASO, or remove it from the source.",
        )
    if catalog.is_arm_kind(gvk.group, gvk.kind):
        return _explain_unknown_version(gvk, catalog)
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
        message=f"{gvk.group} is not a group of ASO.",
        hint=suggest_group(gvk.group, gvk.kind, catalog),
    )


def _explain_unknown_version(gvk: GVK, catalog: Catalog) -> Finding:
    versions = catalog.versions(gvk.group, gvk.kind)
    close = suggest(gvk.version, versions)
    known_versions = f"Known versions: {join_with_or(reversed(versions))}."
    return Finding(
        code="UnknownVersion",
        path=("apiVersion",),
        message=f"{gvk.kind} of {gvk.group} has no version {gvk.version or '(none)'}.",
        hint=f"Did you mean {close}? {known_versions}" if close else known_versions,
    )


def suggest_group(group: str, kind: str, catalog: Catalog) -> str:
    """A hint for an unknown group: the nearest one, or the group of the kind."""
    close = suggest(group, catalog.groups())
    if close:
        return f"Did you mean {close}?"
    homes = [home for home in catalog.groups() if catalog.is_arm_kind(home, kind)]
    return f"{kind} is a kind of {join_with_or(homes)}." if homes else "`gitsync explain` lists all kinds."
