"""The kinds of directory objects that gitsync manages, by the group and kind of their manifests.

To add one, add its facts to `tools/other_kinds.json`, a module that converts its objects, a row here, and its
permissions in `graph_permissions.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gitsync.desired.manifests.creation_mode import ENTRA_GROUP
from gitsync.providers.entra.application_conversion import APPLICATION
from gitsync.providers.entra.directory_kind import DirectoryKind
from gitsync.providers.entra.group_conversion import SECURITY_GROUP
from gitsync.providers.entra.principal_conversion import SERVICE_PRINCIPAL

KINDS: Final[Mapping[tuple[str, str], DirectoryKind]] = {
    (ENTRA_GROUP, "Application"): APPLICATION,
    (ENTRA_GROUP, "SecurityGroup"): SECURITY_GROUP,
    (ENTRA_GROUP, "ServicePrincipal"): SERVICE_PRINCIPAL,
}
"""A test compares it with the kinds of the catalog."""
