"""The name of a resource in Azure (docs/reference/reconciliation.md#azure-names, #uuid-names).

Separate from `validation.name_rules`, which checks names: this makes them. Every run gives a manifest the same name, so
nothing here is random.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from typing import Any, Final

from gitsync.model.facts import Kind
from gitsync.model.gvk import Key
from gitsync.model.resource import OwnerRef, Resource
from gitsync.model.template import ConfigMapHole
from gitsync.validation.name_rules import is_one_segment, is_uuid_named

AzureName = str | ConfigMapHole
ConfigMaps = Mapping[tuple[str, str], Mapping[str, str]]

_SEEDS: Final = uuid.UUID("9a329043-7ad7-4b1c-812f-9c7a93d6392a")
_UUID: Final = re.compile(
    r"(?:urn:uuid:)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\{[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\}"
    r"|[0-9a-f]{32}",
    re.IGNORECASE,
)
"""The forms of a UUID that Go's `uuid.Parse` takes."""


def derive_azure_name(
    resource: Resource, kind: Kind, owner: OwnerRef | None, config_maps: ConfigMaps
) -> AzureName | None:
    """Return the name in Azure: a placeholder if it is in a ConfigMap that no manifest declares, None if there is none.

    There is none for a derived name without an owner, and for a random name.
    """
    if kind.fixed_azure_name is not None:
        return kind.fixed_azure_name
    azure_name = resource.spec.get("azureName")
    if azure_name:
        return azure_name if isinstance(azure_name, str) else None
    source = resource.spec.get("azureNameFromConfig")
    if source:
        return _read_config_name(resource.key.namespace, source, config_maps)
    if is_uuid_named(kind):
        return _derive_name(resource, kind, owner)
    return resource.key.name


def is_named_at_random(resource: Resource, kind: Kind) -> bool:
    """Tell whether the manifest sets a random name, which would differ in every run."""
    convention = _find_convention(resource)
    is_random = isinstance(convention, str) and convention.casefold() == "random"
    return is_random and is_uuid_named(kind) and not resource.spec.get("azureName")


def format_seed(key: Key, owner: OwnerRef, *, legacy: bool) -> str:
    """Return the seed of a derived name: "group/kind" of the owner, then "kind/group" of the manifest. The older
    spellings of versions leave out an owner's ARM id, and so make one name for many.
    """
    own = f"{key.kind}/{key.group}:{key.namespace}/{key.name}"
    if owner.key:
        return f"{owner.key.group}/{owner.key.kind}:{key.namespace}/{owner.key.name}:{own}"
    return f"/:{key.namespace}/:{own}" if legacy else f"{owner.arm_id}:{own}"


def _derive_name(resource: Resource, kind: Kind, owner: OwnerRef | None) -> str | None:
    convention = _find_convention(resource)
    is_stable = not convention or (isinstance(convention, str) and convention.casefold() == "stable")
    if owner is None or is_named_at_random(resource, kind) or not (is_stable or kind.legacy):
        return None
    if _UUID.fullmatch(resource.key.name):
        return resource.key.name
    return str(uuid.uuid5(_SEEDS, format_seed(resource.key, owner, legacy=kind.legacy)))


def _find_convention(resource: Resource) -> Any:
    operator_spec = resource.spec.get("operatorSpec")
    return operator_spec.get("namingConvention") if isinstance(operator_spec, Mapping) else None


def _read_config_name(namespace: str, source: Any, config_maps: ConfigMaps) -> AzureName | None:
    """Read the name from a ConfigMap of the manifests, or return a placeholder."""
    if not isinstance(source, Mapping):
        return None
    name, key = source.get("name"), source.get("key")
    if not (isinstance(name, str) and name and isinstance(key, str) and key):
        return None
    value = config_maps.get((namespace, name), {}).get(key, "")
    return value if value and is_one_segment(value) else ConfigMapHole(name, key)  # `fill` refuses other values
