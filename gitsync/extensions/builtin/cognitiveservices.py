"""cognitiveservices.azure.com: the two keys of an account."""

from __future__ import annotations

from gitsync.extensions.api import Extensions
from gitsync.extensions.factories.secret_actions import Action, Keys, exporting
from gitsync.extensions.factories.value_paths import same

GROUP = "cognitiveservices.azure.com"

EXTENSIONS: Extensions = exporting(GROUP, {"Account": Keys(Action("/listKeys", "2025-06-01", same("key1 key2")))})
