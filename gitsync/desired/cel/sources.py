"""Evaluates the expressions of values that flow: what `resource(…)` stands for, as far as it is known (docs/values.md).

An expression of an export reads a field that is not set as the zero value of its type, as ASO does. Here it has no
value: what another resource does not have must not be sent as an empty text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from gitsync.desired.cel.answers import to_json
from gitsync.desired.cel.budget import EvaluationBudget
from gitsync.desired.cel.evaluate import evaluate
from gitsync.desired.cel.objects import Object, convert_value
from gitsync.desired.cel.source_types import KNOWN_ELSEWHERE, make_source_type
from gitsync.desired.cel.types.types import DYN, Type, make_struct_type
from gitsync.desired.cel.value_expressions import ValueExpression, name_variable
from gitsync.desired.formats.secret_names import is_secret_name
from gitsync.errors import EvaluationError
from gitsync.model.arm_id import ArmId
from gitsync.model.facts import Kind
from gitsync.model.secret import Placeholder, Secret, list_inner_secrets

_ANYTHING: Final = make_struct_type("body", {})


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueSource:
    """What is known of a resource that an expression names. A `Placeholder` stands for what is not known yet."""

    type: Type  # as `source_types` makes it
    id: str | Placeholder
    name: str | Placeholder  # in Azure
    spec: Mapping[str, Any] | Placeholder  # as git has it
    status: Mapping[str, Any] | Placeholder
    """As Azure shows the resource, in the form of its kind; it may have placeholders in it."""


def make_source(
    kind: Kind,
    arm_id: str,
    unknown: Placeholder,
    *,
    spec: Mapping[str, Any] | Placeholder,
    status: Mapping[str, Any] | Placeholder,
) -> ValueSource:
    """Make the source of a resource. A part of its id that is not known is in angle brackets: then `unknown` stands for
    the id, and for the name if it is in that.
    """
    name = arm_id.rpartition("/")[2]
    return ValueSource(
        type=make_source_type(kind),
        id=unknown if "<" in arm_id else arm_id,
        name=unknown if "<" in name else name,
        spec=spec,
        status=status,
    )


def make_known_source(arm_id: ArmId) -> ValueSource:
    """Make the source of which only the id is known: another source declares it."""
    return ValueSource(type=KNOWN_ELSEWHERE, id=str(arm_id), name=arm_id.name, spec={}, status={})


class UnknownValueError(EvaluationError):
    """An expression needs a value that is not known yet: `placeholder` explains why."""

    def __init__(self, placeholder: Placeholder) -> None:
        super().__init__(placeholder.why)
        self.placeholder = placeholder


def evaluate_value(expression: ValueExpression, sources: Mapping[str, ValueSource]) -> Any:
    """Return the value of an expression as JSON; None leaves the field out. `sources` are the resources by the names in
    the expression. What looks like a secret is a `Secret`.

    Raises UnknownValueError if it needs a value that is not known yet, and EvaluationError if it has none.
    """
    variables = {name_variable(name): _make_object(name, source) for name, source in sources.items()}
    value = to_json(evaluate(expression.tree, variables, EvaluationBudget()))
    # An empty text from another resource is a value that it does not have yet, and would overwrite a good one.
    if value == "":
        raise EvaluationError("the expression gives an empty text")
    return _hide_secrets(value)


def _make_object(name: str, source: ValueSource) -> _SourceObject:
    parts = {"id": source.id, "name": source.name, "spec": source.spec, "status": source.status}
    return _SourceObject(source.type, parts, name_variable(name))


def _hide_secrets(value: Any) -> Any:
    if isinstance(_require_known(value), Secret):
        raise EvaluationError("an expression cannot read a secret")
    # A URL with a signature is a secret, whatever its member is called.
    if isinstance(value, str) and any(list_inner_secrets(value)):
        return Secret(value)
    if isinstance(value, dict):
        if names := list(filter(is_secret_name, value)):
            raise EvaluationError(f"the value has the member {names[0]}, which may be a secret")
        return {key: _hide_secrets(member) for key, member in value.items()}
    return [_hide_secrets(entry) for entry in value] if isinstance(value, list) else value


class _SourceObject(Object):
    """An object of another resource. What it does not have is an error, and not a zero value."""

    __slots__ = ("_path",)

    def __init__(self, type_: Type, data: Mapping[str, Any], path: str) -> None:
        super().__init__(type_, data)
        self._path = path  # how an expression writes it, for messages

    def read_member(self, name: str) -> Any:
        if is_secret_name(name):  # a computed name, which no offline check sees
            raise EvaluationError(f"{self._path}.{name} may be a secret")
        raw = _require_known(self._find_raw(name))
        if raw is None:
            raise EvaluationError(f"{self._path}.{name} is not set")
        return self._convert(name, raw)

    def has(self, name: str) -> bool:
        return _require_known(self._find_raw(name)) is not None

    def _convert(self, name: str, raw: Any) -> Any:
        def make(type_: Type, data: Mapping[str, Any]) -> _SourceObject:
            return _SourceObject(type_, data, f"{self._path}.{name}")

        type_ = self._list_fields()[name]
        if type_ == DYN:
            return _convert_body(raw, f"{self._path}.{name}")
        # Members of a struct are checked when they are read. A map or a list goes to macros, which read all of it.
        return convert_value(type_, _require_known_below(_hide_named(raw)) if type_.fields is None else raw, make)


class _SourceBody(_SourceObject):
    """An object without a type, some members of which are not known yet."""

    __slots__ = ()

    def _find_raw(self, name: str) -> Any:
        return self._data.get(name)

    def _convert(self, name: str, raw: Any) -> Any:
        return _convert_body(raw, f"{self._path}.{name}")


def _convert_body(raw: Any, path: str) -> Any:
    """Return a part of a body: as plain data, so that macros can go over it, unless something in it is not known."""
    if isinstance(raw, Mapping) and _has_unknown(raw):
        return _SourceBody(_ANYTHING, raw, path)
    if isinstance(raw, list) and _has_unknown(raw):
        return [_convert_body(entry, f"{path}[{index}]") for index, entry in enumerate(raw)]
    return _hide_named(raw)


def _hide_named(value: Any) -> Any:
    """Return a part of a body with a `Secret` in place of each member that has the name of one."""
    if isinstance(value, Mapping):
        return {
            key: Secret("") if is_secret_name(key) and member is not None else _hide_named(member)
            for key, member in value.items()
        }
    return [_hide_named(entry) for entry in value] if isinstance(value, list) else value


def _has_unknown(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_has_unknown, value.values()))
    return any(map(_has_unknown, value)) if isinstance(value, list) else isinstance(value, Placeholder)


def _require_known(value: Any) -> Any:
    if isinstance(value, Placeholder):
        raise UnknownValueError(value)
    return value


def _require_known_below(value: Any) -> Any:
    """Return a list, a map or a plain value. Raises UnknownValueError if a part of it is not known."""
    for part in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        _require_known(part)
    return _require_known(value)
