"""The values of variables, from the operator, the units, and their Secrets and ConfigMaps; and the problems of
variables without a value.

The order of precedence: the operator, the values of the unit, then its Secrets and ConfigMaps, the last one first
(docs/variables.md#values).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from gitsync.desired.formats.name_list import name_first
from gitsync.desired.manifests.substitution import UnsetVariable
from gitsync.desired.manifests.units import is_inside
from gitsync.desired.manifests.used_objects import FeedingObject
from gitsync.desired.problems.field_path import FieldPath, format_field
from gitsync.desired.problems.suggest import suggest
from gitsync.model.export import Address, ObjectKind
from gitsync.model.manifests import ConfigMapVersion
from gitsync.model.problem import Level, Problem, SourceLocation
from gitsync.model.resource import Resource
from gitsync.model.secret import Secret
from gitsync.model.unit import Substitution, Unit, ValuesReference
from gitsync.model.variables import VariableFault, VariableValues


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferencedValues:
    """The known values of a Secret or ConfigMap."""

    values: Mapping[str, str | Secret] = field(default_factory=dict)
    fault: str = ""  # why others are not known, "" if these are all
    is_to_come: bool = False  # a sync will read them


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableSet:
    """The variables of all units."""

    by_unit: Mapping[str, VariableValues] = field(default_factory=dict)
    """Those of units with values of their own, by name."""

    everywhere: VariableValues | None = None
    """The operator's, which apply to all other units; None to leave their manifests as they are."""

    def find(self, unit: Unit | None) -> VariableValues | None:
        """Find the variables of a unit (None for a plain folder); None if its manifests are left as they are.

        A Flux unit without `postBuild` is left as it is, as Flux does, and so is a chart, whatever the operator sets.
        """
        if unit is None:
            return self.everywhere
        return self.by_unit.get(unit.name, self.everywhere if unit.takes_given_variables else None)


NO_VARIABLES: Final = VariableSet()


References = Mapping[ValuesReference, ReferencedValues]


def make_variables(
    units: Iterable[Unit], given: Iterable[tuple[str, str]], references: References | None = None
) -> VariableSet:
    """Join the values of every unit. `given` are the operator's, `references` those that were read. The values of any
    other reference are unknown.
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
        referenced = references.get(reference, ReferencedValues(fault=f"{describe(reference)} was not looked up"))
        if referenced.fault:
            unread.append(referenced)
        # An unread object may override the previous values, unless only some of its keys are variables.
        if referenced.fault and not reference.keys:
            known.clear()
        known |= referenced.values
    values = {
        name: join_lines(value) if isinstance(value, str) else value for name, value in substitution.values.items()
    }
    return VariableValues(
        # With labels the values are parameters of an ApplicationSet's template, which `--set` does not reach.
        known={**known, **values} if substitution.labels else {**known, **values, **operator},
        unread=tuple(reference.fault for reference in unread),
        is_to_come=bool(unread) and all(reference.is_to_come for reference in unread),
        labels=substitution.labels,
        missing={name: fault for name, fault in substitution.missing.items() if name not in operator},
        takes_braceless=substitution.takes_braceless,
    )


def describe(reference: ValuesReference) -> str:
    """Format a Secret or ConfigMap for messages."""
    return f"{reference.kind} {reference.namespace}/{reference.name}"


def join_lines(text: str) -> str:
    """Remove the line breaks of a value, as Flux does."""
    return text.replace("\n", "")


# The variables of a source without a value: one problem for each, with all its locations. The replacement handles one
# document at a time, and an unset variable is missing in every file.


DeclaredConfigMaps = Mapping[Address, Sequence[ConfigMapVersion]]
"""The ConfigMaps that a source declares."""

_MOST_POSITIONS: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class VariablePosition:
    """Where a variable is used."""

    source: SourceLocation
    path: FieldPath
    resource: int | None  # the position of the resource among those that were read, None for another document
    about: FeedingObject | None = None  # the object that resources may use, if the document is one


@dataclass(slots=True)
class _Uses:
    """The locations of one fault."""

    fault: VariableFault  # of the first location
    unit: Unit | None  # None for a plain folder
    level: Level
    positions: list[VariablePosition] = field(default_factory=list)  # where the variable is used

    def make_problem(
        self, positions: Sequence[VariablePosition], level: Level, versions: DeclaredConfigMaps
    ) -> Problem:
        first = min(positions, key=lambda used_at: used_at.source)
        unit = self.unit
        config_map = _find_config_map(unit, versions) if unit and self.fault.where else ""
        where = f"{self.fault.where}{config_map and f', or to {config_map}'}. " if self.fault.where else ""
        return Problem(
            code=self.fault.code,
            message=f"{self.fault.message}{_list_positions(positions)}",
            hint=f"{where}{self.fault.hint}",
            level=level,
            path=first.source.path,
            line=first.source.line,
            field=format_field(first.path),
            unit=unit.name if unit else "",
            rendered_by=(unit.name,) if unit and unit.renders else (),
        )


@dataclass(slots=True)
class VariableUses:
    """Collects the faulty uses of variables. Mutable: it is filled document by document."""

    _uses: dict[tuple[str, str, str, Level], _Uses] = field(default_factory=dict)

    def add(self, fault: VariableFault, used_at: VariablePosition, unit: Unit | None, level: Level) -> None:
        """Add a location where a variable is used."""
        key = unit.name if unit else "", fault.code, fault.name, level
        self._uses.setdefault(key, _Uses(fault, unit, level)).positions.append(used_at)

    def detach(self, resource: int) -> None:
        """Note that a document did not become a resource after all."""
        for uses in self._uses.values():
            uses.positions = [
                replace(used_at, resource=None) if used_at.resource == resource else used_at
                for used_at in uses.positions
            ]

    def attach(
        self, resources: list[Resource], is_used: Callable[[FeedingObject], bool], versions: DeclaredConfigMaps
    ) -> Iterator[Problem]:
        """Add every problem to its resources, and yield those that are about other documents too, with a note for each
        unused object. `versions` are the ConfigMaps of the source.
        """
        for uses in self._uses.values():
            unused = [used_at for used_at in uses.positions if used_at.about is not None and not is_used(used_at.about)]
            yield from (uses.make_problem([used_at], Level.NOTE, versions) for used_at in unused)
            positions = [used_at for used_at in uses.positions if used_at not in unused]
            if not positions:
                continue
            problem = uses.make_problem(positions, uses.level, versions)
            # A resource gets the problem once, in however many fields it uses the variable.
            for position in sorted({used_at.resource for used_at in positions if used_at.resource is not None}):
                resource = resources[position]
                problems = sorted((*resource.problems, problem), key=lambda problem: problem.order)
                resources[position] = replace(resource, problems=tuple(problems))
            if any(used_at.resource is None for used_at in positions):
                yield problem


def describe_unset(
    variable: UnsetVariable, values: VariableValues, unit: Unit | None, *, is_empty: bool = False
) -> VariableFault:
    """Describe the fault of a variable without a value. `is_empty`: an empty text replaces it."""
    name = variable.name
    emptied = "it is replaced by an empty text, and no resource of its unit is deleted."
    if name in values.missing:
        fault = values.missing[name]
        return replace(fault, message=f"The variable {fault.name} has no value: {emptied}") if is_empty else fault
    if name in values.labels:
        reason = f": {values.unread[0]}" if variable.is_unread else ""
        message = f"The value of {values.labels[name]} is not known{reason}."
        return VariableFault(name=name, code="VariableNotKnown", message=message, hint="Set it, or remove its use.")
    if variable.is_unread:
        message = f"The value of the variable {name} is not known: {values.unread[0]}."
        hint = f"Fix that, or use --set {name}=VALUE or the variable GITSYNC_VAR_{name}."
        if unit and unit.traits.substitutes:
            where = _say_where(name, unit)
            hint = f"Fix that, use --set {name}=VALUE, or {where[0].lower()}{where[1:]}"
        return VariableFault(name=name, code="VariableNotKnown", message=message, hint=hint)
    message = f"The variable {name} has no value{f': {variable.message}' if variable.message else '.'}"
    if is_empty:
        message = f"The variable {name} has no value: {emptied}"
    fault = VariableFault(name=name, code="VariableNotSet", message=message, hint="")
    if near := suggest(name, values.known):  # a misspelt name: a hint where to set it would mislead
        return replace(fault, hint=f"Did you mean {near}?")
    default = f"For a default, write ${{{name}:=default}}."
    if unit and unit.traits.substitutes:
        return replace(fault, hint=default, where=_say_where(name, unit).rstrip("."))
    return replace(fault, hint=f"{_say_where(name, unit)} {default}")


def describe_braceless(name: str, unit: Unit | None, *, has_variables: bool) -> VariableFault:
    """Describe the fault of `$NAME`, which is not replaced. `has_variables`: `${NAME}` would be."""
    message = f"${name} is not replaced: a variable needs braces"
    if unit and unit.traits.substitutes:
        text = f", or $${name} for the literal text." if has_variables else f". {_say_where(name, unit)}"
        hint = f"Write ${{{name}}}{text}"
        return VariableFault(name=name, code="VariableWithoutBraces", message=f"{message}.", hint=hint)
    message += ", unless its unit has `variables: envsubst`."
    values = f"and set {name} with `substitute` there or with --set {name}=VALUE."
    others = values if not has_variables else f"or write ${{{name}}}, or $${name} for the literal text."
    hint = f"Set `variables: envsubst` for the unit in gitsync.yaml, {others}"
    return VariableFault(name=name, code="VariableWithoutBraces", message=message, hint=hint)


def describe_unreplaced(name: str, unit: Unit | None) -> VariableFault:
    """Describe the fault of a variable in a unit without variables."""
    message = f"The variable {name} is not replaced: its unit has no variables."
    return VariableFault(name=name, code="VariableNotReplaced", message=message, hint=_say_where(name, unit))


def _say_where(name: str, unit: Unit | None) -> str:
    """Return an order that names where to set a variable."""
    if unit and (hint := unit.traits.variable_hint):
        return hint.format(variable=name, unit=unit.name, file=unit.file)
    if unit and not unit.takes_given_variables:
        return "Write the value in the values of the chart, or use `substitute` for the unit in gitsync.yaml."
    return f"Use --set {name}=VALUE, the variable GITSYNC_VAR_{name}, or `substitute` for the unit in gitsync.yaml."


def _find_config_map(unit: Unit, versions: DeclaredConfigMaps) -> str:
    """Find the ConfigMap in the source that has precedence in a unit, with its file; "" for none."""
    substitution = unit.options.substitution
    # Later references override earlier ones, as in Flux.
    for reference in reversed(substitution.references if substitution else ()):
        declared = versions.get(Address(ObjectKind(reference.kind), reference.namespace, reference.name), ())
        # Each cluster may have a ConfigMap of this name, and the unit uses that of its own.
        paths = [
            version.path for version in declared if is_inside(version.cluster_folder, reference.cluster_folder)
        ] or [version.path for version in declared]
        if paths:
            return f"{describe(reference)} in {paths[0]}"
    return ""


def _list_positions(positions: Sequence[VariablePosition]) -> str:
    sources = sorted({used_at.source for used_at in positions})
    if len(sources) == 1:
        return ""
    return f" It is used in {len(sources)} locations: {name_first(sources, _MOST_POSITIONS)}."
