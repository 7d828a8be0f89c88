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

Flux reads some operators differently than a shell: `:?` as a default, `:+` as the opposite. Here, `:?` is an error, as
its author meant it, and `:+` is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NoReturn

from gitsync.errors import InvalidExpansionError, TooLargeExpansionError
from gitsync.model.variables import VARIABLE_NAME

MAX_NESTED = 10
"""Expansions that can be nested."""

_NAME: Final = re.compile(r"\w+")
_LITERAL: Final = "Write $${ for a literal ${."


@dataclass(frozen=True, slots=True)
class Expansion:
    """One `${…}`."""

    name: str
    operator: str = ""
    """"" for the value as it is, "length" for `${#NAME}`, or the characters between the name and the first argument."""

    arguments: tuple[tuple[str | Expansion, ...], ...] = ()  # each in its parts: texts and further expansions


TextParts = tuple[str | Expansion, ...]
"""A text, cut into literal texts and expansions."""


def parse_expansions(text: str) -> TextParts:
    """Cut a text into its parts; `$$` becomes `$`. Raises InvalidExpansionError."""
    return _ExpansionParser(text).parse_text()


class _ExpansionParser:
    """Reads one text from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0

    def parse_text(self) -> TextParts:
        parts: list[str | Expansion] = []
        while (dollar := self.text.find("$", self.at)) >= 0:
            parts.append(self.text[self.at : dollar])
            self.at = dollar
            if self.text.startswith("${", dollar):
                parts.append(self.parse_expansion())
                continue
            # A single dollar stays, as in Flux, which has no variables without braces.
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
        # The character after the colon distinguishes a default (`:-`) from a part (`:2`).
        if first == "=" or (first == ":" and self.take_any("-=?+")):
            return self.parse_default(name, first if first == "=" else self.text[self.at - 2 : self.at])
        if first == ":":
            return self.parse_part(name)
        if first == "/":
            return self.parse_replacement(name)
        operator = first * 2 if self.take(first) else first  # `##`, `%%` and `//` take the longest match or all matches
        return Expansion(name, operator, () if first in ",^" else (self.parse_argument(name, "}"),))

    def parse_default(self, name: str, operator: str) -> Expansion:
        if operator == ":+":
            message = f"${{{name}:+…}} has opposite meanings in Flux and in a shell."
            raise InvalidExpansionError(message, f"Write ${{{name}:-…}} for a default.")
        # A default may be empty or a mix of variables and texts; the other operators take one argument.
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
        old: TextParts = () if self.text.startswith("/", self.at) else self.parse_argument(name, "/", escapes=True)
        if not self.take_all("/"):
            self.refuse(name)
        if self.text.startswith("}", self.at):
            return Expansion(name, operator, (old,))
        return Expansion(name, operator, (old, self.parse_argument(name, "}", escapes=True)))

    def parse_argument(self, name: str, ends: str, *, escapes: bool = False) -> TextParts:
        """Parse one argument: an expansion, or a text without one. An empty text is not an argument."""
        if self.text.startswith("${", self.at):
            return (self.parse_expansion(),)
        letters = ""
        while self.at < len(self.text) and self.text[self.at] not in ends and not self.text.startswith("${", self.at):
            if escapes and self.text.startswith(("\\/", "\\\\", "$$"), self.at):
                self.at += 1
            letters += self.text[self.at]
            self.at += 1
        # envsubst takes no empty argument here, so a cluster would refuse the manifest.
        if not letters:
            self.refuse(name)
        return (letters,)

    def take_name(self) -> str:
        match = _NAME.match(self.text, self.at)
        if match is None or not VARIABLE_NAME.fullmatch(match[0]):
            raise InvalidExpansionError("${ is not followed by the name of a variable.", _LITERAL)
        self.at = match.end()
        return match[0]

    def take(self, letter: str) -> bool:
        return self.take_any(letter)

    def take_any(self, letters: str) -> bool:
        """Take the next character if it is one of these."""
        is_next = self.at < len(self.text) and self.text[self.at] in letters
        self.at += is_next
        return is_next

    def take_all(self, letter: str) -> bool:
        """Take a character as often as it repeats."""
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
            raise InvalidExpansionError(f"Flux does not support ${{{name}{operator}…}}.", hint)
        raise InvalidExpansionError(f"Flux does not support the text after ${{{name}.", _LITERAL)


# The operators of `${NAME…}`, as in fluxcd/pkg/envsubst.
#
# Every function spends from a budget before it makes a text: a few variables can expand to any number of characters.


MAX_CHARACTERS = 32 * 1024 * 1024
"""The size that all variables of one source may expand to, with intermediate texts."""

_STEP = 10  # the cost of a step of a glob, in characters
_NUMBER: Final = re.compile(r"[-+]?[0-9]{1,18}")


@dataclass(slots=True)
class ExpansionBudget:
    """The number of characters that expansions may still produce. Mutable: it is spent."""

    left: int = MAX_CHARACTERS

    def spend(self, characters: int) -> None:
        """Take characters from the budget. Raises TooLargeExpansionError if there are not enough, and stays empty."""
        # An empty budget makes a caller that goes on with the next document fail there at once.
        self.left = max(0, self.left - characters)
        if not self.left:
            raise TooLargeExpansionError


Arguments = Sequence[str]
ExpansionFunction = Callable[[str, Arguments, ExpansionBudget], str]


def apply_operator(operator: str, value: str, arguments: Arguments, budget: ExpansionBudget) -> str:
    """Apply an operator to a value. Raises InvalidExpansionError for an invalid pattern, and TooLargeExpansionError."""
    result = _FUNCTIONS[operator](value, arguments, budget)
    budget.spend(len(result) + 1)  # an empty result is not free: a text may have a million of them
    return result


def _change_first(change: Callable[[str], str]) -> ExpansionFunction:
    return lambda value, _arguments, _budget: change(value[:1]) + value[1:]


def _change_all(change: Callable[[str], str]) -> ExpansionFunction:
    return lambda value, _arguments, _budget: change(value)


def _cut(value: str, arguments: Arguments, _budget: ExpansionBudget) -> str:
    """Cut a part out of a value, in bytes. An offset or a length that is not a number changes nothing."""
    if not all(_NUMBER.fullmatch(argument) for argument in arguments):
        return value
    content = value.encode()  # Go counts bytes
    offset, *lengths = map(int, arguments)
    start = max(0, len(content) + offset) if offset < 0 else offset
    end = len(content)
    if lengths:
        end = end + lengths[0] if lengths[0] < 0 else start + lengths[0]
    try:
        return content[start : max(start, end)].decode()
    # Go would write half of a character, which is neither YAML nor JSON.
    except UnicodeDecodeError:
        message = "An offset or a length splits a multi-byte character."
        raise InvalidExpansionError(message, "Change the offset or the length.") from None


def _replace(count: int) -> ExpansionFunction:
    def replace(value: str, arguments: Arguments, budget: ExpansionBudget) -> str:
        old, new = arguments[0], arguments[1] if len(arguments) > 1 else ""
        times = value.count(old) if count < 0 else 1
        budget.spend(times * len(new))  # before the text is made, which may be too large for the memory
        return value.replace(old, new, count)

    return replace


def _replace_start(value: str, arguments: Arguments, _budget: ExpansionBudget) -> str:
    """Replace a text at the start. Without a new text, Flux replaces nothing."""
    is_found = len(arguments) > 1 and value.startswith(arguments[0])
    return arguments[1] + value.removeprefix(arguments[0]) if is_found else value


def _replace_end(value: str, arguments: Arguments, _budget: ExpansionBudget) -> str:
    is_found = len(arguments) > 1 and value.endswith(arguments[0])
    return value.removesuffix(arguments[0]) + arguments[1] if is_found else value


def _trim_start(choose: Callable[[Sequence[int]], int]) -> ExpansionFunction:
    def trim(value: str, arguments: Arguments, budget: ExpansionBudget) -> str:
        lengths = _match_beginnings(_parse_glob(arguments[0]), value, budget)
        return value[choose(lengths) :] if lengths else value

    return trim


def _trim_end(choose: Callable[[Sequence[int]], int]) -> ExpansionFunction:
    def trim(value: str, arguments: Arguments, budget: ExpansionBudget) -> str:
        # Flux reverses the pattern to match at the end, and with it the order of the brackets.
        if set("[]\\") & set(arguments[0]):
            message = "A pattern at the end of a value has [, ] or \\, which Flux reads backwards."
            raise InvalidExpansionError(message, "Use only letters, * and ? in it.")
        lengths = _match_beginnings(_parse_glob(arguments[0][::-1]), value[::-1], budget)
        return value[: len(value) - choose(lengths)] if lengths else value

    return trim


_ANY: Final = ""
"""The token of `*`. Every other token is the pattern of one character."""

Glob = Sequence[str | re.Pattern[str]]

_TOKEN: Final = re.compile(r"\[(\^?)((?:(?:\\.|[^\]\\-])(?:-(?:\\.|[^\]\\-]))?)+)\]|\\(.)|[^\[\\]", re.DOTALL)
_RANGE: Final = re.compile(r"\\?(.)(?:-\\?(.))?", re.DOTALL)


def _parse_glob(glob: str) -> Glob:
    """Parse a glob into tokens. Raises InvalidExpansionError if a bracket is open or a backslash is last."""
    tokens: list[str | re.Pattern[str]] = []
    at = 0
    while at < len(glob):
        match = _TOKEN.match(glob, at)
        if match is None:
            raise InvalidExpansionError("A pattern has a [ without its ], or ends in a \\.", "Fix the pattern.")
        tokens.append(_ANY if match[0] == "*" else _compile_token(match))
        at = match.end()
    return tokens


def _compile_token(match: re.Match[str]) -> re.Pattern[str]:
    negation, ranges, escaped = match.groups()
    if ranges:
        bounds = [(low, high or low) for low, high in _RANGE.findall(ranges)]
        # Go takes a range that ends before it starts as one without letters, and Python refuses it.
        members = "".join(f"{re.escape(low)}-{re.escape(high)}" for low, high in bounds if low <= high)
        return re.compile(f"[{negation}{members}]" if members else "." if negation else "(?!)", re.DOTALL)
    return re.compile("." if match[0] == "?" else re.escape(escaped or match[0]), re.DOTALL)


def _match_beginnings(tokens: Glob, value: str, budget: ExpansionBudget) -> Sequence[int]:
    """List the lengths of all beginnings of a value that a glob matches, except an empty one.

    All positions in the glob advance together, so that many `*` take no more steps than the product of both lengths.
    """
    # The most steps that a match can take are spent first, since nothing interrupts it later.
    budget.spend(_STEP * len(value) * (len(tokens) + 1))
    positions = _skip_any({0}, tokens)
    lengths = []
    for at, letter in enumerate(value, start=1):
        positions = _skip_any(set(_step(positions, tokens, letter)), tokens)
        if len(tokens) in positions:
            lengths.append(at)
        if not positions:
            break
    return lengths


def _step(positions: set[int], tokens: Glob, letter: str) -> Sequence[int]:
    moved = []
    for position in positions:
        if position == len(tokens):
            continue
        token = tokens[position]
        if isinstance(token, str):
            moved.append(position)
        elif token.fullmatch(letter):
            moved.append(position + 1)
    return moved


def _skip_any(positions: set[int], tokens: Glob) -> set[int]:
    """Add the positions behind every `*`, which may stand for nothing."""
    skipped = set(positions)
    for position in positions:
        while position < len(tokens) and tokens[position] == _ANY:
            position += 1  # noqa: PLW2901 - a step further along the same glob
            skipped.add(position)
    return skipped


def _to_upper(value: str) -> str:
    """Change a text to capitals, letter by letter as in Go: a letter whose capital is two letters stays."""
    return "".join(letter.upper() if len(letter.upper()) == 1 else letter for letter in value)


def _to_lower(value: str) -> str:
    return "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in value)


_FUNCTIONS: Final[Mapping[str, ExpansionFunction]] = {
    "length": lambda value, _arguments, _budget: str(len(value.encode())),
    "^": _change_first(_to_upper),
    "^^": _change_all(_to_upper),
    ",": _change_first(_to_lower),
    ",,": _change_all(_to_lower),
    ":": _cut,
    "/": _replace(1),
    "//": _replace(-1),
    "/#": _replace_start,
    "/%": _replace_end,
    "#": _trim_start(min),
    "##": _trim_start(max),
    "%": _trim_end(min),
    "%%": _trim_end(max),
}
