"""Pairs of fields of which only one may be set: `x`, and `xFromConfig` or `xFromSecret`
(docs/reference/reconciliation.md#secret-and-config-map-inputs).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from gitsync.catalog.spec_visitor import Visit
from gitsync.model.facts import Field
from gitsync.problems.finding import Finding

SOURCES = ("FromConfig", "FromSecret")
"""The ends of names of fields that take the value of another one from elsewhere."""


def check_pairs(visit: Visit) -> Iterator[Finding]:
    """A finding for every pair if a mapping sets both."""
    if not any(name.endswith(SOURCES) for name in visit.value):
        return  # as most
    for value_field, source_field in find_pairs(visit.present, visit.fields):
        yield Finding(
            code="BothOfPair",
            path=(*visit.path, source_field),
            message=f"cannot specify both {value_field} and {source_field}.",
            hint=f"Remove {value_field} to take the value from elsewhere, "
            f"or {source_field} to keep it in the manifest.",
        )


def find_pairs(present: Collection[str], fields: Mapping[str, Field]) -> Iterator[tuple[str, str]]:
    """The pairs of a field and its source among those that are present. `azureName` is in none: it wins over
    `azureNameFromConfig` (docs/reference/reconciliation.md#azure-names).
    """
    for source_field in sorted(name for name in present if name.endswith(SOURCES)):
        value_field = source_field.removesuffix("FromConfig").removesuffix("FromSecret")
        if value_field in present and not fields[value_field].get("meta"):
            yield value_field, source_field
