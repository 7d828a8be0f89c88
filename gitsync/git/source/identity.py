"""The name of a source in a plan file: the same on the machine that plans and on the one that applies.

A folder's path and a URL's user are matters of one machine, so neither is used.
"""

from __future__ import annotations

import hashlib

from gitsync.formats.repository_name import normalize_repository
from gitsync.git.source.checkout import Checkout


def find_repository(source: Checkout) -> str:
    """Host and path of the source's remote, for https and ssh alike: github.com/acme/estate.

    "" for a source without a remote: its revision, which is a digest of the whole history, says which one it is.
    """
    return normalize_repository(source.remote.url) if source.remote else ""


def find_revision(source: Checkout) -> str:
    """The commit that a source is at; for a folder without one, a digest of the files that were read."""
    if source.revision is not None:
        return source.revision
    digest = hashlib.sha256()
    for path, content in sorted(source.files.items()):
        digest.update(f"{path}\0{len(content)}\0".encode())
        digest.update(content)
    return f"files:{digest.hexdigest()}"
