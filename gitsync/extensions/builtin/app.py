"""app.azure.com: what runs in an environment is refused until that is there
(docs/reference/kinds.md#error-overrides).
"""

from __future__ import annotations

from gitsync.extensions.api import Extensions
from gitsync.extensions.factories.error_rules import Refusal, classified

GROUP = "app.azure.com"

EXTENSIONS: Extensions = classified(
    GROUP,
    (
        Refusal(kind="ContainerApp", code="ManagedEnvironmentNotProvisioned"),
        Refusal(kind="Job", code="ManagedEnvironmentNotProvisioned"),
    ),
)
