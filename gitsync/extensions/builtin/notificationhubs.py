"""notificationhubs.azure.com: keys and connection strings of the rule that a namespace or a hub is born with."""

from __future__ import annotations

from gitsync.extensions.api import Extensions
from gitsync.extensions.factories.secret_actions import KEYS_AND_CONNECTION_STRINGS, Keys, SecretAction, make_exporters

GROUP = "notificationhubs.azure.com"


def _make_rule_keys(name: str) -> Keys:
    return Keys(SecretAction(f"/AuthorizationRules/{name}/listKeys", "2017-04-01", KEYS_AND_CONNECTION_STRINGS))


EXTENSIONS: Extensions = make_exporters(
    GROUP,
    {
        "Namespace": _make_rule_keys("RootManageSharedAccessKey"),
        "NotificationHub": _make_rule_keys("DefaultFullSharedAccessSignature"),
    },
)
