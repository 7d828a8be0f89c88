"""Fills `[project.urls]` when a package is built: the addresses of the repository whose pipeline builds it.

The project may live in any fork, so no address is written down. Hatchling calls this for every build; outside of a
pipeline the package has no addresses.
"""

from __future__ import annotations

import os
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class ProjectUrls(MetadataHookInterface):
    """The metadata hook that pyproject.toml names."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        metadata["urls"] = find_urls(os.environ.get("GITHUB_SERVER_URL"), os.environ.get("GITHUB_REPOSITORY"))


def find_urls(server: str | None, repository: str | None) -> dict[str, str]:
    """The addresses of a repository such as `acme/gitsync`; none if the pipeline does not name one."""
    if not server or not repository:
        return {}
    home = f"{server.rstrip('/')}/{repository}"
    return {
        "Homepage": home,
        "Documentation": f"{home}/tree/main/docs",
        "Changelog": f"{home}/blob/main/CHANGELOG.md",
        "Issues": f"{home}/issues",
    }
