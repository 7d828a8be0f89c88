"""What the requests of a run are counted as: the bucket that they fill, and the type and the kind of each.

An action that lists keys has a kind of its own, since the rights for it are more than those of a reader.
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import Final

from gitsync.arm.http.call import ArmRequest
from gitsync.arm.http.throttle import classify_method
from gitsync.validation.references import parse_arm_type


class CallKind(StrEnum):
    """What a request does."""

    LIST = "list"  # one page
    GET = "get"
    PUT = "put"
    PATCH = "patch"
    DELETE = "delete"
    POLL = "poll"
    LIST_KEYS = "listKeys"
    ACTION = "action"


_KINDS: Final = {
    "GET": CallKind.GET,
    "HEAD": CallKind.GET,
    "PUT": CallKind.PUT,
    "PATCH": CallKind.PATCH,
    "DELETE": CallKind.DELETE,
}


class RequestTally:
    """The counts so far. `totals` has those of the buckets, with polls apart from reads, and the throttled ones."""

    def __init__(self) -> None:
        self.totals: Counter[str] = Counter()
        self._by_type: Counter[tuple[str, CallKind]] = Counter()

    def count(self, call: ArmRequest) -> None:
        self.totals["polls" if call.is_poll else classify_method(call.method)] += 1
        self._by_type[find_type(call), find_kind(call)] += 1

    @property
    def by_type(self) -> dict[str, dict[str, int]]:
        """The counts by type and kind, sorted by name."""
        types = sorted({arm_type for arm_type, _ in self._by_type})
        rows = sorted(self._by_type.items())
        return {each: {kind.value: times for (arm_type, kind), times in rows if arm_type == each} for each in types}


def find_kind(call: ArmRequest) -> CallKind:
    if call.is_poll:
        return CallKind.POLL
    if call.is_list:
        return CallKind.LIST
    if call.method != "POST":
        return _KINDS[call.method]
    action = call.path.rpartition("/")[2].casefold()
    return CallKind.LIST_KEYS if action.startswith("list") or action.endswith("keys") else CallKind.ACTION


def find_type(call: ArmRequest) -> str:
    """The ARM type that a request is about: for an action its resource's, for a list that of its entries."""
    if call.method == "POST":
        return parse_arm_type(call.resource_id.rpartition("/")[0])
    return parse_arm_type(f"{call.resource_id}/" if call.is_list else call.resource_id)
