"""Writes the words of all forms of a report for what checks say of changes (docs/checks.md).

What Azure would refuse comes first, with what to do; warnings stand with their change; what was not checked is counted
at the end, with the right that is missing. What is fine has no words.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from gitsync.model.check import NO_CHECKS, REFUSED, CheckFinding, CheckName, CheckVerdict
from gitsync.model.gvk import Key
from gitsync.model.report import Report
from gitsync.model.result import Result
from gitsync.report.wording import format_plural

_WORDS = {CheckVerdict.REFUSED: "Refused by", CheckVerdict.WARNING: "Warning from"}

_TITLES = {
    CheckName.PREFLIGHT: "Preflight",
    CheckName.POLICY: "Policy",
    CheckName.NAMES: "Name",
    CheckName.LOCKS: "Lock",
    CheckName.QUOTA: "Quota",
    CheckName.VERSIONS: "API version",
}
_ORDINARY_WORDS = frozenset({"A", "An", "How", "It", "Its", "No", "Some", "The", "There", "This", "What"})

MOST_REASONS = 20
"""Lines about what was not checked; JSON has all."""


def list_shown(result: Result, *, writes: bool) -> list[CheckFinding]:
    """List what a reader must see: refusals, and warnings, unless a sync has made the change anyway."""
    warnings = [] if writes and result.is_fine else result.list_found(CheckVerdict.WARNING)
    return [*result.list_found(CheckVerdict.REFUSED), *warnings]


def is_left_out(result: Result) -> bool:
    """Return whether a sync skipped a resource that Azure would refuse. Its findings repeat its condition."""
    return result.is_refused and not result.is_fine


def repeats_check(result: Result) -> bool:
    """Return whether the condition of a resource repeats its refusals, of this run or the last one."""
    return is_left_out(result) or (result.is_refused and result.condition.reason == REFUSED)


def format_check(finding: CheckFinding) -> str:
    """Format the check and its verdict: `Refused by policy`."""
    return f"{_WORDS[finding.verdict]} {finding.check}"


def format_statement(finding: CheckFinding, result: Result, *, with_location: bool = True) -> str:
    """Format the statement of a check, with its field and the location in the manifest."""
    field = result.comparison.fields.get(finding.path)
    name = ", ".join(filter(None, (field.name, str(field.source) if with_location else ""))) if field else ""
    location = f" ({name})" if name else f" ({finding.path})" if finding.path else ""
    return f"{finding.statement}{location}"


def format_remedy(finding: CheckFinding) -> str:
    """Format what to change, and the owner to contact; "" if the check has neither."""
    return " ".join(filter(None, (finding.advice, finding.contact)))


def format_way_on(report: Report) -> str:
    """Format how to go on if the checks that refuse something are wrong; "" if none does."""
    refusing = {finding.check for result in report.results for finding in result.list_found(CheckVerdict.REFUSED)}
    if not refusing:
        return ""
    names = [name.value for name in CheckName if name in refusing]
    subject = " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return f"If the {subject} check is wrong, run again with `{make_flag(report, refusing)}`."


def make_flag(report: Report, without: Iterable[CheckName]) -> str:
    """Make the setting for the checks of a run without some of them."""
    left = [name.value for name in report.plan.checks if name not in set(without)]
    return f"--checks={','.join(left) or NO_CHECKS}"


def _follow_on(reason: str) -> str:
    """Write a sentence as it follows a colon: its first word is in lower case, unless it is a name."""
    return reason[:1].lower() + reason[1:] if reason.partition(" ")[0] in _ORDINARY_WORDS else reason


class Unchecked(NamedTuple):
    """Resources that one check has no answer for, for one reason."""

    check: CheckName
    reason: str
    keys: tuple[Key, ...]

    @property
    def subject(self) -> str:
        return self.check.value

    @property
    def text(self) -> str:
        resources = format_plural(len(self.keys), "resource")
        return f"{_TITLES[self.check]} check skipped for {resources}: {_follow_on(self.reason)}"


def list_unchecked(report: Report) -> list[Unchecked]:
    """List what was not checked, by check and reason, with the right that is missing."""
    # What a sync has changed anyway is left out: Azure has given the answer.
    results = [result for result in report.results if not (report.command == "sync" and result.is_fine)]
    keys: defaultdict[tuple[CheckName, str], set[Key]] = defaultdict(set)
    for result in results:
        for finding in result.list_found(CheckVerdict.NOT_CHECKED):
            remedy = "" if finding.missing_right else format_remedy(finding)  # the message names the right
            reason = " ".join(filter(None, (finding.message or finding.code, remedy)))
            keys[finding.check, reason].add(result.key)
    order = list(CheckName)
    rows = [Unchecked(check, reason, tuple(sorted(found))) for (check, reason), found in keys.items()]
    return sorted(rows, key=lambda row: (order.index(row.check), -len(row.keys), row.reason))


def format_checked(results: Iterable[Result]) -> str:
    """Format how many resources each check has an answer for: `Checked: preflight (3), locks (5)`; "" for none."""
    times = Counter(
        check
        for result in results
        for check in {
            finding.check for finding in result.change.checks if finding.verdict is not CheckVerdict.NOT_CHECKED
        }
    )
    counts = [f"{check} ({times[check]})" for check in CheckName if times[check]]
    return f"Checked: {', '.join(counts)}." if counts else ""
