"""A comparison of two ARM documents for `gitsync compare`, with an optional record of the last write.

Separate from the comparison itself, because this reads untrusted JSON: errors name the line and the member.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from gitsync.desired.catalog.any_type import TypeAndVersion
from gitsync.desired.catalog.arm_types import open_arm_types
from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.problems.checked_mapping import read_json_line
from gitsync.model.verdict import Comparison
from gitsync.planning.diff.handed_over_values import add_handed_over, take_live_values
from gitsync.planning.diff.hints import Hints, make_kind_hints, make_type_hints
from gitsync.planning.diff.three_way import Remembered, compare, make_baseline

ArmBody = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentComparison:
    """The input of one comparison."""

    desired: ArmBody  # the body that a PUT would send
    live: ArmBody  # the body of a GET
    arm_type: str = ""  # with or without a version, as `spec.type` of an AzureResource has it
    api_version: str = ""
    own_id: str = ""  # the ARM id of the resource
    baseline: ArmBody | None = None  # Azure's answer right after the last write
    applied: ArmBody | None = None  # the body of the last write; if it is absent, the desired one counts


def answer(pair: DocumentComparison, catalog: Catalog) -> Comparison:
    """Compare the documents, with the facts of the type."""
    # A type without a version is legitimate here: the newest one then gives the facts.
    named = TypeAndVersion.parse(pair.arm_type) or TypeAndVersion(pair.arm_type, "")
    arm_type = named.arm_type
    hints = replace(make_hints(catalog, arm_type, pair.api_version or named.api_version), own_id=pair.own_id)
    desired = _replace_nulls(pair.desired, pair.baseline)
    taken = take_live_values(desired, pair.live, arm_type)
    comparison = compare(taken.body, pair.live, _make_remembered(pair), hints)
    return add_handed_over(comparison, taken.because)


def _make_remembered(pair: DocumentComparison) -> Remembered | None:
    if pair.baseline is None and pair.applied is None:
        return None
    applied = _replace_nulls(pair.desired if pair.applied is None else pair.applied, pair.baseline)
    # The input may be a full answer. A record would keep only the leaves that were sent, and the rest is not git's.
    baseline = None if pair.baseline is None else make_baseline(applied, pair.baseline)
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
    """The hints for an ARM type: of that api-version of the kind, else of the kind's newest; of ARM's own types if no
    kind has the type, of the newest version if none is named.
    """
    group_kind = catalog.group_kind_of(arm_type)
    kind = catalog.by_arm_type(arm_type, api_version) or (catalog.newest(*group_kind) if group_kind else None)
    if kind is not None:
        return replace(make_kind_hints(kind), arm_type=arm_type)
    facts = open_arm_types().find_type(arm_type)
    newest = (facts.newest_stable or facts.newest_preview) if facts else None
    return make_type_hints(arm_type, api_version or newest or "")


def read_pair(line: bytes, number: int) -> DocumentComparison:
    """Read the comparison in one line of JSON. Raises SourceError, with the line's number, if it is invalid."""
    pair = read_json_line(line, number)
    return DocumentComparison(
        desired=pair.within("desired").values,
        live=pair.within("live").values,
        baseline=pair.mapping("baseline"),
        applied=pair.mapping("applied"),
        arm_type=pair.text("type", ""),
        api_version=pair.text("apiVersion", ""),
        own_id=pair.text("id", ""),
    )
