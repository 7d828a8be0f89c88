"""Manifests of versions that ASO has removed, read as later versions, if their unit allows that."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gitsync.catalog.catalog import Catalog
from gitsync.catalog.later_versions import find_later_version
from gitsync.model.gvk import GVK
from gitsync.model.manifests import Manifests
from gitsync.model.problem import Level
from gitsync.model.resource import Resource
from gitsync.model.unit import UnitOptions
from gitsync.problems.finding import Finding, locate_finding

_USUAL: Final = UnitOptions()


def migrate_versions(manifests: Manifests, catalog: Catalog) -> Manifests:
    """Read each resource of a removed version as the nearest later one that has all of its fields, with a warning.

    Only in units with the option, and of what CAPZ manages; a resource without such a version stays as it is.
    """
    return replace(manifests, resources=tuple(_migrate(resource, catalog) for resource in manifests.resources))


def _migrate(resource: Resource, catalog: Catalog) -> Resource:
    if not _may_migrate(resource) or catalog.kind(resource.gvk):
        return resource
    later = find_later_version(resource.gvk, resource.spec, catalog)
    if later is None or later.lacks:
        return resource
    problem = locate_finding(_make_warning(resource.gvk, later.gvk), resource)
    problems = tuple(sorted((*resource.problems, problem), key=lambda one: one.order))
    return replace(resource, gvk=later.gvk, problems=problems)


def _may_migrate(resource: Resource) -> bool:
    """Tell whether a later version may be read. What CAPZ manages is not written, whatever its version."""
    options = resource.unit.options if resource.unit else _USUAL
    return options.migrates_versions or (resource.wrapper is not None and not options.manages_capz)


def _make_warning(removed: GVK, later: GVK) -> Finding:
    return Finding(
        code="VersionMigrated",
        path=("apiVersion",),
        message=f"{removed.kind} of {removed.group} has no version {removed.version}: it is read as {later.version}.",
        hint=f"Change it to {later.version}.",
        level=Level.WARNING,
    )
