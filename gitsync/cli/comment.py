"""Post a report as a comment on the pull request of this pipeline, or replace the comment before it.

FILE is the report.md of `--report`. If it does not exist, the comment says that the run gave no report.

It uses the program of the host with the token of the job: gh on GitHub Actions (GH_TOKEN), glab on GitLab CI
(GITLAB_TOKEN), az on Azure Pipelines (AZURE_DEVOPS_EXT_PAT).
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from gitsync.cli.command import Example
from gitsync.config.config import Config
from gitsync.errors import ConfigError, ExitCode

SETTINGS = ()
OUTPUTS = ()
EXAMPLES = (Example("In the job of a pull request", "gitsync plan --report report; gitsync comment report/report.md"),)

_WITHOUT_REPORT = "### gitsync gave no report\n\nThe run ended before there was one. Its log says why.\n"
_LONGEST = 65_000
"""Characters: GitHub refuses a comment of more than 65,536, and a line is added."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="The Markdown of a report, such as report/report.md.")
    parser.add_argument(
        "--name", default="", help="Name of the comment, if one pull request gets several, such as production."
    )
    parser.add_argument("--number", default="", help="Number of the pull request. [default that of the job]")


def run(options: argparse.Namespace, config: Config) -> ExitCode:  # noqa: ARG001 - every command takes the settings
    """Post the comment and return the exit code."""
    from gitsync.report.hosts.comment import post
    from gitsync.report.hosts.host import HostUse
    from gitsync.report.hosts.opening import open_host, register_tokens

    register_tokens(os.environ, options.redactions.add)
    number = options.number
    if number and not (number.isascii() and number.isdigit()):
        raise ConfigError(f"--number {number!r} is no number of a pull request.", hint="Give digits alone.")
    host = open_host(os.environ, HostUse.COMMENT)
    was_there = post(host, number or host.find_number(), _read(options.file), options.name)
    print("Updated the comment." if was_there else "Posted the comment.")
    return ExitCode.FINE


def _read(path: str) -> str:
    """The text of a report. A run that was refused gives none, and the comment must not go on showing an older one."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        print(f"{path} does not exist: the run ended without a report.", file=sys.stderr)
        return _WITHOUT_REPORT
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigError(f"{path} cannot be read: {reason}.", hint="Give the report.md of --report.") from error
    if not text.strip() or len(text) > _LONGEST:
        size = "is empty" if not text.strip() else f"has {len(text):,} characters, and a comment at most {_LONGEST:,}"
        raise ConfigError(f"{path} {size}.", hint="Give the report.md of --report.")
    return text
