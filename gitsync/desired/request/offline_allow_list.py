"""What the allow-list of an operator decides about the manifests of one revision, as far as they name identities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from gitsync.desired.manifests.credential_secret import OF_NAMESPACE, CredentialRefusal, read_identity
from gitsync.desired.request.allow_list import AllowList, make_problem, warn_unchecked
from gitsync.desired.request.credential_choice import CredentialName, read_named_secret
from gitsync.desired.request.offline_identities import IdentityOf
from gitsync.model.problem import Level, Problem
from gitsync.model.resource import Resource
from gitsync.model.secret import Secret
from gitsync.model.signin import Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflineAllowList:
    """An allow-list, and what it decides about the Secrets of a revision."""

    allow_list: AllowList
    not_allowed: Mapping[CredentialName, CredentialRefusal]
    known: frozenset[CredentialName]  # Secrets among the manifests
    unread: frozenset[CredentialName]  # those of them whose identity is in a file that is not read
    reads_all: bool  # no other source may have the Secret of a namespace

    def find_refusal(self, resource: Resource) -> CredentialRefusal | None:
        """Find why a sync refuses the identity of a resource; None if it does not, or if the identity is not known."""
        return self._find(resource) if self.allow_list.refuses else None

    def report(self, resources: Iterable[Resource]) -> Iterator[Problem]:
        """Report each resource whose identity is not allowed: an error, or a warning of a list that only reports."""
        level = Level.ERROR if self.allow_list.refuses else Level.WARNING
        for resource in resources:
            if refusal := self._find(resource):
                yield make_problem(refusal, resource.source, level)

    def warn_unread(self, resources: Iterable[Resource], identity_of: IdentityOf) -> Iterator[Problem]:
        """Warn of Secrets whose identity the manifests do not have."""
        named = ((_name_secret(resource), identity_of(resource).is_unread) for resource in resources)
        return warn_unchecked(name for name, is_unread in named if is_unread or name in self.unread)

    def _find(self, resource: Resource) -> CredentialRefusal | None:
        name = _name_secret(resource)
        # Another source may have the Secret, so only a revision with all of them shows that the global credential is
        # used.
        if name in self.known or read_named_secret(resource) or not self.reads_all:
            return self.not_allowed.get(name)
        return self.allow_list.check_global(resource.key.namespace)


def decide_offline(
    allow_list: AllowList | None, secrets: Mapping[CredentialName, Mapping[str, Secret]], *, reads_all: bool
) -> OfflineAllowList | None:
    """Decide about the identities of manifests. An incomplete or encrypted Secret is not checked. None without a list.
    `reads_all`: no other source may have the Secret of a namespace.
    """
    if allow_list is None:
        return None
    found = {
        name: read_identity("/".join(name), values, allow_multi_env_management=True) for name, values in secrets.items()
    }
    identities = {name: identity for name, identity in found.items() if isinstance(identity, Identity)}
    refusals = {name: allow_list.check(*name, identity) for name, identity in identities.items()}
    return OfflineAllowList(
        allow_list=allow_list,
        not_allowed={name: refusal for name, refusal in refusals.items() if refusal},
        known=frozenset(secrets),
        unread=frozenset(n for n, identity in identities.items() if not allow_list.find_ids(*n, identity).is_known),
        reads_all=reads_all,
    )


def _name_secret(resource: Resource) -> CredentialName:
    return resource.key.namespace, read_named_secret(resource) or OF_NAMESPACE
