"""What to do about an error, by its code, and by kind if the code has a special meaning there.

Separate from conditions, whose messages quote Azure word for word: health checks compare them.
"""

from __future__ import annotations

from gitsync.model.condition import Condition
from gitsync.model.gvk import Key
from gitsync.status.advice_texts import BY_CODE, BY_KIND
from gitsync.status.conditions import find_code


def find_advice(code: str, group: str, kind: str) -> str:
    """What a code means for a kind, and what to do: a few sentences on one line, "" for an unknown code.

    Providers spell codes in more than one way, so case is ignored.
    """
    of_kind = BY_KIND.get((code.casefold(), group, kind))
    return of_kind or BY_CODE.get(code.casefold(), "")


def find_condition_advice(condition: Condition | None, key: Key) -> str:
    """The advice for the condition of a resource: its own, then that of its code; "" if it is Ready or absent."""
    if condition is None or condition.is_ready:
        return ""
    return " ".join(filter(None, (condition.advice, find_code_advice(condition, key))))


def find_code_advice(condition: Condition | None, key: Key) -> str:
    """The advice for the code of a condition alone, which quotes nothing."""
    if condition is None or condition.is_ready:
        return ""
    return find_advice(find_code(condition), key.group, key.kind)
