"""What to do about an error, by its code, and by kind where it means something of its own there.

Apart from conditions, whose messages stay what Azure said, word for word: health checks compare them.
"""

from __future__ import annotations

from gitsync.model.condition import Condition
from gitsync.model.gvk import Key
from gitsync.status.advice_of_kinds import BY_KIND
from gitsync.status.advice_texts import BY_CODE
from gitsync.status.conditions import find_code


def find_advice(code: str, group: str, kind: str) -> str:
    """What a code means for a kind, and what to do: a few sentences on one line, "" where nothing is known of it.

    Providers spell codes in more than one way, so case means nothing.
    """
    of_kind = BY_KIND.get((code.casefold(), group, kind))
    return of_kind or BY_CODE.get(code.casefold(), "")


def find_condition_advice(condition: Condition | None, key: Key) -> str:
    """The same for a resource's condition; "" where that is Ready, or is not there."""
    if condition is None or condition.is_ready:
        return ""
    return find_advice(find_code(condition), key.group, key.kind)
