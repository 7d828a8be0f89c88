"""Whether git, the last write, the baseline and Azure are exactly the same: then no rule of a comparison has to decide.

Nearly all resources of nearly all runs are. One walk looks at all four, and copies nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gitsync.diff.leaf_changes import is_same
from gitsync.diff.projection import drop_empty, project
from gitsync.model.secret import MASKED

_SCALARS: Final = frozenset({str, bool, int, float})


def is_untouched(
    desired: Mapping[str, Any], applied: Mapping[str, Any], baseline: Mapping[str, Any], live: Mapping[str, Any]
) -> bool:
    """Tell whether all four have the same values for what git sets, in the order of lists and the types of numbers
    too. False where that is not plain to see: for a secret, whose value no other side has, and for a member that git
    and the last write do not have alike.
    """
    return _agree(_drop_name(desired), _drop_name(applied), baseline, live)


def _drop_name(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The name is in the URL, and no value of the body."""
    return {key: value for key, value in body.items() if key != "name"}


def _agree(
    desired: Mapping[str, Any], applied: Mapping[str, Any], baseline: Mapping[str, Any], live: Mapping[str, Any]
) -> bool:
    if desired.keys() != applied.keys():
        return False
    asked = 0
    for key, value in desired.items():
        sent = applied[key]
        if value is None and sent is None:
            continue
        if key not in baseline:
            if _is_empty(value) and _is_empty(sent) and not key.startswith("/"):
                continue  # an empty object asks for nothing
            return False
        if not _agree_on_value(key, value, sent, baseline[key], live.get(key)):
            return False
        asked += 1
    return asked == len(baseline)


def _agree_on_value(key: str, desired: Any, applied: Any, baseline: Any, live: Any) -> bool:
    kind = type(desired)
    if not (type(applied) is type(baseline) is type(live) is kind):
        return False
    if kind in _SCALARS:
        return bool(desired == applied == baseline == live != MASKED)
    if kind is dict:
        return bool(baseline or key.startswith("/")) and _agree(desired, applied, baseline, live)
    if kind is list:
        asked = drop_empty(desired)
        return (
            is_same(asked, baseline)
            and is_same(asked, drop_empty(applied))
            and is_same(asked, project(asked, live, key))
        )
    return False


def _is_empty(value: Any) -> bool:
    """Tell whether a value asks for nothing: an object without members, or with such members only."""
    return value is None or (type(value) is dict and drop_empty(value) == {})
