"""Values that a manifest has from elsewhere, for Terraform: an attribute of another block, or a variable.

A value that git has is written as it is. One that Azure has of another resource is read from the output of its block,
which has by default what only Azure sets, or else from a data block. Secrets, and what more than a path of members
computes, become variables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gitsync.desired.catalog.arm_types import open_arm_types
from gitsync.desired.catalog.body_paths import find_facts
from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.cel.expressions import parse_expression
from gitsync.desired.cel.syntax.syntax_tree import ExpressionNode, FunctionCall, Ident, IndexAccess, Literal, Select
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
OWN_ATTRIBUTES: Final = (("id",), ("name",))
"""Members of a resource that are attributes of its block."""

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
    """A value that Azure has of another resource."""

    source: Prepared
    path: JsonPath  # in the answer
    is_in_output: bool  # whether azapi's default output has it


class VariableValue(Placeholder):
    """A placeholder of a variable."""

    __slots__ = ("variable",)

    def __init__(self, variable: Variable) -> None:
        super().__init__(f"<{variable.origin}>", why="a variable has it", is_public=not variable.is_secret)
        self.variable = variable


class AttributeValue(Placeholder):
    """A placeholder of a text, or of another value alone, from other resources. `variable` stands for it where one of
    them cannot be referred to.
    """

    __slots__ = ("parts", "variable")

    def __init__(self, parts: tuple[str | OutputValue, ...], variable: Variable) -> None:
        super().__init__(f"<{variable.origin}>", why="another block has it", is_public=True)
        self.parts, self.variable = parts, variable


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
        return AttributeValue((output,), variable) if output else VariableValue(variable)

    def arm_id(self, key: Key) -> str:
        found = super().arm_id(key)
        if "<" in found:
            raise MissingValueError("ReferenceNotFound", f"the ARM id of {key.kind}/{key.name} is known in a run only")
        return found

    def computed(self, value: ComputedValue) -> Any:
        found = super().computed(value)
        if not isinstance(found, Placeholder):
            return found
        first = next(iter(value.sources.values()))
        names = (first.name, value.field.rpartition(".")[2])
        origin = f"{value.field}: {value.expression}"
        variable = Variable(first.namespace, names, origin, is_secret=False)
        roots = {name_variable(name): self._resources.get(key) for name, key in value.sources.items()}
        parts = self._find_parts(parse_value(value.expression).tree, roots)
        is_text = len(parts) == 1 or value.shape == "string" or any(isinstance(part, str) for part in parts)
        return AttributeValue(parts, variable) if parts and is_text else VariableValue(variable)

    def _find_parts(self, tree: ExpressionNode, roots: Mapping[str, Prepared | None]) -> tuple[str | OutputValue, ...]:
        """Find the parts of a text that an expression joins, or the one value that it selects; () if it does more."""
        match tree:
            case Literal(str(text)):
                return (text,)
            case FunctionCall("_+_", None, args):
                found = [self._find_parts(each, roots) for each in args]
                return tuple(part for parts in found for part in parts) if all(found) else ()
            case _:
                root, steps = _read_steps(tree)
                source = roots.get(root)
                output = self._find_output(source, steps) if source and steps else None
                return (output,) if output else ()

    def _find_output(self, source: Prepared, steps: JsonPath) -> OutputValue | None:
        """Find where azapi has a member of a resource; None if it is in `spec`, or may be a secret."""
        kind = self._catalog.kind_of(source.resource)
        if kind is None or not kind.is_arm or source.arm_id is None:
            return None
        if steps in OWN_ATTRIBUTES:
            return OutputValue(source, steps, is_in_output=False)
        # A value of `spec` is what git sets, and the block has it itself.
        if steps[0] != _STATUS or len(steps) == 1:
            return None
        inside = steps[1:]
        if inside in OWN_ATTRIBUTES:
            return OutputValue(source, inside, is_in_output=False)
        path = inside if kind.is_any_type else find_sent_path(kind, kind.status, inside)
        body_type = open_arm_types().find_body(kind.arm_type, kind.api_version)
        facts = find_facts(body_type, path) if body_type and path else None
        # A secret in an output would be in the state in plain text.
        if not path or (facts is not None and facts.is_secret):
            return None
        is_stable = _VOLATILE.isdisjoint(path) and not any(isinstance(step, int) for step in path)
        return OutputValue(source, path, is_in_output=facts is not None and facts.is_read_only and is_stable)

    def _collect_exports(self) -> dict[tuple[str, str, str], OutputValue]:
        """Collect the values that resources export to ConfigMaps, as far as azapi has them."""
        exported = {}
        for prepared in self._resources.values():
            resource = prepared.resource
            for address, key, steps in self._list_exports(resource) if may_export(resource) else ():
                if output := self._find_output(prepared, steps):
                    exported[address.namespace, address.name, key] = output
        return exported

    def _list_exports(self, resource: Resource) -> Iterable[tuple[Address, str, JsonPath]]:
        kind = self._catalog.kind_of(resource)
        for name, to in collect_destinations(resource, ObjectKind.CONFIG_MAP).items() if kind else ():
            if kind and name in kind.config_maps:
                yield to.address, to.key, (_STATUS, *kind.config_maps[name].split("."))
        operator = resource.spec.get("operatorSpec")
        entries = operator.get("configMapExpressions") if isinstance(operator, Mapping) else None
        for entry in entries if isinstance(entries, list) else ():
            if found := _read_export(entry):
                yield Address(ObjectKind.CONFIG_MAP, resource.key.namespace, found[0]), found[1], found[2]


def _read_export(entry: Any) -> tuple[str, str, JsonPath] | None:
    """Read an expression of an export: the name of the object, the key, and the path of the value. None if it is more
    than a path.
    """
    name, key, expression = (find_member(entry, field) for field in ("name", "key", "value"))
    if not (isinstance(name, str) and isinstance(key, str) and isinstance(expression, str)):
        return None
    try:
        root, steps = _read_steps(parse_expression(expression))
    except ExpressionError:
        return None  # a problem of its manifest
    return (name, key, steps) if root == _SELF and steps else None


def _read_steps(tree: ExpressionNode) -> tuple[str, JsonPath]:
    """Return the variable and the members that an expression selects, one in another; ("", ()) if it does more."""
    steps: list[str | int] = []
    while not isinstance(tree, Ident):
        match tree:
            case Select(operand, field, _, False, False):
                step: str | int = field
            case IndexAccess(operand, Literal(str() | int() as key), _, False) if not isinstance(key, bool):
                step = key
            case _:
                return "", ()
        steps.append(step)
        tree = operand
    return tree.name, tuple(reversed(steps))
