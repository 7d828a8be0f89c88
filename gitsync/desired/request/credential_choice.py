"""The credential of a resource: its own, its namespace's, or the global one
(docs/reference/reconciliation.md#credential-selection).

No level completes another. The caller reads the Secrets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from gitsync.desired.manifests.credential_secret import (
    OF_NAMESPACE,
    CredentialRefusal,
    is_id,
    read_identity,
    read_subscription,
)
from gitsync.desired.problems.finding import Finding
from gitsync.desired.request.allow_list import AllowList, make_problem, warn_unchecked
from gitsync.desired.validation.annotations import CREDENTIAL_FROM
from gitsync.model.gvk import Key
from gitsync.model.identity import NO_IDS, IdentityIds
from gitsync.model.problem import Level, Problem, SourceLocation
from gitsync.model.record import Record
from gitsync.model.resource import Resource
from gitsync.model.secret import Secret
from gitsync.model.signin import Identity, Method

GLOBAL: Final = ""
CredentialName = tuple[str, str]
"""Namespace and name of a Secret."""

_NO_CREDENTIAL: Final = CredentialRefusal(
    "global credential not configured, you must use either namespaced or per-resource credentials",
    f"Set AZURE_SUBSCRIPTION_ID, or add a Secret {OF_NAMESPACE} to the namespace.",
)


@dataclass(frozen=True, slots=True)
class Unknown:
    """It is unknown whether a Secret exists."""

    why: str
    hint: str = ""  # shows how to find out
    unasked: bool = False  # a plan does not read the source that may have it


CredentialLookup = Mapping[str, Secret] | Unknown | None
"""A Secret: its values, or that its existence is unknown, or None if it does not exist."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """The credential of a resource."""

    name: str = GLOBAL  # the Secret in the resource's own namespace, "" for the global one
    subscription: str  # of the Secret, or of the settings
    identity: Identity | None = None  # the content of the Secret; None for the global one
    is_sure: bool = True  # False if the subscription was not read from the Secret
    is_recorded: bool = False  # a plan took it from a record
    doubt: str = ""
    """Why a plan cannot read the subscription: it is then that of the global credential, or a text in angle brackets.
    """

    @property
    def ids(self) -> IdentityIds:
        """The ids that the Secret names; none for the global credential, and for a Secret that was not read."""
        sign_in = self.identity.sign_in if self.identity else None
        if sign_in is None:
            return NO_IDS
        if sign_in.file_ids is not None:  # its file decides, whatever the Secret names
            return sign_in.file_ids
        return IdentityIds(sign_in.client_id, sign_in.tenant_id)


CredentialOf = Callable[[Resource], Credential | Finding]
FindRefusal = Callable[[Resource], CredentialRefusal | None]


def make_finding(refusal: CredentialRefusal, secret_name: str) -> Finding:
    """Make the finding of a manifest without a credential; `secret_name` is the Secret that it names itself."""
    path = ("metadata", "annotations", CREDENTIAL_FROM) if secret_name else ("metadata", "namespace")
    return Finding(code=refusal.code, path=path, message=refusal.message, hint=refusal.hint, source=refusal.source)


def list_credential_names(resources: Iterable[Resource], records: Mapping[Key, Record]) -> tuple[CredentialName, ...]:
    """The Secrets that may be credentials of these resources, and of those that are only recorded; sorted."""
    named = [(resource.key.namespace, read_named_secret(resource)) for resource in resources]
    named += [(key.namespace, record.access.credential) for key, record in records.items()]
    credential_names = {(namespace, name or OF_NAMESPACE) for namespace, name in named}
    return tuple(sorted(credential_names | {(namespace, OF_NAMESPACE) for namespace, _ in named}))


class RecordedCredentials:
    """The credentials that resources were last reconciled with, and their subscriptions."""

    def __init__(self, records: Mapping[Key, Record]) -> None:
        self._records = records

    def is_global(self, key: Key) -> bool:
        """Return whether a resource was last reconciled with the global credential. A new one is taken for one of its
        namespace: if that was the credential of others there, and none had the Secret of the namespace.
        """
        if record := self._records.get(key):
            return record.access.credential == GLOBAL
        used = {record.access.credential for record in self._list(key.namespace)}
        return GLOBAL in used and OF_NAMESPACE not in used

    def decide_subscription(self, key: Key, name: str) -> str:
        """The subscription of a resource; for a new one, that of the others with the same Secret. "" if it is not
        known.
        """
        if subscription := _read_recorded(self._records.get(key)):
            return subscription
        others = (record for record in self._list(key.namespace) if record.access.credential == name)
        found = set(map(_read_recorded, others)) - {""}
        # With two subscriptions on record, a guess would make the id of a resource that may exist elsewhere.
        return found.pop() if len(found) == 1 else ""

    def _list(self, namespace: str) -> Iterator[Record]:
        return (record for key, record in self._records.items() if key.namespace == namespace)


def _read_recorded(record: Record | None) -> str:
    """The subscription on record. An older record has it in its ARM id only."""
    subscription = (record.access.subscription or record.arm_id.subscription or "") if record else ""
    return subscription if is_id(subscription) else ""


class Credentials:
    """The credentials of all resources of a run. `subscription` is that of the global credential, "" if there is none;
    with `allow_multi_env_management`, Secrets may name another cloud. `records` have the last credential of each
    resource, for a plan that does not read remote Secrets. `allow_list` decides which identities may be used, if the
    operator has given one. `file_ids` are those of the identity files that Secrets name.
    """

    def __init__(
        self,
        lookups: Mapping[CredentialName, CredentialLookup],
        subscription: str,
        records: Mapping[Key, Record] | None = None,
        *,
        allow_multi_env_management: bool = False,
        allow_list: AllowList | None = None,
        file_ids: Mapping[CredentialName, IdentityIds] | None = None,
    ) -> None:
        self._lookups = lookups
        self._subscription = subscription
        self._global = Credential(subscription=subscription) if subscription else _NO_CREDENTIAL
        self._recorded = RecordedCredentials(records or {})
        self._identities = {
            scope: _bind_file(
                read_identity("/".join(scope), values, allow_multi_env_management=allow_multi_env_management),
                (file_ids or {}).get(scope),
            )
            for scope, values in lookups.items()
            if isinstance(values, Mapping)
        }
        self._allow_list = allow_list
        self._not_allowed: dict[CredentialName, CredentialRefusal] = {}
        if allow_list:
            self._check_identities(allow_list)

    def _check_identities(self, allow_list: AllowList) -> None:
        for scope, identity in self._identities.items():
            if not isinstance(identity, Identity):
                continue
            if refusal := allow_list.check(*scope, identity):
                self._not_allowed[scope] = refusal
                # An allow-list that only reports leaves the identity in use; `warnings` names it.
                if allow_list.refuses:
                    self._identities[scope] = refusal

    def of(self, resource: Resource) -> Credential | Finding:
        """The credential of a manifest, or what is wrong with it."""
        secret_name = read_named_secret(resource)
        choice = self._choose(resource.key, secret_name)
        return choice if isinstance(choice, Credential) else make_finding(choice, secret_name)

    def of_record(self, record: Record) -> Credential | CredentialRefusal:
        """The credential of a removed resource, as for a manifest that names the recorded one."""
        # The record names the Secret of the namespace too. As a Secret that a manifest names, it would have to exist.
        return self._choose(record.key, record.access.credential if record.access.credential != OF_NAMESPACE else "")

    @property
    def any_of_secrets(self) -> bool:
        """Return whether any Secret is the credential of a resource, or may be."""
        return any(lookup is not None for lookup in self._lookups.values())

    def _choose(self, key: Key, secret_name: str) -> Credential | CredentialRefusal:
        namespace, name = key.namespace, secret_name or OF_NAMESPACE
        lookup = self._lookups.get((namespace, name))
        if lookup is None and not secret_name:
            return self._choose_global(namespace) if self._allow_list else self._global  # as most
        # A Secret that may exist would decide, so the global credential must not stand in for it.
        if isinstance(lookup, Unknown):
            return self._assume(key, secret_name) if lookup.unasked else _refuse_unknown(namespace, name, lookup)
        if isinstance(lookup, Mapping):
            identity = self._identities[namespace, name]
            # A Secret that cannot be used is refused and not replaced, since ids would be those of another
            # subscription.
            if isinstance(identity, CredentialRefusal):
                return identity
            return Credential(name=name, subscription=identity.subscription, identity=identity)
        hint = "Add it to a secret source, in the namespace of the resource; no other credential is used instead."
        return CredentialRefusal(f'credential Secret "{namespace}/{name}" does not exist', hint)

    def _choose_global(self, namespace: str) -> Credential | CredentialRefusal:
        """The global credential, if the namespace may use it."""
        refusal = self._allow_list.check_global(namespace) if self._allow_list else None
        if refusal is None or not isinstance(self._global, Credential):
            return self._global
        self._not_allowed[namespace, GLOBAL] = refusal
        return refusal if self._allow_list and self._allow_list.refuses else self._global

    def _assume(self, key: Key, secret_name: str) -> Credential:
        """The credential in a plan that does not know a Secret: as recorded, else with a subscription in doubt.

        A namespace whose resources were last reconciled with the global credential is assumed to have no Secret.
        """
        namespace, name = key.namespace, secret_name or OF_NAMESPACE
        if self._subscription and not secret_name and self._recorded.is_global(key):
            return Credential(subscription=self._subscription, is_sure=False)
        if recorded := self._recorded.decide_subscription(key, name):
            return Credential(name=name, subscription=recorded, is_sure=False, is_recorded=True)
        if self._subscription and not secret_name:
            doubt = (
                f"its subscription is that of the Secret {namespace}/{name} if there is one, which this plan does not "
                "read; the global credential is assumed"
            )
            return Credential(subscription=self._subscription, is_sure=False, doubt=doubt)
        doubt = f"its subscription is that of the Secret {namespace}/{name}, which this plan does not read"
        return Credential(
            name=name, subscription=f"<subscription of {name} in {namespace}>", is_sure=False, doubt=doubt
        )

    def warnings(self, resources: Iterable[Resource], records: Mapping[Key, Record]) -> Iterator[Problem]:
        """Problems of a plan that does not know the Secrets of credentials: what it assumes of them instead. With an
        allow-list that only reports, also one for each resource with an identity that is not allowed.
        """
        chosen: dict[Key, object] = {key: self.of_record(record) for key, record in records.items()}
        sources = dict[Key, SourceLocation]()
        for resource in resources:
            chosen[resource.key], sources[resource.key] = self.of(resource), resource.source
        yield from self._report_identities(chosen, sources)
        assumed = [(key.namespace, choice) for key, choice in chosen.items() if isinstance(choice, Credential)]
        if names := sorted(
            {f"{namespace}/{credential.name}" for namespace, credential in assumed if credential.is_recorded}
        ):
            yield _make_warning(
                f"This plan does not read the credential Secrets {', '.join(names)}. It uses the subscriptions on "
                "record and its own identity, and did not check that the Secrets still exist, name the same "
                "identity and subscription, and sign in."
            )
        if namespaces := sorted({namespace for namespace, credential in assumed if credential.doubt}):
            yield _make_warning(
                f"This plan does not read the credential Secrets of {', '.join(namespaces)}, and none is on record, so "
                "the ARM ids of new resources there are not known yet."
            )

    def _report_identities(
        self, chosen: Mapping[Key, object], sources: Mapping[Key, SourceLocation]
    ) -> Iterator[Problem]:
        """Report the identities that are used although they are not allowed, and those that are not known."""
        if self._allow_list is None:
            return
        used = {key: choice for key, choice in chosen.items() if isinstance(choice, Credential)}
        for key, credential in used.items():
            if refusal := self._not_allowed.get((key.namespace, credential.name)):
                yield make_problem(refusal, sources.get(key), Level.WARNING)
        yield from warn_unchecked(
            (key.namespace, credential.name or OF_NAMESPACE)
            for key, credential in used.items()
            if not credential.is_sure
        )


def _bind_file(identity: Identity | CredentialRefusal, ids: IdentityIds | None) -> Identity | CredentialRefusal:
    """Add the ids of its file to an identity: the file is read again when it signs in, and must have them then."""
    if ids is None or not isinstance(identity, Identity) or identity.sign_in.method is not Method.IDENTITY_FILE:
        return identity
    return replace(identity, sign_in=replace(identity.sign_in, file_ids=ids))


def _make_warning(message: str) -> Problem:
    hint = "Set --plan-secrets if the plan may read them, or move them to a source that every plan reads."
    return Problem(code="CredentialNotLookedUp", level=Level.WARNING, message=message, hint=hint)


def _refuse_unknown(namespace: str, name: str, lookup: Unknown) -> CredentialRefusal:
    hint = "Make it readable: whether it exists decides which credential reconciles the resource."
    return CredentialRefusal(
        f'Could not determine whether the credential Secret "{namespace}/{name}" exists: {lookup.why}',
        f"{lookup.hint} {hint}".strip(),
    )


def choose_offline(
    secrets: Mapping[CredentialName, Mapping[str, Secret]],
    subscription: str,
    find_refusal: FindRefusal | None = None,
) -> CredentialOf:
    """Return the choice for offline commands, which read only the Secrets of the manifests, and open no credential.

    Another source may have a Secret that is not in the manifests: then `subscription` takes the place of its own.
    `find_refusal` finds why the identity of a resource is not allowed.
    """
    elsewhere = Credential(subscription=subscription, is_sure=False)  # one value for all that have no Secret here

    def of(resource: Resource) -> Credential | Finding:
        secret_name = read_named_secret(resource)
        if find_refusal and (refusal := find_refusal(resource)):
            return make_finding(refusal, secret_name)
        values = secrets.get((resource.key.namespace, secret_name or OF_NAMESPACE))
        found_subscription = read_subscription(values) if values is not None else None
        if found_subscription is None:
            return elsewhere
        return Credential(name=secret_name or OF_NAMESPACE, subscription=found_subscription)

    return of


def read_named_secret(resource: Resource) -> str:
    """The Secret that a manifest names itself. A name with a slash is an error, which validation reports."""
    name = resource.annotations.get(CREDENTIAL_FROM, "")
    return "" if "/" in name else name
