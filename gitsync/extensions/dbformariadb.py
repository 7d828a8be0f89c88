"""dbformariadb.azure.com: where a server answers."""

from __future__ import annotations

from gitsync.extensions.keys import DOMAIN_NAME, exporting
from gitsync.extensions.points import Extensions

GROUP = "dbformariadb.azure.com"

EXTENSIONS: Extensions = exporting(GROUP, {"Server": DOMAIN_NAME})
