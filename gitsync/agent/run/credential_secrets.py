"""Checks the Secrets of the manifests that are credentials of resources: for `validate` and `doctor`.

A sync refuses all resources of a namespace whose Secret lacks a key. Keys may come from several sources, so those of
this machine complete a Secret, and nothing is reported if a remote source may do so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from gitsync.agent.run.allowed_secrets import decide_about_manifests
from gitsync.desired.manifests.credential_secret import CredentialRefusal, read_identity
from gitsync.desired.request.credential_choice import CredentialLookup, CredentialName, list_credential_names
from gitsync.desired.request.exports import find_addresses
from gitsync.errors import ConfigError
from gitsync.model.export import Address, ObjectKind
from gitsync.model.manifests import Manifests
from gitsync.model.problem import Level, Problem, SourceLocation
from gitsync.model.resource import Prepared
from gitsync.planning.run_problems import merge_shared
from gitsync.repository.secrets.lookup import Lookup, look_up_credentials
from gitsync.repository.secrets.protocols import SecretSource
from gitsync.repository.secrets.sources.declared_objects import ManifestSource
from gitsync.repository.secrets.stores import MANIFESTS, open_local_source
from gitsync.settings.config.config import Config


def check_credential_secrets(
    prepared: Sequence[Prepared], manifests: Manifests, config: Config, environment: Mapping[str, str]
) -> tuple[Problem, ...]:
    """Return an error for each Secret of the manifests that is the credential of a resource and cannot be one, and the
    problems of identities that are not allowed. An encrypted Secret is not read.
    """
    allowed = decide_about_manifests(config, manifests, environment)
    not_allowed = merge_shared(allowed.report(entry.resource for entry in prepared)) if allowed else ()
    return (*_check_usable(prepared, manifests, config, environment), *not_allowed)


def _check_usable(
    prepared: Sequence[Prepared], manifests: Manifests, config: Config, environment: Mapping[str, str]
) -> tuple[Problem, ...]:
    if MANIFESTS not in config.secret_sources:
        return ()
    exported = {address for entry in prepared for address, _ in find_addresses(entry.resource)}
    addresses = {
        name: Address(ObjectKind.SECRET, *name)
        for name in list_credential_names((entry.resource for entry in prepared), {})
        if name in manifests.objects.secrets
    }
    # A resource may export the missing keys into its Secret during the run.
    names = [name for name, address in addresses.items() if address not in exported]
    lookups = asyncio.run(_look_up(names, manifests, config, environment)) if names else {}
    found = {
        name: read_identity("/".join(name), values, allow_multi_env_management=config.allow_multi_env_management)
        for name, values in lookups.items()
        if isinstance(values, Mapping)
    }
    return tuple(
        _make_error(refusal, manifests.objects.declared[addresses[name]].source)
        for name, refusal in found.items()
        if isinstance(refusal, CredentialRefusal)
    )


async def _look_up(
    names: Sequence[CredentialName], manifests: Manifests, config: Config, environment: Mapping[str, str]
) -> Mapping[CredentialName, CredentialLookup]:
    """Look up the Secrets as a sync does; nothing is known if a source cannot be read from here."""
    sources: list[SecretSource] = []
    for word in config.secret_sources:
        try:
            source = ManifestSource(manifests) if word == MANIFESTS else open_local_source(word, config, environment)
        except ConfigError:
            return {}
        if source is None:
            return {}
        sources.append(source)
    lookup = Lookup(sources, reads_remote_secrets=False, redact=lambda _: None)
    return await look_up_credentials(names, lookup, resource_timeout=config.resource_timeout, stop=asyncio.Event())


def _make_error(refusal: CredentialRefusal, source: SourceLocation) -> Problem:
    return Problem(
        code="CredentialNotUsable",
        level=Level.ERROR,
        message=refusal.message,
        hint=refusal.hint,
        path=source.path,
        line=source.line,
    )
