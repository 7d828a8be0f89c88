"""cdn.azure.com: parts of a profile refuse each other while they are being made
(docs/reference/kinds.md#error-overrides).
"""

from __future__ import annotations

from gitsync.extensions.api import Extensions
from gitsync.extensions.factories.error_rules import Class, ErrorRule, make_classifiers

GROUP = "cdn.azure.com"

_NO_ORIGIN_YET = ("originGroup is created successfully", "at least one enabled origin is created")

EXTENSIONS: Extensions = make_classifiers(
    GROUP,
    (
        ErrorRule(
            kind="AfdCustomDomain",
            code="BadRequest",
            says=("This resource is still associated with a route",),
            becomes=Class.SLOW,
        ),
        ErrorRule(kind="Route", code="BadRequest", says=_NO_ORIGIN_YET),
        ErrorRule(kind="Rule", code="BadRequest", says=_NO_ORIGIN_YET),
        ErrorRule(
            kind="SecurityPolicy",
            code="BadRequest",
            says=("is not associated with the AFDX profile", "is in a invalid provisioning state"),
        ),
    ),
)
