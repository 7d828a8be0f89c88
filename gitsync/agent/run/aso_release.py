"""The release of ASO that clusters have, by the setting `aso`, and the manifests that it does not serve."""

from __future__ import annotations

from dataclasses import replace

from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.catalog.releases import Release, parse_release, read_catalog_release
from gitsync.desired.catalog.served_versions import VERSION_NOT_SERVED, check_served_version
from gitsync.desired.problems.finding import locate_finding
from gitsync.errors import ConfigError
from gitsync.model.gvk import GVK
from gitsync.model.resource import Prepared
from gitsync.settings.config.config_file import SourceSettings
from gitsync.settings.config.setting_values import NEWEST


def find_release(settings: SourceSettings) -> Release | None:
    """The release in the settings; None if no cluster reads the manifests. ConfigError for one that is newer than that
    of the catalog.
    """
    if not settings.aso:
        return None
    newest = read_catalog_release().release
    release = newest if settings.aso == NEWEST else parse_release(settings.aso)
    if release > newest:
        raise ConfigError(
            f"{settings.aso_origin}: the catalog is of ASO {newest}, so the versions that ASO {release} serves are "
            "unknown.",
            hint=f"Name a release up to {newest}, or upgrade gitsync.",
        )
    return release


def check_release(prepared: Prepared, written: GVK, catalog: Catalog, release: Release) -> Prepared:
    """Check the version of a manifest for a release, in place of the newest one. `written` is that of its file, which
    differs from the one it is read as if it was migrated.
    """
    resource = prepared.resource
    if catalog.kind_of(resource) is None:
        return prepared  # that is an error already
    findings = check_served_version(written, resource.spec, catalog, release)
    found = [locate_finding(finding, resource) for finding in findings]
    others = [problem for problem in prepared.problems if problem.code != VERSION_NOT_SERVED]
    return replace(prepared, problems=tuple(sorted((*others, *found), key=lambda problem: problem.order)))
