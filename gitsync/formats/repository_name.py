"""The name of a git repository, made of its URL: host and path, however the URL is written."""

from __future__ import annotations

import re

_SCP_LIKE = re.compile(r"(?:[^/@]+@)?(?P<host>[^/:@]+):(?P<path>.+)")
_WEB_LIKE = re.compile(r"(?:https?|ssh)://(?:[^/@]*@)?(?P<host>[^/:@]+)(?::\d+)?/(?P<path>.*)")


def normalize_repository(url: str) -> str:
    """The name of a repository by its URL: https and ssh spell the same one. A file URL is its path."""
    match = _WEB_LIKE.fullmatch(url) or (None if "://" in url or url.startswith("/") else _SCP_LIKE.fullmatch(url))
    path = (match["path"] if match else url.removeprefix("file://")).rstrip("/").removesuffix(".git")
    return f"{match['host'].casefold()}/{path.lstrip('/')}" if match else path
