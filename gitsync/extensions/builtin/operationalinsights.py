"""operationalinsights.azure.com: the two keys that agents of a workspace share."""

from __future__ import annotations

from gitsync.extensions.api import Extensions
from gitsync.extensions.factories.secret_actions import Action, Keys, exporting
from gitsync.extensions.factories.value_paths import same

GROUP = "operationalinsights.azure.com"

EXTENSIONS: Extensions = exporting(
    GROUP, {"Workspace": Keys(Action("/sharedKeys", "2020-08-01", same("primarySharedKey secondarySharedKey")))}
)
