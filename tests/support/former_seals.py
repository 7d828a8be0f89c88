"""The seals that gitsync made before they named a status, and before they named a repository, made on their own: for
tests of what is believed of them.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any


def make_former_seal(key: str, document: Mapping[str, Any], location: str = "") -> str:
    """The seal of a record's document, as it was made for the status of a path, or for any path without one."""
    members = {name: value for name, value in document["gitsync"].items() if name not in {"seal", "requestId"}}
    metadata = document["metadata"]
    named = [_sign(key, f"the name of the place {location}")[:16]] if location else []
    covered = [*named, document["apiVersion"], document["kind"], metadata["namespace"], metadata["name"], members]
    text = json.dumps(covered, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return ":".join(["hmac-sha256", _sign(key, "the name of the key")[:8], *named, _sign(key, text)])


def _sign(key: str, text: str) -> str:
    own = hmac.new(key.encode(), b"seals of records", hashlib.sha256).digest()
    return hmac.new(own, text.encode(), hashlib.sha256).hexdigest()
