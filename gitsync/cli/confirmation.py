"""`Continue? [y/N]`: the question on a terminal before the first sync of a target."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager

from gitsync.config.config import Config
from gitsync.logging import neutralize
from gitsync.model.report import RunTarget
from gitsync.run.consent import ChangeCounts, Confirm

Pause = Callable[[], AbstractContextManager[None]]
"""Takes the live display away while the context lasts."""

_YES = frozenset({"y", "yes"})


def make_confirm(config: Config, pause: Pause) -> Confirm | None:
    """What asks; None for runs without a question: with `--yes`, with a reviewed plan, for the emulator, and if stdin
    or stderr is no terminal.
    """
    if config.yes or config.plan_file or config.emulator is not None:
        return None
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    return lambda target, counts: _ask(target, counts, pause)


def _ask(target: RunTarget, counts: ChangeCounts, pause: Pause) -> bool:
    """Print the target and the counts on stderr, and read a line of stdin. No answer means no."""
    with pause():
        print(neutralize(format_question(target, counts)), end="", file=sys.stderr, flush=True)
        return sys.stdin.readline().strip().casefold() in _YES


def format_question(target: RunTarget, counts: ChangeCounts) -> str:
    """The question, without a newline at its end."""
    from gitsync.report.text import format_target

    would = f"create {counts.creates}, update or adopt {counts.updates}, delete {counts.deletes}"
    hindered = f" {counts.hindered} would fail or wait." if counts.hindered else ""
    lines = [*format_target(target), "", f"Nothing is recorded for this target yet. This sync would {would}.{hindered}"]
    return "\n".join([*lines, "Continue? [y/N] "])
