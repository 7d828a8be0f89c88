"""Makes the name of a git repository of its URL: host and path, however the URL is written."""

from __future__ import annotations

import re

_SCP_LIKE = re.compile(r"(?:[^/@]+@)?(?P<host>[^/:@]+):(?P<path>.+)")
_WEB_LIKE = re.compile(r"(?:https?|ssh)://(?:[^/@]*@)?(?P<host>[^/:@]+)(?::\d+)?/(?P<path>.*)")


_AZURE_DEVOPS = (
    re.compile(
        r"(?:vs-ssh\.visualstudio|ssh\.dev\.azure)\.com/v3/(?P<organization>[^/]+)/(?P<project>[^/]+)/(?P<name>[^/]+)"
    ),
    re.compile(r"dev\.azure\.com/(?P<organization>[^/]+)/(?:(?P<project>[^/]+)/)?_git/(?P<name>[^/]+)"),
    re.compile(
        r"(?P<organization>[^/.]+)\.visualstudio\.com/(?:DefaultCollection/)?(?:(?P<project>[^/]+)/)?_git/(?P<name>[^/]+)"
    ),
)
"""The addresses of a repository there; the first is that of ssh. A project may have a repository of its own name."""


def normalize_repository(url: str) -> str:
    """Normalize the URL of a repository to its name: https and ssh spell the same one. A file URL is its path."""
    # git takes `host:path` as ssh only if the text is neither a URL nor a path.
    match = _WEB_LIKE.fullmatch(url) or (None if "://" in url or url.startswith("/") else _SCP_LIKE.fullmatch(url))
    path = (match["path"] if match else url.removeprefix("file://")).rstrip("/").removesuffix(".git")
    return unify_name(f"{match['host'].casefold()}/{path.lstrip('/')}") if match else path


def unify_name(name: str) -> str:
    """Unify the names of a repository that has several, as those of Azure DevOps have."""
    match = next((found for pattern in _AZURE_DEVOPS if (found := pattern.fullmatch(name))), None)
    if match is None:
        return name
    return f"dev.azure.com/{match['organization']}/{match['project'] or match['name']}/_git/{match['name']}"
