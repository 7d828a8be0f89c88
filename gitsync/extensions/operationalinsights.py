"""operationalinsights.azure.com: the two keys that agents of a workspace share."""

from __future__ import annotations

from gitsync.extensions.keys import Action, Keys, exporting
from gitsync.extensions.places import same
from gitsync.extensions.points import Extensions

GROUP = "operationalinsights.azure.com"

EXTENSIONS: Extensions = exporting(
    GROUP, {"Workspace": Keys(Action("/sharedKeys", "2020-08-01", same("primarySharedKey secondarySharedKey")))}
)
