"""Answers, and the envelope of an error (resource-provider contract, common-api-details).

The texts of the errors are in `gitsync.emulator.codes`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gitsync.emulator.codes import CODES


@dataclass(frozen=True, slots=True)
class ServerResponse:
    """One HTTP answer. `body` is JSON, or None for none."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def but(self, headers: Mapping[str, str]) -> ServerResponse:
        """The same answer with further headers."""
        return replace(self, headers={**self.headers, **headers})


class _Blank(dict[str, Any]):
    """Shows the name of each missing value."""

    def __missing__(self, word: str) -> str:
        return word


def make_refusal(
    code: str,
    *,
    status: int = 0,
    message: str = "",
    details: Sequence[Mapping[str, Any]] = (),
    **words: Any,
) -> ServerResponse:
    """The answer for an ARM code; a code that is not in the table needs a status, or is a 400."""
    usual, text = CODES.get(code, (400, code))
    error: dict[str, Any] = {"code": code, "message": message or text.format_map(_Blank(words))}
    if details:
        error["details"] = list(details)
    return ServerResponse(status or usual, {"error": error}, {"x-ms-failure-cause": "gateway"})


class Refused(Exception):  # noqa: N818 - it is an answer, not a fault
    """ARM refuses the request, with this answer. Earlier changes stay stored."""

    def __init__(self, answer: ServerResponse) -> None:
        super().__init__(answer.body)
        self.answer = answer


def refuse(code: str, *, headers: Mapping[str, str] | None = None, **words: Any) -> Refused:
    """The exception to raise to answer with an ARM code."""
    return Refused(make_refusal(code, **words).but(headers or {}))


def refuse_method(method: str) -> Refused:
    """The exception to raise where a provider, rather than ARM, has no such method: it answers without a code."""
    return Refused(ServerResponse(405, {"Message": f"The requested resource does not support http method '{method}'."}))
