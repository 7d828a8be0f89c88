"""cdn.azure.com: parts of a profile refuse each other while they are being made
(docs/reference/kinds.md#error-overrides).
"""

from __future__ import annotations

from gitsync.extensions.api import Extensions
from gitsync.extensions.factories.error_rules import Class, Refusal, classified

GROUP = "cdn.azure.com"

_NO_ORIGIN_YET = ("originGroup is created successfully", "at least one enabled origin is created")

EXTENSIONS: Extensions = classified(
    GROUP,
    (
        Refusal(
            kind="AfdCustomDomain",
            code="BadRequest",
            says=("This resource is still associated with a route",),
            becomes=Class.SLOW,
        ),
        Refusal(kind="Route", code="BadRequest", says=_NO_ORIGIN_YET),
        Refusal(kind="Rule", code="BadRequest", says=_NO_ORIGIN_YET),
        Refusal(
            kind="SecurityPolicy",
            code="BadRequest",
            says=("is not associated with the AFDX profile", "is in a invalid provisioning state"),
        ),
    ),
)
