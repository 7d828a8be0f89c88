"""A manifest's spec as the body of a PUT, with placeholders (docs/reference/reconciliation.md#request-bodies).

The facts give the place of every field in the ARM body, and one of five ways to make its value. Fields that the facts
do not know are left out, and a value of the wrong type is passed on: validation reports both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from gitsync.errors import UnusableReferenceError
from gitsync.model.facts import FieldType, Kind
from gitsync.model.gvk import Key
from gitsync.model.template import ConfigMapHole, ReferenceHole, ReferenceKeys, SecretHole, SecretMapHole
from gitsync.request.azure_names import AzureName
from gitsync.request.body_forms import FieldForm, Forms, find_forms


class Converted(NamedTuple):
    """A body with placeholders, and the ARM ids that the manifest contains."""

    body: Mapping[str, Any]
    arm_ids: tuple[str, ...]


def convert(kind: Kind, spec: Mapping[str, Any], name: AzureName, namespace: str) -> Converted:
    """Return the body of a PUT. `name` is the name in Azure.

    Raises UnusableReferenceError if a reference has an invalid form.
    """
    conversion = _Conversion(find_forms(kind), namespace)
    body = {**conversion.mapping(kind.spec, spec), "name": name}
    return Converted(body, tuple(conversion.arm_ids))


class _Conversion:
    """The conversion of one spec, with what all of its parts need."""

    def __init__(self, forms: Forms, namespace: str) -> None:
        self.forms = forms
        self.namespace = namespace
        self.arm_ids: list[str] = []

    def mapping(self, type_name: str, spec: Mapping[str, Any]) -> dict[str, Any]:
        """Convert named fields. A union becomes the content of the field that is set."""
        body: dict[str, Any] = {}
        form = self.forms[type_name]
        for field in form.fields:
            value = spec.get(field.name)
            if value is not None and not field.is_plain:
                value = self.field(field, value)
            if value is None:
                continue
            if form.is_union:
                body.update(value if isinstance(value, dict) else {})
            elif field.parents:
                _make_parents(body, field.parents)[field.last] = value
            else:
                body[field.last] = value
        for field in form.sent_empty:
            _put_empty(body, field)
        return body

    def field(self, field: FieldForm, value: Any) -> Any:
        """Convert the value of a field; None if it is not sent."""
        if field.mode is not None:
            return _MODES[field.mode](self, field.type, value)
        converted = self.value(field.type, value)
        return None if field.collection is not None and converted in ([], {}) else converted

    def value(self, type_: FieldType, value: Any) -> Any:
        if isinstance(type_, str):
            return value
        if "base" in type_:
            return self.value(type_["base"], value)
        if "ref" in type_:
            return self.mapping(type_["ref"], value) if isinstance(value, Mapping) else value
        if "list" in type_:
            return [self.value(type_["list"], v) for v in value] if isinstance(value, list) else value
        if not isinstance(value, Mapping):
            return value
        return {key: self.value(type_["map"], v) for key, v in value.items() if v is not None}

    def reference(self, type_: FieldType, value: Any) -> Any:
        """An ARM id as written, or a placeholder for that of another manifest; a list or map of such, by its type."""
        if isinstance(type_, Mapping) and "list" in type_ and isinstance(value, list):
            return [self.reference(type_["list"], v) for v in value] or None
        if isinstance(type_, Mapping) and "map" in type_ and isinstance(value, Mapping):
            return {key: self.reference(type_["map"], v) for key, v in value.items() if v is not None} or None
        return self.arm_id(value) if type_ == "string" else self.single(value)

    def single(self, value: Any) -> str | ReferenceHole:
        reference = _require_mapping(value)
        if reference.get("wellKnownName"):
            return _require_text(reference, "wellKnownName")
        if reference.get("armId"):
            return self.arm_id(reference["armId"])
        group, kind, name = (_require_text(reference, member) for member in ("group", "kind", "name"))
        return ReferenceHole(Key(group, kind, self.namespace, name))

    def arm_id(self, value: Any) -> str:
        if not isinstance(value, str):
            raise UnusableReferenceError
        self.arm_ids.append(value)
        return value

    def identities(self, _type: FieldType, value: Any) -> ReferenceKeys | None:
        """Convert a list of references that ARM takes as the keys of a map."""
        entries = value if isinstance(value, list) else [value]
        references = tuple(self.single(_require_mapping(entry).get("reference")) for entry in entries)
        return ReferenceKeys(references) if references else None


def _make_secret_hole(_conversion: _Conversion, _type: FieldType, value: Any) -> SecretHole:
    return SecretHole(_require_text(value, "name"), _require_text(value, "key"))


def _make_secret_map_hole(_conversion: _Conversion, _type: FieldType, value: Any) -> SecretMapHole:
    return SecretMapHole(_require_text(value, "name"))


def _make_config_map_hole(_conversion: _Conversion, _type: FieldType, value: Any) -> ConfigMapHole:
    return ConfigMapHole(_require_text(value, "name"), _require_text(value, "key"))


_MODES: Final[Mapping[str, Callable[[_Conversion, FieldType, Any], Any]]] = {
    "reference": _Conversion.reference,
    "identityMap": _Conversion.identities,
    "secret": _make_secret_hole,
    "secretMap": _make_secret_map_hole,
    "configMap": _make_config_map_hole,
}


def _make_parents(body: dict[str, Any], parents: Iterable[str]) -> dict[str, Any]:
    for step in parents:
        body = body.setdefault(step, {})
    return body


def _put_empty(body: dict[str, Any], field: FieldForm) -> None:
    """Put an empty collection into the body, as ASO sends it: never if its parent is absent."""
    for step in field.parents:
        if step not in body:
            return
        body = body[step]
    if field.last not in body:
        body[field.last] = field.collection() if field.collection and field.when_empty != "null" else None


def _require_mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise UnusableReferenceError
    return value


def _require_text(value: Any, member: str) -> str:
    text = _require_mapping(value).get(member)
    if not isinstance(text, str) or not text:
        raise UnusableReferenceError
    return text
