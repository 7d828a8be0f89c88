"""The identity of each node of a run: its subscription, and the `Arm` of its credential.

Separate from the choice of a credential, which is pure, and from the client, which has one principal. A credential that
cannot be opened stops only the nodes that use it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass

from gitsync.desired.manifests.credential_secret import CredentialRefusal
from gitsync.desired.problems.finding import Finding
from gitsync.desired.request.allow_list import NOT_ALLOWED
from gitsync.desired.request.credential_choice import GLOBAL, Credential, Credentials
from gitsync.errors import ArmError, ConfigError
from gitsync.model.condition import Condition
from gitsync.model.gvk import Key
from gitsync.model.identity import NO_IDS, IdentityIds
from gitsync.model.plan import Apply, Node
from gitsync.model.signin import Identity
from gitsync.planning.status.conditions import FAILED, make_warning
from gitsync.providers.arm.client import Arm

OpenAs = Callable[[Identity], Awaitable[Arm]]
"""Gives the `Arm` of an identity, the same for equal ones. Raises ConfigError if it cannot sign in."""


@dataclass(kw_only=True, slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class ResourceIdentity:
    """The identity of one node."""

    credential: str = GLOBAL  # the name of the Secret, "" for the global one
    subscription: str = ""
    ids: IdentityIds = NO_IDS
    arm: Arm | None = None  # the client of this credential, None if it cannot be used
    refusal: Condition | None = None  # why there is no `Arm`, None if there is one

    def azure(self) -> Arm:
        """The Arm. Raises ArmError if there is none."""
        if self.arm is None:
            message, hint = (self.refusal.message, self.refusal.advice) if self.refusal else ("", "")
            raise ArmError(message, code="AuthenticationFailed", hint=hint)
        return self.arm


Identities = Mapping[Key, ResourceIdentity]


async def open_identities(
    nodes: Iterable[Node], credentials: Credentials, global_arm: Arm, global_ids: IdentityIds, open_as: OpenAs | None
) -> Identities:
    """Find the identity of every node. `global_arm` is the Arm of the global credential, and of all credentials if
    `open_as` is None (an emulator needs no sign-in); each still has its own subscription and ids.

    No token is requested yet.
    """
    identities = {}
    for node in nodes:
        credential: Credential | Finding | CredentialRefusal
        if isinstance(node, Apply):
            credential = credentials.of(node.prepared.resource)
        else:
            credential = credentials.of_record(node.record)
        if not isinstance(credential, Credential):
            reason = NOT_ALLOWED if credential.code == NOT_ALLOWED else FAILED
            identities[node.key] = ResourceIdentity(refusal=make_warning(reason, credential.message, credential.hint))
        elif credential.identity is None or open_as is None:
            ids = global_ids if credential.name == GLOBAL else credential.ids
            identities[node.key] = _make_identity(credential, ids, global_arm)
        else:
            identities[node.key] = await _open_identity(credential, credential.identity, open_as)
    return identities


def uses_global(identities: Identities) -> bool:
    """Return whether any node is reconciled with the global credential."""
    return any(identity.credential == GLOBAL and not identity.refusal for identity in identities.values())


async def _open_identity(credential: Credential, identity: Identity, open_as: OpenAs) -> ResourceIdentity:
    try:
        return _make_identity(credential, credential.ids, await open_as(identity))
    except ConfigError as error:
        return ResourceIdentity(
            credential=credential.name,
            subscription=credential.subscription,
            ids=credential.ids,
            refusal=make_warning(FAILED, error.message, error.hint),
        )


def _make_identity(credential: Credential, ids: IdentityIds, arm: Arm) -> ResourceIdentity:
    return ResourceIdentity(credential=credential.name, subscription=credential.subscription, ids=ids, arm=arm)
