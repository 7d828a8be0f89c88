"""dbformysql.azure.com: the address of a server, and which of its parameters are worth a manifest."""

from __future__ import annotations

from gitsync.extensions.api import Extension, Extensions
from gitsync.extensions.factories.secret_actions import DOMAIN_NAME
from gitsync.extensions.factories.server_parameters import OnlyWhatWasSet

GROUP = "dbformysql.azure.com"

_PARAMETERS = OnlyWhatWasSet(read_only="True", folds_case=True)

EXTENSIONS: Extensions = (
    Extension(group=GROUP, kind="FlexibleServer", export_secrets=DOMAIN_NAME),
    Extension(group=GROUP, kind="FlexibleServersConfiguration", importer=_PARAMETERS),
)
