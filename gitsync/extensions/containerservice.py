"""containerservice.azure.com: AKS refuses writes while it is busy, and each refusal counts against the limits."""

from __future__ import annotations

from gitsync.extensions.points import Extension, Extensions
from gitsync.extensions.refusals import Class, Refusal, classified
from gitsync.extensions.states import OwnerState, OwnState

GROUP = "containerservice.azure.com"

_REFUSALS = (
    Refusal(kind="FleetsMember", code="DependentResourceNotFound"),
    Refusal(kind="ManagedCluster", code="CustomKubeletIdentityMissingPermissionError"),
    Refusal(kind="ManagedClustersAgentPool", code="NodePoolMcVersionIncompatible", becomes=Class.SLOW),
)

EXTENSIONS: Extensions = (
    Extension(
        group=GROUP,
        kind="ManagedCluster",
        pre_check=OwnState('Managed cluster is in provisioning state "{state}"'),
    ),
    Extension(
        group=GROUP,
        kind="ManagedClustersAgentPool",
        owner_check=OwnerState('Managed cluster "{owner}" is in provisioning state "{state}"'),
        pre_check=OwnState('Managed cluster agent pool is in provisioning state "{state}"'),
    ),
    *classified(GROUP, _REFUSALS),
)
