"""`gitsync __complete SHELL …`: what the script of a shell calls, and how it is answered.

bash sends the line as it is typed, and the part of the last word that it will replace, since it splits words at `=` and
`:` too; the others send words. The answer is a line for each candidate, with a tab before what it means; bash gets the
words alone.
"""

from __future__ import annotations

from gitsync.cli.shell.candidates import FILES, FOLDERS, list_candidates
from gitsync.cli.shell.command_line import split_line
from gitsync.errors import ExitCode

_SEPARATORS = frozenset({"=", ":"})


def answer(arguments: list[str]) -> ExitCode:
    """Print the candidates. Nothing is wrong with a line that is not finished, so the exit code is 0."""
    shell, *rest = arguments or [""]
    if shell == "bash" and len(rest) == 2:
        lines = _answer_bash(*rest)
    elif rest:
        *words, last = rest
        lines = [f"{word}\t{about}" if about else word for word, about in list_candidates(words, last)]
    else:
        lines = []
    print("".join(f"{line}\n" for line in dict.fromkeys(lines)), end="")
    return ExitCode.FINE


def _answer_bash(line: str, piece: str) -> list[str]:
    words, last = split_line(line)
    replaced = "" if piece in _SEPARATORS else piece
    kept = last.removesuffix(replaced) if last.endswith(replaced) else ""
    found = [word for word, _ in list_candidates(words, last)]
    return [word if word in {FILES, FOLDERS} else word.removeprefix(kept) for word in found]
