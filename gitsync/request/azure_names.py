"""What a resource is called in Azure (docs/reference/reconciliation.md#azure-names, #uuid-names).

Apart from the rules for such names (naming): here a name is made, there it is judged. Two runs give one manifest one
name, so nothing here is random.
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
    """The name in Azure; a placeholder if only a ConfigMap that no manifest declares has it; None if there is none (a
    derived name without an owner, or a random one).
    """
    if kind.fixed_azure_name is not None:
        return kind.fixed_azure_name
    given = resource.spec.get("azureName")
    if given:
        return given if isinstance(given, str) else None
    source = resource.spec.get("azureNameFromConfig")
    if source:
        return _from_config(resource.key.namespace, source, config_maps)
    if is_uuid_named(kind):
        return _derived(resource, kind, owner)
    return resource.key.name


def is_named_at_random(resource: Resource, kind: Kind) -> bool:
    """Whether the manifest sets a random name, which is generated again wherever it is not recorded."""
    convention = _naming_convention(resource)
    wanted = isinstance(convention, str) and convention.casefold() == "random"
    return wanted and is_uuid_named(kind) and not resource.spec.get("azureName")


def format_seed(key: Key, owner: OwnerRef, *, legacy: bool) -> str:
    """What a derived name is made of: of the manifest the kind before the group, of the owner after it. The older
    spellings of versions leave out an owner's ARM id, and so make one name for many.
    """
    own = f"{key.kind}/{key.group}:{key.namespace}/{key.name}"
    if owner.key:
        return f"{owner.key.group}/{owner.key.kind}:{key.namespace}/{owner.key.name}:{own}"
    return f"/:{key.namespace}/:{own}" if legacy else f"{owner.arm_id}:{own}"


def _derived(resource: Resource, kind: Kind, owner: OwnerRef | None) -> str | None:
    convention = _naming_convention(resource)
    is_stable = not convention or (isinstance(convention, str) and convention.casefold() == "stable")
    if owner is None or is_named_at_random(resource, kind) or not (is_stable or kind.legacy):
        return None
    if _UUID.fullmatch(resource.key.name):
        return resource.key.name
    return str(uuid.uuid5(_SEEDS, format_seed(resource.key, owner, legacy=kind.legacy)))


def _naming_convention(resource: Resource) -> Any:
    operator_spec = resource.spec.get("operatorSpec")
    return operator_spec.get("namingConvention") if isinstance(operator_spec, Mapping) else None


def _from_config(namespace: str, source: Any, config_maps: ConfigMaps) -> AzureName | None:
    """From the manifests where they have it: only then is the id known before the run."""
    if not isinstance(source, Mapping):
        return None
    name, key = source.get("name"), source.get("key")
    if not (isinstance(name, str) and name and isinstance(key, str) and key):
        return None
    told = config_maps.get((namespace, name), {}).get(key, "")
    return told if told and is_one_segment(told) else ConfigMapHole(name, key)  # what fills the hole refuses the others
