"""What a run begins with: what git says, made ready for ARM, and as whom each resource is reconciled.

Apart from the plan, which is made of it: credentials are looked up among the sources of secrets before there is a plan,
since a resource has the subscription of its credential.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from gitsync.config.config import Config
from gitsync.errors import ConfigError
from gitsync.manifests.credential_secret import hidden
from gitsync.manifests.selection import Choice
from gitsync.model.gvk import Key
from gitsync.model.manifests import Manifests
from gitsync.model.record import Record, State
from gitsync.model.resource import Prepared
from gitsync.planning.unused_exports import exported_nowhere
from gitsync.request.credential_choice import Credentials, wanted
from gitsync.run.connections import Edges
from gitsync.run.prepare import manifests_of, prepared_of
from gitsync.secrets.credentials import find_credentials
from gitsync.secrets.lookup import Lookup
from gitsync.secrets.sinks.status import KeptConfigMaps


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """`problems` of `manifests` has those of credentials too."""

    manifests: Manifests
    prepared: tuple[Prepared, ...]
    lookup: Lookup
    credentials: Credentials


async def read(config: Config, edges: Edges, state: State, *, writes: bool) -> Given:
    """Parse, look up credentials, and prepare.

    Raises ConfigError where there is neither a global credential nor any other.
    """
    manifests = manifests_of(config, edges.settings, edges.source.files)
    for secret in (value for values in manifests.secrets.values() for value in hidden(values)):
        edges.redact(secret)
    edges.redactions.spare(name for one in manifests.resources for name in (one.key.name, one.key.namespace))
    lookup = Lookup(
        edges.places.sources_with(manifests, edges.settings.namespace), asks_remote=writes, redact=edges.redact
    )
    records = _of_namespaces(state, config)
    places = wanted(manifests.resources, records)
    found = await find_credentials(places, lookup, patience=config.resource_timeout, stop=edges.stop)
    credentials = Credentials(found, edges.subscription, other_clouds=config.allow_multi_env_management)
    if not edges.subscription and not credentials.any_of_secrets:
        raise ConfigError(
            "No subscription is given, so ARM ids cannot be built.",
            hint="Set AZURE_SUBSCRIPTION_ID, or give --subscription.",
        )
    today = edges.clock.now().date()
    prepared = prepared_of(config, edges.settings, manifests, edges.catalog, credentials.of, today)
    nowhere = () if takes_secrets(config) else exported_nowhere(prepared, Choice(only=config.only))
    manifests = replace(manifests, problems=(*manifests.problems, *credentials.warnings(records), *nowhere))
    return Given(manifests=manifests, prepared=prepared, lookup=lookup, credentials=credentials)


def takes_secrets(config: Config) -> bool:
    """Tell whether a sink of the settings takes Secrets: all but that of the status do."""
    return any(word != KeptConfigMaps.name for word in config.export_to)


def _of_namespaces(state: State, config: Config) -> Mapping[Key, Record]:
    """The records that the run is about."""
    chosen = config.target_namespaces
    return {key: record for key, record in state.records.items() if not chosen or key.namespace in chosen}
