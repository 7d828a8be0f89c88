"""redhatopenshift.azure.com: what administrators of a cluster sign in with (docs/reference/kinds.md#secret-fields)."""

from __future__ import annotations

from gitsync.extensions.api import Extensions
from gitsync.extensions.factories.secret_actions import Keys, SecretAction, make_exporters
from gitsync.extensions.factories.value_paths import At

GROUP = "redhatopenshift.azure.com"

# Azure answers the kubeconfig in base64, and so it goes out, as in ASO.
_ADMIN = SecretAction("/listAdminCredentials", "2023-11-22", {"adminCredentials": At("kubeconfig")})
_USER = SecretAction(
    "/listCredentials", "2023-11-22", {"password": At("kubeadminPassword"), "username": At("kubeadminUsername")}
)

EXTENSIONS: Extensions = make_exporters(GROUP, {"OpenShiftCluster": Keys(_ADMIN, _USER)})
