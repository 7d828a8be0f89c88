"""search.azure.com: the admin keys of a service, and the query key that it is born with."""

from __future__ import annotations

from typing import Any, Final

from gitsync.extensions.api import Extensions
from gitsync.extensions.factories.secret_actions import Keys, SecretAction, make_exporters
from gitsync.extensions.factories.value_paths import At, format_text, list_entries

GROUP = "search.azure.com"

_API_VERSION: Final = "2025-05-01"
# The key that every service begins with has no name; as in ASO, one named `default` counts as such a key.
_DEFAULT: Final = (None, "default")


def find_default_query_key(listed: Any) -> str | None:
    """The key without a name, the last of several; skipped if there is none (docs/reference/kinds.md#secret-fields)."""
    keys = [entry for entry in list_entries(listed) if entry.get("name") in _DEFAULT and entry.get("key")]
    return format_text(keys[-1]["key"]) if keys else None


_ADMIN = SecretAction(
    "/listAdminKeys", _API_VERSION, {"adminPrimaryKey": At("primaryKey"), "adminSecondaryKey": At("secondaryKey")}
)
_QUERY = SecretAction("/listQueryKeys", _API_VERSION, {"queryKey": find_default_query_key}, paged=True)

EXTENSIONS: Extensions = make_exporters(GROUP, {"SearchService": Keys(_ADMIN, _QUERY)})
