"""What Azure has of a resource that its manifest leaves out, before its first write: a PUT may remove it.

Later writes need no such list: what they remove was in git before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gitsync.desired.catalog.arm_types import open_arm_types
from gitsync.desired.catalog.body_paths import select_writable
from gitsync.desired.catalog.type_words import join_with_and
from gitsync.desired.problems.field_path import FieldPath, format_field
from gitsync.model.facts import Kind

_MOST: Final = 5  # fields that are named
_EMPTY: Final[tuple[Any, ...]] = (None, "", [], {}, False)


def describe_uncovered(kind: Kind, live: Mapping[str, Any], sent: Mapping[str, Any]) -> str:
    """Describe the fields of an AzureResource that Azure has and the PUT leaves out, as a sentence; "" if there are
    none, or if the facts do not have the type. What Azure alone sets does not count.
    """
    body_type = open_arm_types().find_body(kind.arm_type, kind.api_version)
    if body_type is None:
        return ""
    writable = select_writable(live, body_type, name=str(live.get("name", "")))
    paths = list(_list_uncovered(writable, sent, ("spec", "body")))
    if not paths:
        return ""
    names = [format_field(path) for path in paths[:_MOST]]
    if len(paths) > _MOST:
        names.append(f"{len(paths) - _MOST} more")
    return f"The write may remove what Azure has and the manifest leaves out: {join_with_and(names)}."


def _list_uncovered(live: Mapping[str, Any], sent: Mapping[str, Any], path: FieldPath) -> Iterator[FieldPath]:
    by_name = {name.casefold(): value for name, value in sent.items()}
    for name, value in live.items():
        if value in _EMPTY:
            continue
        own = by_name.get(name.casefold())
        if name.casefold() not in by_name:
            yield (*path, name)
        elif isinstance(value, Mapping) and isinstance(own, Mapping):
            yield from _list_uncovered(value, own, (*path, name))
