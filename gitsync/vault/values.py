"""The values that fill the holes of requests: exports of this run first, then the manifests' Secrets and ConfigMaps.

A consumer of an export waits for its producer, so a value that is missing here is missing.
"""

from __future__ import annotations

from collections.abc import Mapping

from gitsync.core.fill import MissingValueError
from gitsync.model.gvk import Key
from gitsync.model.manifests import Manifests
from gitsync.model.secret import Placeholder, Secret


class RunValues:
    """Values of one run. In memory only."""

    def __init__(self, manifests: Manifests, arm_ids: Mapping[Key, str]) -> None:
        self._secrets = manifests.secrets
        self._config_maps = manifests.config_maps
        self._arm_ids = dict(arm_ids)
        self._exported: dict[tuple[str, str, str], str] = {}

    def export(self, namespace: str, values: Mapping[tuple[str, str], str]) -> None:
        """Make config-map values, by (name, key), visible to the resources that come after."""
        self._exported |= {(namespace, name, key): value for (name, key), value in values.items()}

    def names(self, key: Key, arm_id: str) -> None:
        """Make an id known that a config map named."""
        self._arm_ids[key] = arm_id

    def secret(self, namespace: str, name: str, key: str) -> Secret:
        found = self._secrets.get((namespace, name))
        if found is None:
            raise MissingValueError(
                "SecretNotFound",
                f"failed resolving secret references: couldn't resolve secret reference {namespace}/{name}.{key}: "
                f"{namespace}/{name} does not exist",
            )
        if key not in found:
            raise MissingValueError(
                "SecretNotFound",
                f"failed resolving secret references: couldn't resolve secret reference {namespace}/{name}.{key}: "
                f'{namespace}/{name} does not exist (Secret "{namespace}/{name}" does not contain key "{key}")',
            )
        return found[key]

    def secret_map(self, namespace: str, name: str) -> Mapping[str, Secret]:
        found = self._secrets.get((namespace, name))
        if found is None:
            raise MissingValueError(
                "SecretNotFound",
                f"failed resolving secret references: couldn't resolve secret collection {namespace}/{name}: "
                f"{namespace}/{name} does not exist",
            )
        return found

    def config_map(self, namespace: str, name: str, key: str) -> str:
        exported = self._exported.get((namespace, name, key))
        if exported is not None:
            return exported
        found = self._config_maps.get((namespace, name))
        because = "" if found is None else f' (ConfigMap "{namespace}/{name}" does not contain key "{key}")'
        if found is None or key not in found:
            raise MissingValueError(
                "ConfigMapNotFound",
                f"failed resolving config map references: couldn't resolve config map reference "
                f"{namespace}/{name}.{key}: {namespace}/{name} does not exist{because}",
            )
        return found[key]

    def arm_id(self, key: Key) -> str:
        """Return the id of another manifest; MissingValueError where there is none."""
        try:
            return self._arm_ids[key]
        except KeyError:
            raise MissingValueError(
                "ReferenceNotFound",
                f"failed resolving ARM IDs for references: couldn't resolve reference {key.namespace}/{key.name}: "
                f"{key.namespace}/{key.name} does not exist",
            ) from None


class Foreseen:
    """Values as a plan knows them: what a resource that is yet to be created will export is a placeholder.

    A placeholder is a `Secret`, so that it is neither compared nor taken for a value.
    """

    def __init__(self, values: RunValues) -> None:
        self._values = values

    def secret(self, namespace: str, name: str, key: str) -> Secret:
        return self._values.secret(namespace, name, key)

    def secret_map(self, namespace: str, name: str) -> Mapping[str, Secret]:
        return self._values.secret_map(namespace, name)

    def config_map(self, namespace: str, name: str, key: str) -> str | Secret:
        try:
            return self._values.config_map(namespace, name, key)
        except MissingValueError:
            return Placeholder(f"<configmap {name}/{key}>")

    def arm_id(self, key: Key) -> str:
        return self._values.arm_id(key)
