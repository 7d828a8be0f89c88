"""sql.azure.com: what refusals mean; a password that is not taken stays so
(docs/reference/kinds.md#error-overrides).
"""

from __future__ import annotations

from gitsync.extensions.api import Extensions
from gitsync.extensions.factories.error_rules import Class, ErrorRule, make_classifiers

GROUP = "sql.azure.com"

EXTENSIONS: Extensions = make_classifiers(
    GROUP,
    (
        ErrorRule(kind="Server", code="PasswordNotComplex", becomes=Class.FATAL),
        ErrorRule(kind="ServersVulnerabilityAssessment", code="VulnerabilityAssessmentADSIsDisabled"),
    ),
)
