"""The input of a run: the manifests, made ready for ARM, and the credential of each resource.

Separate from the plan: credentials are looked up in the secret sources before planning, since a resource has the
subscription of its credential.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from gitsync.config.config import Config
from gitsync.errors import ConfigError
from gitsync.manifests.credential_secret import iterate_secrets
from gitsync.manifests.selection import Selection
from gitsync.model.gvk import Key
from gitsync.model.manifests import Manifests
from gitsync.model.problem import Problem
from gitsync.model.record import Record, State
from gitsync.model.resource import Prepared
from gitsync.planning.shared_resources import assign_writers
from gitsync.planning.unused_exports import warn_unused_exports
from gitsync.request.credential_choice import Credentials, find_credential_names
from gitsync.run.connections import Connections
from gitsync.run.environments import drop_units, read_unambiguous
from gitsync.run.known_ids import add_known_ids
from gitsync.run.prepare import prepare_resources, read_selected_manifests
from gitsync.secrets.credentials import find_credentials
from gitsync.secrets.foreign_objects import add_foreign_objects
from gitsync.secrets.lookup import Lookup
from gitsync.secrets.protocols import SecretSource
from gitsync.secrets.sinks.status import KeptConfigMaps
from gitsync.secrets.stores import MANIFESTS


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInput:
    """`problems` of `manifests` has those of credentials too. `problems` are those of other places, which hide none."""

    manifests: Manifests
    prepared: tuple[Prepared, ...]
    lookup: Lookup
    credentials: Credentials
    problems: tuple[Problem, ...] = ()


async def load_run_input(
    config: Config, connections: Connections, state: State, agent: str, *, writes: bool
) -> RunInput:
    """Parse, look up credentials, and prepare. `agent` is the run's.

    Raises ConfigError if there is neither a global credential nor any other.
    """
    manifests = _read_manifests(config, connections)
    for secret in (value for values in manifests.secrets.values() for value in iterate_secrets(values)):
        connections.redact(secret)
    connections.redactions.spare(name for one in manifests.resources for name in (one.key.name, one.key.namespace))
    lookup = Lookup(
        connections.places.sources_with(manifests, connections.settings.namespace),
        asks_remote=writes,
        redact=connections.redact,
    )
    records = _select_records(state, config)
    places = find_credential_names(manifests.resources, records)
    identities = await find_credentials(places, lookup, patience=config.resource_timeout, stop=connections.stop)
    credentials = Credentials(identities, connections.subscription, other_clouds=config.allow_multi_env_management)
    if not connections.subscription and not credentials.any_of_secrets:
        raise ConfigError(
            "No subscription is set, so ARM ids cannot be built.",
            hint="Set AZURE_SUBSCRIPTION_ID or --subscription.",
        )
    manifests, problems = add_known_ids(manifests, config, connections, state, agent)
    today = connections.clock.now().date()
    prepared = prepare_resources(config, connections.settings, manifests, connections.catalog, credentials.of, today)
    prepared = await add_foreign_objects(prepared, _list_local_sources(lookup))
    prepared = assign_writers(prepared, state.list_own(agent))
    unused = () if takes_secrets(config) else warn_unused_exports(prepared, Selection(only=config.only))
    manifests = replace(manifests, problems=(*manifests.problems, *credentials.warnings(records), *unused))
    return RunInput(manifests=manifests, prepared=prepared, lookup=lookup, credentials=credentials, problems=problems)


def _read_manifests(config: Config, connections: Connections) -> Manifests:
    """The manifests of the source, without units that stand for the same resources as others."""
    source, settings = connections.source, connections.settings

    def read(without: Collection[str]) -> Manifests:
        return read_selected_manifests(config, settings, drop_units(source.files, source.units, without), source.units)

    return read_unambiguous(read, connections.catalog)


def _list_local_sources(lookup: Lookup) -> tuple[SecretSource, ...]:
    """The sources on this machine but for git, whose objects are problems of the manifests already."""
    return tuple(one for one in lookup.list_asked() if not one.is_remote and one.name != MANIFESTS)


def takes_secrets(config: Config) -> bool:
    """Tell whether a sink of the settings takes Secrets: all but that of the status do."""
    return any(word != KeptConfigMaps.name for word in config.export_to)


def _select_records(state: State, config: Config) -> Mapping[Key, Record]:
    """The records in the namespaces that the settings select."""
    namespaces = config.target_namespaces
    return {key: record for key, record in state.records.items() if not namespaces or key.namespace in namespaces}
