"""Computes the fields that make an ARM id, `spec.owner.armId` and `spec.azureName`, from what git has of other
resources: their ids, their names in Azure and their specs (docs/values.md).

An owner whose id is all of the expression needs no value: it is an owner as any other (`arm_id_builder.find_owner`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from gitsync.desired.cel.source_types import make_source_type
from gitsync.desired.cel.sources import ValueSource, evaluate_value, make_known_source
from gitsync.desired.cel.value_expressions import parse_value
from gitsync.desired.problems.field_path import find_member, format_field
from gitsync.desired.problems.finding import Finding, locate_finding
from gitsync.desired.request.arm_id_builder import ArmIds, Standing
from gitsync.desired.request.computed_values import Computed
from gitsync.desired.validation.set_annotation import ID_FIELDS
from gitsync.errors import EvaluationError
from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import Key
from gitsync.model.resource import Resource
from gitsync.model.secret import Placeholder
from gitsync.model.template import ComputedValue

_LATER: Final = Placeholder("", why="status is known during a run only")

FindStanding = Callable[[Resource], Standing | None]
"""Finds kind, owner and name of a manifest."""

MakeIds = Callable[[Mapping[Key, Standing]], ArmIds]


def settle_ids(
    resources: Sequence[Resource], find_standing: FindStanding, make_ids: MakeIds
) -> tuple[tuple[Resource, ...], Mapping[Key, tuple[Key, ...]]]:
    """Return the resources with text in place of the values that make ids, and the resources that each of them needs.

    What is in a cycle keeps its values: that is a problem of its own, as is a value that only a run has.
    """
    waiting = {index: found for index, resource in enumerate(resources) if (found := _list_id_values(resource))}
    needs = {resources[index].key: _list_sources(found) for index, found in waiting.items()}
    settled = list(resources)
    while waiting:
        open_keys = {settled[index].key for index in waiting}
        ready = [index for index in waiting if open_keys.isdisjoint(needs[settled[index].key])]
        # All that is left waits for itself.
        if not ready:
            break
        placed = (find_standing(resource) for index, resource in enumerate(settled) if index not in waiting)
        # Ids are made again in each round, since those of the round before may be owners or names of this one.
        standings = {standing.resource.key: standing for standing in placed if standing}
        settling = _Settling(standings, make_ids(standings))
        for index in ready:
            settled[index] = settling.settle(settled[index], waiting.pop(index))
    return tuple(settled), needs


def _list_id_values(resource: Resource) -> tuple[Computed, ...]:
    """List the values that make the id of a resource, without an owner whose id is all of the expression."""
    values = ((field, find_member(resource.spec, *field[1:])) for field in ID_FIELDS)
    return tuple(
        Computed(field, value)
        for field, value in values
        if isinstance(value, ComputedValue) and value.sources and not (value.id_of and "owner" in field)
    )


def _list_sources(found: Sequence[Computed]) -> tuple[Key, ...]:
    return tuple(sorted({key for computed in found for key in computed.value.sources.values()}))


class _Settling:
    """Computes values from resources whose ids are settled."""

    def __init__(self, standings: Mapping[Key, Standing], ids: ArmIds) -> None:
        self._standings = standings
        self._ids = ids

    def settle(self, resource: Resource, found: Sequence[Computed]) -> Resource:
        """Return a resource with its values as text, or with the problems of those that have none."""
        spec, problems = resource.spec, list(resource.problems)
        for field, value in found:
            try:
                text = evaluate_value(parse_value(value.expression), self._find_sources(value))
                spec = _replace(spec, field[1:], text)
            except EvaluationError as error:
                hint = "Use .id, .name or .spec of resources whose ids are known offline."
                message = (
                    f"{format_field(field)} makes the ARM id, and its value is not known offline: {error.message}."
                )
                finding = Finding(code="SetField", path=field, message=message, hint=hint)
                problems.append(locate_finding(finding, resource))
        ordered = sorted(problems, key=lambda problem: problem.order)
        return replace(resource, spec=spec, problems=tuple(ordered))

    def _find_sources(self, value: ComputedValue) -> Mapping[str, ValueSource]:
        return {name: self._find_source(name, key, value) for name, key in value.sources.items()}

    def _find_source(self, name: str, key: Key, value: ComputedValue) -> ValueSource:
        if key in value.known_ids:
            return make_known_source(value.known_ids[key])
        standing = self._standings.get(key)
        if standing is None:
            raise EvaluationError(f"{name} has no ARM id")
        arm_id, later = self._ids.of(key), Placeholder("", why=f"the ARM id of {name} is known during a run only")
        return ValueSource(
            type=make_source_type(standing.kind),
            id=str(arm_id) if isinstance(arm_id, ArmId) else later,
            name=standing.name if isinstance(standing.name, str) else later,
            spec=standing.resource.spec,
            status=_LATER,
        )


def _replace(value: Any, path: Sequence[Any], text: Any) -> Any:
    return {**value, path[0]: _replace(value[path[0]], path[1:], text)} if path else text
