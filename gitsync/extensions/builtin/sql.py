"""sql.azure.com: what refusals mean; a password that is not taken stays so
(docs/reference/kinds.md#error-overrides).
"""

from __future__ import annotations

from gitsync.extensions.api import Extensions
from gitsync.extensions.factories.error_rules import Class, Refusal, classified

GROUP = "sql.azure.com"

EXTENSIONS: Extensions = classified(
    GROUP,
    (
        Refusal(kind="Server", code="PasswordNotComplex", becomes=Class.FATAL),
        Refusal(kind="ServersVulnerabilityAssessment", code="VulnerabilityAssessmentADSIsDisabled"),
    ),
)
