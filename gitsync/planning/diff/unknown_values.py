"""Values that are known during a run only: a plan leaves them out of a comparison, on both sides.

Separate from the comparison, which would take a placeholder for a value: git would seem to have changed, and what Azure
has in its place would seem to be drift.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from gitsync.desired.formats.json_pointer import JsonPath, format_pointer
from gitsync.desired.formats.list_pairing import find_key, find_key_field, index_by_key, is_plain, is_same_key
from gitsync.model.secret import Placeholder, is_hidden
from gitsync.model.verdict import Comparison, Difference, Verdict

NOT_KNOWN: Final = "not known to a plan"
"""How the reason of each of them begins."""

UnknownValues = Mapping[JsonPath, Placeholder]
"""The placeholders of a body by their paths. A list of plain values with a placeholder is unknown as a whole, since
Azure may return it in another order.
"""


def is_not_known(reason: str) -> bool:
    """Return whether a value was not verified because it is known during a run only."""
    return reason.startswith(NOT_KNOWN)


def collect_unknown_values(body: Any) -> UnknownValues:
    """Collect the placeholders of a body."""
    return dict(_iterate_unknown(body, ()))


def blank(document: Any, path: JsonPath, reference: Any, instead: Any, inside: str = "") -> Any:
    """Return a document with `instead` in place of the value at a path; the same if it has none.

    The indexes of the path are those of `reference`: entries of lists are paired as in a comparison. `inside` is the
    member that has the document.
    """
    if not path:
        # A value that is absent stays absent, or Azure would seem to have one.
        return document if document is None else instead
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        return _blank_entry(document, step, rest, reference, instead)
    if not isinstance(document, Mapping) or not isinstance(reference, Mapping):
        return document
    return {
        key: blank(value, rest, reference.get(step), instead, step) if is_same_key(key, step, inside) else value
        for key, value in document.items()
    }


def blank_all(document: Any, unknown: UnknownValues, reference: Any) -> Any:
    """Return a document without the values at the paths of the unknown ones, which are those of `reference`."""
    for path, placeholder in unknown.items():
        document = blank(document, path, reference, str(placeholder))
    return document


def blank_baseline(baseline: Any, unknown: UnknownValues, reference: Any) -> Any:
    """The same for a baseline, which never has a secret, masked or not."""
    for path, placeholder in unknown.items():
        baseline = blank(baseline, path, reference, None if is_hidden(placeholder) else str(placeholder))
    return baseline


def match_paths(body: Any, pointers: Collection[str], path: JsonPath = ()) -> Iterator[JsonPath]:
    """Find the paths of a body that JSON pointers name."""
    if path and format_pointer(path) in pointers:
        yield path
    elif isinstance(body, Mapping):
        for key, child in body.items():
            yield from match_paths(child, pointers, (*path, key))
    elif isinstance(body, list):
        for index, child in enumerate(body):
            yield from match_paths(child, pointers, (*path, index))


def add_unknown_values(comparison: Comparison, unknown: UnknownValues, id_doubt: str) -> Comparison:
    """Add to a comparison the values that are not known, and why. One that is a difference whatever its value is (Azure
    has nothing at its path) stays one. `id_doubt` explains why the ARM id is not known; "" if it is.
    """
    if not unknown and not id_doubt:
        return comparison
    reasons = {
        format_pointer(path): f"{NOT_KNOWN}: {placeholder.why}"
        for path, placeholder in unknown.items()
        if path != ("name",)  # it is in the id
    }
    if id_doubt:
        reasons["/id"] = f"{NOT_KNOWN}: {id_doubt}"
    for difference in comparison.differences:
        reasons.pop(difference.path, None)
    return replace(
        comparison,
        unverified=tuple(sorted({*comparison.unverified, *reasons})),
        because={**comparison.because, **reasons},
    )


def add_differences(comparison: Comparison, found: Sequence[Difference]) -> Comparison:
    """Return the comparison of a plan with values that are not known, and that differ whatever they are."""
    if not found:
        return comparison
    paths = {difference.path for difference in found}
    return replace(
        comparison,
        verdict=Verdict.PENDING if comparison.verdict is Verdict.IN_SYNC else comparison.verdict,
        differences=(*comparison.differences, *found),
        unverified=tuple(path for path in comparison.unverified if path not in paths),
        because={path: why for path, why in comparison.because.items() if path not in paths},
    )


def _iterate_unknown(value: Any, path: JsonPath) -> Iterator[tuple[JsonPath, Placeholder]]:
    if isinstance(value, Placeholder):
        yield path, value
    elif isinstance(value, Mapping):
        for key, child in value.items():
            yield from _iterate_unknown(child, (*path, key))
    elif isinstance(value, list) and is_plain(value):
        yield from ((path, entry) for entry in value if isinstance(entry, Placeholder))
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from _iterate_unknown(child, (*path, index))


def _blank_entry(document: Any, index: int, rest: JsonPath, reference: Any, instead: Any) -> Any:
    if not isinstance(document, list) or not isinstance(reference, list):
        return document
    at = find_counterpart(document, index, reference)
    if at is None:
        return document
    return [blank(entry, rest, reference[index], instead) if i == at else entry for i, entry in enumerate(document)]


def find_counterpart(document: list[Any], index: int, reference: list[Any]) -> int | None:
    """The index in a document of the entry that `reference` has at an index."""
    if index >= len(reference):
        return None
    field = find_key_field(document, reference)
    if field is None:
        return index if index < len(document) else None
    key = find_key(reference[index], field)
    return index_by_key(document, field)[key][0] if key and key in index_by_key(document, field) else None
