"""Renders a report as SARIF 2.1.0 (OASIS), for hosts that show alerts on the files of a repository.

It has a result for each finding, at the line of its manifest. Fingerprints contain neither lines nor values, so that an
alert stays the same when the file changes around it. GitHub reads only `primaryLocationLineHash`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from gitsync import __version__, list_addresses
from gitsync.desired.problems.problem_codes import PAGE, CodeMeaning, find_code_meaning
from gitsync.errors import ExitCode
from gitsync.model.check import CheckName
from gitsync.model.report import Report
from gitsync.report.author_texts import list_busy_authors, list_doubts
from gitsync.report.check_texts import make_flag
from gitsync.report.findings import (
    CHECK_RULE,
    FAILED,
    IDENTITY_RULE,
    OUTSIDE_RULE,
    REPLACED_RULE,
    ReportFinding,
    Weight,
    list_findings,
)
from gitsync.report.headline import format_headline
from gitsync.report.hidden_people import leave_out_people
from gitsync.report.identity_texts import IDENTITY_HINT
from gitsync.report.outside_texts import OUTSIDE_ADVICE
from gitsync.report.run_facts import build_coverage, build_target
from gitsync.report.wording import REPLACE_RULE
from gitsync.settings.logging import escape_controls

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "SRCROOT"
"""The base of relative URIs: the root of the repository, wherever it is checked out."""

_HELP = {
    FAILED: (
        "A resource is not Ready.",
        "The message has Azure's response. Run `gitsync describe KIND/NAME` to show everything recorded about it.",
    ),
    REPLACE_RULE: (
        "Azure refuses a change in place.",
        "Restore the old value in git, or set the annotation in the message to allow a replacement.",
    ),
    REPLACED_RULE: (
        "A sync deletes the resource and creates it again.",
        "The manifest allows it. To keep the resource, restore the old value in git.",
    ),
    "drifted": (
        "A resource was changed in Azure and not in git.",
        "Run `gitsync sync` to restore the values in git, or `gitsync accept` to keep the values in Azure.",
    ),
    IDENTITY_RULE: (
        "Another identity than before writes a resource.",
        IDENTITY_HINT,
    ),
    OUTSIDE_RULE: (
        "Values that git does not set were changed in Azure.",
        OUTSIDE_ADVICE,
    ),
    "missing": (
        "A resource was deleted outside git.",
        "Run `gitsync sync` to create it again, or `gitsync accept` to remove its manifest.",
    ),
    "conflict": (
        "A resource was changed both in git and in Azure.",
        "Run `gitsync sync` to write the values in git, or `gitsync accept` to keep the values in Azure.",
    ),
    "failed-before": (
        "A create or update failed in an earlier run.",
        "Fix the cause in the message, then run `gitsync sync` again.",
    ),
    "pending": ("A change in git is not in Azure yet.", "Run `gitsync sync` to apply it."),
    "create": ("A resource does not exist yet.", "Run `gitsync sync` to create it."),
    "adopt": (
        "A resource exists, but gitsync did not create it.",
        "Run `gitsync sync` to adopt it and write the values in git. Set `--adopt report` to leave it unchanged.",
    ),
    "delete": ("A resource was removed from git.", "Run `gitsync sync --prune` to delete it from Azure."),
    "detach": (
        "A resource was removed from git, and is not deleted from Azure.",
        "Run `gitsync sync --prune` to stop managing it.",
    ),
    "held": (
        "A resource differs from git, and is held.",
        "Remove the annotation gitsync/hold to end the hold before its date.",
    ),
    "blocked": (
        "A resource waits for a missing dependency.",
        "Fix the dependency in the message. The next sync then writes this resource.",
    ),
    "invalid": ("A manifest is invalid.", "Run `gitsync validate` to show every problem, without a login."),
    "unknown": (
        "A resource could not be read.",
        "It was left unchanged. Fix the cause in the message, such as a missing right to read, then run again.",
    ),
}
"""Rules for resources: description and remedy."""

_CHECKS = {
    CheckName.PREFLIGHT: "Azure Resource Manager would refuse a change.",
    CheckName.POLICY: "An Azure Policy denies a change, alters it, or audits it.",
    CheckName.NAMES: "The name of a resource is taken.",
    CheckName.LOCKS: "A lock or a deny assignment forbids a change.",
    CheckName.QUOTA: "The quota or the offer in a region is too small for a change.",
    CheckName.VERSIONS: "The resource provider does not list the api-version or the location.",
}
"""What is found by each check."""

_PROBLEM_HELP = (
    "The message explains the problem and how to fix it. Run `gitsync validate` to show every problem in the "
    "manifests, without a login."
)


def render(report: Report) -> str:
    """Render the report as SARIF, indented, with a newline at its end."""
    return json.dumps(build_log(report), indent=2) + "\n"


def build_log(report: Report) -> dict[str, Any]:
    """Build the report as a SARIF log of one run, without names of people."""
    report = leave_out_people(report)
    all_findings = list_findings(report)
    findings = [finding for finding in all_findings if finding.path]
    rules = sorted({finding.rule for finding in findings})
    authors = [*list_busy_authors(report), *(doubt.text for doubt in list_doubts(report))]
    run = {
        "tool": {
            "driver": {
                "name": "gitsync",
                "semanticVersion": __version__,
                "rules": [_build_rule(rule, findings, report) for rule in rules],
            }
        },
        # GitHub takes what is before the last slash for the category, so that a sync does not close the alerts of a
        # plan.
        "automationDetails": {"id": f"gitsync-{report.command}/"},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the repository with the manifests."}}},
        "invocations": [_build_invocation(report, [finding for finding in all_findings if not finding.path])],
        "results": _build_results(findings, rules),
        "properties": {
            "headline": format_headline(report),
            "revision": report.revision,
            "target": build_target(report.target),
            "outcomes": {outcome.value: count for outcome, count in report.outcomes.items()},
            "coverage": build_coverage(report.source.coverage),
            **({"changedBy": authors} if authors else {}),
        },
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _build_invocation(report: Report, unplaced: Sequence[ReportFinding]) -> dict[str, Any]:
    """Build the end of the run."""
    return {
        "executionSuccessful": report.exit_code != ExitCode.FAULT and not report.interrupted,
        "exitCode": report.exit_code,
        "startTimeUtc": report.started,
        "endTimeUtc": report.finished,
        # Hosts reject results without a location, so the findings without a file are here.
        "toolExecutionNotifications": [
            {"level": finding.weight.value, "message": _build_message(finding)} for finding in unplaced
        ],
    }


def _build_message(finding: ReportFinding) -> dict[str, str]:
    """Build a message in plain text."""
    # Links in foreign text are broken up (SARIF §3.11.6).
    return {"text": "\n".join(map(escape_controls, finding.text.splitlines())).replace("](", "] (")}


def _build_rule(rule: str, findings: Sequence[ReportFinding], report: Report) -> dict[str, Any]:
    """Build the rule that an alert shows next to its message. Its level is the highest level of its results."""
    meaning = find_code_meaning(rule)
    description, help_text = (
        _explain_check(CheckName(rule.removeprefix(CHECK_RULE)), report)
        if rule.startswith(CHECK_RULE)
        else _HELP.get(rule) or _explain_code(rule, meaning)
    )
    help_page = find_help_page(meaning) if meaning else ""
    weights = {finding.weight for finding in findings if finding.rule == rule}
    return {
        "id": rule,
        "name": rule if rule[:1].isupper() else rule.title(),
        "shortDescription": {"text": description},
        "help": {"text": help_text, "markdown": help_text},
        **({"helpUri": help_page} if help_page else {}),
        "defaultConfiguration": {"level": next(weight.value for weight in Weight if weight in weights)},
        "properties": {"tags": ["resource" if rule in _HELP or rule.startswith(CHECK_RULE) else "manifest"]},
    }


def _explain_check(check: CheckName, report: Report) -> tuple[str, str]:
    """Explain what a check finds, and how to go on if it is wrong."""
    way_on = f"If the check is wrong, run again with `{make_flag(report, [check])}`."
    return _CHECKS[check], f"Change the manifest as the message states, or ask the owner that it names. {way_on}"


def _explain_code(rule: str, meaning: CodeMeaning | None) -> tuple[str, str]:
    """Find the description and the remedy of a code."""
    if meaning is None:
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", rule).capitalize()  # "DuplicateArmId" → "Duplicate arm id"
        return f"{words}.", _PROBLEM_HELP
    return meaning.cause, f"{meaning.fix} {_PROBLEM_HELP}"


def _build_results(findings: Sequence[ReportFinding], rules: Sequence[str]) -> list[dict[str, Any]]:
    """Build the results."""
    times: Counter[str] = Counter()
    results = []
    for finding in findings:
        # Findings with the same identity are numbered in their order, as GitHub does with equal lines.
        times[finding.identity] += 1
        # A path that is not UTF-8 has surrogates, which cannot be encoded.
        digest = hashlib.sha256(finding.identity.encode("utf-8", "replace")).hexdigest()[:32]
        fingerprint = f"{digest}:{times[finding.identity]}"
        entry = {
            "ruleId": finding.rule,
            "ruleIndex": rules.index(finding.rule),
            "level": finding.weight.value,
            "message": _build_message(finding),
            "locations": [_build_location(finding)],
            "partialFingerprints": {"gitsync/v1": fingerprint, "primaryLocationLineHash": fingerprint},
            **({"properties": {"outcome": finding.outcome}} if finding.outcome else {}),
        }
        results.append(entry)
    return results


def _build_location(finding: ReportFinding) -> dict[str, Any]:
    physical_location: dict[str, Any] = {
        "artifactLocation": {"uri": quote(finding.path, errors="replace"), "uriBaseId": _ROOT}
    }
    # SARIF counts lines from 1, and a finding may have none.
    return {"physicalLocation": physical_location | {"region": {"startLine": max(finding.line, 1)}}}


def find_help_page(meaning: CodeMeaning, addresses: Mapping[str, str] | None = None) -> str:
    """Find the URL of the page of a code; "" if the package does not name its repository. `addresses` are those of the
    package.
    """
    home = (list_addresses() if addresses is None else addresses).get("Homepage", "")
    return f"{home}/blob/main/{PAGE}#{meaning.anchor}" if home.startswith("https://") else ""
