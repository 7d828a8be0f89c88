"""Makes the allow-list of a run: from the settings, the manifests of Secrets, and the identity files that they name."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Final

from gitsync.desired.manifests.credential_secret import IDENTITY_FILE, KEYS, SUBSCRIPTION, read_identity
from gitsync.desired.request.allow_list import AllowList
from gitsync.desired.request.credential_choice import CredentialLookup, CredentialName, list_credential_names
from gitsync.desired.request.offline_allow_list import OfflineAllowList, decide_offline
from gitsync.errors import ConfigError, SecretStoreError
from gitsync.model.export import Address, ObjectKind
from gitsync.model.identity import NO_IDS, IdentityIds
from gitsync.model.manifests import Manifests
from gitsync.model.secret import Secret
from gitsync.model.signin import Identity, Method
from gitsync.repository.secrets.sources.environment import EnvironmentSource
from gitsync.repository.secrets.stores import MANIFESTS
from gitsync.settings.config.config import Config

_UNREAD: Final = frozenset({"folder", "key-vault", "kubernetes"})
"""The sources of Secrets that offline commands do not read."""


def make_allow_list(
    config: Config, manifests: Manifests, file_ids: Mapping[CredentialName, IdentityIds]
) -> AllowList | None:
    """Make the allow-list for Secrets; None if the operator has given none. `file_ids` are those of their identity
    files.
    """
    if config.allow_identities is None:
        return None
    return AllowList(
        allowed=config.allow_identities,
        declared={
            (address.namespace, address.name): declared.source
            for address, declared in manifests.objects.declared.items()
            if address.object_kind is ObjectKind.SECRET
        },
        file_ids=file_ids,
    )


def read_identity_files(
    config: Config, lookups: Mapping[CredentialName, CredentialLookup]
) -> Mapping[CredentialName, IdentityIds]:
    """Read the ids in the identity files that Secrets name. They count instead of those in the Secret; NO_IDS if a file
    cannot be read.
    """
    named = (
        (name, read_identity("/".join(name), values, allow_multi_env_management=config.allow_multi_env_management))
        for name, values in lookups.items()
        if isinstance(values, Mapping) and IDENTITY_FILE in values
    )
    return {
        name: _read_file(identity, config)
        for name, identity in named
        if isinstance(identity, Identity) and identity.sign_in.method is Method.IDENTITY_FILE
    }


def decide_about_manifests(
    config: Config, manifests: Manifests, environment: Mapping[str, str]
) -> OfflineAllowList | None:
    """Decide about the identities that manifests name; None if the operator has given no allow-list. `environment` may
    have Secrets, or some of their keys.
    """
    if config.allow_identities is None:
        return None
    secrets = _find_secrets(config, manifests, environment)
    allow_list = make_allow_list(config, manifests, read_identity_files(config, secrets))
    return decide_offline(allow_list, secrets, reads_all=reads_all_secrets(config))


def _find_secrets(
    config: Config, manifests: Manifests, environment: Mapping[str, str]
) -> Mapping[CredentialName, Mapping[str, Secret]]:
    """Find the Secrets that may be credentials, in the order of the sources that offline commands read."""
    declared = manifests.objects.secrets if MANIFESTS in config.secret_sources else {}
    found: dict[CredentialName, Mapping[str, Secret]] = {}
    for word in config.secret_sources:
        values_by_name = declared if word == MANIFESTS else {}
        if word == EnvironmentSource.name:
            values_by_name = _read_environment(manifests, environment)
        for name, values in values_by_name.items():
            # A Secret may have its keys from several sources. The first source that has a key wins, as in a sync.
            found[name] = {**values, **found.get(name, {})}
    # Without this key, variables do not count as a Secret: a sync looks for it first.
    read = {name: values for name, values in found.items() if name in declared or SUBSCRIPTION in values}
    return {**read, **{name: {} for name in _list_encrypted(config, manifests)}}


def _list_encrypted(config: Config, manifests: Manifests) -> list[CredentialName]:
    """List the Secrets that SOPS encrypted: they exist, and no other source stands in for what is not read of them."""
    encrypted = manifests.objects.encrypted if MANIFESTS in config.secret_sources else ()
    return [(address.namespace, address.name) for address in encrypted if address.object_kind is ObjectKind.SECRET]


def _read_environment(
    manifests: Manifests, environment: Mapping[str, str]
) -> Mapping[CredentialName, Mapping[str, Secret]]:
    """Read the Secrets of credentials that variables have, without those that a sync cannot read."""
    source, found = EnvironmentSource(environment), dict[CredentialName, Mapping[str, Secret]]()
    for name in list_credential_names(manifests.resources, {}):
        with suppress(SecretStoreError):  # the error of the resources that use it
            found[name] = source.find(Address(ObjectKind.SECRET, *name), KEYS) or {}
    return found


def reads_all_secrets(config: Config) -> bool:
    """Return whether no source that offline commands do not read may have a credential."""
    return _UNREAD.isdisjoint(config.secret_sources)


def _read_file(identity: Identity, config: Config) -> IdentityIds:
    """Read the ids in the identity file of a Secret; NO_IDS if the file cannot be read or used."""
    from gitsync.providers.arm.auth.certificates import read_file_ids  # noqa: PLC0415 - few Secrets name a file

    try:
        return read_file_ids(replace(identity.sign_in, identity_folder=config.identity_folder or ""))
    except ConfigError:  # the error of the resources that sign in with it
        return NO_IDS
