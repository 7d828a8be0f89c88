"""kusto.azure.com: a cluster takes no changes of itself or its databases before it runs."""

from __future__ import annotations

from gitsync.extensions.api import Extension, Extensions
from gitsync.extensions.factories.state_checks import OwnerState, OwnState

GROUP = "kusto.azure.com"

EXTENSIONS: Extensions = (
    Extension(group=GROUP, kind="Cluster", pre_check=OwnState('Cluster is in provisioning state "{state}"')),
    Extension(
        group=GROUP, kind="Database", owner_check=OwnerState('Owning cluster is in provisioning state "{state}"')
    ),
)
