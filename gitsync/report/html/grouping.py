"""The resource group of each result: large graphs are drawn of groups, and the list can be filtered by them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from gitsync.logging import escape_controls
from gitsync.model.gvk import Key
from gitsync.model.result import Result

_PLACE = re.compile(r"^/subscriptions/([^/]+)/resourceGroups/([^/]+)", re.IGNORECASE)


class GroupName(NamedTuple):
    """A resource group: its subscription and its name, in lower case; both "" for resources outside of any group."""

    subscription: str
    name: str

    @property
    def label(self) -> str:
        return escape_controls(self.name) or "in no resource group"

    @property
    def id(self) -> str:
        return f"{self.subscription}/{self.name}" if self.name else ""


NO_GROUP = GroupName("", "")


def group_results(results: Iterable[Result]) -> Mapping[Key, GroupName]:
    """The resource group of each result by its ARM id, and where it has none by its nearest owner that has one."""
    known = {result.key: result for result in results}
    return {key: _place(key, known) for key in known}


def _place(key: Key, known: Mapping[Key, Result]) -> GroupName:
    seen: set[Key] = set()
    result = known.get(key)
    while result and result.key not in seen:
        seen.add(result.key)
        found = _PLACE.match(result.arm_id or "")
        if found:
            return GroupName(found[1].casefold(), found[2].casefold())
        result = known.get(result.owner) if result.owner else None
    return NO_GROUP
