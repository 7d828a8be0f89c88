"""The credential of a resource: its own, its namespace's, or the global one
(docs/reference/reconciliation.md#credential-selection).

No level completes another. The caller reads the Secrets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from gitsync.manifests.credential_secret import CredentialRefusal, read_identity, read_subscription
from gitsync.model.gvk import Key
from gitsync.model.problem import Level, Problem
from gitsync.model.record import Record
from gitsync.model.resource import Resource
from gitsync.model.secret import Secret
from gitsync.model.signin import Identity
from gitsync.problems.finding import Finding
from gitsync.validation.annotations import CREDENTIAL_FROM

GLOBAL: Final = ""
OF_NAMESPACE: Final = "aso-credential"
"""Name of the Secret that is the credential of all resources of its namespace."""

CredentialName = tuple[str, str]
"""Namespace and name of a Secret."""

_NO_CREDENTIAL: Final = CredentialRefusal(
    "global credential not configured, you must use either namespaced or per-resource credentials",
    f"Set AZURE_SUBSCRIPTION_ID, or add a Secret {OF_NAMESPACE} to the namespace.",
)


@dataclass(frozen=True, slots=True)
class Unknown:
    """It is unknown whether a Secret exists; `hint` says how to find out. `unasked`: a plan does not read the source
    that may have it.
    """

    why: str
    hint: str = ""
    unasked: bool = False


CredentialLookup = Mapping[str, Secret] | Unknown | None
"""A Secret: its values, or that its existence is unknown, or None if it does not exist."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """The credential of a resource. `name` is the Secret in the resource's own namespace, and `identity` its content;
    "" and None for the global one. `is_sure` is False if the subscription is a guess (offline).
    """

    name: str = GLOBAL
    subscription: str
    identity: Identity | None = None
    is_sure: bool = True


CredentialOf = Callable[[Resource], Credential | Finding]


def find_credential_names(resources: Iterable[Resource], records: Mapping[Key, Record]) -> tuple[CredentialName, ...]:
    """The Secrets that may be credentials of these resources, and of those that are only recorded; sorted."""
    named = [(one.key.namespace, _find_named_secret(one)) for one in resources]
    named += [(key.namespace, record.credential) for key, record in records.items()]
    credential_names = {(namespace, name or OF_NAMESPACE) for namespace, name in named}
    return tuple(sorted(credential_names | {(namespace, OF_NAMESPACE) for namespace, _ in named}))


class Credentials:
    """The credentials of all resources of a run. `subscription` is that of the global credential, "" if there is none;
    `other_clouds` allows Secrets to name another cloud.
    """

    def __init__(
        self, lookups: Mapping[CredentialName, CredentialLookup], subscription: str, *, other_clouds: bool = False
    ) -> None:
        self._lookups = lookups
        self._subscription = subscription
        self._identities = {
            place: read_identity("/".join(place), values, other_clouds=other_clouds)
            for place, values in lookups.items()
            if isinstance(values, Mapping)
        }

    def of(self, resource: Resource) -> Credential | Finding:
        """The credential of a manifest, or what is wrong with it."""
        secret_name = _find_named_secret(resource)
        choice = self._choose(resource.key.namespace, secret_name)
        if isinstance(choice, Credential):
            return choice
        path = ("metadata", "annotations", CREDENTIAL_FROM) if secret_name else ("metadata", "namespace")
        return Finding(code="CredentialNotUsable", path=path, message=choice.message, hint=choice.hint)

    def of_record(self, record: Record) -> Credential | CredentialRefusal:
        """The credential of a removed resource, as for a manifest that names the recorded one."""
        secret_name = record.credential if record.credential != OF_NAMESPACE else ""
        return self._choose(record.key.namespace, secret_name)

    @property
    def any_of_secrets(self) -> bool:
        """Tell whether any Secret is the credential of a resource, or may be."""
        return any(lookup is not None for lookup in self._lookups.values())

    def _choose(self, namespace: str, secret_name: str) -> Credential | CredentialRefusal:
        name = secret_name or OF_NAMESPACE
        lookup = self._lookups.get((namespace, name))
        if isinstance(lookup, Unknown) and (secret_name or not lookup.unasked):
            hint = "Make it readable: whether it exists decides which credential reconciles the resource."
            return CredentialRefusal(
                f'Could not determine whether the credential Secret "{namespace}/{name}" exists: {lookup.why}',
                f"{lookup.hint} {hint}".strip(),
            )
        if isinstance(lookup, Mapping):
            identity = self._identities[namespace, name]
            if isinstance(identity, CredentialRefusal):
                return identity
            return Credential(name=name, subscription=identity.subscription, identity=identity)
        if secret_name:
            hint = "Add it to a secret source, in the namespace of the resource; no other credential is used instead."
            return CredentialRefusal(f'credential Secret "{namespace}/{name}" does not exist', hint)
        return Credential(subscription=self._subscription) if self._subscription else _NO_CREDENTIAL

    def warnings(self, records: Mapping[Key, Record]) -> Iterator[Problem]:
        """Problems of a plan that uses the global credential, although a namespace may have its own.

        If all recorded resources of a namespace used the global credential, the namespace is assumed to have none.
        """
        used: dict[str, set[str]] = {}
        for key, record in records.items():
            used.setdefault(key.namespace, set()).add(record.credential)
        unsure = [
            namespace
            for (namespace, name), lookup in sorted(self._lookups.items())
            if name == OF_NAMESPACE
            and isinstance(lookup, Unknown)
            and lookup.unasked
            and used.get(namespace) != {GLOBAL}
        ]
        if unsure and self._subscription:
            yield Problem(
                code="CredentialNotLookedUp",
                level=Level.WARNING,
                message=f"A plan reads no remote secret source, so whether the Secret {OF_NAMESPACE} exists is not "
                f"known; the global credential is assumed for {', '.join(unsure)}.",
                hint="Move the Secret to a source that a plan reads, or read the plan as one of the global credential.",
            )


def choose_offline(secrets: Mapping[CredentialName, Mapping[str, Secret]], subscription: str) -> CredentialOf:
    """Return the choice for offline commands, which read only the Secrets of the manifests, and open no credential.

    Another source may have a Secret that is not in the manifests: then `subscription` takes the place of its own.
    """

    def of(resource: Resource) -> Credential:
        secret_name = _find_named_secret(resource)
        values = secrets.get((resource.key.namespace, secret_name or OF_NAMESPACE))
        found_subscription = read_subscription(values) if values is not None else None
        if found_subscription is None:
            return Credential(subscription=subscription, is_sure=False)
        return Credential(name=secret_name or OF_NAMESPACE, subscription=found_subscription)

    return of


def _find_named_secret(resource: Resource) -> str:
    """The Secret that a manifest names itself. A name with a slash is an error, which validation reports."""
    name = resource.annotations.get(CREDENTIAL_FROM, "")
    return "" if "/" in name else name
