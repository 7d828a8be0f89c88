"""insights.azure.com: Azure refuses rules until their target exists and is readable
(docs/reference/kinds.md#error-overrides).
"""

from __future__ import annotations

from gitsync.extensions.api import Extensions
from gitsync.extensions.factories.error_rules import ErrorRule, make_classifiers

GROUP = "insights.azure.com"

EXTENSIONS: Extensions = make_classifiers(
    GROUP,
    (
        ErrorRule(kind="DataCollectionRule", code="WorkspaceNotFound"),
        ErrorRule(kind="ScheduledQueryRule", code="BadRequest", says=("does not exist",)),
        ErrorRule(kind="ScheduledQueryRule", code="BadRequest", says=("insufficient access",)),
    ),
)
