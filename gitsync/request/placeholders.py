"""Requests as they can be shown without a run: what only a run can know stands as where it comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gitsync.model.gvk import Key
from gitsync.model.resource import Prepared
from gitsync.model.secret import Placeholder, Secret
from gitsync.model.template import ConfigMapHole, Request, RootHole, Text
from gitsync.request.azure_names import ConfigMaps
from gitsync.request.fill import MissingValueError, fill

Secrets = Mapping[tuple[str, str], Mapping[str, Secret]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A resource, its id and its request; None where these cannot be made. The body is plain JSON."""

    prepared: Prepared
    arm_id: str | None
    request: Request | None


def show(everything: Sequence[Prepared], config_maps: ConfigMaps) -> tuple[Shown, ...]:
    """Every resource as it can be shown, in the order given. `config_maps` are those that manifests declare."""
    values = Placeholders({one.key: one for one in everything}, config_maps)
    return tuple(_shown(one, values) for one in everything)


def _shown(one: Prepared, values: Placeholders) -> Shown:
    if one.template is None:
        return Shown(prepared=one, arm_id=one.arm_id, request=None)
    filled = fill(one.template, one.key.namespace, values)
    request = Request(arm_id=filled.arm_id, api_version=filled.api_version, body=_plain(filled.body))
    return Shown(prepared=one, arm_id=filled.arm_id, request=request)


class Placeholders:
    """Fills placeholders with the origin of their values. Of secrets it has those that it is given: none for a body
    that is shown.
    """

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
        return self._config_maps.get((namespace, name), {}).get(key, Placeholder(f"<configmap {name}/{key}>"))

    def arm_id(self, key: Key) -> str:
        template = self._prepared[key].template
        arm_id = self._prepared[key].arm_id
        if arm_id is not None:
            return arm_id
        if template is None or not isinstance(template.arm_id, Text):
            raise MissingValueError("ReferenceNotFound", f"{key} has no ARM id")
        return "".join(
            part if isinstance(part, str) else self._part(key.namespace, part) for part in template.arm_id.parts
        )

    def root(self, key: Key) -> str:
        return format_alias_root(key)

    def _part(self, namespace: str, hole: ConfigMapHole | RootHole) -> str:
        if isinstance(hole, RootHole):
            return self.root(hole.key)
        told = self.config_map(namespace, hole.name, hole.key)
        return told.reveal() if isinstance(told, Secret) else told


def format_alias_root(key: Key) -> str:
    """How it is shown that an id begins with the subscription that an alias makes."""
    return f"/subscriptions/<subscription of {key.name}>"


def _plain(value: Any) -> Any:
    """A body as JSON: the only secrets in it are the placeholders made here."""
    if isinstance(value, Secret):
        return value.reveal()
    if isinstance(value, Mapping):
        return {key: _plain(member) for key, member in value.items()}
    return [_plain(member) for member in value] if isinstance(value, list) else value
