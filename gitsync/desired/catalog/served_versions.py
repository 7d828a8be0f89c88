"""Whether a release of ASO serves the version of a manifest that gitsync reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from gitsync.desired.catalog.catalog import Catalog, list_spellings
from gitsync.desired.catalog.kind_names import choose_newest
from gitsync.desired.catalog.later_versions import find_later_version
from gitsync.desired.catalog.releases import UNRELEASED, Release, find_lifetime, read_catalog_release
from gitsync.desired.catalog.version_advice import describe_later, keep_arm_version
from gitsync.desired.problems.finding import Finding
from gitsync.model.gvk import GVK
from gitsync.model.problem import Level

VERSION_NOT_SERVED: Final = "VersionNotServed"


def check_served_version(gvk: GVK, spec: Any, catalog: Catalog, release: Release | None = None) -> Iterator[Finding]:
    """A warning if ASO does not serve the version in the spelling of the manifest, or no longer: a cluster refuses what
    gitsync reads. `release` is that of a cluster; None for the one that the catalog is of.
    """
    if release is None and catalog.find_served_version(gvk) == gvk.version:
        return  # the table of releases is read for few manifests
    newest = read_catalog_release().release
    reason = _find_refusal(gvk, catalog, release or newest)
    if not reason:
        return
    cluster = "a cluster refuses the manifest" if release is None else f"a cluster with ASO {release} refuses it"
    spelling = _find_other_spelling(gvk, catalog, release or newest)
    yield Finding(
        code=VERSION_NOT_SERVED,
        path=("apiVersion",),
        message=f"{reason}: {cluster}.",
        hint=f"Change it to {spelling}, which is the same version in Azure."
        if spelling
        else _suggest_served(gvk, spec, catalog, release or newest, may_migrate=release is None),
        level=Level.WARNING,
    )


def _find_refusal(gvk: GVK, catalog: Catalog, release: Release) -> str:
    """Why a release does not serve a version; "" if it does, or if that is not known."""
    lifetime = find_lifetime(gvk)
    named = f"{gvk.kind} of {gvk.group} at {gvk.version}"
    if gvk in UNRELEASED:
        return f"No release of ASO serves {named}, which its main branch has"
    if lifetime is None:
        served, lifetime = catalog.find_served_version(gvk), find_lifetime(_respell(gvk))
        # Nothing is known of such a version, so nothing shows that a cluster refuses it.
        if served == gvk.version or (served is None and lifetime is None):
            return ""
        if lifetime is None or lifetime.covers(release):
            return f"ASO does not serve {named}"
    if lifetime.covers(release):
        return ""
    if lifetime.removed and lifetime.removed <= release:
        return f"ASO {lifetime.removed} removed {named}"
    return f"ASO serves {named} from {lifetime.first} on"


def _find_other_spelling(gvk: GVK, catalog: Catalog, release: Release) -> str | None:
    """The other spelling of a version, if a release serves that."""
    other = _respell(gvk)
    lifetime = find_lifetime(other)
    if lifetime is None:
        return other.version if catalog.find_served_version(gvk) == other.version else None
    return other.version if lifetime.covers(release) else None


def _respell(gvk: GVK) -> GVK:
    return gvk._replace(version=list_spellings(gvk.version)[1])


def _suggest_served(gvk: GVK, spec: Any, catalog: Catalog, release: Release, *, may_migrate: bool) -> str:
    """A version that a release serves: the nearest later one, else the newest; and how to keep that of ARM."""
    later = find_later_version(gvk, spec, catalog)
    if later and _is_served(later.gvk, release):
        change = describe_later(later, Level.ERROR, may_migrate=may_migrate)
        return f"{change} {keep_arm_version(gvk, later.gvk.version, catalog)}".rstrip()
    served = [v for v in catalog.versions(gvk.group, gvk.kind) if _is_served(gvk._replace(version=v), release)]
    if not served:
        return f"Upgrade ASO, or keep the manifest where ASO does not apply it: ASO {release} has no {gvk.kind}."
    newest = choose_newest(served)
    change = f"Change it to {newest}, the newest that ASO {release} serves."
    return f"{change} {keep_arm_version(gvk, newest, catalog)}".rstrip()


def _is_served(gvk: GVK, release: Release) -> bool:
    lifetime = find_lifetime(gvk)
    return lifetime is not None and lifetime.covers(release)
