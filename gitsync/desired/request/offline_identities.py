"""The identity that would write a resource, as far as the manifests of one revision name it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from gitsync.desired.manifests.credential_secret import (
    CLIENT,
    IDENTITY_FILE,
    OF_NAMESPACE,
    TENANT,
    read_ids,
    read_subscription,
)
from gitsync.desired.request.credential_choice import CredentialName, read_named_secret
from gitsync.model.export import Address, ObjectKind
from gitsync.model.identity import IdentityIds, WritingIdentity
from gitsync.model.manifests import DeclaredObject
from gitsync.model.resource import Resource
from gitsync.model.secret import Secret

_DECIDES: Final = (CLIENT, TENANT, IDENTITY_FILE)
"""The keys that decide which identity it is."""

IdentityOf = Callable[[Resource], WritingIdentity]


def describe_offline(
    secrets: Mapping[CredentialName, Mapping[str, Secret]],
    declared: Mapping[Address, DeclaredObject],
    subscription: str,
    file_ids: Mapping[CredentialName, IdentityIds],
    *,
    reads_all: bool,
) -> IdentityOf:
    """Return what describes the identity of a resource. `secrets` are those of the manifests, `declared` has the
    location of each, `subscription` is that of the global credential, "" if it is not known, and `file_ids` are those
    of the identity files that Secrets name.

    Without `reads_all`, another source may have the Secret of a namespace that has none in the manifests.
    """
    known: dict[CredentialName, WritingIdentity] = {}

    def of(resource: Resource) -> WritingIdentity:
        namespace, named = resource.key.namespace, read_named_secret(resource)
        name = (namespace, named or OF_NAMESPACE)
        if name not in known:
            found = declared.get(Address(ObjectKind.SECRET, *name))
            known[name] = _describe(secrets.get(name), found, name[1], file_ids.get(name))
        # Every source was read, so only the global credential is left.
        if known[name].source is None and not named and reads_all:
            return WritingIdentity(subscription=subscription)
        return known[name]

    return of


def _describe(
    values: Mapping[str, Secret] | None, declared: DeclaredObject | None, name: str, of_file: IdentityIds | None
) -> WritingIdentity:
    if values is None or declared is None:
        return WritingIdentity(credential=name, is_unread=True)
    ids = read_ids(values) if of_file is None else of_file
    return WritingIdentity(
        credential=name,
        ids=ids,
        subscription=read_subscription(values) or "",
        source=declared.source,
        is_unread=not ids.is_known,
        # Two ciphertexts can be compared although neither can be read: equal ones are the same identity.
        hidden=() if ids.is_known else tuple(values[key].reveal() for key in _DECIDES if key in values),
    )
