"""The annotation `gitsync/api-version`, by which an ASO manifest is sent at another version of its type, and the name
of the one that adds members to its body.

Separate from the other annotations, since the catalog chooses the kind by the version.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

API_VERSION: Final = "gitsync/api-version"
BODY: Final = "gitsync/body"

_FORM: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?:-[A-Za-z][\w.-]*)?")


def read_api_version(annotations: Mapping[str, str]) -> str:
    """Read the api-version that a manifest names; "" without one, or if it has another form."""
    version = annotations.get(API_VERSION, "")
    return version if _FORM.fullmatch(version) else ""
