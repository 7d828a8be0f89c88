"""A secret value. It is never shown: only the serialiser of a request body and the sinks reveal it."""

from __future__ import annotations

from typing import NoReturn

MASKED = "<secret>"
"""What stands for a secret's value wherever one would show: in a record, a report, a log."""


class Secret:
    """A string that must not be printed, compared with text, hashed or pickled by accident."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The value itself; for request bodies and sinks alone."""
        return self._value

    def __repr__(self) -> str:
        return MASKED

    def __format__(self, _spec: str) -> str:
        return MASKED

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    __hash__ = None  # type: ignore[assignment]  # a hash would leak equality into dictionaries and logs

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not pickled")


class Placeholder(Secret):
    """What stands for a value that only a later step of the run can know. It is neither compared nor digested."""

    __slots__ = ()
