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

    read = read_offline(config, options.redactions)
    if config.output == "json":
        print(neutralize(json.dumps(_document(read), indent=2)))
    else:
        print(neutralize("\n".join(_lines(read, config))))
    list_left_out(options, config, read.coverage)
    return 1 if read.has_errors or (config.strict and read.problems) else 0


def _lines(read: Offline, config: Config) -> Iterator[str]:
    """The problems, file by file, and a summary."""
    from gitsync.cli.output import find_terminal_width, use_colour
    from gitsync.report.text import format_problems

    for _path, problems in groupby(read.problems, key=lambda problem: problem.path):
        yield from format_problems(tuple(problems), width=find_terminal_width(), colour=use_colour(config))
        yield ""
    yield _summary(read)


def _summary(read: Offline) -> str:
    from gitsync.report.coverage import format_left_out
    from gitsync.report.headline import format_plural

    what = f"{format_plural(len(read.prepared), 'resource')} in {format_plural(read.coverage.files, 'file')}"
    rest = "".join(f"; {part}" for part in format_left_out(read.coverage))
    if not read.prepared and not read.problems:
        return f"{what}: nothing to validate{rest}. Check SOURCE and --path."
    counts = _counts(read)
    said = [format_plural(count, noun) for noun, count in counts.items() if count]
    return f"{what}: {' and '.join(said) or 'no problems'}{rest}."


def _counts(read: Offline) -> dict[str, int]:
    errors = sum(problem.is_error for problem in read.problems)
    return {"error": errors, "warning": len(read.problems) - errors}


def _document(read: Offline) -> dict[str, object]:
    from gitsync.report.coverage import build_coverage
    from gitsync.report.json import build_problem

    counts = _counts(read)
    return {
        "resources": len(read.prepared),
        "files": read.coverage.files,
        "passedOver": sum(read.coverage.passed_over.values()),
        "coverage": build_coverage(read.coverage),
        "errors": counts["error"],
        "warnings": counts["warning"],
        "problems": [build_problem(problem) for problem in read.problems],
    }
