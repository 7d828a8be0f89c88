"""Which names of members have a secret as their value, whatever the facts about the type state."""

from __future__ import annotations

import re
from typing import Final

_SECRET: Final = re.compile(
    r".*(?:password|passphrase|secret|secrets|connectionstring|protectedsettings|accesskey|accountkey|sharedkey"
    r"|instrumentationkey|sastoken|privatekey|credentials)"
)


def is_secret_name(name: str) -> bool:
    """Return whether a member of this name, in any case, has a secret."""
    return _SECRET.fullmatch(name.casefold().replace("-", "")) is not None
