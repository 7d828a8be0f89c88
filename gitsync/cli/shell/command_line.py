"""What a command line needs next: a command, a flag, or a value of a flag or argument."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


@dataclass(frozen=True, slots=True)
class Slot:
    """The word to complete."""

    text: str  # what is typed of it
    action: argparse.Action | None = None
    """The flag or argument that it is a value of; None if it is a flag, or nothing more is expected."""

    before: str = ""  # what precedes the value in the same word (`--output=`)
    given: dict[str, Any] = field(default_factory=dict)  # the values of settings before it, as argparse would have them
    flags: frozenset[str] = frozenset()  # the flags before it


def split_line(line: str) -> tuple[list[str], str]:
    """The words of a line of bash after the name of the program, and the word that is typed: "" after a blank."""
    # A backslash at the end escapes what is not typed yet, and `shlex` would refuse the line.
    line = line.removesuffix("\\")
    for end in ("", "'", '"'):  # a quotation may be open
        try:
            words = shlex.split(line + end)
        except ValueError:
            continue
        # A blank ends the word, unless it is quoted or escaped.
        last = "" if not end and line[-1:].isspace() and not line.endswith("\\ ") else words.pop() if words else ""
        # `AZURE_TENANT_ID=… gitsync` has assignments before the name of the program.
        while words and _ASSIGNMENT.match(words[0]):
            del words[0]
        return words[1:], last
    return [], ""


def decide_slot(parser: argparse.ArgumentParser, words: Iterable[str], last: str) -> Slot:
    """What `last` is, after the words of a command. A word that the parser would refuse is skipped."""
    line = _CommandLine.begin(parser)
    for word in words:
        line.take(word)
    given, flags = line.given, frozenset(line.flags)
    if line.waiting is not None:
        return Slot(last, line.waiting, given=given, flags=flags)
    if line.is_flag(last):
        name, equals, value = last.partition("=")
        action = line.by_flag.get(name)
        return Slot(value, action, f"{name}=", given, flags) if equals else Slot(last, given=given, flags=flags)
    return Slot(last, next(iter(line.positional), None), given=given, flags=flags)


@dataclass(slots=True)
class _CommandLine:
    """What was read of a command line."""

    by_flag: Mapping[str, argparse.Action]
    positional: list[argparse.Action]  # the arguments that may follow
    given: dict[str, Any] = field(default_factory=dict)  # the values of settings, as argparse would have them
    flags: set[str] = field(default_factory=set)  # those that were used
    waiting: argparse.Action | None = None  # the flag whose value comes next
    has_ended_flags: bool = False  # `--` was read

    @classmethod
    def begin(cls, parser: argparse.ArgumentParser) -> _CommandLine:
        actions = parser._actions  # noqa: SLF001 - no public way
        by_flag = {flag: action for action in actions for flag in action.option_strings}
        return cls(by_flag, [action for action in actions if not action.option_strings])

    def is_flag(self, word: str) -> bool:
        return word.startswith("-") and not self.has_ended_flags

    def take(self, word: str) -> None:
        if self.waiting is not None:
            self._note(self.waiting, word)
            self.waiting = None
        elif word == "--":
            self.has_ended_flags = True
        elif self.is_flag(word):
            self._take_flag(word)
        elif self.positional:
            self._note(self.positional[0], word)
            if self.positional[0].nargs not in {"*", "+"}:
                del self.positional[0]

    def _take_flag(self, word: str) -> None:
        name, equals, value = word.partition("=")
        action = self.by_flag.get(name)
        if action is None:
            return
        self.flags.update(action.option_strings)
        if equals:
            self._note(action, value)
        # A flag with an optional value takes it only behind an equals sign.
        elif action.nargs is None:
            self.waiting = action

    def _note(self, action: argparse.Action, value: str) -> None:
        """Keep a value as argparse does; a flag that may be repeated has a list."""
        is_list = isinstance(action, argparse._AppendAction) or action.nargs in {"*", "+"}  # noqa: SLF001 - no public way
        self.given[action.dest] = [*self.given.get(action.dest, []), value] if is_list else value
