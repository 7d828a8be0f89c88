"""eventgrid.azure.com: the two keys of a topic."""

from __future__ import annotations

from gitsync.extensions.keys import Action, Keys, exporting
from gitsync.extensions.places import same
from gitsync.extensions.points import Extensions

GROUP = "eventgrid.azure.com"

EXTENSIONS: Extensions = exporting(GROUP, {"Topic": Keys(Action("/listKeys", "2021-12-01", same("key1 key2")))})
