"""devices.azure.com: the keys of the policies that an IoT hub is born with."""

from __future__ import annotations

from gitsync.extensions.api import Extensions
from gitsync.extensions.factories.secret_actions import Keys, SecretAction, make_exporters
from gitsync.extensions.factories.value_paths import ListMember

GROUP = "devices.azure.com"

_POLICIES = {
    "device": "device",
    "iotHubOwner": "iothubowner",
    "registryRead": "registryRead",
    "registryReadWrite": "registryReadWrite",
    "service": "service",
}
_MEMBERS = {"PrimaryKey": "primaryKey", "SecondaryKey": "secondaryKey"}

# Policies can be deleted, and only a hub's owner knows whether one should be there.
_FIELDS = {
    f"{prefix}{suffix}": ListMember(match_member="keyName", match_value=match_value, member=member, optional=True)
    for prefix, match_value in _POLICIES.items()
    for suffix, member in _MEMBERS.items()
}

EXTENSIONS: Extensions = make_exporters(
    GROUP, {"IotHub": Keys(SecretAction("/listkeys", "2023-06-30", _FIELDS, paged=True))}
)
