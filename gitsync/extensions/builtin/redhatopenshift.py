"""redhatopenshift.azure.com: a cluster that is being deleted takes no changes (docs/reference/kinds.md#state-checks),
and what its administrators sign in with (docs/reference/kinds.md#secret-fields, #openshift-credential-requests).
"""

from __future__ import annotations

from gitsync.extensions.api import Extension, Extensions
from gitsync.extensions.factories.secret_actions import Keys, SecretAction, make_exporters
from gitsync.extensions.factories.state_checks import OwnState, allow_except
from gitsync.extensions.factories.value_paths import At, require_text

GROUP = "redhatopenshift.azure.com"

_CLUSTER = OwnState("reconcile blocked while cluster is at status deleting", allows=allow_except("deleting"))

# Azure makes a new credential for each call, and takes its time. An older api-version than the cluster's, as in ASO.
_HCP = SecretAction(
    "/requestAdminCredential", "2024-06-10-preview", {"adminCredentials": At("kubeconfig", read=require_text)}
)
# Azure answers the kubeconfig in base64, and so it goes out, as in ASO.
_ADMIN = SecretAction("/listAdminCredentials", "2023-11-22", {"adminCredentials": At("kubeconfig")})
_USER = SecretAction(
    "/listCredentials", "2023-11-22", {"password": At("kubeadminPassword"), "username": At("kubeadminUsername")}
)

EXTENSIONS: Extensions = (
    Extension(group=GROUP, kind="HcpOpenShiftCluster", pre_check=_CLUSTER),
    *make_exporters(GROUP, {"HcpOpenShiftCluster": Keys(_HCP), "OpenShiftCluster": Keys(_ADMIN, _USER)}),
)
