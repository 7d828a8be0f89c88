"""Evaluates `matches`: whether an RE2 pattern matches somewhere in a text.

RE2 does not backtrack: its time grows with the pattern times the text, which is charged to the budget. `re2` is
imported with the first pattern, since most repositories have none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from gitsync.desired.cel.budget import EvaluationBudget
from gitsync.errors import EvaluationError

MOST_CHARACTERS: Final = 1000
"""The maximum length of a pattern."""

MOST_MEMORY: Final = 2 * 1024 * 1024
"""Bytes that a compiled pattern may take: some 85,000 instructions, enough for 63 letters of any script."""

# A step is about 5 µs. These are the slowest times of hostile patterns, on one core:
_STEPS_A_CHARACTER: Final = 10  # to read a pattern: 50 µs a character
_STEPS_OF_A_REFUSAL: Final = 5000  # to detect that a pattern is too large: 25 ms
_INSTRUCTIONS_A_STEP: Final = 4  # to compile it: 1.5 µs an instruction
_VISITS_A_STEP: Final = 256  # to match, at each byte of the text each instruction: 16 ns

_ESCAPE: Final = re.compile(r"\\Q.*?(?:\\E|\Z)|\\(.)", re.DOTALL)

_REFUSALS: Final[Mapping[str, str]] = {
    "invalid escape sequence": "has an escape that RE2 does not support here (RE2 has no backreferences)",
    "invalid character class": "has an unknown character class",
    "invalid character class range": "has an unknown character class, or a range that ends before it starts",
    "missing ]": "has a set without a closing bracket",
    "missing )": "has a group without a closing parenthesis",
    "unexpected )": "has a closing parenthesis without a group",
    "trailing \\": "ends with a backslash",
    "no argument for repetition operator": "has a repetition with nothing to repeat",
    "invalid repetition size": "has an invalid repetition count; the maximum is 1000, nested counts multiplied",
    "bad repetition operator": "repeats a repetition without a group around it",
    "invalid perl operator": "has a lookahead, a lookbehind, or another group that RE2 does not support",
    "invalid named capture group": "has an invalid group name",
    "pattern too large - compile failed": "is too large after its repetitions are expanded",
}
"""The problem of a pattern, by the start of RE2's message; its end repeats the pattern, which may be a secret."""


def matches(budget: EvaluationBudget, text: str, pattern: str) -> bool:
    """Return whether an RE2 pattern matches somewhere in a text.

    Raises EvaluationError for a pattern that RE2 does not accept, and for too much work.
    """
    if len(pattern) > MOST_CHARACTERS:
        raise _make_pattern_error(f"is longer than {MOST_CHARACTERS} characters")
    budget.step(_STEPS_A_CHARACTER * len(pattern))
    try:
        compiled = _compile(pattern)
    except EvaluationError:
        budget.step(_STEPS_OF_A_REFUSAL)
        raise
    encoded = text.encode("utf-8", "surrogatepass")  # a CEL text may have half of a surrogate pair
    budget.step(compiled.programsize // _INSTRUCTIONS_A_STEP + compiled.programsize * len(encoded) // _VISITS_A_STEP)
    return compiled.search(encoded) is not None


@lru_cache(maxsize=16)
def _compile(pattern: str) -> Any:
    """Compile a pattern. Raises EvaluationError if Go's regexp, which ASO uses, would refuse it."""
    import re2  # noqa: PLC0415 - few repositories have patterns

    if any(escape[1] == "C" for escape in _ESCAPE.finditer(pattern)):  # one byte: the only RE2 syntax that Go lacks
        raise _make_pattern_error(_REFUSALS["invalid escape sequence"])
    options = re2.Options()
    options.max_mem = MOST_MEMORY
    options.never_capture = True
    options.log_errors = False  # the log goes to stderr, and repeats the pattern
    try:
        return re2.compile(pattern.encode("utf-8", "surrogatepass"), options)
    except re2.error as error:
        said = error.args[0].decode("utf-8", "replace")
        # The message of RE2 repeats the pattern, which may be a secret, so it is neither quoted nor chained.
        raise _make_pattern_error(_REFUSALS.get(said.partition(": ")[0], "is not valid")) from None
    finally:
        re2.purge()  # re2 would cache 128 patterns of any size


def _make_pattern_error(why: str) -> EvaluationError:
    return EvaluationError(f"matches: the pattern {why}")


MEASURED: Final[dict[tuple[str, ...], Callable[..., Any]]] = {("matches", "string", "string"): matches}
