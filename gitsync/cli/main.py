"""The entry point: selects the command and reads its settings. `gitsync.cli.ending` handles the exit.

Only the chosen command is imported, and no library at all for `--help`, so that it is fast.
"""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from gitsync import __version__
from gitsync.cli.ending import report_unraisable, run_guarded

if TYPE_CHECKING:
    from gitsync.cli.command import Command
    from gitsync.config.config import Config
    from gitsync.redaction import Redactions

USAGE_ERROR = 2

_VERSION = frozenset({"-V", "--version"})
_SHOWN = _VERSION | {"-h", "--help", "help"}


class CommandEntry(NamedTuple):
    module: str
    summary: str


COMMANDS = {
    "sync": CommandEntry("gitsync.cli.sync", "Reconcile Azure with git, and write the status back."),
    "plan": CommandEntry("gitsync.cli.plan", "Show what sync would do, and write nothing."),
    "render": CommandEntry("gitsync.cli.render", "Show the requests that the manifests result in. Offline."),
    "validate": CommandEntry("gitsync.cli.validate", "Show every problem of the manifests. Offline."),
    "graph": CommandEntry("gitsync.cli.graph", "Draw owners and references. Offline."),
    "compare": CommandEntry("gitsync.cli.compare", "Compare two ARM documents, desired and live. Offline."),
    "eval": CommandEntry("gitsync.cli.eval", "Evaluate an expression of an export for one resource."),
    "import": CommandEntry("gitsync.cli.import_", "Write manifests of resources that exist in Azure."),
    "explain": CommandEntry("gitsync.cli.explain", "Describe a kind or one of its fields. Offline."),
    "status": CommandEntry("gitsync.cli.status", "Show what the last run recorded, like kubectl get."),
    "describe": CommandEntry(
        "gitsync.cli.describe", "Show everything recorded about one resource, like kubectl describe."
    ),
    "emulator": CommandEntry(
        "gitsync.cli.emulator", "Serve an emulated Azure Resource Manager for tests and rehearsals."
    ),
}


def run(argv: list[str] | None = None) -> int:
    """Run a command line and return its exit code. It raises nothing."""
    arguments = sys.argv[1:] if argv is None else argv
    _open_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # characters that the terminal lacks are escaped
            stream.reconfigure(errors="backslashreplace")
    if not arguments or arguments[0] in _SHOWN:
        return run_guarded(lambda: _show(arguments), mask=str)

    from gitsync.redaction import Redactions

    collect_seldom()
    redactions = Redactions()
    if argv is None:  # run as a program, not from a test
        report_unraisable(redactions.mask)
    return run_guarded(lambda: _run_command(arguments[0], arguments[1:], redactions), redactions.mask)


def collect_seldom() -> None:
    """Collect cyclic garbage after 50,000 new objects instead of 700: nearly all objects of a run stay until its end,
    and scanning them again and again costs a tenth of its CPU time.
    """
    gc.set_threshold(50_000)


def _open_streams() -> None:
    """Open streams that the process was started without: otherwise the next open file would take their descriptor."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


def _show(arguments: list[str]) -> int:
    """Show help or version. Without arguments, it prints the help as an error."""
    if not arguments:
        print(_help(), file=sys.stderr)
        return USAGE_ERROR
    print(f"gitsync {__version__}" if arguments[0] in _VERSION else _help())
    return 0


def _help() -> str:
    width = max(map(len, COMMANDS))
    commands = "\n".join(f"  {name:<{width}}  {entry.summary}" for name, entry in COMMANDS.items())
    return (
        "usage: gitsync COMMAND [SOURCE] [flags]\n\n"
        "Reconciles Azure with the Azure Service Operator manifests in a git repository.\n\n"
        f"commands:\n{commands}\n\n"
        "SOURCE is a folder (default: the working directory) or the URL of a git repository.\n"
        "`gitsync COMMAND --help` shows the flags of a command, `gitsync --version` the version."
    )


def _run_command(name: str, arguments: list[str], redactions: Redactions) -> int:
    from gitsync.cli.usage import make_unknown_command, read_arguments
    from gitsync.config.load import resolve

    if name not in COMMANDS:
        raise make_unknown_command(name, COMMANDS)
    command = cast("Command", import_module(COMMANDS[name].module))
    options = read_arguments(name, command, arguments)
    asks_azure = "credential" in command.SETTINGS
    config = resolve(options, os.environ, Path.cwd(), command.OUTPUTS, asks_azure=asks_azure)
    _start_logs(config, redactions)
    options.redactions = redactions
    return command.run(options, config)


def _start_logs(config: Config, redactions: Redactions) -> None:
    from loguru import logger

    from gitsync.config.load import find_misspelt_variables
    from gitsync.logging import set_up
    from gitsync.redaction import tell_settings

    tell_settings(redactions, config, os.environ)
    is_terminal = sys.stderr.isatty()
    form = config.log_format if config.log_format != "auto" else "text" if is_terminal else "json"
    colour = config.color == "always" or (config.color == "auto" and is_terminal)
    level = config.log_level if config.log_level != "auto" else "warning" if is_terminal else "info"
    set_up(level=level, form=form, colour=colour, mask=redactions.mask)
    for sentence in find_misspelt_variables(os.environ):
        logger.warning(sentence)
