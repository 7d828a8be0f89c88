"""Where a report goes: to stdout in the chosen form, into a folder, and to the pipeline that gitsync runs in. Progress
goes to stderr.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import TextIO

from gitsync.cli.report_forms import REPORT_FORMS, ReportForm
from gitsync.errors import SUCCESS, ConfigError, PublishError
from gitsync.model.attribution import Who
from gitsync.model.report import Report
from gitsync.report import markdown, pipelines, text
from gitsync.report.progress import Tally, print_progress
from gitsync.settings.config.config import Config
from gitsync.settings.config.hosts import Host, find_host, is_pipeline
from gitsync.settings.files.target_folder import TargetFolder
from gitsync.settings.logging import neutralize

_EVERY = 60.0  # seconds between two lines of progress


def tell(
    report: Report,
    config: Config,
    variables: Mapping[str, str],
    *,
    verbose: bool = False,
    quiet: bool = False,
    extent: text.Extent = text.Extent.ALL,
) -> None:
    """Write the report of a run wherever the settings and the pipeline require it, as `publish` does. As text, a quiet
    one is printed only if something failed, or if the run was interrupted.
    """

    def render_text(report: Report) -> str:
        return format_text(report, config, variables, verbose=verbose, quiet=quiet, extent=extent)

    publish(report, config, variables, render_text, REPORT_FORMS)


def format_text(
    report: Report,
    config: Config,
    variables: Mapping[str, str],
    *,
    verbose: bool = False,
    quiet: bool = False,
    extent: text.Extent = text.Extent.ALL,
) -> str:
    """Format a report as stdout has it; "" for a quiet one, unless something failed or the run was interrupted."""
    if quiet and report.exit_code in SUCCESS and not report.interrupted:
        return ""
    # Decided by where the text goes: a terminal forgets, while a log is kept.
    names = may_name_people(report.who, variables)
    width, colour = find_terminal_width(), use_colour(config)
    return text.render(report, width=width, colour=colour, verbose=verbose, names=names, extent=extent)


def may_name_people(who: Who, variables: Mapping[str, str], *, is_file: bool = False) -> bool:
    """Return whether stdout, or a file of --report if `is_file`, may have names of people, in any form. The output of a
    job or a pod is kept in a log or an artifact, which many may read.
    """
    if who is not Who.AUTO:
        return who is Who.NAMES
    is_kept = is_pipeline(variables) or "KUBERNETES_SERVICE_HOST" in variables
    return not is_kept or (not is_file and sys.stdout.isatty())


def publish(
    report: Report,
    config: Config,
    variables: Mapping[str, str],
    render_text: Callable[[Report], str],
    forms: Mapping[str, ReportForm],
) -> None:
    """Write a report wherever the settings and the pipeline require it. `variables` is the environment, which
    identifies the pipeline. `render_text` renders it for stdout, `forms` for the other values of --output; --report
    writes a file of each.

    PublishError if the folder of --report cannot be written.
    """
    in_files, on_stdout = (may_name_people(report.who, variables, is_file=is_file) for is_file in (True, False))
    try:
        add_to_summary(partial(markdown.render, report), variables)
        _append("GITHUB_OUTPUT", partial(pipelines.format_github_outputs, report), variables)
        if config.report_dir:
            wanted = {form.file: partial(form.render, report, names=in_files) for form in forms.values()}
            wanted["report.env"] = partial(pipelines.format_dotenv, report)
            write_files(Path(config.report_dir), wanted, config, "report")
    finally:  # last, since stdout may be closed early
        form = forms.get(config.output)
        printed = form.render(report, names=on_stdout) if form else render_text(report)
        # The CSS of a page may have lines that look like commands; a page goes to a file, and no log shows it.
        print(printed if config.output == "html" else neutralize(printed), end="")
        # Keep machine-readable output on stdout free of anything else.
        print_annotations(report, variables, sys.stdout if config.output == "text" else sys.stderr)


def print_annotations(report: Report, variables: Mapping[str, str], stream: TextIO) -> None:
    """Print annotations, if gitsync runs in a pipeline that supports them."""
    host = find_host(variables)
    for list_lines in pipelines.COMMANDS.get(host, ()) if host else ():
        stream.writelines(f"{line}\n" for line in list_lines(report))
    stream.flush()


def add_to_summary(render: Callable[[], str], variables: Mapping[str, str]) -> None:
    """Add Markdown to the summary of the job on GitHub. A failure is logged."""
    _append("GITHUB_STEP_SUMMARY", render, variables)


def _append(variable: str, render: Callable[[], str], variables: Mapping[str, str]) -> None:
    """Add a text to the file of GitHub that a variable names."""
    from loguru import logger

    file = variables.get(variable)
    if find_host(variables) is not Host.GITHUB or not file:
        return
    try:
        with Path(file).open("a", encoding="utf-8") as stream:
            stream.write(render())
    # The run is over by now, and a lost summary must not change its result.
    except OSError as error:
        logger.warning("Cannot write to the file of {}: {}", variable, error.strerror)


def write_files(folder: Path, files: Mapping[str, Callable[[], str]], config: Config, what: str) -> None:
    """Write files into a folder: `files` maps the name of each to what renders it. PublishError if that fails."""
    target = TargetFolder(folder, config.source)
    try:
        for name, render in files.items():
            target.replace(name, render().encode())
    except ConfigError as error:
        raise PublishError(f"The {what} cannot be written: {error.message}", hint=error.hint) from error


def show_progress(
    mask: Callable[[str], str], *, prints: bool, says_changes: bool = False, quiet: bool = False
) -> AbstractContextManager[Tally]:
    """Show progress on stderr while the context lasts: live on a terminal, else a line every minute. `mask` takes
    secrets out of a text.

    With `prints`, each failure is a line for a person, and with `says_changes` each change if there is no terminal;
    without it, the log has them. A quiet one only counts: the report has the rest.
    """
    from loguru import logger

    is_live = sys.stderr.isatty()
    say = (lambda _line: None) if quiet else _print_to_stderr
    tally = Tally(time.monotonic, mask, say if prints else None, says_changes=says_changes and not is_live)
    if quiet:
        return nullcontext(tally)
    if is_live:
        from gitsync.report.live_progress import show_live

        return show_live(tally, sys.stderr)
    say_line = say if prints else lambda line: logger.bind(progress=line).info("Still running")
    return print_progress(tally, say_line, _EVERY)


def _print_to_stderr(line: str) -> None:
    """Print a line. If the reader is gone, the run goes on."""
    # A stream that was closed raises ValueError.
    with suppress(OSError, ValueError):
        sys.stderr.write(f"{neutralize(line)}\n")  # at once, or a live view would come between
        sys.stderr.flush()


def find_terminal_width() -> int | None:
    """Columns of the terminal of stdout; None if stdout is not a terminal and lines are not wrapped."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def use_colour(config: Config) -> bool:
    """Return whether output to stdout is coloured."""
    return config.color == "always" or (config.color == "auto" and sys.stdout.isatty())
