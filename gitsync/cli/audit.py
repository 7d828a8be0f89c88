"""Show who wrote to the resources in git: each write, delete and key action in Azure's activity log.

Each is one of three: of a run, with its revision; of gitsync's identity, without a recorded run; or of somebody else,
even if a run has undone it since. It only reads. The exit code is 4 if somebody else wrote, and 1 if a log could not be
read.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from gitsync.cli.command import Example
from gitsync.errors import ConfigError, ExitCode
from gitsync.settings.config.config import Config, list_settings

if TYPE_CHECKING:
    from gitsync.workflows.audit.audit_report import AuditReport

SETTINGS = list_settings("audit")
OUTPUTS = ("text", "json", "html")  # not of `REPORT_FORMS`: an audit does not report a run
EXAMPLES = (
    Example("Who wrote in the last week?", "gitsync audit"),
    Example("The last 12 hours as a page", "gitsync audit --since 12h --output html > audit.html"),
)
MOST_RUNS = 300
"""Runs whose reports are read: those that changed something."""

# Five digits at most: more days would lead beyond the years that Python's dates have.
_AGE = re.compile(r"(\d{1,5})([dhm])", re.ASCII)
_UNITS = {"d": timedelta(days=1), "h": timedelta(hours=1), "m": timedelta(minutes=1)}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--since",
        metavar="TIME",
        default="7d",
        help="Start of the audit: an age such as 7d, 12h or 30m, or a time in RFC 3339; 90 days at most. [default 7d]",
    )


def read_since(text: str, now: datetime) -> datetime:
    """Read the beginning of an audit. ConfigError for another text, or one that Azure's log does not reach."""
    from gitsync.agent.attribution.activity_log import RETENTION
    from gitsync.model.clock import read_time

    age = _AGE.fullmatch(text)
    since = now - int(age[1]) * _UNITS[age[2]] if age else read_time(text)
    if since is None:
        raise ConfigError(
            f"--since {text!r} is neither an age nor a time.",
            hint="Use an age such as 7d, or a time such as 2026-11-23T18:00Z.",
        )
    if since > now:
        raise ConfigError(f"--since {text} is in the future.", hint="Use an earlier time.")
    if since < now - RETENTION:
        raise ConfigError(
            f"--since {text} is more than {RETENTION.days} days ago, and Azure keeps its activity log no longer.",
            hint=f"Use --since {RETENTION.days - 1}d or less, or read an export of the log.",
        )
    return since


def run(options: argparse.Namespace, config: Config) -> ExitCode:
    """Audit, print the report and return the exit code."""
    import asyncio

    from gitsync.agent.run.connections import find_global_subscription
    from gitsync.cli.searching import watch_search
    from gitsync.providers.arm.real_clock import SystemClock
    from gitsync.workflows.audit.audit_report import list_figures

    since = read_since(options.since, SystemClock().now())
    with watch_search(options, config, "audit") as watch:
        config = replace(config, subscription=find_global_subscription(config) or None)
        report = asyncio.run(_audit(options, config, since))
        _print(report, options, config)
    watch.searched(report.exit_code, list_figures(report))
    return report.exit_code


async def _audit(options: argparse.Namespace, config: Config, since: datetime) -> AuditReport:
    from gitsync.agent.checks.check_requests import CheckRequests
    from gitsync.cli.offline import check_subscription, read_all
    from gitsync.cli.recorded import open_recorded
    from gitsync.cli.searching import open_search
    from gitsync.model.attribution import Who
    from gitsync.workflows.audit.audit import audit
    from gitsync.workflows.audit.audit_report import AuditReport
    from gitsync.workflows.unmanaged.inventory import make_inventory

    offline = read_all(config, options.redactions)
    # Closed before Azure is read: a lock of the status must not last as long as the search.
    with open_recorded(config) as store:
        records = tuple(store.load().records.values())
        runs = store.read_runs(since, MOST_RUNS)
    arm_ids = [record.arm_id for record in records if record.arm_id] + [
        resource.arm_id for resource in offline.everything if resource.arm_id
    ]
    check_subscription(config, arm_ids)
    if not arm_ids:
        raise ConfigError(f"{config.source} has no resource with an ARM id.", hint="Check SOURCE and --path.")
    async with open_search(options, config) as search:
        requests = CheckRequests(search.arm, search.begin_session)
        done = await audit(arm_ids, records, runs, since, requests, make_inventory(offline.everything, records).has)
        return AuditReport(
            audit=done,
            who=Who(config.who),
            # Records and manifests may spell one id in different cases.
            resources=len(set(map(str.casefold, arm_ids))),
            runs=len(runs),
            # As many as the limit: there may be more.
            has_all_runs=len(runs) < MOST_RUNS,
            requests=search.requests,
        )


def _print(report: AuditReport, options: argparse.Namespace, config: Config) -> None:
    """Print the report in the form of --output, with names of people where the report of a run has them."""
    import json
    import os

    from gitsync.cli.output import may_name_people
    from gitsync.desired.formats.people import hide_people, hide_people_within
    from gitsync.settings.logging import escape_controls, neutralize
    from gitsync.workflows.audit.audit_report import build_document, format_lines

    names = may_name_people(report.who, os.environ)
    if config.output == "html":
        from gitsync.workflows.audit.audit_page import render

        print(options.redactions.mask(render(report, names=names)), end="")
        return
    if config.output == "json":
        document = build_document(report, names=names)
        text = json.dumps(document if names else hide_people_within(document), indent=2)
    else:
        text = "\n".join(map(escape_controls, format_lines(report, names=names)))
        # Azure's messages may quote a name, so the finished text is searched as well.
        text = text if names else hide_people(text)
    print(neutralize(options.redactions.mask(text)))
