"""dbformysql.azure.com: the address of a server, the parameters that are worth a manifest, and privileges of users."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitsync.extensions.api import Extension, Extensions, Modifier, Subject
from gitsync.extensions.factories.secret_actions import DOMAIN_NAME
from gitsync.extensions.factories.server_parameters import OnlyWhatWasSet
from gitsync.formats.json_members import read_mapping

GROUP = "dbformysql.azure.com"

_PARAMETERS = OnlyWhatWasSet(read_only="True", folds_case=True)


def take_other_databases(body: Mapping[str, Any], subject: Subject) -> Mapping[str, Any]:
    """Add with no privileges the databases that the user may use and git does not name: the map of a manifest is
    complete, as its lists are, and a comparison looks at what a body names only.
    """
    stated = body.get("databasePrivileges")
    if not isinstance(stated, Mapping) or subject.live is None:
        return body
    live = read_mapping(subject.live.body, "databasePrivileges")
    others: dict[str, list[str]] = {name: [] for name in sorted(live.keys() - stated.keys())}
    return {**body, "databasePrivileges": {**stated, **others}} if others else body


EXTENSIONS: Extensions = (
    Extension(group=GROUP, kind="FlexibleServer", export_secrets=DOMAIN_NAME),
    Extension(group=GROUP, kind="FlexibleServersConfiguration", importer=_PARAMETERS),
    Extension(group=GROUP, kind="User", modify=Modifier(compared=take_other_databases)),
)
