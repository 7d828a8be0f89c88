"""What to do if Entra ID refuses a sign-in: by its code (AADSTS…), else by the method.

The codes are those of https://learn.microsoft.com/entra/identity-platform/reference-error-codes. Those of federated
credentials (70025, 700024, 700211 to 700213, 700223, 700238) are from Microsoft's guide to workload identities in
pipelines, https://learn.microsoft.com/azure/devops/pipelines/release/troubleshoot-workload-identity, and 900023 from
that of the Azure SDKs. 7002381, 7002137, 7002138, 7000272, and 50166, 501661 and 90061 (Entra ID could not read the
keys of the issuer) are from their own messages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from gitsync.model.signin import Method
from gitsync.providers.arm.auth.job_identity import JobIdentity, format_identity_command
from gitsync.settings.config.hosts import Host, find_host

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
EXPIRED_ASSERTION: Final = f"AADSTS{_OLD_ASSERTION}"
"""How Entra ID begins its answer to a job's token that has expired."""

_CLOCK: Final = "Check the clock of this machine: gitsync signs its requests with the time."
_EXPIRED: Final = (
    "The job's token, or the one in its file, has expired: GitHub's lives five minutes, also after `az login`. Let "
    "gitsync request tokens itself: set --credential workload-identity without a token file, and `id-token: write`, "
    "which gives the job ACTIONS_ID_TOKEN_REQUEST_URL. Or keep the file fresh, and check the clock of this machine."
)
_EXPIRED_BY_SUBJECT: Final[Mapping[str, str]] = {
    r"project_path:": "Set a `timeout` of the job that is longer than the run: the token of GitLab's `id_tokens` lives "
    "as long, and five minutes without one. Write it to the file in the same job, and check the clock of this machine.",
    r"system:serviceaccount:": "Set AZURE_FEDERATED_TOKEN_FILE to the file that Kubernetes mounts, and not to a copy: "
    "only that one is renewed. Check the clock of the node.",
    r"sc://|.*/sc/": "Set SYSTEM_ACCESSTOKEN to $(System.AccessToken), and --credential workload-identity without a "
    "token file: gitsync then requests a token of the service connection when it needs one. Check the clock of this "
    "machine.",
}
"""What to do about a token that has expired, by the form of its subject; else as for GitHub."""

_MISMATCHES: Final[Mapping[str, str]] = {
    "70021": "issuer, subject and audience",
    "70025": "",
    "700211": "the issuer",
    "700212": "the audience",
    "700213": "the subject",
    "7002137": "the subject",
    "7002138": "the subject",
}
"""Codes for a token that no federated credential of the identity matches, and what differs; "" if there is none."""

_SUBJECTS: Final[Mapping[str, str]] = {
    r"repo:|repository_": "The branch, tag, environment or pull request of the job is part of the subject. GitHub "
    "repositories that were created, renamed or moved since 2026-07-15 also have ids in it: "
    "repo:OWNER@ID/REPOSITORY@ID:…",
    r"project_path:": "The branch or tag of the job is part of the subject.",
    r"sc://|.*/sc/": "Azure DevOps shows issuer and subject in the service connection. "
    "See https://learn.microsoft.com/azure/devops/pipelines/release/troubleshoot-workload-identity.",
    r"system:serviceaccount:": "The namespace and the service account of the pod are the subject. AKS prints the "
    "issuer with `az aks show --query oidcIssuerProfile.issuerUrl`.",
}
"""What decides the subject of a job's token, by the form that its host gives it."""

_ANY_SUBJECT: Final = "The branch, tag, environment or pull request of the job is part of the subject."
_FETCHED_ISSUER: Final = (
    "Check that ISSUER/.well-known/openid-configuration, and the keys that it names, can be read from the internet. "
    "If they can, run the command again later. "
    "See https://azure.github.io/azure-workload-identity."
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
    "They find it in the sign-in logs by the ids in the message. "
    "See https://learn.microsoft.com/entra/identity/conditional-access/troubleshoot-conditional-access."
)
_NO_CLIENT: Final = (
    f"{_IDS}: the client does not exist in the tenant. It is the client id, not the object id: "
    "`az identity show --name IDENTITY --resource-group GROUP` and `az ad app show --id CLIENT-ID` print it."
)
_NO_ACCOUNT: Final = "Check the account, and that it is in the tenant AZURE_TENANT_ID."
_DISABLED_CLIENT: Final = "Enable the client in Entra ID, under enterprise applications."
_OTHER_CLOUD: Final = "Set --endpoint and AZURE_AUTHORITY_HOST to the cloud of the tenant AZURE_TENANT_ID."
_NOT_ITS_VALUE: Final = (
    "Set AZURE_CLIENT_SECRET to the value of the secret, not to its id. "
    "`az ad app credential reset --id CLIENT-ID --append` makes a new one."
)
_BLOCKED: Final = (
    "Wait an hour, then sign in again: Entra ID has locked the account after too many attempts, or blocked the address "
    "of this machine. In a pipeline, use a workload identity. "
    "See https://learn.microsoft.com/entra/identity/authentication/howto-password-smart-lockout."
)
_AUDIENCE: Final = "Check --endpoint and AZURE_RESOURCE_MANAGER_AUDIENCE: Entra ID issues no tokens for this audience."

_BY_CODE: Final[Mapping[str, str]] = {
    "50014": _NO_ACCOUNT,
    "50020": _NO_ACCOUNT,
    "50034": _NO_ACCOUNT,
    "50053": _BLOCKED,
    "50055": "Set a new password for the account: the old one has expired. Then sign in again with `az login`.",
    "50057": "Enable the account in Entra ID, or sign in with another one.",
    "50074": _NO_PERSON,
    "50076": _NO_PERSON,
    "50078": _NO_PERSON,
    "50079": _NO_PERSON,
    "50166": _FETCHED_ISSUER,
    "50173": _SIGN_IN_AGAIN,
    "500011": f"{_OTHER_CLOUD} The tenant has no service principal for the resource that the message names.",
    "53000": _CONDITIONAL_ACCESS,
    "53001": _CONDITIONAL_ACCESS,
    "53003": _CONDITIONAL_ACCESS,
    "70001": _DISABLED_CLIENT,
    "70002": _NOT_ITS_VALUE,
    "70008": _SIGN_IN_AGAIN,
    "70011": _AUDIENCE,
    "70043": _SIGN_IN_AGAIN,
    "90002": "Check AZURE_TENANT_ID and AZURE_AUTHORITY_HOST: the tenant does not exist in this cloud.",
    "90038": _OTHER_CLOUD,
    "90061": _FETCHED_ISSUER,
    "501661": _FETCHED_ISSUER,
    "530032": _CONDITIONAL_ACCESS,
    "700011": _NO_CLIENT,
    "700016": _NO_CLIENT,
    "700027": "Upload the certificate to the client, or use the certificate that the client has.",
    "700030": "Use a certificate whose subject name the client accepts: the message lists the names of this one.",
    "700082": _SIGN_IN_AGAIN,
    "700223": _FORBIDDEN_FEDERATION,
    "700238": _FORBIDDEN_FEDERATION,
    "900023": "Check AZURE_TENANT_ID: it is not the id or domain of a tenant.",
    "900382": _OTHER_CLOUD,
    "900432": _OTHER_CLOUD,
    "7000112": _DISABLED_CLIENT,
    "7000215": _NOT_ITS_VALUE,
    "7000218": "Set --credential workload-identity, or AZURE_CLIENT_SECRET: the sign-in had no proof of the client.",
    "7000222": "Add a client secret, and set AZURE_CLIENT_SECRET to its value: the old one has expired.",
    "7000272": _FETCHED_ISSUER,
    "7002381": _FORBIDDEN_FEDERATION,
}
_SIGNED_HERE: Final = frozenset({Method.CLIENT_CERTIFICATE, Method.IDENTITY_FILE})


_MISSING: Final[Mapping[Host, str]] = {
    Host.GITHUB: "Grant the job `permissions: id-token: write`.",
    Host.GITLAB: "Add `id_tokens:` with `aud: api://AzureADTokenExchange` to the job, write that token to a file, and "
    "set AZURE_FEDERATED_TOKEN_FILE to its path, as deploy/pipelines/gitlab.yml does.",
    Host.AZURE: "Set SYSTEM_ACCESSTOKEN to $(System.AccessToken), and AZURESUBSCRIPTION_SERVICE_CONNECTION_ID to the "
    "id of the service connection; or run gitsync in a task AzureCLI@2 of that connection, with --credential default.",
}
"""How a job of each host gets a token."""


def advise_on_missing_token(environment: Mapping[str, str]) -> str:
    """Return advice for a job that has no token, by the variables of its host."""
    host = find_host(environment)
    return (
        _MISSING[host]
        if host
        else (
            'Set AZURE_FEDERATED_TOKEN_FILE; in Kubernetes, label the pod `azure.workload.identity/use: "true"`. '
            "Or run in a job of GitHub Actions, GitLab CI or Azure Pipelines."
        )
    )


def advise_on_refusal(method: Method, message: str, presented: JobIdentity | None = None) -> str:
    """Return advice for a sign-in that was refused with a message; "" without any. `presented` is what the token of the
    job claims, if it was sent.
    """
    # Of several codes in the message, the first one with advice counts.
    for code in _CODE.findall(message):
        if code == _OLD_ASSERTION:
            return _CLOCK if method in _SIGNED_HERE else _find_by_subject(_EXPIRED_BY_SUBJECT, presented, _EXPIRED)
        if code in _MISMATCHES:
            return _advise_on_mismatch(_MISMATCHES[code], presented)
        if code in _BY_CODE:
            return _BY_CODE[code]
    return BY_METHOD.get(method, "")


def _advise_on_mismatch(field: str, presented: JobIdentity | None) -> str:
    """Return advice for a token that no federated credential matches, with the command that adds one."""
    check = (
        f"Check that {field} of a federated credential of the identity AZURE_CLIENT_ID has what the message shows, or "
        "add one: case counts."
        if field
        else "Add a federated credential to the identity AZURE_CLIENT_ID, with the issuer and subject of the job."
    )
    names_subject = "subject" in field or not field
    reason = _find_by_subject(_SUBJECTS, presented, _ANY_SUBJECT) if names_subject else ""
    command = (
        f"Run `{format_identity_command(presented)}`; for an application, `gitsync doctor` prints the command."
        if presented is not None and presented.fits
        else "Run `gitsync doctor` in the job: it prints the command with the values of its token."
    )
    return " ".join(filter(None, (check, command, reason)))


def _find_by_subject(texts: Mapping[str, str], presented: JobIdentity | None, other: str) -> str:
    """Return the text for the host of a job, by the form of its subject; `other` if it has none of these forms."""
    subject = presented.subject if presented else ""
    return next((text for form, text in texts.items() if re.match(form, subject)), other)
