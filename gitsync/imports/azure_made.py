"""Resources that Azure makes with others: nobody asked for them, so they need no manifest.

The rows are from Azure's documentation; `docs/import.md` names them. Kinds whose importers decide, as ASO's do, are not
among them (docs/reference/kinds.md#imports).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from gitsync.imports.conversion import find_value

_NAMES: Final[Mapping[str, str]] = {
    "microsoft.apimanagement/service/groups": "administrators|developers|guests",
    "microsoft.dbformysql/flexibleservers/databases": "information_schema|mysql|performance_schema|sys",
    "microsoft.eventhub/namespaces/authorizationrules": "RootManageSharedAccessKey",
    "microsoft.eventhub/namespaces/eventhubs/consumergroups": r"\$Default",
    "microsoft.network/dnszones/ns": "@",
    "microsoft.notificationhubs/namespaces/authorizationrules": "RootManageSharedAccessKey",
    "microsoft.notificationhubs/namespaces/notificationhubs/authorizationrules": (
        "DefaultFullSharedAccessSignature|DefaultListenSharedAccessSignature"
    ),
    "microsoft.servicebus/namespaces/authorizationrules": "RootManageSharedAccessKey",
    "microsoft.servicebus/namespaces/topics/subscriptions/rules": r"\$Default",
    "microsoft.sql/servers/databases": "master",
    "microsoft.storage/storageaccounts/blobservices/containers": r"\$(?:logs|blobchangefeed)",
}
"""By type: the names, as a pattern."""

_MARKS: Final[Mapping[str, tuple[str, ...]]] = {
    "microsoft.network/networkinterfaces": ("properties", "privateEndpoint"),
}
"""By type: the member of the body that only a resource made by Azure has."""

_BUILT_IN: Final = {"BuiltInRole", 0}


def is_made_by_azure(arm_type: str, name: str, body: Mapping[str, Any]) -> bool:
    """Tell whether Azure made a resource by itself."""
    wanted = arm_type.casefold()
    names = _NAMES.get(wanted, "")
    if names and re.fullmatch(names, name, re.IGNORECASE):
        return True
    mark = _MARKS.get(wanted, ())
    if mark and find_value(body, mark):
        return True
    is_role = wanted.startswith("microsoft.documentdb/") and wanted.endswith("roledefinitions")
    return is_role and find_value(body, ("properties", "type")) in _BUILT_IN
