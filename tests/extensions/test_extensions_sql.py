"""Servers and their assessments."""

import pytest

from gitsync.planning.status.error_classes import Classification
from tests.extensions.asking import class_of

GROUP = "sql.azure.com"


@pytest.mark.parametrize(
    ("kind", "code", "message", "status", "expected", "why"),
    [
        ("Server", "PasswordNotComplex", "No.", 400, Classification.FATAL, "only another password can mend it"),
        ("ServersDatabase", "PasswordNotComplex", "No.", 400, Classification.RETRYABLE, "another kind"),
        (
            "ServersVulnerabilityAssessment",
            "VulnerabilityAssessmentADSIsDisabled",
            "No.",
            400,
            Classification.RETRYABLE,
            "as its status says",
        ),
    ],
)
def test_what_a_refusal_means(kind, code, message, status, expected, why):
    assert class_of(GROUP, kind, code, message, status) is expected, why
