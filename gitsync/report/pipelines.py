"""Writes findings as annotations that a pipeline's log shows at the line of the manifest: GitHub's workflow commands
and Azure Pipelines' logging commands.

Both are lines of a log with foreign text: each escapes it in its own way, so that no text of a manifest or from Azure
can end a command or begin one. The most severe come first, up to the limit of GitHub; the report has all.

The outputs of a run are counts and a commit, so that later steps and jobs can decide without reading a report: each
host has its own form of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from gitsync.model.report import Report
from gitsync.model.result import Outcome
from gitsync.model.verdict import DRIFTED, Action
from gitsync.report.escape import shorten
from gitsync.report.findings import ReportFinding, Weight, list_findings
from gitsync.report.headline import format_headline
from gitsync.report.hidden_people import leave_out_people
from gitsync.report.wording import count_actions, count_outside, count_resets
from gitsync.settings.config.hosts import Host
from gitsync.settings.logging import escape_controls

MOST = 10
"""Annotations of one weight in one step that GitHub shows."""

_LONGEST_TITLE = 200
"""Characters: GitHub takes 255, of which an escaped one may be several."""

_GITHUB = {Weight.ERROR: "error", Weight.WARNING: "warning", Weight.NOTE: "notice"}
_AZURE = {Weight.ERROR: "error", Weight.WARNING: "warning"}


def annotate_github(report: Report) -> list[str]:
    """Workflow commands: `::error file=…,line=…,title=…::MESSAGE`, and a notice with the headline of the report."""
    lines = [_format_github(finding) for finding in _select_heaviest(report, _GITHUB)]
    headline = f"::notice title=gitsync {report.command}::{_escape(format_headline(report), _GITHUB_TEXT)}"
    return [headline, *lines] if lines else []


def annotate_azure_pipelines(report: Report) -> list[str]:
    """Logging commands: `##vso[task.logissue type=…;sourcepath=…;linenumber=…;code=…]MESSAGE`."""
    # There is no type for notes, so planned changes are only in the report.
    return [_format_azure(finding) for finding in _select_heaviest(report, _AZURE)]


def _select_heaviest(report: Report, weights: Mapping[Weight, str]) -> Iterable[ReportFinding]:
    findings = list_findings(leave_out_people(report))  # a log shows them
    for weight in weights:
        most = MOST - 1 if weight is Weight.NOTE else MOST  # the headline is a notice, too
        yield from [finding for finding in findings if finding.weight is weight][:most]


def _format_github(finding: ReportFinding) -> str:
    # GitHub shows the title in bold, and the message below it. The title of a problem needs its code, which that of a
    # resource has in words.
    title = finding.title if finding.outcome else f"{finding.rule}: {finding.title}"
    message = "\n".join(filter(None, (finding.message, *finding.details))) or finding.headline
    properties = {"file": finding.path, "line": str(finding.line or ""), "title": shorten(title, _LONGEST_TITLE)}
    formatted_properties = ",".join(
        f"{name}={_escape(text, _GITHUB_PROPERTY)}" for name, text in properties.items() if text
    )
    return f"::{_GITHUB[finding.weight]} {formatted_properties}::{_escape(message, _GITHUB_TEXT)}"


def _format_azure(finding: ReportFinding) -> str:
    properties = {
        "type": _AZURE[finding.weight],
        "sourcepath": finding.path,
        "linenumber": str(finding.line or ""),
        "code": finding.rule,
    }
    formatted_properties = ";".join(
        f"{name}={_escape(text, _AZURE_PROPERTY)}" for name, text in properties.items() if text
    )
    return f"##vso[task.logissue {formatted_properties}]{_escape(finding.text, _AZURE_TEXT)}"


_GITHUB_TEXT = {"%": "%25", "\n": "%0A"}
_GITHUB_PROPERTY = {**_GITHUB_TEXT, ":": "%3A", ",": "%2C"}
# Azure Pipelines has a spelling of its own for the percent sign.
_AZURE_TEXT = {"%": "%AZP25", "\n": "%0A"}
_AZURE_PROPERTY = {**_AZURE_TEXT, ";": "%3B", "]": "%5D"}


def _escape(text: str, spellings: Mapping[str, str]) -> str:
    """Escape a text to one line: characters that are not printable, or special to the host."""
    printable = "\n".join(map(escape_controls, text.splitlines()))
    return "".join(spellings.get(character, character) for character in printable)


def list_outputs(report: Report) -> dict[str, str]:
    """List the outputs of a run: numbers, and the full id of the commit ("" without one). They have no foreign text.

    `creates`, `updates` and `deletes` are what a sync did, or what it would do: those of a plan let an approval hang on
    deletes. `replaces` are the changes that Azure refuses in place, which no sync makes, and `refused` those that Azure
    would refuse, as the checks say.
    """
    outcomes = report.outcomes
    actions = count_actions(report)
    counts = {
        "resources": len(report.results),
        "changes": outcomes[Outcome.CHANGED],
        "creates": actions[Action.CREATE],
        "updates": actions[Action.UPDATE],
        "deletes": actions[Action.DELETE],
        "replaces": sum(result.change.replacement is not None for result in report.results),
        "refused": sum(result.is_refused for result in report.results),
        "failed": outcomes[Outcome.FAILED],
        "blocked": outcomes[Outcome.BLOCKED],
        "drift": sum(result.verdict in DRIFTED for result in report.results),
        "outside": count_outside(report),
        "resets": count_resets(report),
        "errors": sum(problem.is_error for problem in report.problems),
    }
    return {"revision": report.revision or "", **{name: str(count) for name, count in counts.items()}}


def format_github_outputs(report: Report) -> str:
    """Format the outputs as lines of the file that GITHUB_OUTPUT names."""
    return "".join(f"{name}={value}\n" for name, value in list_outputs(report).items())


def format_dotenv(report: Report) -> str:
    """Format the outputs as variables, `GITSYNC_OUTPUT_DELETES=3`: later jobs of GitLab read them from a report of the
    job (`artifacts:reports:dotenv`).
    """
    # GitLab refuses a variable without a value, so such a one is left out.
    return "".join(f"GITSYNC_OUTPUT_{name.upper()}={value}\n" for name, value in list_outputs(report).items() if value)


def set_azure_variables(report: Report) -> list[str]:
    """Logging commands that make the outputs variables of the step for later steps, jobs and stages."""
    return [
        f"##vso[task.setvariable variable={name};isOutput=true]{value}" for name, value in list_outputs(report).items()
    ]


COMMANDS: Mapping[Host, tuple[Callable[[Report], list[str]], ...]] = {
    Host.GITHUB: (annotate_github,),
    Host.AZURE: (annotate_azure_pipelines, set_azure_variables),
}
"""The functions for the commands that the log of a job gets."""
