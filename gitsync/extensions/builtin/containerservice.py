"""containerservice.azure.com: AKS refuses writes while it is busy, and each refusal counts against the limits; and the
kubeconfigs of clusters and fleets.
"""

from __future__ import annotations

from gitsync.extensions.api import Extension, Extensions
from gitsync.extensions.factories.error_rules import ErrorRule, make_classifiers
from gitsync.extensions.factories.secret_actions import Keys, SecretAction, make_exporters
from gitsync.extensions.factories.state_checks import OwnerState, OwnState
from gitsync.extensions.factories.value_paths import At, decode_base64

GROUP = "containerservice.azure.com"

_REFUSALS = (
    ErrorRule(kind="FleetsMember", code="DependentResourceNotFound"),
    ErrorRule(kind="ManagedCluster", code="CustomKubeletIdentityMissingPermissionError"),
    ErrorRule(kind="ManagedClustersAgentPool", code="NodePoolMcVersionIncompatible"),
)

_KUBECONFIG = At("kubeconfigs/0/value", read=decode_base64)  # any others are ignored
_CLUSTER = Keys(
    SecretAction("/listClusterAdminCredential", "2022-04-01", {"adminCredentials": _KUBECONFIG}),
    SecretAction("/listClusterUserCredential", "2022-04-01", {"userCredentials": _KUBECONFIG}),
)
# ASO allows these in a manifest, and never writes them. Only a fleet with a hub has any.
_FLEET = Keys(SecretAction("/listCredentials", "2025-03-01", {"userCredentials": _KUBECONFIG}))

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
    *make_classifiers(GROUP, _REFUSALS),
    *make_exporters(GROUP, {"Fleet": _FLEET, "ManagedCluster": _CLUSTER}),
)
