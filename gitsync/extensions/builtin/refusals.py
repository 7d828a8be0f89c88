"""What Azure's refusals mean, for the groups that need nothing else (docs/reference/kinds.md#error-overrides)."""

from __future__ import annotations

from gitsync.extensions.api import Extensions
from gitsync.extensions.factories.error_rules import ErrorRule, make_classifiers
from gitsync.planning.status.error_classes import Classification

_NO_ORIGIN_YET = ("originGroup is created successfully", "at least one enabled origin is created")

EXTENSIONS: Extensions = (
    *make_classifiers(
        "app.azure.com",
        (  # Azure refuses apps and jobs until their environment exists.
            ErrorRule(kind="ContainerApp", code="ManagedEnvironmentNotProvisioned"),
            ErrorRule(kind="Job", code="ManagedEnvironmentNotProvisioned"),
        ),
    ),
    *make_classifiers(
        "cdn.azure.com",
        (  # Parts of a profile refuse each other while they are being made.
            ErrorRule(
                kind="AfdCustomDomain",
                code="BadRequest",
                says=("This resource is still associated with a route",),
            ),
            ErrorRule(kind="Route", code="BadRequest", says=_NO_ORIGIN_YET),
            ErrorRule(kind="Rule", code="BadRequest", says=_NO_ORIGIN_YET),
            ErrorRule(
                kind="SecurityPolicy",
                code="BadRequest",
                says=("is not associated with the AFDX profile", "is in a invalid provisioning state"),
            ),
        ),
    ),
    *make_classifiers(
        "insights.azure.com",
        (  # Azure refuses rules until their target exists and is readable.
            ErrorRule(kind="DataCollectionRule", code="WorkspaceNotFound"),
            ErrorRule(kind="ScheduledQueryRule", code="BadRequest", says=("does not exist",)),
            ErrorRule(kind="ScheduledQueryRule", code="BadRequest", says=("insufficient access",)),
        ),
    ),
    *make_classifiers(
        "sql.azure.com",
        (  # A password that is not taken stays so.
            ErrorRule(kind="Server", code="PasswordNotComplex", becomes=Classification.FATAL),
            # Azure accepts it once another manifest, the server's security alert policy, is applied.
            ErrorRule(kind="ServersVulnerabilityAssessment", code="VulnerabilityAssessmentADSIsDisabled"),
        ),
    ),
)
