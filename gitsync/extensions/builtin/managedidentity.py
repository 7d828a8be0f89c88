"""managedidentity.azure.com: who an identity is, for workloads that sign in as it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gitsync.extensions.api import ActsOnAzure, Extensions, Subject
from gitsync.extensions.factories.secret_actions import Keys, StatusFields, make_exporters
from gitsync.extensions.factories.value_paths import At, ValuePath, format_text
from gitsync.model.arm_id import ArmId

GROUP = "managedidentity.azure.com"


@dataclass(frozen=True, slots=True)
class _Subscription:
    """The subscription in the id of the resource."""

    @property
    def fields(self) -> dict[str, ValuePath]:
        return {"subscriptionId": format_text}

    async def document(self, subject: Subject, azure: ActsOnAzure) -> Any:  # noqa: ARG002 - the protocol's
        return ArmId(subject.arm_id).subscription


_IDENTITY = StatusFields({name: At(f"properties/{name}") for name in ("clientId", "principalId", "tenantId")})

EXTENSIONS: Extensions = make_exporters(GROUP, {"UserAssignedIdentity": Keys(_IDENTITY, _Subscription())})
