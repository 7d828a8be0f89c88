"""Makes the allow-list of a run: from the settings, the manifests of Secrets, and the identity files that they name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from gitsync.desired.manifests.credential_secret import IDENTITY_FILE, read_identity
from gitsync.desired.request.allow_list import AllowList
from gitsync.desired.request.credential_choice import CredentialLookup, CredentialName
from gitsync.desired.request.offline_allow_list import OfflineAllowList, decide_offline
from gitsync.errors import ConfigError
from gitsync.model.export import ObjectKind
from gitsync.model.identity import NO_IDS, IdentityIds
from gitsync.model.manifests import Manifests
from gitsync.model.secret import Secret
from gitsync.model.signin import Identity, Method
from gitsync.repository.secrets.stores import MANIFESTS
from gitsync.settings.config.config import Config

_UNREAD: Final = frozenset({"folder", "key-vault", "kubernetes"})
"""The sources of Secrets that offline commands do not read."""


def make_allow_list(
    config: Config, manifests: Manifests, lookups: Mapping[CredentialName, CredentialLookup]
) -> AllowList | None:
    """Make the allow-list for the Secrets that were looked up; None if the operator has given none."""
    if config.allow_identities is None:
        return None
    return AllowList(
        allowed=config.allow_identities,
        declared={
            (address.namespace, address.name): declared.source
            for address, declared in manifests.objects.declared.items()
            if address.object_kind is ObjectKind.SECRET
        },
        file_ids={
            name: _read_file(name, values, config)
            for name, values in lookups.items()
            if isinstance(values, Mapping) and IDENTITY_FILE in values
        },
    )


def decide_about_manifests(config: Config, manifests: Manifests) -> OfflineAllowList | None:
    """Decide about the identities that manifests name; None if the operator has given no allow-list."""
    declared = manifests.objects.secrets if MANIFESTS in config.secret_sources else {}
    allow_list = make_allow_list(config, manifests, declared)
    return decide_offline(allow_list, declared, reads_all=reads_all_secrets(config))


def reads_all_secrets(config: Config) -> bool:
    """Return whether no source that offline commands do not read may have a credential."""
    return _UNREAD.isdisjoint(config.secret_sources)


def _read_file(name: CredentialName, values: Mapping[str, Secret], config: Config) -> IdentityIds:
    """Read the ids in the identity file of a Secret; NO_IDS if it has no such file, or cannot use it."""
    from gitsync.providers.arm.auth.certificates import read_file_ids  # noqa: PLC0415 - few Secrets name a file

    identity = read_identity("/".join(name), values, allow_multi_env_management=config.allow_multi_env_management)
    if not isinstance(identity, Identity) or identity.sign_in.method is not Method.IDENTITY_FILE:
        return NO_IDS
    try:
        return read_file_ids(replace(identity.sign_in, identity_folder=config.identity_folder or ""))
    except ConfigError:  # the error of the resources that sign in with it
        return NO_IDS
