"""A secret value. It is never shown: only the serializer of a request body and the sinks reveal it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NoReturn

MASKED = "<secret>"
"""The text shown in place of a secret value: in records, reports and logs."""

CUT: Final = "…"
"""The end of a text that was cut, perhaps in the middle of a value: what hides secrets finds half a value before it."""

_NAMED: Final = re.compile(
    r"(?:password|passwd|pwd|secret|token|sig|signature|(?<=[a-z])key)[\"']?\s*[=:]\s*[\"']?([^;,\s\"'&]+)",
    re.IGNORECASE,
)
_IN_URL: Final = re.compile(r"://[^/?#@\s:]*:([^/?#@\s]+)@")


class Secret:
    """A string that must not be printed, compared with text, hashed or pickled by accident."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the value itself, for request bodies and sinks only."""
        return self._value

    def __repr__(self) -> str:
        return MASKED

    def __format__(self, _spec: str) -> str:
        return MASKED

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    __hash__ = None  # type: ignore[assignment]  # a hash would leak equality into dictionaries and logs

    def __reduce__(self) -> NoReturn:
        # A pickle would have the value as plain text.
        raise TypeError("a secret is not pickled")


class Placeholder(Secret):
    """Replaces a value that is not known yet: it is neither compared nor digested.

    Its text names the origin of the value. `why` explains why the value is not known, as the end of a sentence.
    `is_public`: the value is not a secret, so the text may be shown. `is_new`: the value comes from a resource that the
    run creates, so it differs from the previous one.
    """

    __slots__ = ("is_new", "is_public", "why")

    def __init__(self, text: str, *, why: str = "", is_public: bool = False, is_new: bool = False) -> None:
        super().__init__(text)
        self.why = why
        self.is_public = is_public
        self.is_new = is_new

    def as_public(self) -> Placeholder:
        """Return the placeholder of a value that is not a secret."""
        return Placeholder(self._value, why=self.why, is_public=True, is_new=self.is_new)

    def __repr__(self) -> str:
        return self._value if self.is_public else MASKED

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)


def is_hidden(value: object) -> bool:
    """Return whether a value must not be shown: every secret, but not the placeholder of a public value."""
    return isinstance(value, Secret) and not (isinstance(value, Placeholder) and value.is_public)


def truncate(text: str, most: int) -> str:
    """Cut a text to at most `most` characters, with `CUT` at its end."""
    return text if len(text) <= most else text[:most] + CUT


def list_inner_secrets(value: str) -> Iterator[str]:
    """Yield what a text marks as secret: `Password=…` of a connection string, and the password in a URL."""
    if "=" in value or ":" in value:  # both need one of them, and most texts have neither
        yield from _NAMED.findall(value)
        yield from _IN_URL.findall(value)
