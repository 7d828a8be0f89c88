"""dbformysql.azure.com: where a server answers, and which of its parameters are worth a manifest."""

from __future__ import annotations

from gitsync.extensions.keys import DOMAIN_NAME
from gitsync.extensions.parameters import OnlyWhatWasSet
from gitsync.extensions.points import Extension, Extensions

GROUP = "dbformysql.azure.com"

_PARAMETERS = OnlyWhatWasSet(read_only="True", folds_case=True)

EXTENSIONS: Extensions = (
    Extension(group=GROUP, kind="FlexibleServer", export_secrets=DOMAIN_NAME),
    Extension(group=GROUP, kind="FlexibleServersConfiguration", importer=_PARAMETERS),
)
