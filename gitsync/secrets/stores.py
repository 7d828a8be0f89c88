"""The sources and sinks of secrets and config maps of a run, in the order of the settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gitsync.model.manifests import Manifests
from gitsync.processes.grace_period import Grace
from gitsync.secrets.protocols import SecretSource, Sink
from gitsync.secrets.sops import Sops
from gitsync.secrets.sources.encrypted import EncryptedSource
from gitsync.secrets.sources.manifests import ManifestSource

MANIFESTS = "manifests"
"""The source that exists only once the manifests are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """`order` names the sources; all but the manifests are in `sources`. `environment` is the environment of
    `sops`, which ends with `grace`.
    `keeps_config_maps`: they are also written to the status.
    """

    order: tuple[str, ...] = (MANIFESTS,)
    sources: Mapping[str, SecretSource] = field(default_factory=dict)
    sinks: tuple[Sink, ...] = ()
    keeps_config_maps: bool = True
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    grace: Grace = field(default_factory=Grace)

    def sources_with(self, manifests: Manifests) -> tuple[SecretSource, ...]:
        """Every source, the manifests among them, in order."""
        sops = Sops(environment=self.environment, grace=self.grace)
        manifest_source = EncryptedSource(ManifestSource(manifests), manifests.encrypted, sops)
        by_name = {**self.sources, MANIFESTS: manifest_source}
        return tuple(by_name[name] for name in self.order)
