"""A command: a module of this package that has these names; and the flags `-v` and `-q`, which several commands share.

The table of commands is in `gitsync.cli.command_table`. Only the chosen command is imported, so that `--help` stays
fast; for the same reason it imports heavy packages (azure, git, rich) inside `run`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from gitsync.errors import ExitCode
from gitsync.settings.config.config import Config
from gitsync.settings.config.flags import find_group
from gitsync.settings.config.setting import HelpGroup

if TYPE_CHECKING:
    from gitsync.model.manifests import Coverage


class Example(NamedTuple):
    """A command line for the help, and what it is for, without a full stop."""

    purpose: str
    line: str


class Command(Protocol):
    """A module of this package, which the table names. `gitsync <name> --help` shows its docstring above the flags."""

    SETTINGS: tuple[str, ...]
    """The settings that it takes, of `gitsync.settings.config.config.list_settings`: they are its flags, except
    secrets, which have no flag. `source` is the positional SOURCE. Every command has the flags for logs and colour and
    `--config`; they are not listed here.
    """

    OUTPUTS: tuple[str, ...]
    """Choices of `--output`, the default first; empty for a command without the setting `output`."""

    EXAMPLES: tuple[Example, ...]
    """One to three command lines, with which the help, the man page and the page of commands end."""

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments that are not settings. Positional ones come before SOURCE."""
        ...

    def run(self, options: argparse.Namespace, config: Config) -> ExitCode:
        """Run the command and return the exit code. `options` has what `arguments` added, and `redactions`
        (`gitsync.settings.redaction`), to which it adds each secret that it reads. It may raise GitsyncError.
        """
        ...


class SplitSource(argparse.Action):
    """Takes SOURCE out of the names: it is a folder or a URL, and no name of a resource is."""

    def __call__(self, parser: argparse.ArgumentParser, options: argparse.Namespace, values: Any, *_: object) -> None:
        # The name of a resource may be that of a folder; then it can be written with its kind.
        sources = [text for text in values if ":" in text or text.startswith((".", "/", "~")) or Path(text).is_dir()]
        if len(sources) > 1:
            parser.error(f"unexpected argument {sources[1]!r}")
        options.names = [text for text in values if text not in sources]
        if sources:
            options.source = sources[0]


def make_number_reader(least: int, most: int) -> Callable[[str], int]:
    """Make what reads the argument of a flag that takes a whole number from `least` to `most`."""

    def read_number(text: str) -> int:
        # `isdigit` alone takes `²` as well, which `int` refuses.
        if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
            raise argparse.ArgumentTypeError(f"{text!r} is not a number from {least} to {most}")
        return int(text)

    return read_number


def add_verbosity(parser: argparse.ArgumentParser, more: str = "") -> None:
    """Add `-v` and `-q`, of which a command line may have one. They are not settings: they only affect output. `more`
    is what else -v shows.
    """
    text = f"List skipped, rejected and ignored documents, and problems in unused files, with file and line{more}."
    flags = find_group(parser, HelpGroup.OUTPUT).add_mutually_exclusive_group()
    flags.add_argument("-v", "--verbose", action="store_true", help=text)
    add_quiet(flags, "Print the report only if something failed, and no progress.")


def add_quiet(flags: argparse._ActionsContainer, text: str) -> None:
    flags.add_argument("-q", "--quiet", action="store_true", help=text)


def list_left_out(options: argparse.Namespace, config: Config, coverage: Coverage) -> None:
    """With `-v`, print the list: after a text report, else on stderr, to keep stdout machine-readable."""
    from gitsync.report.run_facts import list_left_out
    from gitsync.settings.logging import neutralize

    if not options.verbose:
        return
    stream = sys.stdout if config.output == "text" else sys.stderr
    lines = [neutralize(line) for line in list_left_out(coverage)]
    stream.writelines(f"{line}\n" for line in (["", *lines] if lines else []))
    stream.flush()
