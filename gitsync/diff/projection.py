"""Cut a body down to the fields that git sets: the part of the response that a record keeps as baseline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gitsync.diff.list_pairing import OPEN_LISTS, find_key_field, find_member, index_by_key, keep_key
from gitsync.model.secret import MASKED, Secret


def select_asked(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a body asks for: without nulls, empty objects and its name, which the URL says.

    An empty object under an ARM id stays: it says that the id belongs (identity.userAssignedIdentities).
    """
    return {key: value for key, value in _without_nothing(body).items() if key != "name"}


def project(asked: Any, live: Any, name: str = "") -> Any:
    """Return the leaves of `live` that `asked` has; None where there are none. Secrets are never taken over.

    An entry of a list that git does not ask for is kept as its key alone, so that a further one is noticed, except in
    lists that hold resources of their own kind. `name` is the member that has the values.
    """
    if isinstance(asked, Secret) or asked == MASKED:
        return None
    if isinstance(asked, dict) and isinstance(live, dict):
        return _kept((key, project(value, find_member(live, key), key)) for key, value in asked.items())
    if isinstance(asked, list) and isinstance(live, list):
        return _project_list(asked, live, name)
    return live


def _project_list(asked: list[Any], live: list[Any], name: str) -> list[Any]:
    if not asked or not isinstance(asked[0], dict):
        return live
    field = find_key_field(asked, live)
    if field is None:
        return [project(asked[min(index, len(asked) - 1)], entry) for index, entry in enumerate(live)]
    wanted = index_by_key(asked, field)
    return [
        project(wanted[key][1], entry) if key in wanted else keep_key(entry, field)
        for key, (_, entry) in index_by_key(live, field).items()
        if key in wanted or name not in OPEN_LISTS
    ]


def _kept(members: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    return {key: value for key, value in members if value is not None}


def _without_nothing(value: Any) -> Any:
    if isinstance(value, dict):
        members = ((key, _without_nothing(child)) for key, child in value.items() if child is not None)
        return {key: child for key, child in members if child != {} or key.startswith("/")}
    if isinstance(value, list):
        return [_without_nothing(child) for child in value]
    return value
