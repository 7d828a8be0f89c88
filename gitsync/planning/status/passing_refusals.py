"""Which failures of a write the same run tries again.

Most of them pass by themselves: something else changes the resource, or one near it. Providers have codes of their own
for it, or use one that has other meanings too (`OperationNotAllowed` is also the code for quotas and for stopped
machines), so the words decide.
"""

from __future__ import annotations

import re
from typing import Final

from gitsync.errors import ProviderError
from gitsync.model.limits import describes_busy_jobs
from gitsync.planning.status.error_classes import NOT_ALLOWED, NOT_YET_THERE

_STATUSES: Final = frozenset({400, 409, 412, 423, 429})
"""HTTP statuses with which Azure refuses such a write. A failed operation has the status of its poll, a success."""

_WORK = r"(?:operation|request|update|write|deployment|change|modification|upgrade|transaction)s?"
_GOES_ON = r"(?:in[ -]?progress|on-?going|under ?way|running|pending|executing|being (?:processed|performed|executed))"
_STEP = (
    r"(?:creating|updating|deleting|scaling|upgrading|provisioning|starting|stopping|restarting|restoring|migrating|"
    r"resuming|pausing|moving|accepted|in ?progress)"
)

_FAMILIES: Final = (
    # AnotherOperationInProgress of Microsoft.Network (recorded); EtagMismatch and OperationNotAllowed of AKS
    # (Azure/terraform-provider-azapi#889); Conflict of Microsoft.Web (Azure/azure-sdk-for-java#1827).
    rf"\b(?:other|another)\b[^.]{{0,100}}\b{_WORK}\b[^.]{{0,100}}\b{_GOES_ON}",
    # PreconditionFailed of Cosmos DB (hashicorp/terraform-provider-azurerm#15842), StorageAccountOperationInProgress
    # (openshift/openshift-azure#1332), ConflictError (microsoft/azure-puppet#24).
    r"\brequires? (?:an )?exclusive (?:access|lock)",
    # App Configuration (hashicorp/terraform-provider-azurerm#26224).
    r"\bconflict\w* with an? (?:on-?going|running|pending|concurrent)\b",
    rf"\b{_WORK}\b[^.]{{0,40}} (?:in[ -]?progress|on-?going|under ?way)\b",
    rf"\b(?:pending|previous|conflicting|on-?going) {_WORK}\b[^.]{{0,60}}\b(?:complet|finish|retry|try again)",
    rf"\b{_WORK} (?:is|are) (?:already |currently |still )*{_GOES_ON}",
    r"\b(?:is|are) (?:already |currently |still )*in[ -]?progress\b|\b(?:on-?going|pending|in-progress) operations?\b",
    r"\bby another (?:operation|request|process|client|update|write)\b",
    # Federated credentials (hashicorp/terraform-provider-azurerm#19968), ConflictingConcurrentWriteNotAllowed of ARM
    # (pulumi/pulumi-azure-native#4765, Azure/ARO-RP#4785).
    rf"\bconcurrent\w*\b[^.]{{0,80}}\b(?:{_WORK}|written|updated|modified|changed|edited)",
    r"\b(?:written|updated|modified|changed|edited)\b[^.]{0,40}\b(?:concurrently|simultaneously|at the same time)",
    r"\b(?:modified|changed|updated) (?:by|since) (?:another|other|someone|it was (?:last )?read)",
    # PreconditionFailed of Microsoft.Compute and Microsoft.Network (kubernetes-sigs/cloud-provider-azure#9728, #9729),
    # of Microsoft.Web (microsoft/vscode-azureappservice#1209).
    r"\be-?tags?\b[^.]{0,200}\b(?:mismatch|(?:not|n't) (?:match|represent)|conflict|out ?dated|stale|changed)",
    r"\b(?:mismatch|conflict)\w*\b[^.]{0,40}\be-?tags?\b",
    # Redis (recorded: "is busy processing a previous update request"), ServiceBusy of PostgreSQL
    # (Azure/azure-service-operator#844).
    r"\b(?:is|are) (?:too |currently |temporarily |still )*busy\b",
    # RetryableErrorDueToAnotherOperation of Microsoft.Network (recorded).
    r"\bis updating resource\b",
    r"\b(?:is|are) (?:currently |still |already )*being (?:updated|modified|changed|processed|created|scaled|upgraded)",
    # ServiceIsInMaintenance of Kusto (hashicorp/terraform-provider-azurerm#16471), Redis (recorded).
    r"\b(?:under ?going|under|in process of|in) (?:system |planned )?maintenance\b",
    # ReferencedResourceNotProvisioned of Microsoft.Network (recorded: "is in Updating state"), RequestNotAllowed of
    # Azure Red Hat OpenShift (Azure/azure-cli#19114: "in provisioningState 'Creating'").
    rf"\bin (?:the |an? )?['\"]?{_STEP}['\"]? (?:provisioning )?stat(?:e|us)",
    rf"\b(?:provisioning ?)?stat(?:e|us)\b:?(?: is| of| in)?:? ?['\"]?{_STEP}\b",
)
_MEANING = re.compile("|".join(_FAMILIES), re.IGNORECASE)
"""Texts with their sources."""

_CODE = re.compile(
    r"InProgress|Concurren|EtagMismatch|Busy$|AnotherOperation|OperationPending|BeingUpdated|InMaintenance"
    r"|^(Conflict|RetryableError)$",
    re.IGNORECASE,
)
"""Codes that mean it without a text. A plain `Conflict` may have other causes; ASO retries it too
(Azure/azure-service-operator#4671).
"""

_LONGEST_TEXT: Final = 4000
"""Of a message that is searched, as it is of one that is shown."""


def passes_by_itself(failure: ProviderError) -> bool:
    """Return whether the same write succeeds once another operation has ended, or ARM has fewer jobs."""
    # A 403 or 404 whose text quotes such words does not pass by itself.
    if failure.status not in _STATUSES and not 200 <= failure.status < 300:
        return False
    details = ((str(detail.get("code") or ""), str(detail.get("message") or "")) for detail in failure.details)
    texts = ((failure.code, failure.message), *details)
    return any(
        is_code_of_other_work(code) or describes_other_work(text) or describes_busy_jobs(text) for code, text in texts
    )


def is_code_of_other_work(code: str) -> bool:
    """Return whether a code alone shows that another operation is under way."""
    return bool(_CODE.search(code))


def describes_other_work(message: str) -> bool:
    """Return whether a message shows that another operation is under way."""
    return bool(_MEANING.search(message[:_LONGEST_TEXT]))


def may_recover(error: ProviderError, *, missed_is_ours: bool, granted: bool) -> bool:
    """Return whether to look again in this run (docs/reference/design.md#retries).

    `missed_is_ours`: this run created what the resource depends on. `granted`: this run wrote a role assignment.
    """
    return (
        error.outcome_unknown
        or passes_by_itself(error)
        or (missed_is_ours and error.code in NOT_YET_THERE)
        or (granted and error.status == 403 and error.code in NOT_ALLOWED)
    )
