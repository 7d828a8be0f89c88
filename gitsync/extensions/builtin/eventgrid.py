"""eventgrid.azure.com: the two keys of a topic."""

from __future__ import annotations

from gitsync.extensions.api import Extensions
from gitsync.extensions.factories.secret_actions import Action, Keys, exporting
from gitsync.extensions.factories.value_paths import same

GROUP = "eventgrid.azure.com"

EXTENSIONS: Extensions = exporting(GROUP, {"Topic": Keys(Action("/listKeys", "2021-12-01", same("key1 key2")))})
