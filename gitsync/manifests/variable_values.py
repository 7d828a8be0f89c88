"""The values of variables, joined from what the operator gives, the units, and the Secrets and ConfigMaps they name.

The nearest counts: the operator, then the values of the unit, then its Secrets and ConfigMaps, the later before the
earlier (docs/variables.md#values).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gitsync.model.secret import Secret
from gitsync.model.unit import Substitution, Unit, ValuesReference
from gitsync.model.variables import VariableSet, VariableValues


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferencedValues:
    """The values of a Secret or ConfigMap, as far as they are known. `fault` says why others are not, "" if these are
    all; `is_to_come` tells that a sync will read them.
    """

    values: Mapping[str, str | Secret] = field(default_factory=dict)
    fault: str = ""
    is_to_come: bool = False


References = Mapping[ValuesReference, ReferencedValues]


def make_variables(
    units: Iterable[Unit], given: Iterable[tuple[str, str]], references: References | None = None
) -> VariableSet:
    """Join the values of every unit. `given` are those of the operator, `references` those that were looked up; one
    that was not has unknown values.
    """
    operator = dict(given)
    by_unit = {
        unit.name: _join(unit.options.substitution, operator, references or {})
        for unit in units
        if unit.options.substitution is not None
    }
    everywhere = VariableValues(known=operator, is_partial=True, has_defaults=False) if operator else None
    return VariableSet(by_unit=by_unit, everywhere=everywhere)


def _join(substitution: Substitution, operator: Mapping[str, str], references: References) -> VariableValues:
    known: dict[str, str | Secret] = {}
    unread: list[ReferencedValues] = []
    for reference in substitution.references:
        found = references.get(reference, ReferencedValues(fault=f"{describe(reference)} was not looked up"))
        if found.fault:
            unread.append(found)
        if found.fault and not reference.keys:
            known.clear()  # it may have other values for them
        known |= found.values
    values = {
        name: join_lines(value) if isinstance(value, str) else value for name, value in substitution.values.items()
    }
    return VariableValues(
        known={**known, **values} if substitution.labels else {**known, **values, **operator},
        unread=tuple(one.fault for one in unread),
        is_to_come=bool(unread) and all(one.is_to_come for one in unread),
        labels=substitution.labels,
        missing={name: fault for name, fault in substitution.missing.items() if name not in operator},
        takes_braceless=substitution.takes_braceless,
    )


def describe(reference: ValuesReference) -> str:
    """A Secret or ConfigMap as messages call it."""
    return f"{reference.kind} {reference.namespace}/{reference.name}"


def join_lines(text: str) -> str:
    """A value without its line breaks, as Flux takes it."""
    return text.replace("\n", "")
