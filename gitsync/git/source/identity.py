"""The name of a source in a plan file: the same on the machine that plans and on the one that applies.

A folder's path and a URL's user are matters of one machine, so neither is used.
"""

from __future__ import annotations

import hashlib
import re

from gitsync.git.source.checkout import Checkout

_SCP_LIKE = re.compile(r"(?:[^/@]+@)?(?P<host>[^/:@]+):(?P<path>.+)")
_WEB_LIKE = re.compile(r"(?:https?|ssh)://(?:[^/@]*@)?(?P<host>[^/:@]+)(?::\d+)?/(?P<path>.*)")


def find_repository(source: Checkout) -> str:
    """Host and path of the source's remote, for https and ssh alike: github.com/acme/estate.

    "" for a source without a remote: its revision, which is a digest of the whole history, says which one it is.
    """
    return normalize_repository(source.remote.url) if source.remote else ""


def normalize_repository(url: str) -> str:
    """The name of a repository by its URL: https and ssh spell the same one. A file URL is its path."""
    match = _WEB_LIKE.fullmatch(url) or (None if "://" in url or url.startswith("/") else _SCP_LIKE.fullmatch(url))
    path = (match["path"] if match else url.removeprefix("file://")).rstrip("/").removesuffix(".git")
    return f"{match['host'].casefold()}/{path.lstrip('/')}" if match else path


def find_revision(source: Checkout) -> str:
    """The commit that a source is at; for a folder without one, a digest of the files that were read."""
    if source.revision is not None:
        return source.revision
    digest = hashlib.sha256()
    for path, content in sorted(source.files.items()):
        digest.update(f"{path}\0{len(content)}\0".encode())
        digest.update(content)
    return f"files:{digest.hexdigest()}"
