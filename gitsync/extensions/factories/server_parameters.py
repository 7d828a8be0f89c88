"""Imports only the parameters of a database server that somebody has set (docs/reference/kinds.md#imports).

One module for the servers that have such parameters; they differ in how they spell the attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gitsync.extensions.api import Imported, NextImport, Subject, skipped


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlyWhatWasSet:
    """An Importer of parameters."""

    read_only: bool | str  # the value of `isReadOnly` for one that cannot be set
    folds_case: bool  # the source of a parameter is case-insensitive

    async def __call__(self, subject: Subject, next: NextImport) -> tuple[Subject, Imported]:  # noqa: A002 - ASO's word
        """Decides by the parameter as read; one that the rest of the chain skips stays skipped."""
        read_subject, answer = await next(subject)
        reason = answer.skipped or self._explain_skip(
            read_subject.live.body.get("properties") if read_subject.live else None
        )
        return read_subject, skipped(reason) if reason else answer

    def _explain_skip(self, properties: Any) -> str:
        """Why a parameter needs no manifest; "" if it may need one."""
        if not isinstance(properties, Mapping):
            return ""
        source, default_value = properties.get("source"), properties.get("defaultValue")
        if isinstance(source, str) and (source.casefold() if self.folds_case else source) == "system-default":
            return "it is a system default, which needs no manifest"
        read_only = properties.get("isReadOnly")
        # By type as well, since 1 equals True in Python.
        if type(read_only) is type(self.read_only) and read_only == self.read_only:
            return "it is read-only"
        if default_value is not None and default_value == properties.get("value"):
            return "its value is the default"
        return ""
