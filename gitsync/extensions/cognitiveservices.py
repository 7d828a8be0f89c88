"""cognitiveservices.azure.com: the two keys of an account."""

from __future__ import annotations

from gitsync.extensions.keys import Action, Keys, exporting
from gitsync.extensions.places import same
from gitsync.extensions.points import Extensions

GROUP = "cognitiveservices.azure.com"

EXTENSIONS: Extensions = exporting(GROUP, {"Account": Keys(Action("/listKeys", "2025-06-01", same("key1 key2")))})
