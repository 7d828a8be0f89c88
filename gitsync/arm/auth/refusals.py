"""What to do if Entra ID refuses a sign-in: by its code (AADSTS…), else by the method.

The codes are those of https://learn.microsoft.com/entra/identity-platform/reference-error-codes.
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
    Method.IDENTITY_FILE: "Check that the file of the identity has been renewed.",
}

_OLD_ASSERTION: Final = "700024"
_CLOCK: Final = "Check the clock of this machine: gitsync signs what it sends with the time."
_EXPIRED: Final = (
    "The token of the job or of its file has expired: that of GitHub lives five minutes, also after `az login`. Let "
    "gitsync ask for tokens itself: set --credential workload-identity without a token file, and `id-token: write`, "
    "which gives the job ACTIONS_ID_TOKEN_REQUEST_URL. Or keep the file fresh, and check the clock of this machine."
)
_FEDERATED: Final = (
    "Compare issuer, subject and audience in the message with the federated credentials of the identity "
    "AZURE_CLIENT_ID, or add one: case counts."
)
_SIGN_IN_AGAIN: Final = "Sign in again with `az login`."

_BY_CODE: Final[Mapping[str, str]] = {
    "50034": "Check the account, and that it is in the tenant AZURE_TENANT_ID.",
    "50076": _SIGN_IN_AGAIN,
    "50173": _SIGN_IN_AGAIN,
    "53003": "Ask your administrators of Entra ID: a Conditional Access policy denies this sign-in.",
    "70021": _FEDERATED,
    "70043": _SIGN_IN_AGAIN,
    "90002": "Check AZURE_TENANT_ID and AZURE_AUTHORITY_HOST: this cloud has no such tenant.",
    "700016": f"{_IDS}: the tenant has no such client.",
    "700027": "Upload the certificate to the client, or set the certificate that it has.",
    "700082": _SIGN_IN_AGAIN,
    "700211": _FEDERATED,
    "700212": _FEDERATED,
    "700213": _FEDERATED,
    "900023": "Check AZURE_TENANT_ID: it is neither the id nor a domain of a tenant.",
    "7000112": "Enable the client in Entra ID, under enterprise applications.",
    "7000215": "Set AZURE_CLIENT_SECRET to the value of the secret, and not to its id.",
    "7000222": "Add a client secret, and set AZURE_CLIENT_SECRET to its value: the old one has expired.",
}
_SIGNED_HERE: Final = frozenset({Method.CLIENT_CERTIFICATE, Method.IDENTITY_FILE})


def advise_on_refusal(method: Method, message: str) -> str:
    """Say what to do about a sign-in that was refused with a message; "" if nothing is known of it. Of several codes in
    it, the first that is known counts.
    """
    for code in _CODE.findall(message):
        if code == _OLD_ASSERTION:
            return _CLOCK if method in _SIGNED_HERE else _EXPIRED
        if code in _BY_CODE:
            return _BY_CODE[code]
    return BY_METHOD.get(method, "")
