"""Where a report goes: to stdout in the form asked for, into a folder, and to the pipeline that gitsync runs in; and
progress to stderr meanwhile.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TextIO

from gitsync.config.config import Config
from gitsync.errors import PublishError
from gitsync.logging import neutralize
from gitsync.model.report import Report
from gitsync.report import json, markdown, pipelines, text
from gitsync.report.progress import Progress, Tally, print_progress

REPORT_OUTPUTS = ("text", "json", "markdown", "html", "junit", "sarif")
"""The choices of --output for a command that prints a report."""

_EVERY = 30.0  # seconds between two lines of progress


def _html(report: Report) -> str:
    from gitsync.report.html.page import render

    return render(report)


def _junit(report: Report) -> str:
    from gitsync.report import junit  # brings a library along that nothing else needs

    return junit.render(report)


def _sarif(report: Report) -> str:
    from gitsync.report import sarif

    return sarif.render(report)


_FORMS: Mapping[str, tuple[str, Callable[[Report], str]]] = {
    "json": ("report.json", json.render),
    "markdown": ("report.md", markdown.render),
    "html": ("report.html", _html),
    "junit": ("report.junit.xml", _junit),
    "sarif": ("report.sarif", _sarif),
}
"""How a report is written, by the word for --output: the name of its file, and who makes it."""


def tell(report: Report, config: Config, variables: Mapping[str, str]) -> None:
    """Tell a report everywhere it is to go. `variables` are those of the environment, by which a pipeline shows.

    PublishError where the folder of --report cannot be written.
    """
    try:
        _summarise(report, variables)
        if config.report_dir:
            write_report(report, config.report_dir)
    finally:  # last, since nobody may be reading it to its end
        print_report(report, config)
        # What a machine reads from stdout has nothing else in it.
        print_annotations(report, variables, sys.stdout if config.output == "text" else sys.stderr)


def print_report(report: Report, config: Config) -> None:
    """Print a report as `--output` says."""
    if config.output == "text":
        printed = text.render(report, width=find_terminal_width(), colour=use_colour(config))
    else:
        printed = _FORMS[config.output][1](report)
    # A page's style may have lines that look like commands; it is for a file, and no log shows it.
    print(printed if config.output == "html" else neutralize(printed), end="")


def print_annotations(report: Report, variables: Mapping[str, str], stream: TextIO) -> None:
    """Print annotations for the pipeline that this runs in, if it is one that has them."""
    for variable, lines in pipelines.FORMS:
        if variables.get(variable, "").casefold() == "true":
            stream.writelines(f"{line}\n" for line in lines(report))
            stream.flush()


def _summarise(report: Report, variables: Mapping[str, str]) -> None:
    """Add the report to the summary of a job on GitHub. One that cannot be written is no reason to end otherwise."""
    from loguru import logger

    if variables.get("GITHUB_ACTIONS", "").casefold() != "true" or not variables.get("GITHUB_STEP_SUMMARY"):
        return
    try:
        with Path(variables["GITHUB_STEP_SUMMARY"]).open("a", encoding="utf-8") as file:
            file.write(markdown.render(report))
    except OSError as error:
        logger.warning("The job's summary cannot be written: {}", error.strerror)


def write_report(report: Report, folder: str) -> None:
    """Write the report's files into a folder, which is made where it is absent. PublishError where that fails."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, render in _FORMS.values():
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
        from gitsync.report.live import show_live

        return show_live(tally, sys.stderr)
    return print_progress(tally, lambda line: logger.bind(progress=line).info("Still at work"), _EVERY)


def find_terminal_width() -> int | None:
    """Columns of the terminal that stdout is; None where it is none, and nothing is to be wrapped."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def use_colour(config: Config) -> bool:
    """Whether what goes to stdout is to be coloured."""
    return config.color == "always" or (config.color == "auto" and sys.stdout.isatty())
