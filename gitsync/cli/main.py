"""The command line's frame: which command, and with which settings. How it ends is in `gitsync.cli.ending`.

Only the chosen command is imported, and no library at all for `--help`, which therefore takes no time.
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
    "sync": CommandEntry("gitsync.cli.sync", "Bring Azure to what git says, and write the status back."),
    "plan": CommandEntry("gitsync.cli.plan", "Show what sync would do, and write nothing."),
    "render": CommandEntry("gitsync.cli.render", "Show the requests that the manifests stand for. Offline."),
    "validate": CommandEntry("gitsync.cli.validate", "Show every problem of the manifests. Offline."),
    "graph": CommandEntry("gitsync.cli.graph", "Draw owners and references. Offline."),
    "compare": CommandEntry("gitsync.cli.compare", "Compare two ARM documents, git's and Azure's. Offline."),
    "explain": CommandEntry("gitsync.cli.explain", "Tell what a kind, or a field of it, may say. Offline."),
    "status": CommandEntry("gitsync.cli.status", "Show what the last run recorded, as kubectl get would."),
    "describe": CommandEntry(
        "gitsync.cli.describe", "Show all that is recorded of one resource, as kubectl describe would."
    ),
    "emulator": CommandEntry("gitsync.cli.emulator", "Serve an Azure Resource Manager for tests and rehearsals."),
}


def run(argv: list[str] | None = None) -> int:
    """Run one command line and give its exit code. No exception leaves it."""
    arguments = sys.argv[1:] if argv is None else argv
    _open_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a terminal that has no arrow shows its code, and the run goes on
            stream.reconfigure(errors="backslashreplace")
    if not arguments or arguments[0] in _SHOWN:
        return run_guarded(lambda: _show(arguments), mask=str)

    from gitsync.redaction import Redactions

    collect_seldom()
    redactions = Redactions()
    if argv is None:  # the process is ours
        report_unraisable(redactions.mask)
    return run_guarded(lambda: _run_command(arguments[0], arguments[1:], redactions), redactions.mask)


def collect_seldom() -> None:
    """Look for garbage in circles after 50,000 new objects, and not after 700: nearly all that a run makes stays until
    its end, and looking through it over and over costs a tenth of its processor time.
    """
    gc.set_threshold(50_000)


def _open_streams() -> None:
    """Make up for streams that the process was started without: the next file that is opened would take their place."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


def _show(arguments: list[str]) -> int:
    """What needs no command: help and version. Nothing at all is a mistake, and the help the answer to it."""
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
        "Brings Azure Resource Manager to what a git repository of Azure Service Operator manifests says.\n\n"
        f"commands:\n{commands}\n\n"
        "SOURCE is a folder (the working folder where it is absent) or the URL of a git repository.\n"
        "`gitsync COMMAND --help` shows the flags of a command, `gitsync --version` the version."
    )


def _run_command(name: str, arguments: list[str], redactions: Redactions) -> int:
    from gitsync.cli.usage import make_unknown_command, read_arguments
    from gitsync.config.load import resolve

    if name not in COMMANDS:
        raise make_unknown_command(name, COMMANDS)
    command = cast("Command", import_module(COMMANDS[name].module))
    options = read_arguments(name, command, arguments)
    config = resolve(options, os.environ, Path.cwd(), command.OUTPUTS)
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
    set_up(level=config.log_level, form=form, colour=colour, mask=redactions.mask)
    for sentence in find_misspelt_variables(os.environ):
        logger.warning(sentence)
