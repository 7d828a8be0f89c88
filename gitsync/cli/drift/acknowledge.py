"""Acknowledge changes outside of git: record the values that Azure shows, so that no later run reports them.

It reads the named resources, shows what changed in Azure of the values that git does not set, and records it in the
status, with one commit. Nothing is written to Azure or to manifests, and drift of fields that git sets stays. On a
terminal it prompts for confirmation, unless --yes is set. Name a resource as Kind/name. A name may be abbreviated if it
is unambiguous, and a pattern names several. An argument that is a folder or a URL is SOURCE.

The exit code is 1 if a resource could not be compared, or a run has recorded it in between.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gitsync.cli.command import Example, SplitSource, add_quiet
from gitsync.errors import ConfigError, ExitCode
from gitsync.model.attribution import Who
from gitsync.settings.config.config import Config, list_settings
from gitsync.settings.config.flags import find_group
from gitsync.settings.config.setting import HelpGroup

if TYPE_CHECKING:
    from gitsync.model.report import Report
    from gitsync.model.result import Result
    from gitsync.workflows.accept.acknowledge import LeftChange

SETTINGS = list_settings("acknowledge")
OUTPUTS = ("text", "json")
EXAMPLES = (
    Example("Acknowledge a tag from the portal", "gitsync acknowledge VirtualNetwork/hub"),
    Example("What a policy changed in all accounts, without a prompt", "gitsync acknowledge 'StorageAccount/*' --yes"),
)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "names", metavar="KIND/NAME", nargs="+", action=SplitSource, help="The resources to acknowledge."
    )
    add_quiet(find_group(parser, HelpGroup.OUTPUT), "Print only what was skipped, and no progress.")


def run(options: argparse.Namespace, config: Config) -> ExitCode:
    """Plan the named resources, show what changed outside of git, and record it. ConfigError for a name that no
    resource has; DeclinedError if the answer is no.
    """
    from gitsync.agent.reconcile.rules import OutsideUse
    from gitsync.cli.interruption import Interruption
    from gitsync.cli.output import may_name_people
    from gitsync.cli.running import execute_quietly
    from gitsync.model.check import NO_CHECKS
    from gitsync.workflows.accept import acknowledge

    if not options.names:
        raise ConfigError("No resource is named.", hint="Name the resources, such as VirtualNetwork/hub.")
    config = replace(config, only=tuple(options.names), checks=(NO_CHECKS,))
    interruption = Interruption()
    try:
        report = execute_quietly(options, config, interruption, writes=False, outside_use=OutsideUse.ACKNOWLEDGE)
    finally:
        interruption.close()
    if report.interrupted:
        return interruption.exit_code(report)
    results, names = acknowledge.list_changed(report), may_name_people(Who(config.who), os.environ)
    is_text = config.output == "text"
    if not options.quiet:
        _print(acknowledge.format_changes(results, names=names), options, is_text=is_text)
    # Named by a person, so one that could not be compared is a failure and not a silence.
    left = acknowledge.list_uncompared(report)
    if results:
        _confirm(config, results)
        left += _record(config, results, report)
    if is_text:
        _print_end(acknowledge.format_end(results, left), options)
    else:
        text = json.dumps(acknowledge.build(results, left, names=names), indent=2, ensure_ascii=False)
        print(options.redactions.mask(text))
    return ExitCode.FAILED if left else ExitCode.FINE


def _record(config: Config, results: Sequence[Result], report: Report) -> list[LeftChange]:
    from gitsync.cli.recorded import open_recorded
    from gitsync.workflows.accept.acknowledge import record_changes

    with open_recorded(config) as store:
        return record_changes(results, report, store)


def _confirm(config: Config, results: Sequence[Result]) -> None:
    from gitsync.cli.running import confirm
    from gitsync.report.wording import format_plural

    changes = format_plural(sum(len(result.comparison.outside) for result in results), "change")
    resources = format_plural(len(results), "resource")
    confirm(config, f"Acknowledge {changes} of {resources}?", "It was not confirmed, so nothing was recorded.")


def _print(lines: Iterable[str], options: argparse.Namespace, *, is_text: bool) -> None:
    """Print lines: on stdout if that is text, else on stderr, to keep stdout machine-readable."""
    from gitsync.settings.logging import neutralize

    for line in lines:
        print(neutralize(options.redactions.mask(line)), file=sys.stdout if is_text else sys.stderr, flush=True)


def _print_end(lines: Iterable[str], options: argparse.Namespace) -> None:
    """Print the end of the command; with -q only what was skipped."""
    shown = [line for line in lines if not options.quiet or line.startswith("Skipped ")]
    _print(shown, options, is_text=True)
