"""Resources that Azure makes with others: no one asked for them, so they need no manifest.

The rows are from Azure's documentation; `docs/import.md` names them. Kinds whose importers decide, as ASO's do, are not
among them (docs/reference/kinds.md#imports).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from gitsync.problems.field_path import find_member

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

_UNSET: Final[Mapping[str, Mapping[str, frozenset[str]]]] = {
    "advancedthreatprotectionsettings": {"state": frozenset({"disabled"})},
    "auditingsettings": {"state": frozenset({"disabled"}), "retentionDays": frozenset({"0"})},
    "azureadonlyauthentications": {"azureADOnlyAuthentication": frozenset({"false"})},
    "backuplongtermretentionpolicies": {
        "monthlyRetention": frozenset({"pt0s"}),
        "weeklyRetention": frozenset({"pt0s"}),
        "weekOfYear": frozenset({"0", "1"}),
        "yearlyRetention": frozenset({"pt0s"}),
    },
    "backupshorttermretentionpolicies": {
        "diffBackupIntervalInHours": frozenset({"12", "24"}),
        "retentionDays": frozenset({"7"}),
    },
    "connectionpolicies": {"connectionType": frozenset({"default"})},
    "encryptionprotector": {
        "serverKeyName": frozenset({"servicemanaged"}),
        "serverKeyType": frozenset({"servicemanaged"}),
    },
    "securityalertpolicies": {"state": frozenset({"disabled"}), "retentionDays": frozenset({"0"})},
    "transparentdataencryption": {"state": frozenset({"enabled"})},
}
"""By the last word of the type of a singleton: the values, in lower case, of fields that no one has set."""

_BUILT_IN: Final = {"BuiltInRole", 0}


def is_unset(arm_type: str, fields: Mapping[str, Any]) -> bool:
    """Tell whether the spec of a singleton has only values that no one has set."""
    unset = _UNSET.get(arm_type.rpartition("/")[2].casefold(), {})
    return all(str(value).casefold() in unset.get(name, ()) for name, value in fields.items())


def is_made_by_azure(arm_type: str, name: str, body: Mapping[str, Any]) -> bool:
    """Tell whether Azure made a resource by itself."""
    wanted = arm_type.casefold()
    names = _NAMES.get(wanted, "")
    if names and re.fullmatch(names, name, re.IGNORECASE):
        return True
    mark = _MARKS.get(wanted, ())
    if mark and find_member(body, *mark):
        return True
    is_role = wanted.startswith("microsoft.documentdb/") and wanted.endswith("roledefinitions")
    return is_role and find_member(body, "properties", "type") in _BUILT_IN
