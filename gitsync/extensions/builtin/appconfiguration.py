"""appconfiguration.azure.com: the keys of a store, which Azure lists under names that people read."""

from __future__ import annotations

from gitsync.extensions.api import Extensions
from gitsync.extensions.factories.secret_actions import Keys, SecretAction, make_exporters
from gitsync.extensions.factories.value_paths import ListMember

GROUP = "appconfiguration.azure.com"

_ENTRIES = {
    "primary": "Primary",
    "primaryReadOnly": "Primary Read Only",
    "secondary": "Secondary",
    "secondaryReadOnly": "Secondary Read Only",
}
_MEMBERS = {"ConnectionString": "connectionString", "Key": "value", "KeyID": "id"}

# A store whose access keys are turned off lists none: then there is nothing to export, and no error.
_FIELDS = {
    f"{prefix}{suffix}": ListMember(match_member="name", match_value=match_value, member=member, optional=True)
    for prefix, match_value in _ENTRIES.items()
    for suffix, member in _MEMBERS.items()
}

EXTENSIONS: Extensions = make_exporters(
    GROUP, {"ConfigurationStore": Keys(SecretAction("/listKeys", "2022-05-01", _FIELDS, paged=True))}
)
