"""The grammar of `${NAME}` in a text, as fluxcd/pkg/envsubst reads it (a fork of drone/envsubst, version 1.9).

    $${…}                             a literal ${…}
    ${NAME}                           the value
    ${NAME:-text} ${NAME:=text} ${NAME=text}    the value; the text if there is none, or it is empty
    ${NAME:?text}                     the value; without one, an error with this text
    ${NAME^} ${NAME^^} ${NAME,} ${NAME,,}       the case of the first letter, or of all
    ${NAME/old/new} // /# /%          replaced once, everywhere, at the start, at the end
    ${NAME#glob} ## % %%              without the shortest or longest match at the start or at the end
    ${NAME:offset} ${NAME:offset:length}        a part, in bytes
    ${#NAME}                          the length, in bytes

Flux takes some texts for something else than a shell does: `:?` for a default, `:+` for the opposite. The first is an
error here, as its author meant it; the second is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NoReturn

from gitsync.model.variables import VARIABLE_NAME

MAX_NESTED = 10
"""Expansions inside of each other."""

_NAME: Final = re.compile(r"\w+")
_LITERAL: Final = "Write $${ for a literal ${."


@dataclass(frozen=True, slots=True)
class Expansion:
    """One `${…}`. `operator` is "" for the value as it is, "length" for `${#NAME}`, or the characters between the name
    and the first argument.
    """

    name: str
    operator: str = ""
    arguments: tuple[tuple[str | Expansion, ...], ...] = ()


Parts = tuple[str | Expansion, ...]
"""A text, cut into literal texts and expansions."""


class InvalidExpansionError(Exception):
    """A text begins an expansion that is none. `hint` says how to write it."""

    def __init__(self, message: str, hint: str = _LITERAL) -> None:
        super().__init__(message)
        self.message, self.hint = message, hint


def parse_expansions(text: str) -> Parts:
    """Cut a text into its parts; `$$` becomes `$`. Raises InvalidExpansionError."""
    return _Parser(text).parse_text()


class _Parser:
    """Reads one text from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0

    def parse_text(self) -> Parts:
        parts: list[str | Expansion] = []
        while (dollar := self.text.find("$", self.at)) >= 0:
            parts.append(self.text[self.at : dollar])
            self.at = dollar
            if self.text.startswith("${", dollar):
                parts.append(self.parse_expansion())
                continue
            parts.append("$")
            self.at += 2 if self.text.startswith("$$", dollar) else 1
        parts.append(self.text[self.at :])
        return tuple(part for part in parts if part)

    def parse_expansion(self) -> Expansion:
        self.at += 2
        self.depth += 1
        if self.depth > MAX_NESTED:
            raise InvalidExpansionError(
                f"Variables are nested more than {MAX_NESTED} deep.", "Set one variable to the result instead."
            )
        is_length = self.take("#")
        name = self.take_name()
        expansion = Expansion(name, "length") if is_length else self.parse_operator(name)
        if not self.take("}"):
            self.refuse(name)
        self.depth -= 1
        return expansion

    def parse_operator(self, name: str) -> Expansion:
        if not self.take_any(":=/#%,^"):
            return Expansion(name)
        first = self.text[self.at - 1]
        if first == "=" or (first == ":" and self.take_any("-=?+")):
            return self.parse_default(name, first if first == "=" else self.text[self.at - 2 : self.at])
        if first == ":":
            return self.parse_part(name)
        if first == "/":
            return self.parse_replacement(name)
        operator = first * 2 if self.take(first) else first
        return Expansion(name, operator, () if first in ",^" else (self.parse_argument(name, "}"),))

    def parse_default(self, name: str, operator: str) -> Expansion:
        if operator == ":+":
            message = f"${{{name}:+…}} means one thing in Flux and the opposite in a shell."
            raise InvalidExpansionError(message, f"Write ${{{name}:-…}} for a default.")
        parts: list[str | Expansion] = []
        while self.at < len(self.text) and self.text[self.at] != "}":
            parts += self.parse_argument(name, "}")
        return Expansion(name, operator, (tuple(parts),))

    def parse_part(self, name: str) -> Expansion:
        offset = self.parse_argument(name, ":}")
        if not self.take_all(":"):
            return Expansion(name, ":", (offset,))
        return Expansion(name, ":", (offset, self.parse_argument(name, "}")))

    def parse_replacement(self, name: str) -> Expansion:
        operator = "/" + (self.text[self.at - 1] if self.take_any("/#%") else "")
        old: Parts = () if self.text.startswith("/", self.at) else self.parse_argument(name, "/", escapes=True)
        if not self.take_all("/"):
            self.refuse(name)
        if self.text.startswith("}", self.at):
            return Expansion(name, operator, (old,))
        return Expansion(name, operator, (old, self.parse_argument(name, "}", escapes=True)))

    def parse_argument(self, name: str, ends: str, *, escapes: bool = False) -> Parts:
        """One argument: an expansion, or a text without one. An empty text is none."""
        if self.text.startswith("${", self.at):
            return (self.parse_expansion(),)
        letters = ""
        while self.at < len(self.text) and self.text[self.at] not in ends and not self.text.startswith("${", self.at):
            if escapes and self.text.startswith(("\\/", "\\\\", "$$"), self.at):
                self.at += 1
            letters += self.text[self.at]
            self.at += 1
        if not letters:
            self.refuse(name)
        return (letters,)

    def take_name(self) -> str:
        found = _NAME.match(self.text, self.at)
        if found is None or not VARIABLE_NAME.fullmatch(found[0]):
            raise InvalidExpansionError("No name of a variable follows ${.")
        self.at = found.end()
        return found[0]

    def take(self, letter: str) -> bool:
        return self.take_any(letter)

    def take_any(self, letters: str) -> bool:
        """Take one of some characters, if it is next."""
        is_next = self.at < len(self.text) and self.text[self.at] in letters
        self.at += is_next
        return is_next

    def take_all(self, letter: str) -> bool:
        """Take a character as often as it follows."""
        before = self.at
        while self.take(letter):
            pass
        return self.at > before

    def refuse(self, name: str) -> NoReturn:
        if self.at >= len(self.text):
            raise InvalidExpansionError(f"${{{name} has no closing brace.", "Close it with }. " + _LITERAL)
        if self.text[self.at] in "-?+":
            operator = self.text[self.at]
            hint = f"Write ${{{name}:{operator if operator in '-?' else '-'}…}}."
            raise InvalidExpansionError(f"${{{name}{operator}…}} is not known to Flux.", hint)
        raise InvalidExpansionError(f"What follows ${{{name} is none of the forms that Flux knows.")
