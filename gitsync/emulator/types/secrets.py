"""The values that Azure accepts and never returns.

Names were collected from what providers declare as secret and from what they were recorded to leave out; they are
matched whole, so that `secretName` and `disablePasswordAuthentication` stay.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

_TEXT = re.compile(
    r".*password$|.*sharedkey$|.*(access|account|sas|private|api|primary|secondary|workspace|master|admin)key$"
    r"|(client|server|app|serverapp|radiusserver|pull|shared)?secret$|secret(key|value|accesskey)$|secure(value|string)$"
    r"|.*(sas|security|refresh|access|developer|migration|databricksaccess)token$|token|pat|pem|.*privatekeydata$"
    r"|.*connectionstring$|customdata|certificate(value|data)$"
)
_WHOLE = frozenset({"protectedsettings", "protectedsettingsfromkeyvault"})
_EMPTIED = frozenset({"configurationprotectedsettings"})
"""Objects whose members are shown with empty values."""


def without_secrets(value: Any) -> Any:
    """A body as a GET shows it."""
    if isinstance(value, dict):
        return {name: _show_member(name, member) for name, member in value.items() if not _is_secret(name, member)}
    if isinstance(value, list):
        return [without_secrets(item) if isinstance(item, dict | list) else item for item in value]
    return value


def _show_member(name: str, member: Any) -> Any:
    if not isinstance(member, dict | list):
        return member
    if isinstance(member, dict) and name.casefold() in _EMPTIED:
        return dict.fromkeys(member, "")
    return without_secrets(member)


def _is_secret(name: str, member: Any) -> bool:
    return (isinstance(member, str) and _is_secret_name(name)) or name.casefold() in _WHOLE


@lru_cache(maxsize=4096)
def _is_secret_name(name: str) -> bool:
    return _TEXT.fullmatch(name.casefold()) is not None
