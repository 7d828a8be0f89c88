"""eventhub.azure.com: keys and connection strings of rules; a namespace gives those of the rule it is born with."""

from __future__ import annotations

from typing import Final

from gitsync.extensions.api import Extensions
from gitsync.extensions.factories.secret_actions import KEYS_AND_CONNECTION_STRINGS, Keys, SecretAction, make_exporters

GROUP = "eventhub.azure.com"

_API_VERSION: Final = "2024-01-01"
_ROOT_RULE = SecretAction(
    "/authorizationRules/RootManageSharedAccessKey/listKeys", _API_VERSION, KEYS_AND_CONNECTION_STRINGS
)
_OWN = SecretAction("/listKeys", _API_VERSION, KEYS_AND_CONNECTION_STRINGS)

EXTENSIONS: Extensions = make_exporters(
    GROUP,
    {
        "Namespace": Keys(_ROOT_RULE),
        "NamespacesAuthorizationRule": Keys(_OWN),
        "NamespacesEventhubsAuthorizationRule": Keys(_OWN),
    },
)
