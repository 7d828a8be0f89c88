"""The entry point: selects the command and reads its settings. `gitsync.cli.ending` handles the exit.

Only the chosen command is imported, and no library at all for `--help`, so that it is fast.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Callable
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

from gitsync import __version__
from gitsync.cli.command_table import COMMANDS, CommandGroup, load_command
from gitsync.cli.ending import report_unraisable, run_guarded
from gitsync.errors import ExitCode

if TYPE_CHECKING:
    from gitsync.settings.config.config import Config
    from gitsync.settings.redaction import Redactions

    Mask = Callable[[str], str]

_VERSION = frozenset({"-V", "--version"})
COMPLETE = "__complete"
"""What the scripts of the shells call; no command for people."""

_SHOWN = _VERSION | {"-h", "--help", "help"}


def run(argv: list[str] | None = None) -> int:
    """Run a command line and return its exit code. It raises nothing."""
    arguments = sys.argv[1:] if argv is None else argv
    _open_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # characters that the terminal lacks are escaped
            stream.reconfigure(errors="backslashreplace")
    if arguments[:1] == ["help"] and len(arguments) > 1:
        arguments = [arguments[1], "--help"]
    # Before anything is imported: help must work without settings and be fast.
    if not arguments or arguments[0] in _SHOWN:
        return run_guarded(lambda: _show(arguments), mask=str)

    if arguments[0] == COMPLETE:
        return run_guarded(lambda: _complete(arguments[1:]), mask=str)
    collect_seldom()
    opened: list[Mask] = []  # once the command line is read: no secret is known before

    def mask(text: str) -> str:
        return opened[-1](text) if opened else text

    if argv is None:  # run as a program, not from a test
        atexit.register(gc.freeze)  # the end of a process frees all memory: a last search for garbage is for nothing
        report_unraisable(mask)
    return run_guarded(lambda: _run_command(arguments[0], arguments[1:], opened), mask)


def collect_seldom() -> None:
    """Collect cyclic garbage after 100,000 new objects instead of 700: nearly all objects of a run stay until its end,
    and scanning them again and again costs a tenth of its CPU time.
    """
    gc.set_threshold(100_000)


def _open_streams() -> None:
    """Open streams that the process was started without: otherwise the next open file would take their descriptor."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


def _show(arguments: list[str]) -> ExitCode:
    """Show help or version. Without arguments, it prints the help as an error."""
    if not arguments:
        print(_help(), file=sys.stderr)
        return ExitCode.REFUSED
    print(_describe_version() if arguments[0] in _VERSION else _help())
    return ExitCode.FINE


def _describe_version() -> str:
    from gitsync.desired.catalog.releases import read_catalog_release

    return f"gitsync {__version__}\ncatalog: {read_catalog_release()}"


_NOTES = """SOURCE is a folder (default: the working directory) or the URL of a git repository.
`gitsync COMMAND --help` shows the flags of a command, `gitsync --version` the version."""


def _help() -> str:
    width = max(map(len, COMMANDS))
    groups = (
        "\n".join(
            [
                f"{group.value}:",
                *(f"  {name:<{width}}  {entry.summary}" for name, entry in COMMANDS.items() if entry.group is group),
            ]
        )
        for group in CommandGroup
    )
    return "\n\n".join(
        [
            "usage: gitsync COMMAND [SOURCE] [flags]",
            "Reconciles Azure with the Azure Service Operator manifests in a git repository.",
            *groups,
            _NOTES,
        ]
    )


def _complete(arguments: list[str]) -> ExitCode:
    from gitsync.cli.shell.candidates import answer

    return answer(arguments)


def _run_command(name: str, arguments: list[str], opened: list[Mask]) -> ExitCode:
    from gitsync.cli.usage import read_arguments

    command = load_command(name)
    options = read_arguments(name, command, arguments)

    from gitsync.settings.config.load import resolve
    from gitsync.settings.redaction import Redactions

    redactions = Redactions()
    # From here on, errors may quote settings with secrets.
    opened.append(redactions.mask)
    uses_azure = "credential" in command.SETTINGS
    # A command that reads no source, such as explain, works beside a wrong gitsync.yaml as well.
    needs_file = not {"output"}.issuperset(command.SETTINGS)
    config = resolve(options, os.environ, Path.cwd(), command.OUTPUTS, uses_azure=uses_azure, needs_file=needs_file)
    if uses_azure:
        from gitsync.desired.formats.people import make_log_mask

        opened.append(make_log_mask(redactions.mask))
    options.log_mask = opened[-1]
    options.prints_progress = _start_logs(config, redactions, opened[-1], quiet=getattr(options, "quiet", False))
    options.redactions = redactions
    _check_outputs(config)
    return command.run(options, config)


def _check_outputs(config: Config) -> None:
    """Raise ConfigError if --report or --out of a plan cannot be written, or a link of a checkout leads to --metrics:
    before the work, which would be done then.
    """
    folders = [config.report_dir, config.plan_out and str(Path(config.plan_out).parent)]
    for folder in filter(None, folders):
        from gitsync.settings.files.target_folder import TargetFolder

        TargetFolder(Path(folder), config.source).check()
    if config.metrics:
        from gitsync.settings.files.output_path import check_output_path

        check_output_path(Path(config.metrics), config.source, "The metrics")


def _start_logs(config: Config, redactions: Redactions, mask: Mask, *, quiet: bool) -> bool:
    """Set the logs up. Returns whether a person reads them and misses the lines of level info: then a run prints its
    progress itself.
    """
    from loguru import logger

    from gitsync.settings.config.hosts import is_pipeline
    from gitsync.settings.config.load import list_misspelt_variables
    from gitsync.settings.logging import set_up
    from gitsync.settings.redaction import tell_settings

    tell_settings(redactions, config, os.environ)
    is_terminal = sys.stderr.isatty()
    is_read = is_terminal or is_pipeline(os.environ)  # by a person, who has the report too: else by a collector
    form = config.log_format if config.log_format != "auto" else "text" if is_read else "json"
    colour = config.color == "always" or (config.color == "auto" and is_terminal)
    usual_level = "error" if quiet else "warning" if is_read else "info"
    level = config.log_level if config.log_level != "auto" else usual_level
    set_up(level=level, form=form, colour=colour, mask=mask)
    for sentence in list_misspelt_variables(os.environ):
        logger.warning(sentence)
    return form == "text" and level in {"warning", "error"}
