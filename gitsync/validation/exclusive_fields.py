"""Fields of which at most one may be set: `x`, and `xFromConfig` or `xFromSecret`
(docs/reference/reconciliation.md#secret-and-config-map-inputs).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from gitsync.catalog.spec_visitor import Visit
from gitsync.model.facts import Field
from gitsync.problems.finding import Finding

_SOURCES = ("FromConfig", "FromSecret")


def check_pairs(visit: Visit) -> Iterator[Finding]:
    """A finding for every pair of which a mapping sets both."""
    for plain, taken in _pairs(visit.present, visit.fields):
        yield Finding(
            code="BothOfPair",
            path=(*visit.path, taken),
            message=f"cannot specify both {plain} and {taken}.",
            hint=f"Remove {plain} to take the value from elsewhere, or {taken} to keep it in the manifest.",
        )


def _pairs(present: Collection[str], fields: Mapping[str, Field]) -> Iterator[tuple[str, str]]:
    """`azureName` is no such pair: it wins over `azureNameFromConfig`
    (docs/reference/reconciliation.md#azure-names).
    """
    for taken in sorted(name for name in present if name.endswith(_SOURCES)):
        plain = taken.removesuffix("FromConfig").removesuffix("FromSecret")
        if plain in present and not fields[plain].get("meta"):
            yield plain, taken
