"""Values that a manifest has from elsewhere, for Terraform: an attribute of another block, or a variable.

A value that git has is written as it is. One that Azure sets on another resource is read from the output of its block,
which has by default what only Azure sets. Secrets, and what neither git nor such an output has, become variables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gitsync.desired.catalog.arm_types import open_arm_types
from gitsync.desired.catalog.body_paths import find_facts
from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.cel.expressions import parse_expression
from gitsync.desired.cel.syntax.syntax_tree import ExpressionNode, Ident, Select
from gitsync.desired.cel.value_expressions import name_variable, parse_value
from gitsync.desired.formats.json_pointer import JsonPath
from gitsync.desired.problems.field_path import find_member
from gitsync.desired.request.arm_id_builder import ConfigMaps
from gitsync.desired.request.exports import collect_destinations, may_export
from gitsync.desired.request.placeholders import Placeholders
from gitsync.desired.request.secret_reads import find_sent_path
from gitsync.errors import ExpressionError, MissingValueError
from gitsync.model.export import Address, ObjectKind
from gitsync.model.gvk import Key
from gitsync.model.resource import Prepared, Resource
from gitsync.model.secret import Placeholder, Secret
from gitsync.model.template import ComputedValue

_STATUS: Final = "status"
_SELF: Final = "self"

_VOLATILE: Final = frozenset(
    {
        "daysTrialRemaining",
        "etag",
        "freeTrialRemainingTime",
        "lastConnectivityTime",
        "lastModifiedAt",
        "lastModifiedBy",
        "lastModifiedByType",
        "lastModifiedDateTime",
        "lastModifiedTime",
        "lastModifiedTimeUtc",
        "lastModifiedUtc",
        "lastUpdated",
        "lastUpdatedDateUTC",
        "lastUpdatedOn",
        "lastUpdatedTime",
        "lastUpdatedTimeUtc",
        "modifiedOn",
        "trialDaysRemaining",
        "updated",
        "updatedBy",
        "updatedOn",
        "updatedTimestamp",
    }
)
"""Members that azapi leaves out of its default output (volatileFieldList, 2.12.0)."""


@dataclass(frozen=True, slots=True, order=True)
class Variable:
    """A value that somebody has to give."""

    namespace: str
    parts: tuple[str, ...]  # of its name
    origin: str  # where gitsync has it from, as the description
    is_secret: bool  # so that it is sensitive, and in no state
    is_map: bool = False  # of texts, by their names


@dataclass(frozen=True, slots=True)
class OutputValue:
    """A value that Azure sets on another resource."""

    key: Key
    path: JsonPath  # below the answer; `id` or `name` alone is an attribute of the block


class VariableValue(Placeholder):
    """A placeholder of a variable."""

    __slots__ = ("variable",)

    def __init__(self, variable: Variable) -> None:
        super().__init__(f"<{variable.origin}>", why="a variable has it", is_public=not variable.is_secret)
        self.variable = variable


class AttributeValue(Placeholder):
    """A placeholder of a value of another resource; `variable` stands for it where no block can be referred to."""

    __slots__ = ("output", "variable")

    def __init__(self, output: OutputValue, variable: Variable) -> None:
        super().__init__(f"<{variable.origin}>", why="another block has it", is_public=True)
        self.output, self.variable = output, variable


class FlowingValues(Placeholders):
    """Fills requests: what `render` shows as a placeholder is one of the classes above."""

    def __init__(self, prepared: Iterable[Prepared], config_maps: ConfigMaps, catalog: Catalog) -> None:
        self._resources = {resource.key: resource for resource in prepared}
        super().__init__(self._resources, config_maps)
        self._catalog = catalog
        self._exported = self._collect_exports()

    def secret(self, namespace: str, name: str, key: str) -> Secret:
        origin = f"Secret {namespace}/{name}, key {key}"
        return VariableValue(Variable(namespace, (name, key), origin, is_secret=True))

    def secret_map(self, namespace: str, name: str) -> Mapping[str, Secret] | Secret:
        origin = f"Secret {namespace}/{name}, all keys"
        return VariableValue(Variable(namespace, (name, "values"), origin, is_secret=True, is_map=True))

    def config_map(self, namespace: str, name: str, key: str) -> str | Secret:
        declared = self._config_maps.get((namespace, name), {}).get(key)
        if declared is not None:
            return declared
        variable = Variable(namespace, (name, key), f"ConfigMap {namespace}/{name}, key {key}", is_secret=False)
        output = self._exported.get((namespace, name, key))
        return AttributeValue(output, variable) if output else VariableValue(variable)

    def arm_id(self, key: Key) -> str:
        found = super().arm_id(key)
        if "<" in found:
            raise MissingValueError("ReferenceNotFound", f"the ARM id of {key.kind}/{key.name} is known in a run only")
        return found

    def computed(self, value: ComputedValue) -> Any:
        found = super().computed(value)
        if not isinstance(found, Placeholder):
            return found
        first = next(iter(value.sources.values()), None)
        parts = (first.name if first else "value", value.field.rpartition(".")[2])
        variable = Variable(first.namespace if first else "", parts, f"{value.field}: {value.expression}", False)
        output = self._find_computed(value)
        return AttributeValue(output, variable) if output else VariableValue(variable)

    def _find_computed(self, value: ComputedValue) -> OutputValue | None:
        tree = parse_value(value.expression).tree
        for name, key in value.sources.items():
            if (steps := _read_steps(tree, name_variable(name))) and key in self._resources:
                return self._find_output(self._resources[key].resource, steps)
        return None

    def _find_output(self, resource: Resource, steps: tuple[str, ...]) -> OutputValue | None:
        """Find where azapi has a value of `status`; None if its default output may not have it."""
        kind = self._catalog.kind_of(resource)
        if kind is None or not kind.is_arm or steps[0] != _STATUS or len(steps) == 1:
            return None
        inside = steps[1:]
        if inside in {("id",), ("name",)}:
            return OutputValue(resource.key, inside)
        path = inside if kind.is_any_type else find_sent_path(kind, kind.status, inside)
        body_type = open_arm_types().find_body(kind.arm_type, kind.api_version)
        facts = find_facts(body_type, path) if body_type and path else None
        if facts is None or not facts.is_read_only or facts.is_secret or not _VOLATILE.isdisjoint(map(str, path)):
            return None
        return OutputValue(resource.key, path)

    def _collect_exports(self) -> dict[tuple[str, str, str], OutputValue]:
        """Collect the values that resources export to ConfigMaps, as far as azapi has them."""
        exported = {}
        for prepared in self._resources.values():
            resource = prepared.resource
            for address, key, steps in self._list_exports(resource) if may_export(resource) else ():
                if output := self._find_output(resource, steps):
                    exported[address.namespace, address.name, key] = output
        return exported

    def _list_exports(self, resource: Resource) -> Iterable[tuple[Address, str, tuple[str, ...]]]:
        kind = self._catalog.kind_of(resource)
        for name, to in collect_destinations(resource, ObjectKind.CONFIG_MAP).items() if kind else ():
            if kind and name in kind.config_maps:
                yield to.address, to.key, (_STATUS, *kind.config_maps[name].split("."))
        operator = resource.spec.get("operatorSpec")
        entries = operator.get("configMapExpressions") if isinstance(operator, Mapping) else None
        for entry in entries if isinstance(entries, list) else ():
            if found := _read_export(entry):
                yield Address(ObjectKind.CONFIG_MAP, resource.key.namespace, found[0]), found[1], found[2]


def _read_export(entry: Any) -> tuple[str, str, tuple[str, ...]] | None:
    """Read an expression of an export: the name of the object, the key, and the path of the value. None if it is more
    than a path.
    """
    name, key, expression = (find_member(entry, field) for field in ("name", "key", "value"))
    if not (isinstance(name, str) and isinstance(key, str) and isinstance(expression, str)):
        return None
    try:
        steps = _read_steps(parse_expression(expression), _SELF)
    except ExpressionError:
        return None  # a problem of its manifest
    return (name, key, steps) if steps else None


def _read_steps(tree: ExpressionNode, root: str) -> tuple[str, ...]:
    """Return the members that an expression selects of a variable, one in another; () if it is anything else."""
    steps: list[str] = []
    while isinstance(tree, Select) and not (tree.optional or tree.test):
        steps.append(tree.field)
        tree = tree.operand
    return tuple(reversed(steps)) if isinstance(tree, Ident) and tree.name == root else ()
