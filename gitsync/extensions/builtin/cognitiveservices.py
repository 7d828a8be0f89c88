"""cognitiveservices.azure.com: the two keys of an account."""

from __future__ import annotations

from gitsync.extensions.api import Extensions
from gitsync.extensions.factories.secret_actions import Keys, SecretAction, make_exporters
from gitsync.extensions.factories.value_paths import map_same_names

GROUP = "cognitiveservices.azure.com"

EXTENSIONS: Extensions = make_exporters(
    GROUP, {"Account": Keys(SecretAction("/listKeys", "2025-06-01", map_same_names("key1 key2")))}
)
