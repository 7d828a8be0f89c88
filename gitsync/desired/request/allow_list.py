"""Decides whether the allow-list of an operator has the identity that a credential Secret names.

Who writes a Secret chooses an identity, and a federated token or the identities of the machine need no secret. So this
is decided before a token is requested, from all that a Secret may name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from gitsync.desired.formats.name_patterns import matches_name
from gitsync.desired.manifests.credential_secret import OF_NAMESPACE, CredentialRefusal
from gitsync.model.allowed_identities import AllowedIdentities, IdentityEntry
from gitsync.model.identity import NO_IDS, IdentityIds
from gitsync.model.problem import Level, Problem, SourceLocation
from gitsync.model.secret import truncate
from gitsync.model.signin import Identity, Method

NOT_ALLOWED: Final = "IdentityNotAllowed"
_NOT_CHECKED: Final = "IdentityNotChecked"

_MOST_SHOWN = 100  # characters of an address, which any text may be
_HINT = "Use an allowed identity, or have the operator add this one to allow-identities."


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowList:
    """The list, and what it needs to know of Secrets; both mappings have namespace and name of the Secret."""

    allowed: AllowedIdentities
    declared: Mapping[tuple[str, str], SourceLocation]  # the manifests of Secrets
    file_ids: Mapping[tuple[str, str], IdentityIds]
    """The ids of the identity files that Secrets name, which count instead of their own; NO_IDS if a file cannot be
    read.
    """

    @property
    def refuses(self) -> bool:
        return self.allowed.refuses

    def check(self, namespace: str, name: str, identity: Identity) -> CredentialRefusal | None:
        """Return why the identity of a Secret is not allowed; None if it is, or if its file cannot be read: then it
        cannot sign in either.
        """
        ids = self.find_ids(namespace, name, identity)
        # An identity file that cannot be read cannot sign in either, so nothing is let in by this.
        if not ids.is_known:
            return None
        entries = [entry for entry in self.allowed.entries if _covers(entry.namespaces, namespace)]
        misses = [(entry, tuple(_list_misses(entry, ids, identity))) for entry in entries]
        if any(not missed for _, missed in misses):
            return None
        named = f"client {ids.client_id} of tenant {ids.tenant_id}, subscription {identity.subscription}"
        why = f"{self.allowed.name} has no entry for namespace {namespace}."
        if misses:
            # The entry that misses least is most likely the one that the operator meant.
            entry, missed = min(misses, key=lambda miss: len(miss[1]))
            why = f"{entry.source} does not have {' and '.join(missed)}."
        return CredentialRefusal(
            f'The identity of credential Secret "{namespace}/{name}" is not allowed: {named}. {why}',
            _HINT,
            code=NOT_ALLOWED,
            source=self.declared.get((namespace, name)),
        )

    def check_global(self, namespace: str) -> CredentialRefusal | None:
        """Return why the resources of a namespace may not use the global credential; None if they may."""
        if _covers(self.allowed.of_global, namespace):
            return None
        return CredentialRefusal(
            f"Namespace {namespace} may not use the global credential: global of {self.allowed.name} does not name it.",
            f"Add a Secret {OF_NAMESPACE} with an allowed identity, or have the operator add the namespace to global.",
            code=NOT_ALLOWED,
        )

    def find_ids(self, namespace: str, name: str, identity: Identity) -> IdentityIds:
        """Find the ids that an identity signs in with; NO_IDS if they are not known."""
        sign_in = identity.sign_in
        if sign_in.method is Method.IDENTITY_FILE:
            return self.file_ids.get((namespace, name), NO_IDS)
        return IdentityIds(sign_in.client_id, sign_in.tenant_id)


def _covers(patterns: Iterable[str], namespace: str) -> bool:
    return any(matches_name(pattern, namespace) for pattern in patterns)


def _list_misses(entry: IdentityEntry, ids: IdentityIds, identity: Identity) -> Iterator[str]:
    """List what an entry does not allow of an identity."""
    sign_in = identity.sign_in
    values = [
        ("the client", ids.client_id, entry.clients),
        ("the tenant", ids.tenant_id, entry.tenants),
        ("the subscription", identity.subscription, entry.subscriptions),
    ]
    values += [(f"the additional tenant {tenant}", tenant, entry.tenants) for tenant in sign_in.additional_tenants]
    for words, value, allowed in values:
        # An empty list of an entry allows all, and one entry must have every value that the Secret names.
        if allowed and value.casefold() not in allowed:
            yield words
    # The machine's identity is in the tenant of the machine, whatever the Secret names.
    if sign_in.method is Method.MANAGED_IDENTITY and entry.tenants and not entry.clients:
        yield "the client of the managed identity, whose tenant no Secret decides"
    if identity.cloud:
        for address in (identity.cloud.endpoint, identity.cloud.authority):
            # Letters beyond ASCII may fold to those of another host.
            if not address.isascii() or address.rstrip("/").casefold() not in entry.clouds:
                yield f"the other cloud {truncate(address, _MOST_SHOWN)}"


def make_problem(refusal: CredentialRefusal, source: SourceLocation | None, level: Level) -> Problem:
    """Make the problem of an identity that is not allowed, at the manifest of its Secret, or else at `source`."""
    location = refusal.source or source or SourceLocation("", 0)
    return Problem(
        code=refusal.code,
        level=level,
        message=refusal.message,
        hint=refusal.hint,
        path=location.path,
        line=location.line,
    )


def warn_unchecked(names: Iterable[tuple[str, str]]) -> Iterator[Problem]:
    """Warn of Secrets whose identity a plan does not read: it is unknown whether it is allowed."""
    if shown := sorted({"/".join(name) for name in names}):
        yield Problem(
            code=_NOT_CHECKED,
            level=Level.WARNING,
            message=f"This plan does not read the identities of the credential Secrets {', '.join(shown)}, so it is "
            "not checked whether allow-identities has them. A sync checks them before it signs in.",
            hint="Set --plan-secrets if the plan may read them, or move their ids to a source that every plan reads.",
        )
