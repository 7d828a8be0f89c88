"""Compares a file with a blob of a commit, without git: git would run the filters that the repository names.

A filter (LFS, git-crypt) may be any program. So a file that a filter changed counts as different from the committed
one.
"""

from __future__ import annotations

import hashlib

_ALGORITHMS = {40: hashlib.sha1, 64: hashlib.sha256}  # git's, by the length of an id


def is_content_of(blob: str, content: bytes) -> bool:
    """Tell whether `content` is the blob with this id, unchanged or with the line ends that git stores (LF)."""
    if _make_id(content, len(blob)) == blob:
        return True
    return b"\r\n" in content and _make_id(content.replace(b"\r\n", b"\n"), len(blob)) == blob


def _make_id(content: bytes, length: int) -> str:
    return _ALGORITHMS[length](b"blob %d\0" % len(content) + content).hexdigest()
