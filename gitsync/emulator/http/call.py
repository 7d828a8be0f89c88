"""One parsed request: its target, its caller, and what the script sets for its operation or its list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gitsync.emulator.http.target import Target
from gitsync.emulator.types.behaviour import Style


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The caller, by the claims of the token; all empty for a request without one."""

    client: str = ""
    object: str = ""
    tenant: str = ""
    read_only: bool = False

    @property
    def actor(self) -> str:
        return self.object or self.client or "anonymous"


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How the operation that a request starts shall run; None and "" leave it to the settings and the type.

    `hide` is how many reads after a create answer "not found".
    """

    style: Style | None = None
    polls: int | None = None
    seconds: float | None = None
    retry_after: int | None = None
    result: str = "Succeeded"
    error: Mapping[str, Any] | None = None
    host: str = ""
    hide: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFault:
    """How a list differs from what is there; `missing` and `duplicate` are patterns of ids with * and ?, in lower case.

    `trim` has the JSON pointers that its entries lack; the step `*` is every entry of a list. A `stale` list shows what
    was changed or deleted in the last so many seconds as it was before. A duplicate is at the end of the list.
    """

    trim: tuple[str, ...] = ()
    stale: float = 0.0
    missing: tuple[str, ...] = ()
    duplicate: tuple[str, ...] = ()
    reorder: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerRequest:
    """`base` is the scheme and host that the client called, which the URLs of answers begin with. `headers` is looked
    up without case.
    """

    method: str
    target: Target
    api_version: str
    base: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    caller: Caller = Caller()
    course: Course = Course()
    list_fault: ListFault = ListFault()

    @property
    def verb(self) -> str:
        """The name of the method in ARM's actions and messages."""
        return {"GET": "read", "HEAD": "read", "DELETE": "delete", "POST": "action"}.get(self.method, "write")
