"""`-v`: list each document and file that was skipped, which the report only counts."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from gitsync.config.config import Config

if TYPE_CHECKING:
    from gitsync.model.coverage import Coverage


def add_verbose(parser: argparse.ArgumentParser, more: str = "") -> None:
    """Add the flag. It is not a setting: it only affects output. `more` says what else it shows."""
    text = f"List documents that were passed over, rejected or ignored, with file and line{more}."
    parser.add_argument("-v", "--verbose", action="store_true", help=text)


def list_left_out(options: argparse.Namespace, config: Config, coverage: Coverage) -> None:
    """With `-v`, print the list: after a text report, else on stderr, to keep stdout machine-readable."""
    from gitsync.logging import neutralize
    from gitsync.report.coverage import list_left_out

    if not options.verbose:
        return
    stream = sys.stdout if config.output == "text" else sys.stderr
    lines = [neutralize(line) for line in list_left_out(coverage)]
    stream.writelines(f"{line}\n" for line in (["", *lines] if lines else []))
    stream.flush()
