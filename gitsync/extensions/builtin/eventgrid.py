"""eventgrid.azure.com: the two keys of a topic."""

from __future__ import annotations

from gitsync.extensions.api import Extensions
from gitsync.extensions.factories.secret_actions import Keys, SecretAction, make_exporters
from gitsync.extensions.factories.value_paths import map_same_names

GROUP = "eventgrid.azure.com"

EXTENSIONS: Extensions = make_exporters(
    GROUP, {"Topic": Keys(SecretAction("/listKeys", "2021-12-01", map_same_names("key1 key2")))}
)
