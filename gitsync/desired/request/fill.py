"""Fills the placeholders of a template, the values that a manifest needs from elsewhere, and lists them.

The second of the two steps of conversion. The caller has the values: a run reads them from Azure and from secret
sources, `render` has placeholders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final, Protocol

from gitsync.desired.validation.name_rules import is_one_segment
from gitsync.errors import MissingValueError
from gitsync.model.arm_id import ArmId
from gitsync.model.export import Address, ObjectKind
from gitsync.model.gvk import Key
from gitsync.model.secret import Secret
from gitsync.model.template import (
    ComputedValue,
    ConfigMapKeyRef,
    Gap,
    ReferenceKeys,
    Request,
    ResourceRef,
    RootRef,
    SecretKeyRef,
    SecretMapRef,
    Template,
    Text,
    ValueRef,
    collect_gaps,
)


def describe_missing_reference(key: Key) -> str:
    """ASO's words for a reference to a manifest that does not exist."""
    name = f"{key.namespace}/{key.name}"
    return (
        f"failed resolving ARM IDs for references: couldn't resolve reference {name}: {name} does not exist "
        f'({key.kind}.{key.group} "{key.name}" not found)'
    )


class Values(Protocol):
    """The values of placeholders. Each method raises MissingValueError for a missing value.

    A config-map value, a secret map as a whole, or an ARM id may be a `Secret`: a placeholder that must not be compared
    or taken for a value.
    """

    def secret(self, namespace: str, name: str, key: str) -> Secret: ...

    def secret_map(self, namespace: str, name: str) -> Mapping[str, Secret] | Secret: ...

    def config_map(self, namespace: str, name: str, key: str) -> str | Secret: ...

    def arm_id(self, key: Key) -> str | Secret: ...

    def root(self, key: Key) -> str: ...

    def computed(self, value: ComputedValue) -> Any:
        """The value of an expression, as JSON; None leaves the field out."""
        ...


def fill(template: Template, namespace: str, values: Values) -> Request:
    """Fill a template. `namespace` is the manifest's own, which has all that it refers to.

    Raises MissingValueError if `values` lacks one, or if a config map has an empty name or a path as a name.
    """
    # Most templates have no gap, so the body is shared and not copied.
    if isinstance(template.arm_id, ArmId) and template.is_plain:
        return Request(arm_id=template.arm_id, api_version=template.api_version, body=template.body)
    filling = _Filling(namespace, values)
    body: dict[str, Any] = filling.value(template.body)
    arm_id = template.arm_id if isinstance(template.arm_id, ArmId) else ArmId(filling.text(template.arm_id))
    return Request(arm_id=arm_id, api_version=template.api_version, body=body)


class _Filling:
    def __init__(self, namespace: str, values: Values) -> None:
        self.values = values
        self.secret = partial(values.secret, namespace)
        self.secret_map = partial(values.secret_map, namespace)
        self.config_map = partial(values.config_map, namespace)

    def value(self, value: Any) -> Any:
        if isinstance(value, dict):
            filled = {key: self.value(member) for key, member in value.items() if not self.leaves_out(member)}
            # A map that has nothing else is left out too, as one that a manifest has empty.
            return {key: member for key, member in filled.items() if member != {} or not value[key]}
        if isinstance(value, list):
            return [self.value(member) for member in value if not self.leaves_out(member)]
        fill_value = _FILLERS.get(type(value))
        return fill_value(self, value) if fill_value else value

    def leaves_out(self, value: Any) -> bool:
        """Return whether an expression leaves its field out."""
        return value.__class__ is ComputedValue and self.values.computed(value) is None

    def reference_keys(self, keys: ReferenceKeys) -> dict[str, Any]:
        return {str(self.value(reference)): {} for reference in keys.references}

    def text(self, text: Text) -> str:
        return "".join(part if isinstance(part, str) else self.part(part) for part in text.parts)

    def part(self, ref: ConfigMapKeyRef | RootRef) -> str:
        return self.values.root(ref.key) if isinstance(ref, RootRef) else self.name(ref)

    def name(self, ref: ConfigMapKeyRef) -> str:
        """A part of an id. A placeholder is revealed here, since an id is text."""
        value = self.config_map(ref.name, ref.key)
        text = value.reveal() if isinstance(value, Secret) else value
        if not text:
            message = f"resolved azureNameFromConfig {ref.name}/{ref.key} is empty"
            raise MissingValueError("ConfigMapNotFound", message)
        # A name with a slash would make the id of another resource.
        if not isinstance(value, Secret) and not is_one_segment(text):
            where = f"resolved azureNameFromConfig {ref.name}/{ref.key}"
            message = f"{where} is not a valid name: it has a character of a path, or starts or ends with a blank"
            raise MissingValueError("Failed", message)
        return text


_FILLERS: Final[Mapping[type, Callable[[_Filling, Any], Any]]] = {
    ResourceRef: lambda filling, ref: filling.values.arm_id(ref.key),
    SecretKeyRef: lambda filling, ref: filling.secret(ref.name, ref.key),
    SecretMapRef: lambda filling, ref: filling.secret_map(ref.name),
    ConfigMapKeyRef: lambda filling, ref: filling.config_map(ref.name, ref.key),
    ReferenceKeys: _Filling.reference_keys,
    Text: _Filling.text,
    ComputedValue: lambda filling, value: filling.values.computed(value),
}


def fill_references(value: Any, arm_ids: Mapping[Key, ArmId]) -> Any:
    """Return a body with the ARM id in place of each reference that is among `arm_ids`."""
    if isinstance(value, dict):
        return {key: fill_references(member, arm_ids) for key, member in value.items()}
    if isinstance(value, list):
        return [fill_references(member, arm_ids) for member in value]
    if isinstance(value, ReferenceKeys):
        return ReferenceKeys(tuple(fill_references(reference, arm_ids) for reference in value.references))
    # Bodies have plain texts, since their comparison distinguishes types.
    return str(arm_ids[value.key]) if isinstance(value, ResourceRef) and value.key in arm_ids else value


def find_values(value: Any, namespace: str) -> Iterator[tuple[Address, str | None]]:
    """Every value of a Secret or a config map that a body or an ARM id needs, in order, as `find_value`."""
    return list_values(collect_gaps(value), namespace)


def list_values(gaps: Iterable[Gap], namespace: str) -> Iterator[tuple[Address, str | None]]:
    """The same for the gaps of a body."""
    return (found for ref in list_value_refs(gaps) if (found := find_value(ref, namespace)))


def find_value(ref: ValueRef, namespace: str) -> tuple[Address, str | None] | None:
    """The object and the key of the value that a placeholder stands for, None for all keys; None for a reference."""
    match ref:
        case SecretKeyRef(name, key):
            return Address(ObjectKind.SECRET, namespace, name), key
        case SecretMapRef(name):
            return Address(ObjectKind.SECRET, namespace, name), None
        case ConfigMapKeyRef(name, key):
            return Address(ObjectKind.CONFIG_MAP, namespace, name), key
        case _:
            return None


def collect_value_refs(value: Any) -> Iterator[ValueRef]:
    """List every placeholder of a body or of an ARM id, in order. The root of an id below an alias is not one of them:
    the resource waits for its owner anyway.
    """
    return list_value_refs(collect_gaps(value))


def list_value_refs(gaps: Iterable[Gap]) -> Iterator[ValueRef]:
    """Every placeholder of the gaps of a body, in order."""
    for gap in gaps:
        if isinstance(gap, Text):
            yield from (part for part in gap.parts if isinstance(part, ConfigMapKeyRef))
        elif isinstance(gap, ReferenceKeys):
            yield from (reference for reference in gap.references if not isinstance(reference, str))
        else:
            yield gap
