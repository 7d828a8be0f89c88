"""What shall go wrong, and when: the rules of a script, and which of them a request meets.

A rule counts the requests that it matches and strikes at some of them. The counts are kept in the store, so that
processes that share one Azure share its script too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal

from gitsync.emulator.answers import Answer, refusal
from gitsync.emulator.call import Call, Course
from gitsync.emulator.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """Which requests a rule counts: by method, ARM type and path (patterns with * and ?, without case), and whether
    they ask for an operation. Then which of those it strikes at: the `nth` (from 1), or `times` of them `after` some.
    """

    methods: frozenset[str] = frozenset()
    type: str = "*"
    path: str = "*"
    poll: bool = False
    nth: frozenset[int] = frozenset()
    after: int = 0
    times: int | None = None

    def counts(self, call: Call, kind: str, *, poll: bool) -> bool:
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
    """An answer given instead of the work. Status and message are those of the code where they are left out."""

    code: str = ""
    status: int = 0
    message: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None

    def answer(self, call: Call) -> Answer:
        headers = {name: str(value) for name, value in self.headers.items()}
        if self.body is not None or not self.code:
            return Answer(self.status or 200, self.body, headers)
        words: dict[str, Any] = {
            "id": call.target.path,
            "scope": call.target.path,
            "group": call.target.group,
            "verb": call.verb,
        }
        words |= {"namespace": call.target.namespace, "type": call.target.type, "name": call.target.name}
        return refusal(self.code, status=self.status, message=self.message, **words).but(headers)


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
class Rule:
    """One entry of a script. `where` is its file and line."""

    match: Match = Match()
    answer: Canned | None = None
    drop: Literal["before", "after", ""] = ""
    timeout: bool = False  # the work is done, the answer is 504
    delay: float = 0.0
    course: Course | None = None
    move: tuple[Move, ...] = ()
    where: str = ""


def met(rules: Sequence[Rule], store: Store, call: Call, kind: str, *, poll: bool) -> list[Rule]:
    """The rules that strike at a request; each that counts it counts on."""
    striking = []
    for index, rule in enumerate(rules):
        if not rule.match.counts(call, kind, poll=poll):
            continue
        count = int(store.note(f"rule:{index}") or 0) + 1
        store.put_note(f"rule:{index}", count)
        if rule.match.strikes(count):
            striking.append(rule)
    return striking
