"""machinelearningservices.azure.com: a workspace is refused until its storage account is there
(docs/reference/kinds.md#error-overrides), and exports the keys of what it works with
(docs/reference/kinds.md#secret-fields).
"""

from __future__ import annotations

from gitsync.extensions.api import Extensions
from gitsync.extensions.factories.error_rules import Refusal, classified
from gitsync.extensions.factories.secret_actions import Action, Keys, exporting
from gitsync.extensions.factories.value_paths import At, Entry, Place, same

GROUP = "machinelearningservices.azure.com"

_PASSWORDS = "containerRegistryCredentials/passwords"
_KEYS: dict[str, Place] = {
    "containerRegistryPassword": Entry(among=_PASSWORDS, by="name", named="password", gives="value"),
    "containerRegistryPassword2": Entry(among=_PASSWORDS, by="name", named="password2", gives="value"),
    "containerRegistryUserName": At("containerRegistryCredentials/username"),
    **same("appInsightsInstrumentationKey userStorageKey"),
    # A workspace has keys of notebooks once somebody has opened one.
    "primaryNotebookAccessKey": At("notebookAccessKeys/primaryAccessKey", optional=True),
    "secondaryNotebookAccessKey": At("notebookAccessKeys/secondaryAccessKey", optional=True),
}

EXTENSIONS: Extensions = (
    *classified(GROUP, (Refusal(kind="Workspace", code="BadRequest", says=("StorageAccountIsNotProvisioned",)),)),
    *exporting(GROUP, {"Workspace": Keys(Action("/listKeys", "2021-07-01", _KEYS))}),
)
