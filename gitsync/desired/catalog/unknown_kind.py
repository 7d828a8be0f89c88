"""Why the catalog does not have the kind of a manifest, or ASO not its version: misspelt, or another version."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from gitsync.desired.catalog.any_type import VERSION
from gitsync.desired.catalog.arm_types import open_arm_types
from gitsync.desired.catalog.catalog import LEGACY, Catalog
from gitsync.desired.catalog.kind_names import choose_newest_version
from gitsync.desired.catalog.later_versions import find_later_version
from gitsync.desired.catalog.releases import Lifetime, find_known_lifetime, find_lifetime
from gitsync.desired.catalog.type_words import join_with_or
from gitsync.desired.catalog.version_advice import ARM_VERSION, describe_later, keep_arm_version
from gitsync.desired.problems.finding import Finding
from gitsync.desired.problems.suggest import measure_distance, suggest
from gitsync.model.gvk import AZURE_GROUP, AZURE_RESOURCE, GVK
from gitsync.model.problem import Level

_MOST_TYPOS: Final = 2  # letters: a kind that is farther from a known one may be a new one


def explain_unknown_kind(gvk: GVK, spec: Any, catalog: Catalog, unknown: Level = Level.ERROR) -> Finding:
    """The finding for a manifest whose kind or version the catalog does not have. Its spec decides which later version
    is named, and `unknown`, the level of an unknown field, whether such fields are in the way.
    """
    if catalog.has_kind(gvk.group, gvk.kind):
        return _explain_unknown_version(gvk, spec, catalog, unknown)
    if catalog.kinds(gvk.group):
        removed = _describe_removal(find_known_lifetime(gvk))
        return Finding(
            code="UnknownKind",
            path=("kind",),
            message=f"{gvk.kind} is not a kind of {gvk.group}{removed}.",
            hint=_name_other_way(gvk.group, catalog) if removed else _suggest_kind(gvk, catalog),
        )
    return Finding(
        code="UnknownKind",
        path=("apiVersion",),
        message=f"{gvk.group} is not an ASO group.",
        hint=suggest_group(gvk.group, gvk.kind, catalog),
    )


def _describe_removal(lifetime: Lifetime | None) -> str:
    """The end of a message for what a release removed; "" for anything else."""
    return f": ASO {lifetime.removed} removed it" if lifetime and lifetime.removed else ""


def _suggest_kind(gvk: GVK, catalog: Catalog) -> str:
    """A hint for an unknown kind of a known group: one of similar name, and the way for a new one."""
    known_kinds = catalog.kinds(gvk.group)
    close = suggest(gvk.kind, known_kinds)
    advice = f"Did you mean {close}?" if close else f"Known kinds: {join_with_or(known_kinds)}."
    # A kind this near to a known one is a typo, and the way for new types would only distract.
    if close and measure_distance(gvk.kind, close, _MOST_TYPOS) is not None:
        return advice
    return f"{advice} {_name_other_way(gvk.group, catalog)}".rstrip()


def _explain_unknown_version(gvk: GVK, spec: Any, catalog: Catalog, unknown: Level) -> Finding:
    versions = catalog.versions(gvk.group, gvk.kind)
    known_versions = f"Known versions: {join_with_or(reversed(versions))}."
    removed = _describe_removal(find_lifetime(gvk))
    advice = _suggest_version(gvk, spec, catalog, unknown)
    newest = choose_newest_version(gvk.group, gvk.kind, catalog)
    parts = (advice, known_versions, keep_arm_version(gvk, newest, catalog))
    return Finding(
        code="UnknownVersion",
        path=("apiVersion",),
        message=f"{gvk.kind} of {gvk.group} has no version {gvk.version or '(none)'}{removed}.",
        hint=" ".join(filter(None, parts)),
    )


def _name_other_way(group: str, catalog: Catalog) -> str:
    """How to declare a type that ASO lacks, or the catalog until a later release of gitsync; "" for a group of kinds
    that are not ARM's.
    """
    namespace = _find_namespace(group, catalog)
    if not namespace:
        return ""
    return (
        f"For a type that ASO lacks, write `apiVersion: {AZURE_GROUP}/{VERSION}`, `kind: {AZURE_RESOURCE[1]}` and "
        f"`spec: {{type: {namespace}/TYPE@VERSION, owner: …, body: …}}`. To see one in full, run "
        f"`gitsync explain {namespace}/TYPE --example`."
    )


def _find_namespace(group: str, catalog: Catalog) -> str:
    """The namespace of ARM's types of a group; of an unknown group, that of the same name, if there is one."""
    if kinds := catalog.kinds(group):
        types = (catalog.arm_type(group, kind) for kind in kinds if catalog.is_arm_kind(group, kind))
        return (next(types, "") or "").partition("/")[0]
    start = f"microsoft.{group.partition('.')[0]}/".casefold()
    names = (name for name in open_arm_types().list_names() if name.casefold().startswith(start))
    return next(names, "Microsoft.NAME").partition("/")[0]


def _suggest_version(gvk: GVK, spec: Any, catalog: Catalog, unknown: Level) -> str:
    """A version one letter away was meant; else ASO has removed it, and a later one replaces it."""
    if meant := suggest_spelling(gvk, catalog):
        return meant
    close = suggest(gvk.version, catalog.versions(gvk.group, gvk.kind))
    # A version that some release served is not a typo, however near to another one it is.
    is_typo = find_lifetime(gvk) is None and close is not None and measure_distance(gvk.version, close, 1) is not None
    later = None if is_typo else find_later_version(gvk, spec, catalog)
    if later is None:
        return f"Did you mean {close}?" if close else ""
    return describe_later(later, unknown)


def suggest_spelling(gvk: GVK, catalog: Catalog) -> str:
    """A hint for a version that is written as ARM writes its api-versions; "" for any other."""
    match = ARM_VERSION.fullmatch(gvk.version)
    versions = catalog.versions(gvk.group, gvk.kind) if match else ()
    if match is None or not versions:
        return ""
    meant = "".join(filter(None, match.groups())).lower()
    same = [version for version in versions if version.removeprefix(LEGACY).removeprefix("v") == meant]
    return f"ASO's versions begin with v: {(same or versions)[-1]}."


def suggest_group(group: str, kind: str, catalog: Catalog) -> str:
    """A hint for an unknown group: the nearest one, or the group of the kind."""
    close = _find_close_group(group, catalog)
    if close:
        return f"Did you mean {close}?"
    groups = [group for group in catalog.all_groups() if catalog.has_kind(group, kind)]
    if groups:
        return f"{kind} is a kind of {join_with_or(groups)}."
    return f"`gitsync explain` lists all kinds. {_name_other_way(group, catalog)}"


@lru_cache(maxsize=1024)  # the same slip is often in many documents
def _find_close_group(group: str, catalog: Catalog) -> str | None:
    return suggest(group, catalog.all_groups())
