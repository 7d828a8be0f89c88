"""Simulate the sync of a revision in the emulator, with the resources that the records describe.

It needs no login and no key, and sends no request. It shows what the sync would write, in which order, what the guards
refuse, and whether the next sync would be silent. With --from-nothing the subscription is empty, as after a disaster.
With --interrupt the sync is killed after each write, and resumed. The exit code is 1 if the rehearsal finds something
that would go wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from gitsync.cli.command import Example, add_verbosity
from gitsync.errors import ExitCode
from gitsync.settings.config.config import Config, list_settings

if TYPE_CHECKING:
    from gitsync.model.rehearsal import Rehearsal

SETTINGS = list_settings("rehearse")
ENDINGS = {"json": "json", "markdown": "md", "html": "html"}
"""The files of --report, by the value of --output. Not of `REPORT_FORMS`: a rehearsal does not report a run."""

OUTPUTS = ("text", *ENDINGS)
EXAMPLES = (
    Example("How would the sync of the working folder go?", "gitsync rehearse --prune"),
    Example("Does it survive a kill after any write?", "gitsync rehearse --prune --interrupt"),
    Example("Can git restore everything in an empty subscription?", "gitsync rehearse --from-nothing"),
)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--from-nothing", action="store_true", help="Begin with an empty subscription: a disaster recovery drill."
    )
    parser.add_argument(
        "--interrupt",
        action="store_true",
        help="Also kill the sync after each write (50 at most), and resume it.",
    )
    add_verbosity(parser)


def run(options: argparse.Namespace, config: Config) -> ExitCode:
    """Rehearse, print the report and return the exit code."""
    rehearsal = _rehearse(options, config)
    _tell(rehearsal, options, config)
    return rehearsal.exit_code


def _rehearse(options: argparse.Namespace, config: Config) -> Rehearsal:
    from gitsync.cli.interruption import Interruption
    from gitsync.cli.output import show_progress
    from gitsync.workflows.rehearsal.rehearse import rehearse

    interruption = Interruption()
    # Nothing outside of the process changes, so a signal ends it at once.
    display = show_progress(options.log_mask, prints=options.prints_progress, quiet=options.quiet)
    try:
        with asyncio.Runner() as runner, interruption.heard(runner.get_loop()), display as progress:
            return runner.run(
                rehearse(
                    config,
                    from_nothing=options.from_nothing,
                    interrupts=options.interrupt,
                    redactions=options.redactions,
                    progress=progress,
                    grace=interruption.grace,
                )
            )
    finally:
        interruption.close()


def _tell(rehearsal: Rehearsal, options: argparse.Namespace, config: Config) -> None:
    """Write the report to stdout, into the folder of --report, and to the summary of the job."""
    from gitsync.cli.output import add_to_summary, find_terminal_width, use_colour, write_files
    from gitsync.settings.logging import neutralize
    from gitsync.workflows.rehearsal.rehearsal_report import format_lines, format_markdown, render_json

    def mask(render: Callable[[Rehearsal], str]) -> Callable[[], str]:
        # At the time of writing: secrets that the rehearsal read are known only then.
        return lambda: options.redactions.mask(render(rehearsal))

    def format_text(rehearsal: Rehearsal) -> str:
        if options.quiet and rehearsal.exit_code is ExitCode.FINE:
            return ""
        lines = format_lines(rehearsal, width=find_terminal_width(), colour=use_colour(config), verbose=options.verbose)
        return "".join(f"{line}\n" for line in lines)

    def format_page(rehearsal: Rehearsal) -> str:
        from gitsync.workflows.rehearsal.rehearsal_page import render

        return render(rehearsal)

    forms = {"json": mask(render_json), "markdown": mask(format_markdown), "html": mask(format_page)}
    add_to_summary(forms["markdown"], os.environ)
    try:
        if config.report_dir:
            files = {f"rehearse.{ending}": forms[form] for form, ending in ENDINGS.items()}
            write_files(Path(config.report_dir), files, config, "report")
    finally:  # last, since stdout may be closed early
        printed = (forms | {"text": mask(format_text)})[config.output]()
        # The CSS of a page may have lines that look like commands; a page goes to a file, and no log shows it.
        print(printed if config.output == "html" else neutralize(printed), end="")
