"""machinelearningservices.azure.com: a workspace is refused until its storage account is there (extensions.md §5.2)."""

from __future__ import annotations

from gitsync.extensions.points import Extensions
from gitsync.extensions.refusals import Refusal, classified

GROUP = "machinelearningservices.azure.com"

EXTENSIONS: Extensions = classified(
    GROUP, (Refusal(kind="Workspace", code="BadRequest", says=("StorageAccountIsNotProvisioned",)),)
)
