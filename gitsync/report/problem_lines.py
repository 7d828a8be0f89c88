"""Formats problems of the input as lines of text: in a report, and for the commands that only read manifests."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from gitsync.desired.problems.problem_codes import find_code_meaning
from gitsync.model.problem import Problem
from gitsync.report.terminal import Paint, indent
from gitsync.report.wording import format_problem_location, format_renderers, shorten_problems
from gitsync.settings.logging import escape_controls


def format_problem_section(word: str, problems: Sequence[Problem], width: int | None, paint: Paint) -> list[str]:
    """Format the problems of one level as a section; nothing without one."""
    if not problems:
        return []
    location = format_problem_location(problems)
    lines = format_problems(problems, width=width and width - 2, colour=paint.on)
    steps = [line for step in explain_codes(problems) for line in indent(step, width, by=2)]
    return [paint.bold(f"{word}{location} ({len(problems)})"), *(f"  {line}" for line in lines), *steps]


def explain_codes(problems: Sequence[Problem]) -> list[str]:
    """List how to learn more about problems: the first code in the table, and those that are not shown."""
    shown = shorten_problems(problems)
    known = (problem.code for problem in shown if find_code_meaning(problem.code))
    every = ["`--output json` has every problem."] if len(shown) < len(problems) else []
    return [*(f"`gitsync explain {code}` explains the code, with an example." for code in islice(known, 1)), *every]


def format_problems(problems: Sequence[Problem], *, width: int | None = None, colour: bool = False) -> list[str]:
    """Format problems of the input as lines: location, problem and remedy, in the order of the files."""
    paint = Paint(on=colour)
    lines: list[str] = []
    for problem in shorten_problems(problems):
        location = escape_controls(problem.location)
        level = paint.mark_bad(problem.level.value) if problem.is_error else paint.mark_notable(problem.level.value)
        field = f" {escape_controls(problem.field)}" if problem.field else ""
        renderers = format_renderers(problem.rendered_by)
        end = f", {escape_controls(renderers)}" if renderers else ""
        lines += indent(f"{location + ': ' if location else ''}{level}: {problem.code}{field}{end}", width, by=0)
        lines += [
            line
            for part in (problem.message, problem.hint)
            for text in part.splitlines()
            for line in indent(escape_controls(text), width, by=4)
        ]
    return lines
