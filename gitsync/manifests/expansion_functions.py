"""What the operators of `${NAME…}` make of a value, as fluxcd/pkg/envsubst does.

Every function spends from a budget before it makes a text: a few variables can stand for any number of characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gitsync.manifests.expansions import InvalidExpansionError

MAX_CHARACTERS = 32 * 1024 * 1024
"""That all variables of one source may expand to, intermediate texts included."""

_STEP = 10  # what a step of a glob costs, in characters
_NUMBER: Final = re.compile(r"[-+]?[0-9]{1,18}")


class TooLargeExpansionError(Exception):
    """Variables expand to more than `MAX_CHARACTERS`."""


@dataclass(slots=True)
class ExpansionBudget:
    """The characters that may still be made. Mutable: it is spent."""

    left: int = MAX_CHARACTERS

    def spend(self, characters: int) -> None:
        """Raises TooLargeExpansionError if not that many are left; then it is empty."""
        self.left = max(0, self.left - characters)
        if not self.left:
            raise TooLargeExpansionError


Arguments = Sequence[str]
ExpansionFunction = Callable[[str, Arguments, ExpansionBudget], str]


def apply_operator(operator: str, value: str, arguments: Arguments, budget: ExpansionBudget) -> str:
    """The result of an operator. Raises InvalidExpansionError for a bad pattern, TooLargeExpansionError."""
    result = _FUNCTIONS[operator](value, arguments, budget)
    budget.spend(len(result) + 1)
    return result


def _count_bytes(value: str, _arguments: Arguments, _budget: ExpansionBudget) -> str:
    return str(len(value.encode()))


def _change_first(change: Callable[[str], str]) -> ExpansionFunction:
    return lambda value, _arguments, _budget: change(value[:1]) + value[1:]


def _change_all(change: Callable[[str], str]) -> ExpansionFunction:
    return lambda value, _arguments, _budget: change(value)


def _cut(value: str, arguments: Arguments, _budget: ExpansionBudget) -> str:
    """A part of a value, in bytes; an offset or length that is no number changes nothing."""
    if not all(_NUMBER.fullmatch(argument) for argument in arguments):
        return value
    content = value.encode()
    offset, *lengths = map(int, arguments)
    start = max(0, len(content) + offset) if offset < 0 else offset
    end = len(content)
    if lengths:
        end = end + lengths[0] if lengths[0] < 0 else start + lengths[0]
    try:
        return content[start : max(start, end)].decode()
    except UnicodeDecodeError:
        message = "An offset or a length cuts a character that has several bytes."
        raise InvalidExpansionError(message, "Change the offset or the length.") from None


def _replace(count: int) -> ExpansionFunction:
    def replace(value: str, arguments: Arguments, budget: ExpansionBudget) -> str:
        old, new = arguments[0], arguments[1] if len(arguments) > 1 else ""
        times = value.count(old) if count < 0 else 1
        budget.spend(times * len(new))
        return value.replace(old, new, count)

    return replace


def _replace_start(value: str, arguments: Arguments, _budget: ExpansionBudget) -> str:
    """Without a new text nothing is replaced, in Flux."""
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
    """Raises InvalidExpansionError if a bracket is open or a backslash is last."""
    tokens: list[str | re.Pattern[str]] = []
    at = 0
    while at < len(glob):
        found = _TOKEN.match(glob, at)
        if found is None:
            raise InvalidExpansionError("A pattern has a [ without its ], or ends in a \\.", "Fix the pattern.")
        tokens.append(_ANY if found[0] == "*" else _compile_token(found))
        at = found.end()
    return tokens


def _compile_token(found: re.Match[str]) -> re.Pattern[str]:
    negation, ranges, escaped = found.groups()
    if ranges:
        bounds = [(low, high or low) for low, high in _RANGE.findall(ranges)]
        members = "".join(f"{re.escape(low)}-{re.escape(high)}" for low, high in bounds if low <= high)
        return re.compile(f"[{negation}{members}]" if members else "." if negation else "(?!)", re.DOTALL)
    return re.compile("." if found[0] == "?" else re.escape(escaped or found[0]), re.DOTALL)


def _match_beginnings(tokens: Glob, value: str, budget: ExpansionBudget) -> Sequence[int]:
    """The lengths of all beginnings of a value that a glob matches, except an empty one.

    All of its positions move on together, so that many `*` take no more than the product of both lengths.
    """
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


def _upper(value: str) -> str:
    """In capitals, letter by letter as in Go: a letter whose capital is two stays."""
    return "".join(letter.upper() if len(letter.upper()) == 1 else letter for letter in value)


def _lower(value: str) -> str:
    return "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in value)


_FUNCTIONS: Final[Mapping[str, ExpansionFunction]] = {
    "length": _count_bytes,
    "^": _change_first(_upper),
    "^^": _change_all(_upper),
    ",": _change_first(_lower),
    ",,": _change_all(_lower),
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
