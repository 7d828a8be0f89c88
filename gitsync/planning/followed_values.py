"""Fields that follow other resources, by an expression (docs/values.md): those that a sync will change, and the cause
of a change that no commit made.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from gitsync.desired.catalog.packed_tables import is_immutable
from gitsync.desired.formats.json_pointer import format_pointer
from gitsync.desired.problems.field_path import find_member
from gitsync.desired.validation.references import is_arm_id
from gitsync.model.template import AwaitedValue, ComputedValue
from gitsync.model.verdict import Comparison, Difference
from gitsync.planning.diff.three_way import COMMITTED
from gitsync.planning.diff.unknown_values import NOT_KNOWN, add_differences, collect_unknown_values

_CALL: Final = re.compile(r"""resource\(\s*(?:"([^"\\]+)"|'([^'\\]+)')\s*\)""")


def add_awaited_values(
    comparison: Comparison, arm_type: str, desired: Mapping[str, Any], live: Mapping[str, Any]
) -> Comparison:
    """Return the comparison of a plan with the values that other resources will have after a sync. An ARM id beside
    what a sync changes stays: names make it. A fixed field is for `planning.replacement`.
    """
    reported = {difference.path for difference in comparison.differences}
    found = []
    for path, value in collect_unknown_values(desired).items():
        pointer, now = format_pointer(path), find_member(live, *path)
        is_id = isinstance(now, str) and is_arm_id(now)
        is_kept = pointer in reported or (is_id and not value.is_new)
        is_moved = pointer != "/location" or value.is_new  # a region that may stay needs no replacement
        if isinstance(value, AwaitedValue) and not is_kept and is_moved and not is_immutable(arm_type, pointer):
            found.append(Difference(pointer, repr(value), now, NOT_KNOWN))
    return add_differences(comparison, found)


def describe_followed(body: Mapping[str, Any], desired: Mapping[str, Any], differences: Iterable[Difference]) -> str:
    """Return a sentence for each computed value of a template's `body` that differs, such as
    `spec.tags.ip follows PublicIPAddress/egress.status.ipAddress.`; "" if there is none. A change in Azure of the field
    itself is drift, and has another cause. `desired` is the filled body.
    """
    paths = [difference.path for difference in differences if difference.rule in {COMMITTED, NOT_KNOWN}]
    awaited = {format_pointer(path): value.why for path, value in collect_unknown_values(desired).items()}
    sentences = (
        _describe(value, awaited.get(pointer, ""))
        for path, value in collect_unknown_values(body).items()
        if isinstance(value, ComputedValue)
        and any(_overlaps(pointer := format_pointer(path), other) for other in paths)
    )
    return " ".join(sentences)


def _describe(value: ComputedValue, why: str) -> str:
    later = f", which is {why}" if why else ""
    return f"{value.field} follows {_shorten(value.expression)}{later}."


def _shorten(expression: str) -> str:
    """Return an expression with the names of resources in place of the calls that find them."""
    return _CALL.sub(lambda call: call[1] or call[2], expression)


def _overlaps(pointer: str, path: str) -> bool:
    return f"{path}/".startswith(f"{pointer}/") or pointer.startswith(f"{path}/")
