"""managedidentity.azure.com: who an identity is, for workloads that sign in as it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gitsync.extensions.api import ActsOnAzure, Extensions, Subject
from gitsync.extensions.factories.secret_actions import Keys, Status, exporting
from gitsync.extensions.factories.value_paths import At, Place, text
from gitsync.formats.arm_path import subscription_of

GROUP = "managedidentity.azure.com"


@dataclass(frozen=True, slots=True)
class _Subscription:
    """The subscription that the id of the resource lies in."""

    @property
    def fields(self) -> dict[str, Place]:
        return {"subscriptionId": text}

    async def document(self, subject: Subject, azure: ActsOnAzure) -> Any:  # noqa: ARG002 - a source may ask, this one need not
        return subscription_of(subject.arm_id)


_IDENTITY = Status({name: At(f"properties/{name}") for name in ("clientId", "principalId", "tenantId")})

EXTENSIONS: Extensions = exporting(GROUP, {"UserAssignedIdentity": Keys(_IDENTITY, _Subscription())})
