"""The identity of each node of a run: its subscription, and the `Arm` of its credential.

Separate from the choice of a credential, which is pure, and from the client, which knows one principal. A credential
that cannot be opened stops only the nodes that use it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass

from gitsync.arm.client import Arm
from gitsync.errors import ArmError, ConfigError
from gitsync.manifests.credential_secret import CredentialRefusal
from gitsync.model.gvk import Key
from gitsync.model.plan import Apply, Node
from gitsync.model.signin import Identity
from gitsync.problems.finding import Finding
from gitsync.request.credential_choice import GLOBAL, Credential, Credentials

OpenAs = Callable[[Identity], Awaitable[Arm]]
"""Gives the `Arm` of an identity, the same for the same. ConfigError where it cannot sign in as it says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceIdentity:
    """One node's. `credential` is the name of the Secret, "" for the global one. `refusal` says why there is no Arm."""

    credential: str = GLOBAL
    subscription: str = ""
    arm: Arm | None = None
    refusal: str = ""

    def azure(self) -> Arm:
        """The Arm. Raises ArmError where there is none."""
        if self.arm is None:
            raise ArmError(self.refusal, code="AuthenticationFailed")
        return self.arm


Identities = Mapping[Key, ResourceIdentity]


async def open_identities(
    nodes: Iterable[Node], credentials: Credentials, global_arm: Arm, open_as: OpenAs | None
) -> Identities:
    """The identity of every node. `global_arm` is the Arm of the global credential, and of all where `open_as` is None
    (an emulator needs no sign-in); their subscriptions are still their own.

    No token is requested yet.
    """
    identities = {}
    for node in nodes:
        chosen = _chosen(node, credentials)
        if not isinstance(chosen, Credential):
            identities[node.key] = ResourceIdentity(refusal=f"{chosen.message} {chosen.hint}")
        elif chosen.identity is None or open_as is None:
            identities[node.key] = _identity(chosen, global_arm)
        else:
            identities[node.key] = await _opened(chosen, chosen.identity, open_as)
    return identities


def uses_global(identities: Identities) -> bool:
    """Tell whether any node is reconciled with the global credential."""
    return any(identity.credential == GLOBAL and not identity.refusal for identity in identities.values())


async def _opened(chosen: Credential, identity: Identity, open_as: OpenAs) -> ResourceIdentity:
    try:
        return _identity(chosen, await open_as(identity))
    except ConfigError as error:
        return ResourceIdentity(credential=chosen.name, subscription=chosen.subscription, refusal=str(error))


def _identity(chosen: Credential, arm: Arm) -> ResourceIdentity:
    return ResourceIdentity(credential=chosen.name, subscription=chosen.subscription, arm=arm)


def _chosen(node: Node, credentials: Credentials) -> Credential | Finding | CredentialRefusal:
    return credentials.of(node.prepared.resource) if isinstance(node, Apply) else credentials.of_record(node.record)
