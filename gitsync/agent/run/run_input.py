"""The input of a run: the manifests, made ready for ARM, and the credential of each resource.

Separate from the plan: credentials are looked up in the secret sources before planning, since a resource has the
subscription of its credential.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from gitsync.agent.reconcile.context import Connections
from gitsync.agent.run.allowed_secrets import make_allow_list, read_identity_files
from gitsync.agent.run.known_ids import add_known_ids
from gitsync.agent.run.prepared_manifests import (
    add_unbuilt,
    check_rules_of_source,
    drop_units,
    prepare_resources,
    read_selected_manifests,
    read_source,
    read_unambiguous,
    redact_manifests,
)
from gitsync.agent.run.referenced_values import has_references, list_references, look_up_references, settle_ambiguous
from gitsync.agent.run.run_exports import warn_unused_exports
from gitsync.desired.manifests.selection import Selection, check_namespaces, spell_selection
from gitsync.desired.manifests.variable_values import References
from gitsync.desired.request.credential_choice import Credentials, list_credential_names
from gitsync.errors import ConfigError
from gitsync.model.gvk import Key
from gitsync.model.manifests import Manifests
from gitsync.model.problem import Problem
from gitsync.model.record import Record, State
from gitsync.model.resource import Prepared
from gitsync.planning.claims import assign_writers
from gitsync.planning.record_trust import renew_seals
from gitsync.repository.secrets.export_sinks import add_foreign_objects
from gitsync.repository.secrets.lookup import Lookup, look_up_credentials
from gitsync.repository.secrets.protocols import SecretSource
from gitsync.repository.secrets.sinks.status import KeptConfigMaps
from gitsync.repository.secrets.stores import MANIFESTS
from gitsync.settings.config.config import Config


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInput:
    """What a run reads before it plans."""

    manifests: Manifests  # their problems include those of credentials
    references: References  # the values that variables were looked up for, by Secret and ConfigMap
    prepared: tuple[Prepared, ...]
    lookup: Lookup
    credentials: Credentials
    problems: tuple[Problem, ...] = ()  # those of --known-from and of rules, which hide no manifest


async def load_run_input(
    config: Config, connections: Connections, state: State, agent: str, *, writes: bool
) -> tuple[Config, State, RunInput]:
    """Parse, look up credentials, and prepare. `agent` is the run's. Also return the settings with the names of --only
    in full, and the state with the records that the manifests vouch for.

    Raises ConfigError if there is neither a global credential nor any other, or if --only or --target-namespaces names
    nothing.
    """
    # First, since the values of variables may decide which resources there are.
    references = await _look_up_references(config, connections, writes=writes)
    manifests = _read_manifests(config, connections, references)
    redact_manifests(manifests, connections.redactions)
    # A secret may have the value "default": masking it would make every name unreadable.
    connections.redactions.spare(
        name for resource in manifests.resources for name in (resource.key.name, resource.key.namespace)
    )
    lookup = _open_lookup(config, connections, manifests, writes=writes)
    namespaces = config.target_namespaces
    records = state.records
    check_namespaces(namespaces, [manifests], connections.source.contents.problems, records)
    if namespaces:
        records = {key: record for key, record in records.items() if key.namespace in namespaces}
    credentials = await _look_up_credentials(config, connections, manifests, records, lookup)
    manifests, problems = add_known_ids(manifests, config, connections, state, agent)
    today = connections.clock.now().date()
    prepared = prepare_resources(config, connections.settings, manifests, connections.catalog, credentials.of, today)
    wrong_rules = check_rules_of_source(config, connections.settings, manifests, prepared, today)
    prepared = await add_foreign_objects(prepared, _list_local_sources(lookup))
    # A record without a valid seal may be forged. A manifest that names the same id vouches for it.
    renewed, warnings_of_seals = renew_seals(
        state.list_own(agent), {resource.key: resource.arm_id for resource in prepared}
    )
    if warnings_of_seals:
        state = replace(state, records={**state.records, **renewed})
    prepared = assign_writers(prepared, state.list_own(agent))
    config = spell_selection(config, [*(resource.key for resource in prepared), *state.records])
    unused = () if takes_secrets(config) else warn_unused_exports(prepared, Selection(only=config.only))
    warnings = (*credentials.warnings(manifests.resources, records), *unused)
    manifests = replace(manifests, problems=(*manifests.problems, *warnings))
    run_input = RunInput(
        manifests=manifests,
        references=references,
        prepared=prepared,
        lookup=lookup,
        credentials=credentials,
        problems=(*problems, *wrong_rules, *warnings_of_seals),
    )
    return config, state, run_input


async def _look_up_credentials(
    config: Config, connections: Connections, manifests: Manifests, records: Mapping[Key, Record], lookup: Lookup
) -> Credentials:
    """Look up the credential of each resource of manifests and records. ConfigError if there is none at all."""
    names = list_credential_names(manifests.resources, records)
    identities = await look_up_credentials(
        names, lookup, resource_timeout=config.resource_timeout, stop=connections.stop
    )
    subscription = connections.azure.subscription
    file_ids = read_identity_files(config, identities)
    credentials = Credentials(
        identities,
        subscription,
        records,
        allow_multi_env_management=config.allow_multi_env_management,
        allow_list=make_allow_list(config, manifests, file_ids),
        file_ids=file_ids,
    )
    if not subscription and not credentials.any_of_secrets:
        raise ConfigError(
            "No subscription is set, so ARM ids cannot be built.",
            hint="Set AZURE_SUBSCRIPTION_ID or --subscription; `az account list` shows yours. "
            "To try gitsync without Azure, add --emulator.",
        )
    return credentials


async def _look_up_references(config: Config, connections: Connections, *, writes: bool) -> References:
    """Look up the Secrets and ConfigMaps that variables come from, for the variables that the manifests mention."""
    source = connections.source
    if not has_references(source.contents.units.values()):
        return {}
    manifests = read_source(config, connections.settings.namespace, source.contents.files, source.contents.units)
    redact_manifests(manifests, connections.redactions)
    lookup = _open_lookup(config, connections, manifests, writes=writes)
    wanted = list_references(source.contents.units.values(), manifests)
    settled = settle_ambiguous(wanted, manifests)
    rest = {reference: names for reference, names in wanted.items() if reference not in settled}
    found = await look_up_references(rest, lookup, resource_timeout=config.resource_timeout, stop=connections.stop)
    return {**found, **settled}


def _open_lookup(config: Config, connections: Connections, manifests: Manifests, *, writes: bool) -> Lookup:
    sources = connections.secret_stores.list_sources(manifests)
    return Lookup(sources, reads_remote_secrets=writes or config.plan_secrets, redact=connections.redact)


def _read_manifests(config: Config, connections: Connections, references: References) -> Manifests:
    """Read the manifests of the source, without units that stand for the same resources as others."""
    source, settings = connections.source, connections.settings

    def read(without: Collection[str]) -> Manifests:
        files = drop_units(source.contents.files, source.contents.units, without)
        return read_selected_manifests(config, settings, files, source.contents.units, references)

    manifests = add_unbuilt(read_unambiguous(read, connections.catalog), source.contents.problems)
    return replace(manifests, read_left_out=source.contents.read_left_out)


def _list_local_sources(lookup: Lookup) -> tuple[SecretSource, ...]:
    """List the sources on this machine but for git, whose objects are problems of the manifests already."""
    return tuple(source for source in lookup.list_requested() if not source.is_remote and source.name != MANIFESTS)


def takes_secrets(config: Config) -> bool:
    """Return whether a sink of the settings takes Secrets: all except that of the status do."""
    return any(word != KeptConfigMaps.name for word in config.export_to)
