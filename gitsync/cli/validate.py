"""Show every problem of the manifests: what is wrong, where, and how to fix it. Offline.

Exits 0 if there is no error, else 1; with --strict, warnings count as errors.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from gitsync.cli.offline import READING
from gitsync.cli.verbose import add_verbose, list_left_out
from gitsync.config.config import Config

if TYPE_CHECKING:
    from gitsync.cli.offline import Offline

SETTINGS = (*READING, "strict", "output")
OUTPUTS = ("text", "json")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add `-v`: all other flags are settings."""
    add_verbose(parser)


def run(options: argparse.Namespace, config: Config) -> int:
    """Print the problems and return the exit code."""
    from gitsync.cli.offline import read_offline
    from gitsync.logging import neutralize

    offline = read_offline(config, options.redactions)
    if config.output == "json":
        print(neutralize(json.dumps(_build_document(offline), indent=2)))
    else:
        print(neutralize("\n".join(_format_lines(offline, config))))
    list_left_out(options, config, offline.coverage)
    return 1 if offline.has_errors or (config.strict and offline.problems) else 0


def _format_lines(offline: Offline, config: Config) -> Iterator[str]:
    """The problems, file by file, and a summary."""
    from gitsync.cli.output import find_terminal_width, use_colour
    from gitsync.report.text import format_problems

    for _path, problems in groupby(offline.problems, key=lambda problem: problem.path):
        yield from format_problems(tuple(problems), width=find_terminal_width(), colour=use_colour(config))
        yield ""
    yield _format_summary(offline)


def _format_summary(offline: Offline) -> str:
    from gitsync.report.coverage import format_left_out
    from gitsync.report.headline import format_plural

    scope = f"{format_plural(len(offline.prepared), 'resource')} in {format_plural(offline.coverage.files, 'file')}"
    left_out = "".join(f"; {part}" for part in format_left_out(offline.coverage))
    if not offline.prepared and not offline.problems:
        return f"{scope}: nothing to validate{left_out}. Check SOURCE and --path."
    counts = _count_problems(offline)
    count_texts = [format_plural(count, noun) for noun, count in counts.items() if count]
    return f"{scope}: {' and '.join(count_texts) or 'no problems'}{left_out}."


def _count_problems(offline: Offline) -> dict[str, int]:
    errors = sum(problem.is_error for problem in offline.problems)
    return {"error": errors, "warning": len(offline.problems) - errors}


def _build_document(offline: Offline) -> dict[str, object]:
    from gitsync.report.coverage import build_coverage
    from gitsync.report.json import build_problem

    counts = _count_problems(offline)
    return {
        "resources": len(offline.prepared),
        "files": offline.coverage.files,
        "passedOver": sum(offline.coverage.passed_over.values()),
        "coverage": build_coverage(offline.coverage),
        "errors": counts["error"],
        "warnings": counts["warning"],
        "problems": [build_problem(problem) for problem in offline.problems],
    }
