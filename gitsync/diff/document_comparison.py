"""A comparison of two ARM documents for `gitsync compare`, with an optional record of the last write.

Separate from the comparison itself, because this reads untrusted JSON: errors name the line and the member.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from gitsync.catalog.catalog import Catalog
from gitsync.diff.handed_over import add_handed_over, take_live_values
from gitsync.diff.hints import Hints, make_kind_hints
from gitsync.diff.three_way import Remembered, compare, make_baseline
from gitsync.model.verdict import Comparison
from gitsync.problems.checked_mapping import read_json_line

ArmBody = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentComparison:
    """The input of one comparison."""

    desired: ArmBody  # the body that a PUT would send
    live: ArmBody  # the body of a GET
    arm_type: str = ""
    api_version: str = ""
    own_id: str = ""  # the ARM id of the resource
    baseline: ArmBody | None = None  # Azure's answer right after the last write
    applied: ArmBody | None = None  # the body of the last write; if it is absent, the desired one counts


def answer(question: DocumentComparison, catalog: Catalog) -> Comparison:
    """Compare the documents, with the facts of the type."""
    hints = replace(make_hints(catalog, question.arm_type, question.api_version), own_id=question.own_id)
    desired = _replace_nulls(question.desired, question.baseline)
    taken = take_live_values(desired, question.live, question.arm_type)
    comparison = compare(taken.body, question.live, _make_remembered(question), hints)
    return add_handed_over(comparison, taken.because)


def _make_remembered(question: DocumentComparison) -> Remembered | None:
    if question.baseline is None and question.applied is None:
        return None
    applied = _replace_nulls(question.desired if question.applied is None else question.applied, question.baseline)
    baseline = None if question.baseline is None else make_baseline(applied, question.baseline)
    return Remembered(applied=applied, baseline=baseline)


def _replace_nulls(body: Any, baseline: Any) -> Any:
    """Return a body with the values of the baseline instead of nulls: a null leaves the choice to Azure. A list or
    object in the baseline stays null: Azure may fill it at any time.
    """
    if isinstance(body, Mapping) and isinstance(baseline, Mapping):
        return {key: _replace_nulls(value, baseline.get(key)) for key, value in body.items()}
    return baseline if body is None and isinstance(baseline, str | int | float) else body


def build_document(comparison: Comparison) -> dict[str, Any]:
    """Return the answer as plain JSON values."""
    return {
        "differences": [
            {"path": difference.path, "desired": difference.desired, "live": difference.live, "rule": difference.rule}
            for difference in comparison.differences
        ],
        "unverified": list(comparison.unverified),
    }


@cache
def make_hints(catalog: Catalog, arm_type: str, api_version: str) -> Hints:
    """The hints for an ARM type: of that api-version, else of the kind's newest; empty for an unknown type."""
    group_kind = catalog.group_kind_of(arm_type)
    kind = catalog.by_arm_type(arm_type, api_version) or (catalog.newest(*group_kind) if group_kind else None)
    return replace(make_kind_hints(kind) if kind else Hints(), arm_type=arm_type)


def read_question(line: bytes, number: int) -> DocumentComparison:
    """Read the comparison in one line of JSON. Raises SourceError, with the line's number, if it is invalid."""
    question = read_json_line(line, number)
    return DocumentComparison(
        desired=question.within("desired").values,
        live=question.within("live").values,
        baseline=question.mapping("baseline"),
        applied=question.mapping("applied"),
        arm_type=question.text("type", ""),
        api_version=question.text("apiVersion", ""),
        own_id=question.text("id", ""),
    )
