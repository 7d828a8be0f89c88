"""`-v` and `-q`: more output, or none but errors. They are no settings: they only affect output."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from gitsync.config.config import Config
from gitsync.config.flags import find_group
from gitsync.config.setting import HelpGroup

if TYPE_CHECKING:
    from gitsync.model.manifests import Coverage


def add_verbosity(parser: argparse.ArgumentParser, more: str = "") -> None:
    """Add the flags, of which a command line may have one. `more` says what else -v shows."""
    text = (
        f"List what was passed over, rejected or ignored, and problems in what is not used, with file and line{more}."
    )
    flags = find_group(parser, HelpGroup.OUTPUT).add_mutually_exclusive_group()
    flags.add_argument("-v", "--verbose", action="store_true", help=text)
    add_quiet(flags, "Print the report only if something failed, and no progress.")


def add_quiet(flags: argparse._ActionsContainer, text: str) -> None:
    flags.add_argument("-q", "--quiet", action="store_true", help=text)


def list_left_out(options: argparse.Namespace, config: Config, coverage: Coverage) -> None:
    """With `-v`, print the list: after a text report, else on stderr, to keep stdout machine-readable."""
    from gitsync.logging import neutralize
    from gitsync.report.run_facts import list_left_out

    if not options.verbose:
        return
    stream = sys.stdout if config.output == "text" else sys.stderr
    lines = [neutralize(line) for line in list_left_out(coverage)]
    stream.writelines(f"{line}\n" for line in (["", *lines] if lines else []))
    stream.flush()
