"""Two ARM documents side by side, with what may be remembered of them: one question of `gitsync compare`.

Apart from the comparison, because here anybody's JSON comes in: what is wrong with it is said by its line and member.
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
    """`baseline` is what Azure answered right after our last write, `applied` what that write sent: `desired`, where
    it is absent.
    """

    desired: ArmBody
    live: ArmBody
    arm_type: str = ""
    api_version: str = ""
    own_id: str = ""
    baseline: ArmBody | None = None
    applied: ArmBody | None = None


def answer(question: DocumentComparison, catalog: Catalog) -> Comparison:
    """Compare, with what the facts know of the type."""
    hints = replace(find_hints(catalog, question.arm_type, question.api_version), own_id=question.own_id)
    return compare(question.desired, question.live, _remembered(question), hints)


def _remembered(question: DocumentComparison) -> Remembered | None:
    if question.baseline is None and question.applied is None:
        return None
    applied = question.desired if question.applied is None else question.applied
    seen = None if question.baseline is None else make_baseline(applied, question.baseline)
    return Remembered(applied=applied, baseline=seen)


def build_document(comparison: Comparison) -> dict[str, Any]:
    """The answer, as a line of JSON says it."""
    return {
        "differences": [
            {"path": found.path, "desired": found.desired, "live": found.live, "rule": found.rule}
            for found in comparison.differences
        ],
        "unverified": list(comparison.unverified),
    }


@cache
def find_hints(catalog: Catalog, arm_type: str, api_version: str) -> Hints:
    """The hints for an ARM type: of that api-version, else of the kind's newest; none for a type that is not known."""
    kind = catalog.by_arm_type(arm_type, api_version) or _newest(catalog, arm_type)
    return replace(find_kind_hints(kind) if kind else Hints(), arm_type=arm_type)


def _newest(catalog: Catalog, arm_type: str) -> Kind | None:
    for group in catalog.groups():
        for kind in catalog.kinds(group):
            if (catalog.arm_type(group, kind) or "").casefold() == arm_type.casefold():
                return catalog.kind(GVK(group, catalog.versions(group, kind)[-1], kind))
    return None


def read_question(line: bytes, number: int) -> DocumentComparison:
    """The question of one line of JSON. SourceError, with the line's number, where it is none."""
    where = f"Line {number}"
    try:
        said = json.loads(line.decode().rstrip(), parse_constant=_no_number)
    except ValueError as error:
        raise SourceError(f"{where} is not JSON: {_reason(error)}.", hint="Write one JSON object per line.") from error
    except RecursionError as error:
        raise _too_deep(where) from error
    if _is_deep(said):
        raise _too_deep(where)
    if not isinstance(said, dict):
        raise SourceError(f"{where} is not a JSON object.", hint="Write one JSON object per line.")
    return DocumentComparison(
        desired=read_body(said.get("desired"), f"{where}: desired"),
        live=read_body(said.get("live"), f"{where}: live"),
        baseline=_remembered_body(said.get("baseline"), f"{where}: baseline"),
        applied=_remembered_body(said.get("applied"), f"{where}: applied"),
        arm_type=_text(said, "type", where),
        api_version=_text(said, "apiVersion", where),
        own_id=_text(said, "id", where),
    )


def _remembered_body(value: Any, what: str) -> ArmBody | None:
    return None if value is None else read_body(value, what)


def read_body(value: Any, what: str) -> ArmBody:
    """A value that must be the body of a resource. SourceError, which names it by `what`, where it is none."""
    if isinstance(value, Mapping):
        return value
    said = "is absent" if value is None else "is not an object"
    raise SourceError(f"{what} {said}.", hint="Set it to the body of an ARM resource: a JSON object.")


def _text(said: Mapping[str, Any], name: str, where: str) -> str:
    value = said.get(name)
    if value is None or isinstance(value, str):
        return value or ""
    raise SourceError(f"{where}: {name} is not text.", hint="Quote it, or remove it.")


def _is_deep(value: Any) -> bool:
    """Whether something is nested deeper than a manifest may be: no body of ARM is."""
    level = [value]
    for _ in range(MAX_DEPTH):
        inner = [child for one in level for child in _children(one)]
        if not inner:
            return False
        level = inner
    return True


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _too_deep(where: str) -> SourceError:
    return SourceError(f"{where} is nested too deeply.", hint=f"No more than {MAX_DEPTH} levels are read.")


def _no_number(spelled: str) -> NoReturn:
    raise ValueError(f"{spelled} is not a JSON number")


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at column {error.colno}"
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start + 1} is not UTF-8"
    return str(error)
