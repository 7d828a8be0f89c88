"""Where a report goes: to stdout in the form asked for, and into a folder; and progress to stderr meanwhile."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from gitsync.config import Config
from gitsync.errors import PublishError
from gitsync.model.report import Report
from gitsync.report import json, markdown, text
from gitsync.report.progress import Progress, Tally, plain_lines

REPORT_OUTPUTS = ("text", "json", "markdown")
"""The choices of --output for a command that prints a report."""

_EVERY = 30.0  # seconds between two lines of progress

_FILES: Mapping[str, Callable[[Report], str]] = {"report.json": json.render, "report.md": markdown.render}


def print_report(report: Report, config: Config) -> None:
    """Print a report as `--output` says."""
    if config.output == "text":
        print(text.render(report, width=terminal_width(), colour=wants_colour(config)), end="")
    else:
        print({"json": json.render, "markdown": markdown.render}[config.output](report), end="")


def write_report(report: Report, folder: str) -> None:
    """Write the report's files into a folder, which is made where it is absent. PublishError where that fails."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, render in _FILES.items():
            (Path(folder) / name).write_text(render(report), encoding="utf-8")
    except OSError as error:
        raise PublishError(
            f"The report cannot be written to {folder}: {error.strerror}.", hint="Give another folder by --report."
        ) from error


def show_progress() -> AbstractContextManager[Progress]:
    """Progress on stderr while the context lasts: live on a terminal, else a line in the log every half minute."""
    from loguru import logger

    tally = Tally(time.monotonic)
    if sys.stderr.isatty():
        from gitsync.report.live import live_view

        return live_view(tally, sys.stderr)
    return plain_lines(tally, lambda line: logger.bind(progress=line).info("Still at work"), _EVERY)


def terminal_width() -> int | None:
    """Columns of the terminal that stdout is; None where it is none, and nothing is to be wrapped."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def wants_colour(config: Config) -> bool:
    """Whether what goes to stdout is to be coloured."""
    return config.color == "always" or (config.color == "auto" and sys.stdout.isatty())
