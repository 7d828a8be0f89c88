"""Requests as they can be shown without a run: values that are known during a run only are replaced by their origin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gitsync.desired.catalog.packed_tables import find_built_in_role, make_role_id
from gitsync.desired.request.arm_id_builder import ConfigMaps
from gitsync.desired.request.fill import fill
from gitsync.errors import MissingValueError
from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import Key
from gitsync.model.resource import Prepared
from gitsync.model.secret import Placeholder, Secret
from gitsync.model.template import ComputedValue, ConfigMapKeyRef, Request, RootRef, Text

Secrets = Mapping[tuple[str, str], Mapping[str, Secret]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A resource, its id and its request; None if these cannot be made."""

    prepared: Prepared
    arm_id: ArmId | None
    request: Request | None


def show(prepared: Sequence[Prepared], config_maps: ConfigMaps, *, keeps_secrets: bool = False) -> tuple[Shown, ...]:
    """Render every resource for display, in the same order. `config_maps` are those that manifests declare.

    With `keeps_secrets`, placeholders of secrets are not text but secrets, for a comparison.
    """
    values = Placeholders({resource.key: resource for resource in prepared}, config_maps)
    return tuple(render(resource, values, keeps_secrets=keeps_secrets) for resource in prepared)


def render(prepared: Prepared, values: Placeholders, *, keeps_secrets: bool = False) -> Shown:
    """Render one resource. Raises MissingValueError if `values` lacks one."""
    if prepared.template is None:
        return Shown(prepared=prepared, arm_id=prepared.arm_id, request=None)
    filled = fill(prepared.template, prepared.key.namespace, values)
    plain = filled.body if keeps_secrets else _to_json(filled.body)
    body = _with_role(plain, prepared.resource.spec, filled.arm_id)
    request = Request(arm_id=filled.arm_id, api_version=filled.api_version, body=body)
    return Shown(prepared=prepared, arm_id=filled.arm_id, request=request)


def _with_role(body: Mapping[str, Any], spec: Mapping[str, Any], arm_id: ArmId) -> Mapping[str, Any]:
    """The body of a role assignment with the id of the role that the spec names; a run reads it from Azure."""
    reference, properties = spec.get("roleDefinitionReference"), body.get("properties")
    name = reference.get("wellKnownName") if isinstance(reference, Mapping) else None
    role = find_built_in_role(name) if isinstance(name, str) else None
    if role is None or not isinstance(properties, Mapping):
        return body
    return {**body, "properties": {**properties, "roleDefinitionId": make_role_id(arm_id, role)}}


class Placeholders:
    """Fills placeholders with the origin of their values, except for the values in `config_maps` and `secrets`."""

    def __init__(
        self, prepared: Mapping[Key, Prepared], config_maps: ConfigMaps, secrets: Secrets | None = None
    ) -> None:
        self._prepared = prepared
        self._config_maps = config_maps
        self._secrets = secrets or {}

    def secret(self, namespace: str, name: str, key: str) -> Secret:
        return self._secrets.get((namespace, name), {}).get(key, Secret(f"<secret {name}/{key}>"))

    def secret_map(self, namespace: str, name: str) -> Mapping[str, Secret] | Secret:
        return self._secrets.get((namespace, name), Secret(f"<secret {name}>"))

    def config_map(self, namespace: str, name: str, key: str) -> str | Secret:
        placeholder = Placeholder(f"<configmap {name}/{key}>", is_public=True)
        return self._config_maps.get((namespace, name), {}).get(key, placeholder)

    def arm_id(self, key: Key) -> str:
        template = self._prepared[key].template
        arm_id = self._prepared[key].arm_id
        if arm_id is not None:
            return str(arm_id)
        if template is None or not isinstance(template.arm_id, Text):
            raise MissingValueError("ReferenceNotFound", f"{key} has no ARM id")
        return "".join(
            part if isinstance(part, str) else self._part(key.namespace, part) for part in template.arm_id.parts
        )

    def root(self, key: Key) -> str:
        return format_alias_root(key)

    def computed(self, value: ComputedValue) -> Any:
        from gitsync.desired.request.computed_fill import (  # noqa: PLC0415 - an engine that most repositories do not need
            compute_value,
            describe_offline,
        )

        try:
            return compute_value(
                value, lambda name, key: describe_offline(name, self._prepared[key].resource, self.arm_id(key))
            )
        except MissingValueError as error:  # a run reports it
            return Placeholder(f"<{value.expression}>", why=error.message, is_public=True)

    def _part(self, namespace: str, ref: ConfigMapKeyRef | RootRef) -> str:
        if isinstance(ref, RootRef):
            return self.root(ref.key)
        value = self.config_map(namespace, ref.name, ref.key)
        return value.reveal() if isinstance(value, Secret) else value


def format_alias_root(key: Key) -> str:
    """Return the placeholder for the subscription that an alias creates, as the start of an id."""
    return f"/subscriptions/<subscription of {key.name}>"


def _to_json(value: Any) -> Any:
    """Return a body as JSON: the only secrets in it are placeholders."""
    if isinstance(value, Secret):
        return value.reveal()
    if isinstance(value, Mapping):
        return {key: _to_json(member) for key, member in value.items()}
    return [_to_json(member) for member in value] if isinstance(value, list) else value
