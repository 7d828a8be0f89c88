"""Which credential a resource has: its own, its namespace's, or the run's
(docs/reference/reconciliation.md#credential-selection).

No level completes another. What the Secrets say is given; where they come from is the caller's.
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

_NOBODY: Final = CredentialRefusal(
    "global credential not configured, you must use either namespaced or per-resource credentials",
    f"Set AZURE_SUBSCRIPTION_ID, or add a Secret {OF_NAMESPACE} to the namespace.",
)


@dataclass(frozen=True, slots=True)
class Unknown:
    """It is unknown whether a Secret exists. `unasked`: a plan does not read the source where it may be."""

    why: str
    unasked: bool = False


CredentialLookup = Mapping[str, Secret] | Unknown | None
"""What is known of a Secret: its values, that its existence is unknown, or that it does not exist."""


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
    asked = [(one.key.namespace, _asked(one)) for one in resources]
    asked += [(key.namespace, record.credential) for key, record in records.items()]
    places = {(namespace, name or OF_NAMESPACE) for namespace, name in asked}
    return tuple(sorted(places | {(namespace, OF_NAMESPACE) for namespace, _ in asked}))


class Credentials:
    """The choice for every resource of a run. `subscription` is that of the global credential, "" where there is none;
    `other_clouds` allows Secrets to name another Azure.
    """

    def __init__(
        self, found: Mapping[CredentialName, CredentialLookup], subscription: str, *, other_clouds: bool = False
    ) -> None:
        self._found = found
        self._subscription = subscription
        self._read = {
            place: read_identity("/".join(place), values, other_clouds=other_clouds)
            for place, values in found.items()
            if isinstance(values, Mapping)
        }

    def of(self, resource: Resource) -> Credential | Finding:
        """The credential of a manifest, or what is wrong with it."""
        asked = _asked(resource)
        chosen = self._choose(resource.key.namespace, asked)
        if isinstance(chosen, Credential):
            return chosen
        path = ("metadata", "annotations", CREDENTIAL_FROM) if asked else ("metadata", "namespace")
        return Finding(code="CredentialNotUsable", path=path, message=chosen.message, hint=chosen.hint)

    def of_record(self, record: Record) -> Credential | CredentialRefusal:
        """The credential of a removed resource: chosen again, as for a manifest that names the recorded one."""
        asked = record.credential if record.credential != OF_NAMESPACE else ""
        return self._choose(record.key.namespace, asked)

    @property
    def any_of_secrets(self) -> bool:
        """Tell whether there is a Secret at all that is asked for as a credential, or may be."""
        return any(found is not None for found in self._found.values())

    def _choose(self, namespace: str, asked: str) -> Credential | CredentialRefusal:
        name = asked or OF_NAMESPACE
        found = self._found.get((namespace, name))
        if isinstance(found, Unknown) and (asked or not found.unasked):
            hint = "Make it readable: whether it exists decides which credential reconciles the resource."
            return CredentialRefusal(
                f'Could not determine whether the credential Secret "{namespace}/{name}" exists: {found.why}', hint
            )
        if isinstance(found, Mapping):
            identity = self._read[namespace, name]
            if isinstance(identity, CredentialRefusal):
                return identity
            return Credential(name=name, subscription=identity.subscription, identity=identity)
        if asked:
            hint = "Add it to a secret source, in the namespace of the resource; no other credential is used instead."
            return CredentialRefusal(f'credential Secret "{namespace}/{name}" does not exist', hint)
        return Credential(subscription=self._subscription) if self._subscription else _NOBODY

    def warnings(self, records: Mapping[Key, Record]) -> Iterator[Problem]:
        """Problems of a plan that takes the global credential without knowing that there is no other.

        A namespace whose resources were all last reconciled with the global one is taken for one without its own.
        """
        used: dict[str, set[str]] = {}
        for key, record in records.items():
            used.setdefault(key.namespace, set()).add(record.credential)
        unsure = [
            namespace
            for (namespace, name), found in sorted(self._found.items())
            if name == OF_NAMESPACE and isinstance(found, Unknown) and found.unasked and used.get(namespace) != {GLOBAL}
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
    """The choice offline, where only the Secrets of the manifests can be read, and none is opened.

    A Secret that is not among them may be elsewhere: then `subscription` stands for its own.
    """

    def of(resource: Resource) -> Credential:
        asked = _asked(resource)
        values = secrets.get((resource.key.namespace, asked or OF_NAMESPACE))
        said = read_subscription(values) if values is not None else None
        if said is None:
            return Credential(subscription=subscription, is_sure=False)
        return Credential(name=asked or OF_NAMESPACE, subscription=said)

    return of


def _asked(resource: Resource) -> str:
    """The Secret that a manifest names itself. One with a slash is a mistake that validation tells."""
    name = resource.annotations.get(CREDENTIAL_FROM, "")
    return "" if "/" in name else name
