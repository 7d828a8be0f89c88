"""The places of secrets and config maps that a run is handed: sources in the order of the settings, and sinks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gitsync.vault.points import Sink, Source

MANIFESTS = "manifests"
"""The source that is known only once the manifests are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """`order` names the sources; all but the manifests are in `sources`. `keeps_config_maps`: they are written to the
    status besides.
    """

    order: tuple[str, ...] = (MANIFESTS,)
    sources: Mapping[str, Source] = field(default_factory=dict)
    sinks: tuple[Sink, ...] = ()
    keeps_config_maps: bool = True

    def sources_with(self, manifests: Source) -> tuple[Source, ...]:
        """Every source, the manifests among them, in order."""
        known = {**self.sources, MANIFESTS: manifests}
        return tuple(known[name] for name in self.order)
