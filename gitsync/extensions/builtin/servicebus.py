"""servicebus.azure.com: Azure refuses a subscription while its topic is being created
(docs/reference/kinds.md#error-overrides); keys and connection strings of rules, those of a namespace being of the rule
that it is born with (docs/reference/kinds.md#secret-fields).
"""

from __future__ import annotations

from typing import Final

from gitsync.extensions.api import Extensions
from gitsync.extensions.factories.error_rules import ErrorRule, make_classifiers
from gitsync.extensions.factories.secret_actions import (
    KEYS_AND_CONNECTION_STRINGS,
    Keys,
    SecretAction,
    StatusFields,
    make_exporters,
)
from gitsync.extensions.factories.value_paths import At

GROUP = "servicebus.azure.com"

_API_VERSION: Final = "2021-11-01"
_ROOT_RULE = SecretAction(
    "/AuthorizationRules/RootManageSharedAccessKey/listKeys", _API_VERSION, KEYS_AND_CONNECTION_STRINGS
)
_ENDPOINT = StatusFields({"endpoint": At("properties/serviceBusEndpoint")})

EXTENSIONS: Extensions = (
    *make_classifiers(GROUP, (ErrorRule(kind="NamespacesTopicsSubscription", code="MessagingGatewayBadRequest"),)),
    *make_exporters(
        GROUP,
        {
            "Namespace": Keys(_ROOT_RULE, _ENDPOINT),
            "NamespacesAuthorizationRule": Keys(SecretAction("/listKeys", _API_VERSION, KEYS_AND_CONNECTION_STRINGS)),
            # Spelled as ASO sends it; Azure compares actions without case.
            "TopicAuthorizationRule": Keys(SecretAction("/ListKeys", _API_VERSION, KEYS_AND_CONNECTION_STRINGS)),
        },
    ),
)
