"""Post a report as a comment on the pull request of this pipeline, or replace the comment before it.

FILE is the report.md of `--report`. If it does not exist, the comment says that the run gave no report.

It uses the program of the host with the token of the job: gh on GitHub Actions (GH_TOKEN), glab on GitLab CI
(GITLAB_TOKEN), az on Azure Pipelines (AZURE_DEVOPS_EXT_PAT).
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from gitsync.cli.command import Example
from gitsync.config.config import Config
from gitsync.config.hosts import Host, find_host
from gitsync.errors import ConfigError, ExitCode
from gitsync.model.secret import Secret
from gitsync.redaction import Redactions

if TYPE_CHECKING:
    from gitsync.report.comments.comment import CommentHost

SETTINGS = ()
OUTPUTS = ()
EXAMPLES = (Example("In the job of a pull request", "gitsync plan --report report; gitsync comment report/report.md"),)

_TOKENS = ("GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITLAB_TOKEN", "AZURE_DEVOPS_EXT_PAT")
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
    from gitsync.report.comments.comment import post

    _register_tokens(options.redactions)
    number = options.number
    if number and not (number.isascii() and number.isdigit()):
        raise ConfigError(f"--number {number!r} is no number of a pull request.", hint="Give digits alone.")
    host = _open_host(os.environ, number)
    was_there = post(host, _read(options.file), options.name)
    print("Updated the comment." if was_there else "Posted the comment.")
    return ExitCode.FINE


def _open_host(environment: Mapping[str, str], number: str) -> CommentHost:
    from gitsync.report.comments.azure_repos import open_azure_repos
    from gitsync.report.comments.github import open_github
    from gitsync.report.comments.gitlab import open_gitlab

    open_host: Mapping[Host, Callable[[Mapping[str, str], str], CommentHost]] = {
        Host.GITHUB: open_github,
        Host.GITLAB: open_gitlab,
        Host.AZURE: open_azure_repos,
    }
    if host := find_host(environment):
        return open_host[host](environment, number)
    raise ConfigError(
        "This is no job of a pipeline that gitsync knows: neither GITHUB_ACTIONS, GITLAB_CI nor TF_BUILD is true.",
        hint="Run it in GitHub Actions, GitLab CI or Azure Pipelines.",
    )


def _register_tokens(redactions: Redactions) -> None:
    """Mask the tokens of the programs: the message of an error may quote them."""
    for name in _TOKENS:
        if value := os.environ.get(name):
            redactions.add(Secret(value))


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
