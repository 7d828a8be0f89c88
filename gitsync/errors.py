"""The exceptions of gitsync. An expected "no" is a value; an exception means that the caller cannot go on.

GitsyncError            what, where, how to fix it
├── ConfigError         a setting is wrong; nothing was touched                      exit 2
├── SourceError         the source cannot be fetched or read; nothing was touched    exit 2
├── StateError          the state cannot be read, or not be written before the run   exit 2
├── UnsafePlanError     a limit was crossed; nothing was touched                     exit 2
├── DeclinedError       a person answered no; nothing was touched                    exit 2
├── PublishError        what came of the run could not be written back               exit 1
├── ArmError            Azure refused, or did not answer; becomes a condition
├── ExpressionError     an expression of an export does not compile
├── ExtensionError      an extension of another package failed; becomes a condition
└── CatalogError        the packed facts are damaged: an internal error              exit 70
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class GitsyncError(Exception):
    """A failure that a person can act on: one sentence on what is wrong and where, and one on how to fix it."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class ConfigError(GitsyncError):
    exit_code = 2


class SourceError(GitsyncError):
    exit_code = 2


class StateError(GitsyncError):
    exit_code = 2


class UnsafePlanError(GitsyncError):
    exit_code = 2


class DeclinedError(GitsyncError):
    exit_code = 2


class PublishError(GitsyncError):
    exit_code = 1


class ArmError(GitsyncError):
    """One request that Azure refused, or whose answer never came.

    `status` is the HTTP status, 0 where no answer came. `code` is ARM's ("UnknownError" where the body has none;
    docs/reference/arm.md#error-bodies). `outcome_unknown` means that a write may or may not have happened: read before
    writing again. `retry_after` is in seconds.
    """

    def __init__(  # noqa: PLR0913 - all of it is what a person needs to call support
        self,
        message: str,
        *,
        status: int = 0,
        code: str = "UnknownError",
        details: tuple[Mapping[str, Any], ...] = (),
        request_id: str = "",
        resource_id: str = "",
        method: str = "",
        at: str = "",
        retry_after: float | None = None,
        outcome_unknown: bool = False,
        hint: str = "",
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.code = code
        self.details = details
        self.request_id = request_id
        self.resource_id = resource_id
        self.method = method
        self.at = at
        self.retry_after = retry_after
        self.outcome_unknown = outcome_unknown


class ExtensionError(GitsyncError):
    """What an extension of another package was asked could not be found out."""


class ExpressionError(GitsyncError):
    """An expression cannot be read, or does not fit what it speaks of; the message tells line and column."""


class CatalogError(GitsyncError):
    exit_code = 70
