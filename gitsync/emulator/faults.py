"""What shall go wrong, and when: the rules of a script, and which of them a request meets.

A rule counts the requests that it matches and strikes at some of them. The counts are kept in the store, so that
processes that share one Azure share its script too; what happens then is decided in `gitsync.emulator.http.front`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

from gitsync.emulator.http.answers import ServerResponse, make_refusal
from gitsync.emulator.http.call import Course, ServerRequest
from gitsync.emulator.state.store import Store
from gitsync.emulator.types.behaviour import Style
from gitsync.emulator.yaml_document import FieldReader, YamlNode, fields


class Drop(StrEnum):
    """When the connection breaks."""

    BEFORE = "before"  # nothing was done
    AFTER = "after"  # the work was done
    NEVER = "never"


class Ending(StrEnum):
    """What an operation ends in."""

    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    CANCELED = "Canceled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """Which requests a rule counts: by method, ARM type and path (patterns with * and ?, without case), and whether
    they ask for an operation. Then which of those it strikes at: the `nth` (from 1), or `times` of them `after` some.
    """

    methods: Collection[str] = ()
    type: str = "*"
    path: str = "*"
    poll: bool = False
    nth: Collection[int] = ()
    after: int = 0
    times: int | None = None

    def counts(self, call: ServerRequest, kind: str, *, poll: bool) -> bool:
        """Whether a request is one of those; `kind` is the type that it is about."""
        return (
            self.poll is poll
            and (not self.methods or call.method in self.methods)
            and fnmatchcase(kind.casefold(), self.type)
            and fnmatchcase(call.target.key, self.path)
        )

    def strikes(self, count: int) -> bool:
        if self.nth:
            return count in self.nth
        return count > self.after and (self.times is None or count <= self.after + self.times)


@dataclass(frozen=True, slots=True, kw_only=True)
class Canned:
    """An answer given instead of the work. Status and message are those of the code where they are left out.

    `{base}` in a text of the body or of a header is the scheme and host that the client called.
    """

    code: str = ""
    status: int = 0
    message: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None

    def answer(self, call: ServerRequest) -> ServerResponse:
        headers = {name: _placed(str(value), call.base) for name, value in self.headers.items()}
        if self.body is not None or not self.code:
            return ServerResponse(self.status or 200, _placed(self.body, call.base), headers)
        words: dict[str, Any] = {
            "id": call.target.path,
            "scope": call.target.path,
            "group": call.target.group,
            "verb": call.verb,
        }
        words |= {"namespace": call.target.namespace, "type": call.target.type, "name": call.target.name}
        return make_refusal(self.code, status=self.status, message=self.message, **words).but(headers)


def _placed(value: Any, base: str) -> Any:
    """JSON with the scheme and host in the places for it, so that links of an answer lead to the emulator."""
    match value:
        case str():
            return value.replace("{base}", base)
        case Mapping():
            return {name: _placed(item, base) for name, item in value.items()}
        case list():
            return [_placed(item, base) for item in value]
        case _:
            return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A change behind git's back: values by JSON pointer, members taken away, or the whole resource.

    `id` "" is the resource that the request is about.
    """

    id: str = ""
    set: Mapping[str, Any] = field(default_factory=dict)
    remove: tuple[str, ...] = ()
    delete: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultRule:
    """One entry of a script. `where` is its file and line."""

    match: Match = Match()
    answer: Canned | None = None
    drop: Drop = Drop.NEVER
    timeout: bool = False  # the work is done, the answer is 504
    delay: float = 0.0
    course: Course | None = None
    move: tuple[Move, ...] = ()
    where: str = ""


class Script:
    """The rules, each with the name that its count has in the store: another rule in its place counts anew."""

    def __init__(self, rules: Sequence[FaultRule]) -> None:
        self._rules = [(f"rule:{index}:{_digest(rule)}", rule) for index, rule in enumerate(rules)]

    def met(self, store: Store, call: ServerRequest, kind: str, *, poll: bool) -> list[FaultRule]:
        """The rules that strike at a request, which is about a type; each that counts it counts on."""
        striking = []
        for name, rule in self._rules:
            if not rule.match.counts(call, kind, poll=poll):
                continue
            count = int(store.note(name) or 0) + 1
            store.put_note(name, count)
            if rule.match.strikes(count):
                striking.append(rule)
        return striking


def _digest(rule: FaultRule) -> str:
    return hashlib.sha256(repr(rule).encode()).hexdigest()[:12]


def read_rule(node: YamlNode) -> FaultRule:
    """One rule of a file: what it matches, and at least one thing that it does."""
    given = fields(node, _RULE)
    if not set(given) - {"match"}:
        raise node.wrong("A rule does something.", f"Give one of {', '.join(sorted(set(_RULE) - {'match'}))}.")
    hide = given.pop("hide", 0)
    if hide:
        given["course"] = replace(given.get("course") or Course(), hide=hide)
    return FaultRule(**given, where=node.where)


def _lower(node: YamlNode) -> str:
    return node.text().casefold()


def _methods(node: YamlNode) -> tuple[str, ...]:
    return tuple(method.upper() for method in node.texts())


def _numbers(node: YamlNode) -> tuple[int, ...]:
    return tuple(item.count() for item in node.items())


def _match(node: YamlNode) -> Match:
    return Match(**fields(node, _MATCH))


def _canned(node: YamlNode) -> Canned:
    given = fields(node, _ANSWER)
    if not {"status", "code"} & set(given):
        raise node.wrong("An answer needs a status or a code.")
    return Canned(**given)


def _course(node: YamlNode) -> Course:
    return Course(**fields(node, _OPERATION))


def _error(node: YamlNode) -> dict[str, Any]:
    members = node.members("code", "message", "details", "target")
    if not {"code", "message"} <= set(members):
        raise node.wrong("An error needs a code and a message.")
    return {name: value.any() for name, value in members.items()}


def _moves(node: YamlNode) -> tuple[Move, ...]:
    return tuple(_move(item) for item in node.items())


def _move(node: YamlNode) -> Move:
    given = fields(node, _MOVE)
    if not set(given) - {"id"}:
        raise node.wrong("A move sets, removes or deletes something.")
    return Move(**given)


def _values(node: YamlNode) -> dict[str, Any]:
    return {pointer: value.any() for pointer, value in node.members().items()}


_MATCH: Mapping[str, FieldReader] = {
    "method": ("methods", _methods),
    "type": ("type", _lower),
    "path": ("path", _lower),
    "poll": ("poll", YamlNode.flag),
    "nth": ("nth", _numbers),
    "after": ("after", YamlNode.count),
    "times": ("times", YamlNode.count),
}
_ANSWER: Mapping[str, FieldReader] = {
    "status": ("status", YamlNode.count),
    "code": ("code", YamlNode.text),
    "message": ("message", YamlNode.text),
    "headers": ("headers", _values),
    "body": ("body", YamlNode.any),
}
_OPERATION: Mapping[str, FieldReader] = {
    "style": ("style", lambda node: node.choice(Style)),
    "polls": ("polls", YamlNode.count),
    "seconds": ("seconds", YamlNode.number),
    "retryAfter": ("retry_after", YamlNode.count),
    "result": ("result", lambda node: node.choice(Ending).value),
    "error": ("error", _error),
    "host": ("host", YamlNode.text),
}
_MOVE: Mapping[str, FieldReader] = {
    "id": ("id", YamlNode.text),
    "set": ("set", _values),
    "remove": ("remove", YamlNode.texts),
    "delete": ("delete", YamlNode.flag),
}
_RULE: Mapping[str, FieldReader] = {
    "match": ("match", _match),
    "answer": ("answer", _canned),
    "drop": ("drop", lambda node: node.choice(Drop)),
    "timeout": ("timeout", YamlNode.flag),
    "delay": ("delay", YamlNode.number),
    "hide": ("hide", YamlNode.count),
    "operation": ("course", _course),
    "move": ("move", _moves),
}
