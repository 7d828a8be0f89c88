"""machinelearningservices.azure.com: Azure refuses a workspace until its storage account exists
(docs/reference/kinds.md#error-overrides), and exports the keys of what it works with
(docs/reference/kinds.md#secret-fields).
"""

from __future__ import annotations

from gitsync.extensions.api import Extensions
from gitsync.extensions.factories.error_rules import ErrorRule, make_classifiers
from gitsync.extensions.factories.secret_actions import Keys, SecretAction, make_exporters
from gitsync.extensions.factories.value_paths import At, ListMember, ValuePath, map_same_names

GROUP = "machinelearningservices.azure.com"

_PASSWORDS = "containerRegistryCredentials/passwords"
_KEYS: dict[str, ValuePath] = {
    "containerRegistryPassword": ListMember(
        list_path=_PASSWORDS, match_member="name", match_value="password", member="value"
    ),
    "containerRegistryPassword2": ListMember(
        list_path=_PASSWORDS, match_member="name", match_value="password2", member="value"
    ),
    "containerRegistryUserName": At("containerRegistryCredentials/username"),
    **map_same_names("appInsightsInstrumentationKey userStorageKey"),
    # A workspace has keys of notebooks once somebody has opened one.
    "primaryNotebookAccessKey": At("notebookAccessKeys/primaryAccessKey", optional=True),
    "secondaryNotebookAccessKey": At("notebookAccessKeys/secondaryAccessKey", optional=True),
}

EXTENSIONS: Extensions = (
    *make_classifiers(
        GROUP, (ErrorRule(kind="Workspace", code="BadRequest", says=("StorageAccountIsNotProvisioned",)),)
    ),
    *make_exporters(GROUP, {"Workspace": Keys(SecretAction("/listKeys", "2021-07-01", _KEYS))}),
)
