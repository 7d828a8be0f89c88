"""A comparison of two ARM documents for `gitsync compare`, with an optional record of the last write.

Separate from the comparison itself, because this reads untrusted JSON: errors name the line and the member.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NoReturn

from gitsync.catalog.catalog import Catalog
from gitsync.diff.hints import Hints, find_kind_hints
from gitsync.diff.three_way import Remembered, compare, make_baseline
from gitsync.errors import SourceError
from gitsync.manifests.yaml_documents import MAX_DEPTH
from gitsync.model.facts import Kind
from gitsync.model.gvk import GVK
from gitsync.model.verdict import Comparison

ArmBody = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentComparison:
    """`baseline` is Azure's answer right after the last write, `applied` the body of that write; `desired`, if it is
    absent.
    """

    desired: ArmBody
    live: ArmBody
    arm_type: str = ""
    api_version: str = ""
    own_id: str = ""
    baseline: ArmBody | None = None
    applied: ArmBody | None = None


def answer(question: DocumentComparison, catalog: Catalog) -> Comparison:
    """Compare the documents, with the facts of the type."""
    hints = replace(find_hints(catalog, question.arm_type, question.api_version), own_id=question.own_id)
    desired = _replace_nulls(question.desired, question.baseline)
    return compare(desired, question.live, _make_remembered(question), hints)


def _make_remembered(question: DocumentComparison) -> Remembered | None:
    if question.baseline is None and question.applied is None:
        return None
    applied = _replace_nulls(question.desired if question.applied is None else question.applied, question.baseline)
    baseline = None if question.baseline is None else make_baseline(applied, question.baseline)
    return Remembered(applied=applied, baseline=baseline)


def _replace_nulls(body: Any, baseline: Any) -> Any:
    """Return a body with the values of the baseline in place of nulls: a null asks for what Azure chooses. What is no
    plain value in the baseline stays null: Azure may fill such a list or object at any time.
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
def find_hints(catalog: Catalog, arm_type: str, api_version: str) -> Hints:
    """The hints for an ARM type: of that api-version, else of the kind's newest; empty for an unknown type."""
    kind = catalog.by_arm_type(arm_type, api_version) or _find_newest_kind(catalog, arm_type)
    return replace(find_kind_hints(kind) if kind else Hints(), arm_type=arm_type)


def _find_newest_kind(catalog: Catalog, arm_type: str) -> Kind | None:
    for group in catalog.groups():
        for kind in catalog.kinds(group):
            if (catalog.arm_type(group, kind) or "").casefold() == arm_type.casefold():
                return catalog.kind(GVK(group, catalog.versions(group, kind)[-1], kind))
    return None


def read_question(line: bytes, number: int) -> DocumentComparison:
    """Read the question in one line of JSON. Raises SourceError, with the line's number, if it is invalid."""
    position = f"Line {number}"
    try:
        members = json.loads(line.decode().rstrip(), parse_constant=_refuse_number)
    except ValueError as error:
        raise SourceError(
            f"{position} is not JSON: {_explain(error)}.", hint="Write one JSON object per line."
        ) from error
    except RecursionError as error:
        raise _make_too_deep(position) from error
    if _is_deep(members):
        raise _make_too_deep(position)
    if not isinstance(members, dict):
        raise SourceError(f"{position} is not a JSON object.", hint="Write one JSON object per line.")
    return DocumentComparison(
        desired=read_body(members.get("desired"), f"{position}: desired"),
        live=read_body(members.get("live"), f"{position}: live"),
        baseline=_read_optional_body(members.get("baseline"), f"{position}: baseline"),
        applied=_read_optional_body(members.get("applied"), f"{position}: applied"),
        arm_type=_read_text(members, "type", position),
        api_version=_read_text(members, "apiVersion", position),
        own_id=_read_text(members, "id", position),
    )


def _read_optional_body(value: Any, name: str) -> ArmBody | None:
    return None if value is None else read_body(value, name)


def read_body(value: Any, name: str) -> ArmBody:
    """Return the body of a resource. Raises SourceError if the value is not one; `name` names it in the message."""
    if isinstance(value, Mapping):
        return value
    fault = "is absent" if value is None else "is not an object"
    raise SourceError(f"{name} {fault}.", hint="Set it to the body of an ARM resource: a JSON object.")


def _read_text(members: Mapping[str, Any], name: str, position: str) -> str:
    value = members.get(name)
    if value is None or isinstance(value, str):
        return value or ""
    raise SourceError(f"{position}: {name} is not text.", hint="Quote it, or remove it.")


def _is_deep(value: Any) -> bool:
    """Tell whether a value is nested deeper than a manifest may be; no body of ARM is."""
    level = [value]
    for _ in range(MAX_DEPTH):
        inner = [
            child
            for outer in level
            if isinstance(outer, dict | list)
            for child in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not inner:
            return False
        level = inner
    return True


def _make_too_deep(position: str) -> SourceError:
    return SourceError(f"{position} is nested too deeply.", hint=f"No more than {MAX_DEPTH} levels are read.")


def _refuse_number(spelled: str) -> NoReturn:
    raise ValueError(f"{spelled} is not a JSON number")


def _explain(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at column {error.colno}"
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start + 1} is not UTF-8"
    return str(error)
