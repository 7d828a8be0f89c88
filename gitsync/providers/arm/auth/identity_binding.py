"""Signs in through the token proxy of AKS identity bindings, which exchanges the token of the pod's service account
(https://learn.microsoft.com/azure/aks/identity-bindings).

The webhook of AKS sets variables in the pod that name the proxy, and mounts a token that only the proxy accepts. So
every workload identity of such a pod uses the proxy, also that of a Secret, and the token goes to no other
host: no manifest can name the proxy. azure-identity reads the same variables from the environment of the process.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from azure.core.pipeline import PipelineResponse
from azure.identity.aio import WorkloadIdentityCredential

from gitsync.errors import ConfigError
from gitsync.model.signin import SignIn
from gitsync.providers.arm.auth.token_answers import TokenAnswer, note_answer, read_answer
from gitsync.providers.arm.http.connection import HttpConnection

PROXY: Final = "the token proxy of AKS"
_PROXY: Final = "AZURE_KUBERNETES_TOKEN_PROXY"
_VARIABLES: Final = (_PROXY, "AZURE_KUBERNETES_SNI_NAME", "AZURE_KUBERNETES_CA_FILE", "AZURE_KUBERNETES_CA_DATA")


def has_identity_binding(environment: Mapping[str, str]) -> bool:
    """Return whether the pod has the variables of an identity binding."""
    return any(environment.get(name) for name in _VARIABLES)


def open_bound_credential(
    sign_in: SignIn, file: Path, http: HttpConnection, options: dict[str, Any]
) -> WorkloadIdentityCredential:
    """Open the credential of a pod with an identity binding. Raises ConfigError if the variables are incomplete."""
    own_transport = {  # azure-identity's, with the certificates and the host name of the proxy
        "use_env_settings": False,
        "proxies": http.read_proxies(sign_in.environment.get(_PROXY, "")),
        "raw_response_hook": _note,
    }
    try:
        return WorkloadIdentityCredential(
            tenant_id=sign_in.tenant_id,
            client_id=sign_in.client_id,
            token_file_path=str(file),
            enable_azure_proxy=True,
            **{**options, **own_transport},
        )
    except (ValueError, OSError) as error:
        raise ConfigError(
            f"The variables of the AKS identity binding cannot be used: {error}.",
            hint=f"Leave {', '.join(_VARIABLES)} to the webhook of AKS: remove them from the pod and its image.",
        ) from error


def _note(response: PipelineResponse[Any, Any]) -> None:
    answer = response.http_response
    note_answer(TokenAnswer(PROXY, read_answer(answer.status_code, answer.headers, answer.content)))
