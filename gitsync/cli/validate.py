"""Show every problem in the manifests: what is wrong, where, and how to fix it. Offline.

Exits 0 if there is no error, else 1. With --strict, warnings count as errors. In a pipeline, the problems are also
shown as annotations and in the job summary.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from gitsync.cli.command import Example, add_verbosity, list_left_out
from gitsync.cli.report_forms import REPORT_FORMS, list_outputs
from gitsync.errors import ExitCode
from gitsync.settings.config.config import Config, list_settings

if TYPE_CHECKING:
    from gitsync.cli.offline import Offline
    from gitsync.model.report import Report

SETTINGS = list_settings("validate")
_FORMS = {output: form for output, form in REPORT_FORMS.items() if output != "html"}  # a page shows resources
OUTPUTS = list_outputs(_FORMS)
EXAMPLES = (
    Example("Every problem below one folder", "gitsync validate --path clusters/prod"),
    Example("What a cluster with Azure Service Operator 2.20 does not read", "gitsync validate --aso 2.20"),
    Example("In a pipeline, with warnings as errors", "gitsync validate --strict --output sarif > problems.sarif"),
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add `-v` and `-q`: all other flags are settings."""
    add_verbosity(parser)


def run(options: argparse.Namespace, config: Config) -> ExitCode:
    """Print the problems and return the exit code."""
    from gitsync.cli.offline import read_offline
    from gitsync.cli.output import publish
    from gitsync.model.clock import format_rfc3339
    from gitsync.planning.run_problems import fail_unread
    from gitsync.providers.arm.real_clock import SystemClock

    clock = SystemClock()
    started = clock.now()
    offline = read_offline(config, options.redactions, looks_for_values=True)
    # An ASO document that cannot be read fails a run too, so the check before a merge must not pass it.
    offline = replace(offline, problems=fail_unread(offline.problems))
    code = ExitCode.FAILED if offline.has_errors or (config.strict and offline.problems) else ExitCode.FINE
    report = _make_report(offline, code, format_rfc3339(started), format_rfc3339(clock.now()))

    def render_text(_: Report) -> str:
        return "" if options.quiet and not code else "\n".join((*_format_lines(offline, config), ""))

    def render_json(report: Report, /, *, names: bool) -> str:
        del names  # it never has any
        return json.dumps(_build_document(offline, report), indent=2) + "\n"

    forms = {**_FORMS, "json": _FORMS["json"]._replace(render=render_json)}
    publish(report, config, os.environ, render_text, forms)
    list_left_out(options, config, offline.coverage)
    return code


def _make_report(offline: Offline, code: ExitCode, started: str, finished: str) -> Report:
    """The problems as a report, for the forms that hosts and pipelines read."""
    from gitsync.model.report import Report, ReportSource, RequestCounts

    return Report(
        command="validate",
        revision=offline.revision,
        started=started,
        finished=finished,
        exit_code=code,
        requests=RequestCounts(),
        problems=offline.problems,
        results=(),
        source=ReportSource(root=offline.root, coverage=offline.coverage),
    )


def _format_lines(offline: Offline, config: Config) -> Iterator[str]:
    """The problems, file by file, and a summary."""
    from gitsync.cli.output import find_terminal_width, use_colour
    from gitsync.report.problem_lines import explain_codes, format_problems
    from gitsync.report.wording import shorten_problems

    for _path, problems in groupby(shorten_problems(offline.problems), key=lambda problem: problem.path):
        yield from format_problems(tuple(problems), width=find_terminal_width(), colour=use_colour(config))
        yield ""
    yield from (line for text in explain_codes(offline.problems) for line in (text, ""))
    yield _format_summary(offline)


def _format_summary(offline: Offline) -> str:
    from gitsync.planning.run_problems import warn_empty_source
    from gitsync.report.run_facts import format_left_out
    from gitsync.report.wording import format_plural, format_problem_counts

    scope = f"{format_plural(len(offline.prepared), 'resource')} in {format_plural(offline.coverage.files, 'file')}"
    left_out = "".join(f"; {part}" for part in format_left_out(offline.coverage))
    if not offline.problems and (empty := warn_empty_source(offline.coverage)):
        return f"{scope}: nothing to validate{left_out}. {empty[0].hint}"
    return f"{scope}: {format_problem_counts(offline.problems)}{left_out}."


def _build_document(offline: Offline, report: Report) -> dict[str, object]:
    from gitsync.report.headline import format_headline
    from gitsync.report.json import build_problem
    from gitsync.report.run_facts import build_coverage

    errors = sum(problem.is_error for problem in offline.problems)
    return {
        "command": report.command,
        "exitCode": report.exit_code,
        "headline": format_headline(report),
        "resources": len(offline.prepared),
        "files": offline.coverage.files,
        "passedOver": sum(offline.coverage.skipped_documents.values()),
        "coverage": build_coverage(offline.coverage),
        "errors": errors,
        "warnings": len(offline.problems) - errors,
        "problems": [build_problem(problem) for problem in offline.problems],
    }
