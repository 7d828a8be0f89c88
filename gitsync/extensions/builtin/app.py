"""app.azure.com: Azure refuses apps and jobs until their environment exists
(docs/reference/kinds.md#error-overrides).
"""

from __future__ import annotations

from gitsync.extensions.api import Extensions
from gitsync.extensions.factories.error_rules import ErrorRule, make_classifiers

GROUP = "app.azure.com"

EXTENSIONS: Extensions = make_classifiers(
    GROUP,
    (
        ErrorRule(kind="ContainerApp", code="ManagedEnvironmentNotProvisioned"),
        ErrorRule(kind="Job", code="ManagedEnvironmentNotProvisioned"),
    ),
)
