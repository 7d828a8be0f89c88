"""The destinations of a resource's exports: nothing may be written twice
(docs/reference/reconciliation.md#export-destinations).

Expressions are checked for their shape only; `cel` compiles them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from gitsync.desired.catalog.spec_visitor import Visit
from gitsync.desired.problems.field_path import FieldPath, format_field
from gitsync.desired.problems.finding import Finding

_EXPRESSIONS: Final = {"secretExpressions": "secret", "configMapExpressions": "configmap"}
_FIXED: Final = {"secretDestination": "secret", "configMapDestination": "configmap"}
_NOUNS: Final = {"secret": "secret", "configmap": "configmap value"}


@dataclass(frozen=True, slots=True)
class _ExportDestination:
    target: str  # "secret" or "configmap"
    visit: Visit

    @property
    def name(self) -> str:
        return str(self.visit.value.get("name") or "")

    @property
    def key(self) -> str | None:
        """None for an expression that makes a map: its keys are known during a run only."""
        key = self.visit.value.get("key")
        return key if isinstance(key, str) and key else None


def check_destinations(visits: Iterable[Visit]) -> Iterator[Finding]:
    """Check all destinations of one manifest. A destination without a valid name is skipped."""
    destinations = [
        destination for visit in visits if (destination := _find_destination(visit)) is not None and destination.name
    ]
    yield from _check_keys(destinations)
    yield from _check_metadata(destinations)


def _find_destination(visit: Visit) -> _ExportDestination | None:
    if not visit.fits:
        return None
    if visit.name == "destinationExpression":
        return _ExportDestination(_EXPRESSIONS[str(visit.path[2])], visit)
    target = _FIXED.get(visit.name)
    return _ExportDestination(target, visit) if target else None


def _check_keys(destinations: Iterable[_ExportDestination]) -> Iterator[Finding]:
    first: dict[tuple[str, str, str], FieldPath] = {}
    for destination in destinations:
        if destination.key is None:  # a whole map: which keys it writes is known once it is there
            continue
        address = (destination.target, destination.name, destination.key)
        path = destination.visit.path
        if first.setdefault(address, path) is not path:
            yield Finding(
                code="ExportTwice",
                path=path,
                message=f"cannot write more than one {_NOUNS[destination.target]} to destination "
                f'Name: "{destination.name}", Key: "{destination.key}".',
                hint=f"{format_field(first[address])} writes it already; choose another name or key.",
            )


def _check_metadata(destinations: Iterable[_ExportDestination]) -> Iterator[Finding]:
    """Check that no two destinations set an annotation or label on one object, even with equal values."""
    first: dict[tuple[str, str, str, str], FieldPath] = {}
    for destination in destinations:
        for field, word in (("annotations", "annotation"), ("labels", "label")):
            entries = destination.visit.value.get(field)
            for key in entries if isinstance(entries, dict) else ():
                path = (*destination.visit.path, field, key)
                address = (destination.target, destination.name, field, key)
                if first.setdefault(address, path) is not path:
                    message = (
                        f'collision for {word} on {destination.target} "{destination.name}": '
                        f'key "{key}" is set by multiple destinations.'
                    )
                    hint = f"{format_field(first[address])} sets it already; set it once."
                    yield Finding(code="ExportMetadataTwice", path=path, message=message, hint=hint)
