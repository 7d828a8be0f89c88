"""Fault injection: the rules of a script, and which requests they match.

A rule counts the requests that it matches and applies to some of them. The counts are in the store, so processes that
share one Azure share its script too. `gitsync.emulator.http.handler` applies the rules.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

from gitsync.emulator.http.messages import Course, ListFault, ServerRequest, ServerResponse, make_refusal
from gitsync.emulator.state.store import Store
from gitsync.emulator.types.behaviour import Style
from gitsync.settings.config.yaml_file import FieldReader, YamlNode, read_as, read_each, read_fields


class Drop(StrEnum):
    """When the connection breaks."""

    BEFORE = "before"  # the request has no effect
    AFTER = "after"  # the request has its effect
    NEVER = "never"


class Ending(StrEnum):
    """The result of an operation."""

    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    CANCELED = "Canceled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """Which requests a rule counts, and to which of those it applies."""

    methods: Collection[str] = ()  # none for any
    type: str = "*"  # an ARM type; a pattern with * and ?, case-insensitive, as for the path
    path: str = "*"
    poll: bool = False  # requests that poll an operation
    lists: bool | None = None  # requests that list, or only others; None for both
    nth: Collection[int] = ()  # those by their number, from 1
    after: int = 0  # the number of those that the rule skips first
    times: int | None = None  # how many of the next ones it applies to, None for all

    def counts(self, request: ServerRequest, kind: str, *, poll: bool) -> bool:
        """Return whether a request matches; `kind` is the type of its resource."""
        return (
            self.poll is poll
            and self.lists in {None, request.method == "GET" and request.target.is_list}
            and (not self.methods or request.method in self.methods)
            and fnmatchcase(kind.casefold(), self.type)
            and fnmatchcase(request.target.key, self.path)
        )

    def strikes(self, count: int) -> bool:
        if self.nth:
            return count in self.nth
        return count > self.after and (self.times is None or count <= self.after + self.times)


@dataclass(frozen=True, slots=True, kw_only=True)
class Canned:
    """An answer that replaces the normal one."""

    code: str = ""
    status: int = 0  # 0 for that of the code
    message: str = ""  # "" for that of the code
    headers: Mapping[str, str] = field(default_factory=dict)
    """`{base}` in a text is the scheme and host that the client called."""

    body: Any = None  # likewise

    def answer(self, request: ServerRequest) -> ServerResponse:
        headers = {name: _replace_base(str(value), request.base) for name, value in self.headers.items()}
        if self.body is not None or not self.code:
            return ServerResponse(self.status or 200, _replace_base(self.body, request.base), headers)
        words: dict[str, Any] = {
            "id": request.target.path,
            "scope": request.target.path,
            "group": request.target.group,
            "verb": request.verb,
        }
        words |= {"namespace": request.target.namespace, "type": request.target.type, "name": request.target.name}
        return make_refusal(self.code, status=self.status, message=self.message, **words).add_headers(headers)


def _replace_base(value: Any, base: str) -> Any:
    """JSON with `{base}` replaced by the scheme and host, so that links of an answer lead to the emulator."""
    match value:
        case str():
            return value.replace("{base}", base)
        case Mapping():
            return {name: _replace_base(item, base) for name, item in value.items()}
        case list():
            return [_replace_base(item, base) for item in value]
        case _:
            return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A change outside git."""

    id: str = ""  # "" for the resource of the request
    by: str = ""
    """Who made it in Azure's logs: the name of a person, the id of an application, or `System`; "" is unknown."""

    client: str = ""  # the program that made it in Azure's logs
    create: Mapping[str, Any] | None = None  # the body of a new resource
    set: Mapping[str, Any] = field(default_factory=dict)  # values by JSON pointer
    remove: tuple[str, ...] = ()  # the JSON pointers of members
    show: Mapping[str, Any] = field(default_factory=dict)
    """Values that only Azure sets, by JSON pointer: no PUT removes or changes them."""

    delete: bool = False  # the resource itself


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedMove:
    """A move that no request triggers: at a time, or some seconds after an emulator first read it in its script."""

    move: Move
    at: datetime | None = None
    after: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultRule:
    """One entry of a script."""

    match: Match = Match()
    answer: Canned | None = None  # None for the normal one
    drop: Drop = Drop.NEVER  # when the connection is cut
    timeout: bool = False  # the request has its effect, the answer is 504
    delay: float = 0.0  # seconds
    course: Course | None = None  # how the operation of the request runs
    list_fault: ListFault | None = None  # None if lists are as the state
    keep: tuple[str, ...] = ()  # JSON pointers of the members in which a PUT keeps values that its body omits
    move: tuple[Move, ...] = ()
    where: str = ""  # its file and line


class Script:
    """The rules, each with the name of its count in the store. A rule that replaces another starts a new count."""

    def __init__(self, rules: Sequence[FaultRule]) -> None:
        digests = [hashlib.sha256(repr(rule).encode()).hexdigest()[:12] for rule in rules]
        self._rules = [(f"rule:{index}:{digests[index]}", rule) for index, rule in enumerate(rules)]

    def list_applying(self, store: Store, request: ServerRequest, kind: str, *, poll: bool) -> list[FaultRule]:
        """List the rules that apply to a request for a type. Each matching rule counts the request."""
        applying = []
        for name, rule in self._rules:
            if not rule.match.counts(request, kind, poll=poll):
                continue
            # The count is in the store: processes that share one Azure count together.
            count = int(store.note(name) or 0) + 1
            store.put_note(name, count)
            if rule.match.strikes(count):
                applying.append(rule)
        return applying


def read_rule(node: YamlNode) -> FaultRule:
    """Read a rule of a file: what it matches, and at least one action."""
    values = read_fields(node, _RULE)
    if not set(values) - {"match"}:
        raise node.wrong("a rule needs an action.", f"Set one of {', '.join(sorted(set(_RULE) - {'match'}))}.")
    hide = values.pop("hide", 0)
    if hide:  # its own key in the file, and a part of the operation's course here
        values["course"] = replace(values.get("course") or Course(), hide=hide)
    if "list_fault" in values:  # only lists can have this fault, so only lists count
        values["match"] = replace(values.get("match", Match()), lists=True)
    return FaultRule(**values, where=node.where)


def _read_lower(node: YamlNode) -> str:
    return node.text().casefold()


def _read_patterns(node: YamlNode) -> tuple[str, ...]:
    return tuple(pattern.casefold() for pattern in node.texts())


def _read_canned(node: YamlNode) -> Canned:
    values = read_fields(node, _ANSWER)
    if not {"status", "code"} & set(values):
        raise node.wrong("an answer needs a status or a code.")
    return Canned(**values)


def _read_error(node: YamlNode) -> dict[str, Any]:
    members = node.members("code", "message", "details", "target")
    if not {"code", "message"} <= set(members):
        raise node.wrong("an error needs a code and a message.")
    return {name: value.any() for name, value in members.items()}


def _make_move(node: YamlNode, values: Mapping[str, Any]) -> Move:
    deeds = [name for name in ("create", "delete") if values.get(name)]
    if {"set", "remove", "show"} & set(values):
        deeds.append("set, remove or show")
    if len(deeds) != 1:
        raise node.wrong("a move needs one of create, delete, or set, remove and show.")
    return Move(**values)


def read_planned_move(node: YamlNode) -> PlannedMove:
    """Read a move of a file that has a time."""
    values = read_fields(node, _PLANNED_MOVE)
    when = {name: values.pop(name) for name in ("at", "after") if name in values}
    if len(when) != 1 or "id" not in values:
        raise node.wrong("a move without a rule needs an id, and either at or after.")
    return PlannedMove(move=_make_move(node, values), **when)


def _read_values(node: YamlNode) -> dict[str, Any]:
    return {pointer: value.any() for pointer, value in node.members().items()}


_MATCH: Mapping[str, FieldReader] = {
    "method": ("methods", lambda node: tuple(method.upper() for method in node.texts())),
    "type": ("type", _read_lower),
    "path": ("path", _read_lower),
    "poll": ("poll", YamlNode.flag),
    "list": ("lists", YamlNode.flag),
    "nth": ("nth", read_each(YamlNode.count)),
    "after": ("after", YamlNode.count),
    "times": ("times", YamlNode.count),
}
_ANSWER: Mapping[str, FieldReader] = {
    "status": ("status", YamlNode.count),
    "code": ("code", YamlNode.text),
    "message": ("message", YamlNode.text),
    "headers": ("headers", _read_values),
    "body": ("body", YamlNode.any),
}
_OPERATION: Mapping[str, FieldReader] = {
    "style": ("style", lambda node: node.choice(Style)),
    "polls": ("polls", YamlNode.count),
    "seconds": ("seconds", YamlNode.number),
    "retryAfter": ("retry_after", YamlNode.count),
    "result": ("result", lambda node: node.choice(Ending).value),
    "error": ("error", _read_error),
    "host": ("host", YamlNode.text),
}
_LIST: Mapping[str, FieldReader] = {
    "trim": ("trim", YamlNode.texts),
    "stale": ("stale", YamlNode.number),
    "missing": ("missing", _read_patterns),
    "duplicate": ("duplicate", _read_patterns),
    "reorder": ("reorder", YamlNode.flag),
}
_MOVE: Mapping[str, FieldReader] = {
    "id": ("id", YamlNode.text),
    "by": ("by", YamlNode.text),
    "with": ("client", YamlNode.text),
    "create": ("create", lambda node: {name: value.any() for name, value in node.members().items()}),
    "set": ("set", _read_values),
    "remove": ("remove", YamlNode.texts),
    "show": ("show", _read_values),
    "delete": ("delete", YamlNode.flag),
}
_PLANNED_MOVE: Mapping[str, FieldReader] = {
    **_MOVE,
    "at": ("at", YamlNode.time),
    "after": ("after", YamlNode.number),
}
_RULE: Mapping[str, FieldReader] = {
    "match": ("match", read_as(Match, _MATCH)),
    "answer": ("answer", _read_canned),
    "drop": ("drop", lambda node: node.choice(Drop)),
    "timeout": ("timeout", YamlNode.flag),
    "delay": ("delay", YamlNode.number),
    "hide": ("hide", YamlNode.count),
    "operation": ("course", read_as(Course, _OPERATION)),
    "list": ("list_fault", read_as(ListFault, _LIST)),
    "keep": ("keep", YamlNode.texts),
    "move": ("move", read_each(lambda node: _make_move(node, read_fields(node, _MOVE)))),
}
