"""`-v`: the documents and files that were left out, one by one, where the report only counts them."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from gitsync.config.config import Config

if TYPE_CHECKING:
    from gitsync.model.coverage import Coverage


def add_verbose(parser: argparse.ArgumentParser) -> None:
    """Add the flag. It is no setting: it shows more and decides nothing."""
    text = "List what was passed over, rejected or ignored, with file and line."
    parser.add_argument("-v", "--verbose", action="store_true", help=text)


def list_left_out(options: argparse.Namespace, config: Config, coverage: Coverage) -> None:
    """Print the list where `-v` asks for it: below a report in text, else on stderr, away from what a program reads."""
    from gitsync.logging import neutralize
    from gitsync.report.coverage import list_left_out

    if not options.verbose:
        return
    stream = sys.stdout if config.output == "text" else sys.stderr
    lines = [neutralize(line) for line in list_left_out(coverage)]
    stream.writelines(f"{line}\n" for line in (["", *lines] if lines else []))
    stream.flush()
