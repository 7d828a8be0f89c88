"""operationalinsights.azure.com: the two keys that agents of a workspace share."""

from __future__ import annotations

from gitsync.extensions.api import Extensions
from gitsync.extensions.factories.secret_actions import Keys, SecretAction, make_exporters
from gitsync.extensions.factories.value_paths import map_same_names

GROUP = "operationalinsights.azure.com"

EXTENSIONS: Extensions = make_exporters(
    GROUP,
    {
        "Workspace": Keys(
            SecretAction("/sharedKeys", "2020-08-01", map_same_names("primarySharedKey secondarySharedKey"))
        )
    },
)
