"""Names of database users as the last step of an id: what a user may be called, an id may not contain.

ARM compares ids without case, and a server distinguishes users by it. So capitals are encoded as well: two users have
two ids.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote, unquote

ANY_HOST = "%"

_CAPITAL = re.compile(r"%[0-9A-F]{2}|[A-Z]")


class DatabaseUser(NamedTuple):
    """A user of a server."""

    name: str
    host: str = ANY_HOST  # the one that it signs in from, which only MySQL distinguishes


def format_user(user: DatabaseUser) -> str:
    """Encode a user as the last step of an id: `app`, `app@10.0.0.1`. A name of dots only is encoded too."""
    name = _encode(user.name)
    return name if user.host == ANY_HOST else f"{name}@{_encode(user.host)}"


def parse_user(step: str) -> DatabaseUser:
    """Decode the last step of an id."""
    name, _, host = step.partition("@")
    return DatabaseUser(unquote(name), unquote(host) if host else ANY_HOST)


def _encode(text: str) -> str:
    quoted = quote(text, safe="")
    # `.` and `..` are steps of a path, which clients resolve.
    if text.strip(".") == "":
        return quoted.replace(".", "%2E")
    return _CAPITAL.sub(lambda found: found[0] if len(found[0]) > 1 else f"%{ord(found[0]):02X}", quoted)
