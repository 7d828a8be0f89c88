"""dbformariadb.azure.com: the address of a server."""

from __future__ import annotations

from gitsync.extensions.api import Extensions
from gitsync.extensions.factories.secret_actions import DOMAIN_NAME, make_exporters

GROUP = "dbformariadb.azure.com"

EXTENSIONS: Extensions = make_exporters(GROUP, {"Server": DOMAIN_NAME})
