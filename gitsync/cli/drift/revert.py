"""Write the values in git over drift in Azure, for the named resources only.

It plans them, shows the plan, and applies exactly that plan: later changes are not touched. On a terminal it prompts
for confirmation, unless --yes is set. Name a resource as Kind/name. A name may be abbreviated if it is unambiguous, and
a pattern names several. An argument that is a folder or a URL is SOURCE.

Only drift is reverted (drifted, missing, conflict), and what changed outside of the fields that git sets: a PATCH
restores the recorded values. Changes that were made only in git wait for a sync, nothing is deleted, and a held
resource is refused.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gitsync.cli.command import Example, SplitSource, add_verbosity
from gitsync.cli.report_forms import REPORT_OUTPUTS
from gitsync.errors import ConfigError, ExitCode
from gitsync.settings.config.config import Config, list_settings

if TYPE_CHECKING:
    from gitsync.model.plan import Review
    from gitsync.model.report import Report
    from gitsync.model.result import Result

SETTINGS = list_settings("revert")
OUTPUTS = REPORT_OUTPUTS
EXAMPLES = (
    Example("Undo a change in the portal", "gitsync revert VirtualNetwork/hub"),
    Example("All databases that drifted, without a prompt", "gitsync revert 'FlexibleServersDatabase/*' --yes"),
)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", metavar="KIND/NAME", nargs="+", action=SplitSource, help="The resources to revert.")
    add_verbosity(parser)


def run(options: argparse.Namespace, config: Config) -> ExitCode:
    """Plan the named resources, show the plan, and sync those that drifted. ConfigError for a name that no resource
    has, and for a held resource; DeclinedError if the answer is no.
    """
    from gitsync.agent.reconcile.rules import OutsideUse
    from gitsync.cli.output import tell
    from gitsync.cli.running import execute_run
    from gitsync.report.text import Extent
    from gitsync.repository.git.state.plan_file import encode_plan
    from gitsync.repository.git.state.plan_seal import seal_plan
    from gitsync.settings.processes.temporary_folders import open_temporary_folder

    if not options.names:
        raise ConfigError("No resource is named.", hint="Name the resources to revert, such as VirtualNetwork/hub.")
    with open_temporary_folder() as folder:
        # The sync applies this file and nothing else, so a change after the prompt is refused and not overwritten.
        file = folder / "plan.json"
        # Reports and metrics are those of the sync.
        quiet = replace(config, report_dir=None, metrics=None, fail_on=())
        report, code = _plan(options, replace(quiet, only=tuple(options.names), plan_out=str(file)))
        changed = [] if report.interrupted else _list_changed(report)
        if code is ExitCode.REFUSED or not changed or report.plan.review is None:
            has_drift = changed or report.interrupted
            _say("Nothing was reverted." if has_drift else "Nothing has drifted, so nothing was reverted.")
            if config.output != "text":  # a program reads it: there is no report of a sync
                tell(report, config, os.environ)
            return code
        _confirm(config, len(changed))
        file.write_text(encode_plan(seal_plan(_limit(report.plan.review, changed), config.digest_key)))
        only = tuple(str(result.key) for result in changed)
        # What could not be planned has failed, too.
        limited = replace(config, only=only, plan_file=str(file))
        return execute_run(options, limited, writes=True, extent=Extent.RESULT, outside_use=OutsideUse.RESTORE) or code


def _plan(options: argparse.Namespace, config: Config) -> tuple[Report, ExitCode]:
    """Plan, and print the report: on stdout if that is text, else on stderr, to keep stdout machine-readable. Returns
    the exit code, too.
    """
    from gitsync.agent.reconcile.rules import OutsideUse
    from gitsync.cli.interruption import Interruption
    from gitsync.cli.output import format_text
    from gitsync.cli.running import execute_quietly
    from gitsync.report.text import Extent
    from gitsync.settings.logging import neutralize

    interruption = Interruption()
    try:
        report = execute_quietly(options, config, interruption, writes=False, outside_use=OutsideUse.RESTORE)
    finally:
        interruption.close()
    stream = sys.stdout if config.output == "text" else sys.stderr
    shown = format_text(report, config, os.environ, verbose=options.verbose, quiet=options.quiet, extent=Extent.PLAN)
    print(neutralize(shown), file=stream, flush=True)
    return report, interruption.exit_code(report)


def _list_changed(report: Report) -> list[Result]:
    """List the results that a revert writes, and print why it skips the others. ConfigError for a held one."""
    from gitsync.model.verdict import Action, Verdict

    # In a loop of its own, so that nothing is printed before it is refused.
    for result in report.results:
        if result.verdict is Verdict.HELD and result.manifest.hold:
            raise ConfigError(
                f"{result.key} is held {result.manifest.hold}, so it was not reverted.",
                hint="Remove the annotation gitsync/hold to revert it now.",
            )
    for result in report.results:
        if not _has_changed(result) and result.action is not Action.NONE:
            _say(f"Skipped {result.key}: it is {result.verdict}, not drifted. A sync would {result.action} it.")
        elif result.comparison.outside and not result.change.restores:
            _say(f"Skipped {result.key}: {result.condition.message}")
    return [result for result in report.results if _has_changed(result) and result.action is not Action.NONE]


def _has_changed(result: Result) -> bool:
    from gitsync.model.verdict import DRIFTED

    return result.verdict in DRIFTED or bool(result.change.restores)


def _limit(review: Review, changed: Sequence[Result]) -> Review:
    """Return the plan with the resources that changed in Azure. This process reads the same secrets for both runs, so
    their digests need no key.
    """
    nodes = {result.key: replace(review.nodes[result.key], secrets=False) for result in changed}
    return replace(review, nodes=nodes)


def _confirm(config: Config, count: int) -> None:
    from gitsync.cli.running import confirm
    from gitsync.report.wording import format_plural

    prompt = f"Revert {format_plural(count, 'resource')}?"
    confirm(config, prompt, "The revert was not confirmed, so nothing was changed.")


def _say(sentence: str) -> None:
    from gitsync.settings.logging import neutralize

    print(neutralize(sentence), file=sys.stderr, flush=True)
