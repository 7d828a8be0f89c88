"""What to do if Entra ID refuses a sign-in: by its code (AADSTS…), else by the method.

The codes are those of https://learn.microsoft.com/entra/identity-platform/reference-error-codes. Those of federated
credentials (70025, 700024, 700211 to 700213, 700223, 700238) are from Microsoft's guide to workload identities in
pipelines, https://learn.microsoft.com/azure/devops/pipelines/release/troubleshoot-workload-identity, and 900023 from
that of the Azure SDKs. 7002381 is from its own message.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from gitsync.model.signin import Method

_CODE: Final = re.compile(r"\bAADSTS(\d{1,10})\b")

_IDS: Final = "Check AZURE_TENANT_ID and AZURE_CLIENT_ID"
BY_METHOD: Final[Mapping[Method, str]] = {
    Method.DEFAULT: "Sign in with `az login`, or set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET.",
    Method.WORKLOAD_IDENTITY: "Check AZURE_TENANT_ID, AZURE_CLIENT_ID, and the federated credential of that identity.",
    Method.MANAGED_IDENTITY: "Check that this machine has a managed identity, and AZURE_CLIENT_ID if it has several.",
    Method.CLIENT_SECRET: f"{_IDS}, and that AZURE_CLIENT_SECRET has not expired.",
    Method.CLIENT_CERTIFICATE: f"{_IDS}, and that the client has this certificate.",
    Method.IDENTITY_FILE: "Check that the identity file has been renewed.",
}

_OLD_ASSERTION: Final = "700024"
_CLOCK: Final = "Check the clock of this machine: gitsync signs its requests with the time."
_EXPIRED: Final = (
    "The job's token, or the one in its file, has expired: GitHub's lives five minutes, also after `az login`. Let "
    "gitsync request tokens itself: set --credential workload-identity without a token file, and `id-token: write`, "
    "which gives the job ACTIONS_ID_TOKEN_REQUEST_URL. Or keep the file fresh, and check the clock of this machine."
)
_NOT_FEDERATED: Final = "of the identity AZURE_CLIENT_ID has what the message shows, or add one: case counts."
_FEDERATED: Final = f"Check that issuer, subject and audience of a federated credential {_NOT_FEDERATED}"
_ISSUER: Final = f"Check that the issuer of a federated credential {_NOT_FEDERATED}"
_AUDIENCE: Final = f"Check that the audience of a federated credential {_NOT_FEDERATED}"
_SUBJECT: Final = (
    f"Check that the subject of a federated credential {_NOT_FEDERATED} The branch, tag, environment or pull request "
    "of the job is part of it."
)
_FORBIDDEN_FEDERATION: Final = (
    "Ask your Entra ID administrators to allow workload identity federation: a tenant policy forbids it for "
    "this issuer. Or use a managed identity."
)
_SIGN_IN_AGAIN: Final = "Sign in again with `az login`."
_NO_PERSON: Final = (
    "Sign in again with `az login`. In a pipeline, use a workload identity or a service principal: a person must "
    "confirm this sign-in."
)
_CONDITIONAL_ACCESS: Final = (
    "Ask your Entra ID administrators: a Conditional Access policy denies this sign-in. "
    "They find it in the sign-in logs by the ids in the message."
)
_NO_CLIENT: Final = f"{_IDS}: the client does not exist in the tenant."
_NO_ACCOUNT: Final = "Check the account, and that it is in the tenant AZURE_TENANT_ID."
_DISABLED_CLIENT: Final = "Enable the client in Entra ID, under enterprise applications."
_OTHER_CLOUD: Final = "Set --endpoint and AZURE_AUTHORITY_HOST to the cloud of the tenant AZURE_TENANT_ID."
_NOT_ITS_VALUE: Final = "Set AZURE_CLIENT_SECRET to the value of the secret, not to its id."

_BY_CODE: Final[Mapping[str, str]] = {
    "50014": _NO_ACCOUNT,
    "50020": _NO_ACCOUNT,
    "50034": _NO_ACCOUNT,
    "50055": "Set a new password for the account: the old one has expired. Then sign in again with `az login`.",
    "50057": "Enable the account in Entra ID, or sign in with another one.",
    "50074": _NO_PERSON,
    "50076": _NO_PERSON,
    "50078": _NO_PERSON,
    "50079": _NO_PERSON,
    "50173": _SIGN_IN_AGAIN,
    "500011": f"{_OTHER_CLOUD} The tenant has no service principal for the resource that the message names.",
    "53000": _CONDITIONAL_ACCESS,
    "53001": _CONDITIONAL_ACCESS,
    "53003": _CONDITIONAL_ACCESS,
    "70001": _DISABLED_CLIENT,
    "70002": _NOT_ITS_VALUE,
    "70008": _SIGN_IN_AGAIN,
    "70021": _FEDERATED,
    "70025": "Add a federated credential to the identity AZURE_CLIENT_ID, with the issuer and subject of the job.",
    "70043": _SIGN_IN_AGAIN,
    "90002": "Check AZURE_TENANT_ID and AZURE_AUTHORITY_HOST: the tenant does not exist in this cloud.",
    "90038": _OTHER_CLOUD,
    "530032": _CONDITIONAL_ACCESS,
    "700011": _NO_CLIENT,
    "700016": _NO_CLIENT,
    "700027": "Upload the certificate to the client, or use the certificate that the client has.",
    "700030": "Use a certificate whose subject name the client accepts: the message lists the names of this one.",
    "700082": _SIGN_IN_AGAIN,
    "700211": _ISSUER,
    "700212": _AUDIENCE,
    "700213": _SUBJECT,
    "700223": _FORBIDDEN_FEDERATION,
    "700238": _FORBIDDEN_FEDERATION,
    "900023": "Check AZURE_TENANT_ID: it is not the id or domain of a tenant.",
    "900382": _OTHER_CLOUD,
    "900432": _OTHER_CLOUD,
    "7000112": _DISABLED_CLIENT,
    "7000215": _NOT_ITS_VALUE,
    "7000222": "Add a client secret, and set AZURE_CLIENT_SECRET to its value: the old one has expired.",
    "7002381": _FORBIDDEN_FEDERATION,
}
_SIGNED_HERE: Final = frozenset({Method.CLIENT_CERTIFICATE, Method.IDENTITY_FILE})


def advise_on_refusal(method: Method, message: str) -> str:
    """Return advice for a sign-in that was refused with a message; "" without any. Of several codes in the message, the
    first one with advice counts.
    """
    for code in _CODE.findall(message):
        if code == _OLD_ASSERTION:
            return _CLOCK if method in _SIGNED_HERE else _EXPIRED
        if code in _BY_CODE:
            return _BY_CODE[code]
    return BY_METHOD.get(method, "")
