"""Post a report as a comment on the pull request of this pipeline, or replace the previous comment.

FILE is the report.md of `--report`. If it does not exist, the comment states that the run wrote no report.

With --status it posts a commit status instead, in jobs of every event: `pending` before the run, and `report` after it,
which reads the report.json beside FILE. The same status is not posted twice.

It uses the host's program with the token of the job: gh on GitHub Actions (GH_TOKEN), glab on GitLab CI (GITLAB_TOKEN),
az on Azure Pipelines (AZURE_DEVOPS_EXT_PAT).
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gitsync.cli.command import Example
from gitsync.errors import ConfigError, ExitCode
from gitsync.settings.config.config import Config

if TYPE_CHECKING:
    from gitsync.report.hosts.host import Status

SETTINGS = ()
OUTPUTS = ()
EXAMPLES = (
    Example("In the job of a pull request", "gitsync plan --report report; gitsync comment report/report.md"),
    Example("Before a run, on its commit", "gitsync comment --status pending --name production"),
    Example("After the run, also if it failed", "gitsync comment report/report.md --status report --name production"),
)

_WITHOUT_REPORT = "### gitsync wrote no report\n\nThe run ended before it wrote one. See its log.\n"
_LONGEST = 65_000
"""Characters: GitHub refuses a comment of more than 65,536, and a line is added."""
_PENDING: Final = "pending"
_FROM_REPORT: Final = "report"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", nargs="?", help="The Markdown of a report, such as report/report.md.")
    parser.add_argument(
        "--name",
        default="",
        help="Name of the target, such as production, if a repository has several: each has its comment and status.",
    )
    parser.add_argument("--number", default="", help="Number of the pull request. [default the job's]")
    parser.add_argument(
        "--status",
        choices=(_PENDING, _FROM_REPORT),
        metavar="STATE",
        help="Post a commit status instead of a comment: pending before the run, report for its result.",
    )
    parser.add_argument(
        "--deployment",
        action="store_true",
        help="With --status, also record a deployment to environment NAME. A job of an environment has one already.",
    )


def run(options: argparse.Namespace, config: Config) -> ExitCode:  # noqa: ARG001 - every command takes the settings
    """Post the comment or the status, and return the exit code."""
    from gitsync.report.hosts.opening import register_tokens

    _check(options)
    # Before the first call: an error of the host's program may quote its environment.
    register_tokens(os.environ, options.redactions.add)
    return _post_status(options) if options.status else _post_comment(options)


def _check(options: argparse.Namespace) -> None:
    """Raise ConfigError for arguments that do not belong together."""
    number, status = options.number, options.status
    refusals = (
        (
            number and not (number.isascii() and number.isdigit()),
            f"--number {number!r} is not the number of a pull request.",
            "Use digits only.",
        ),
        (not options.file and status != _PENDING, "FILE is missing.", "Name the report.md of --report."),
        (options.file and status == _PENDING, "There is no report before a run.", "Remove FILE or --status."),
        (
            number and status,
            "--number cannot be combined with --status, which is for a commit.",
            "Remove --number or --status.",
        ),
        (
            options.deployment and not (status and options.name),
            "--deployment needs --status and --name.",
            "Name the environment with --name.",
        ),
    )
    for is_wrong, message, hint in refusals:
        if is_wrong:
            raise ConfigError(message, hint=hint)


def _post_comment(options: argparse.Namespace) -> ExitCode:
    from gitsync.report.hosts.comment import post
    from gitsync.report.hosts.host import HostUse
    from gitsync.report.hosts.opening import open_host

    host = open_host(os.environ, HostUse.COMMENT)
    was_there = post(host, options.number or host.find_number(), _read(options.file), options.name)
    print("Updated the comment." if was_there else "Posted the comment.")
    return ExitCode.FINE


def _read(path: str) -> str:
    """The text of a report. A run that was refused gives none, and the comment must not go on showing an older one."""
    text = _read_file(Path(path))
    if text is None:
        return _WITHOUT_REPORT
    if not text.strip() or len(text) > _LONGEST:
        size = "is empty" if not text.strip() else f"has {len(text):,} characters, and a comment at most {_LONGEST:,}"
        raise ConfigError(f"{path} {size}.", hint="Name the report.md of --report.")
    return text


def _read_file(path: Path) -> str | None:
    """Read a file of a report; None if the run gave none."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        print(f"{path} does not exist: the run ended without a report.", file=sys.stderr)
        return None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigError(f"{path} cannot be read: {reason}.", hint="Name the report.md of --report.") from error


def _post_status(options: argparse.Namespace) -> ExitCode:
    from gitsync.report.hosts.commit_status import RUNNING, name_context, post_deployment, post_status
    from gitsync.report.hosts.host import HostUse
    from gitsync.report.hosts.opening import open_host

    context = name_context(options.name)
    status = RUNNING if options.status == _PENDING else _read_status(options)
    host = open_host(os.environ, HostUse.STATUS)
    if options.deployment:
        is_news = post_deployment(host, options.name, status)
        print(_say(f"deployment to {options.name}", status, is_news=is_news))
    is_news = post_status(host, context, status)
    print(_say(f"status {context}", status, is_news=is_news))
    return ExitCode.FINE


def _say(what: str, status: Status, *, is_news: bool) -> str:
    return f"Posted the {what}: {status.state}." if is_news else f"The {what} is {status.state} already."


def _read_status(options: argparse.Namespace) -> Status:
    """Read how the run ended, from the JSON beside its Markdown. A run that was refused gives none, and has failed."""
    import json

    from gitsync.report.hosts.commit_status import WITHOUT_REPORT, read_status

    path = Path(options.file).with_suffix(".json")
    text = _read_file(path)
    if text is None:
        return WITHOUT_REPORT
    try:
        document = json.loads(text)
        command, status = document["command"], read_status(document)
    except (KeyError, TypeError, ValueError, RecursionError):
        raise ConfigError(f"{path} is not a report of this version.", hint="Name the report.md of --report.") from None
    # A deployment of a plan would show an environment at a commit that it does not have.
    if options.deployment and command != "sync":
        raise ConfigError(f"{path} is the report of a {command}, which deploys nothing.", hint="Remove --deployment.")
    return status
