"""docs/kinds.md: every kind of the catalog with its ARM type and versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gitsync.desired.catalog.catalog import Catalog, open_catalog

PAGE = "docs/kinds.md"

HEAD = """# Kinds

gitsync supports the {kinds} kinds of Azure Service Operator, in {versions} versions. `gitsync explain KIND` describes
each with its fields, owner and ARM id. A manifest names the version as `GROUP/VERSION`, such as
`network.azure.com/v20250301`. Every other ARM type, and every other api-version, is an [AzureResource](any-type.md).
"""


def build_kinds_page() -> Mapping[str, str]:
    """The page; groups, kinds and versions in the order of the catalog, the newest version first."""
    catalog = open_catalog()
    groups = [(group, kind) for group in catalog.groups() for kind in catalog.kinds(group)]
    count = sum(len(catalog.versions(group, kind)) for group, kind in groups)
    head = HEAD.format(kinds=len(groups), versions=count)
    sections = ("\n".join(_build_section(catalog, group)) for group in catalog.groups())
    return {PAGE: "\n".join((head, *sections))}


def _build_section(catalog: Catalog, group: str) -> Iterator[str]:
    yield f"## {group}\n"
    yield "| kind | ARM type | versions |"
    yield "|---|---|---|"
    for kind in catalog.kinds(group):
        versions = ", ".join(f"`{version}`" for version in reversed(catalog.versions(group, kind)))
        arm_type = catalog.arm_type(group, kind)
        yield f"| {kind} | {arm_type or 'none'} | {versions} |"
    yield ""
