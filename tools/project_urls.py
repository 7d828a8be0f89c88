"""Fills `[project.urls]` when a package is built: the addresses of the repository whose pipeline builds it.

The project may live in any fork, so no address is written down. Hatchling calls this for every build; outside of a
pipeline the package has no addresses.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class ProjectUrls(MetadataHookInterface):
    """The metadata hook that pyproject.toml names."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        metadata["urls"] = list_urls(find_home(os.environ))


def find_home(variables: Mapping[str, str]) -> str:
    """The address of the repository whose pipeline this is, such as `https://host/acme/gitsync`; "" outside of one."""
    server, name = variables.get("GITHUB_SERVER_URL"), variables.get("GITHUB_REPOSITORY")
    return f"{server.rstrip('/')}/{name}" if server and name else ""


def list_urls(home: str) -> dict[str, str]:
    """The addresses of a package; none without a repository."""
    if not home:
        return {}
    return {
        "Homepage": home,
        "Documentation": f"{home}/tree/main/docs",
        "Changelog": f"{home}/blob/main/CHANGELOG.md",
        "Issues": f"{home}/issues",
    }
