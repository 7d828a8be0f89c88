"""What a plan has of a resource for the expressions of others: the values that a sync would change are known after it
(docs/values.md).

A change of one value may change those that Azure sets beside it: a label gives the name of an address, and a tier
follows from the name of a SKU. At the top of a body, and among tags, values do not depend on each other so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from gitsync.desired.formats.json_pointer import JsonPath, parse_pointer
from gitsync.desired.formats.list_pairing import is_same_key
from gitsync.model.secret import Placeholder
from gitsync.model.verdict import Difference
from gitsync.planning.diff.three_way import REMOVED
from gitsync.planning.diff.unknown_values import collect_unknown_values, find_counterpart

_INDEPENDENT: Final[frozenset[JsonPath]] = frozenset({(), ("properties",), ("tags",)})


class _Unknown(NamedTuple):
    """What stands for values that are not known yet."""

    changed: Placeholder
    beside: Placeholder  # of values that may stay as they are


def foresee_body(
    live: Mapping[str, Any],
    desired: Mapping[str, Any],
    changes: Iterable[Difference],
    beside: Iterable[str],
    later: Placeholder,
) -> Mapping[str, Any]:
    """Return the body that Azure shows, with `later` in place of the values that a sync would change, and with the
    placeholders of `desired`, which the resource itself waits for. `beside` are the JSON pointers of values that git
    does not set and that the write changes.
    """
    body: Any = live
    unknown = _Unknown(later, Placeholder(later.reveal(), why=later.why, is_public=later.is_public))
    for path, placeholder in collect_unknown_values(desired).items():
        body = _mark(body, path, desired, unknown._replace(changed=placeholder))
    for change in changes:
        # The path of a removed value has the indexes of what was sent before.
        reference = None if change.rule == REMOVED else desired
        body = _mark(body, parse_pointer(change.path), reference, unknown)
    for pointer in beside:
        body = _mark(body, parse_pointer(pointer), live, unknown._replace(changed=unknown.beside))
    return dict(body)


def _mark(document: Any, path: JsonPath, reference: Any, unknown: _Unknown, above: JsonPath = ()) -> Any:
    """Return a document with a placeholder at a path, whose indexes are those of `reference`, or at the first part of
    it that the document does not have.
    """
    if not path or isinstance(document, Placeholder):
        return unknown.changed
    step, rest = path[0], path[1:]
    if isinstance(document, Mapping):
        return _mark_member(document, str(step), rest, reference, unknown, above)
    if not isinstance(document, list) or not isinstance(reference, list) or not isinstance(step, int):
        return unknown.changed
    at = find_counterpart(document, step, reference)
    if at is None:  # an entry comes or goes, and Azure decides where
        return unknown.changed
    marked = _mark(document[at], rest, reference[step], unknown, (*above, step))
    return [*document[:at], marked, *document[at + 1 :]]


def _mark_member(
    document: Mapping[str, Any], step: str, rest: JsonPath, reference: Any, unknown: _Unknown, above: JsonPath
) -> Mapping[str, Any]:
    requested = reference if isinstance(reference, Mapping) else {}
    key = next((key for key in document if is_same_key(key, step, str(above[-1]) if above else "")), step)
    known = document.get(key)
    marked = unknown.changed if known is None else _mark(known, rest, requested.get(step), unknown, (*above, step))
    if rest or above in _INDEPENDENT:
        return {**document, key: marked}
    # What git requests in the same object stays as requested. The rest is Azure's, and may follow the change.
    return {name: value if name in requested else unknown.beside for name, value in document.items()} | {key: marked}
