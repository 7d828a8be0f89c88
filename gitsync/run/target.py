"""What a run reads and what it writes to, found once, after sign-in: for reports, logs and the question before a first
sync.
"""

from __future__ import annotations

from dataclasses import replace

from gitsync.arm.auth.principal import describe_principal
from gitsync.config.config import Config
from gitsync.git.source.checkout import Checkout
from gitsync.model.report import RunTarget
from gitsync.model.signin import Method
from gitsync.reconcile.context import Connections
from gitsync.reconcile.identities import Identities, uses_global


async def make_contact(
    config: Config, connections: Connections, identities: Identities, agent: str, deadline: float
) -> RunTarget:
    """Reach Azure and sign in, if the run uses the global credential, and say what the run works on.

    Raises ConfigError if Azure cannot be reached or there is no token: nothing was touched.
    """
    target = RunTarget(
        repository=name_source(connections.source),
        revision=connections.source.revision,
        ref=connections.source.ref or "",
        other_subscriptions=_find_other_subscriptions(identities, connections.subscription),
        endpoint=connections.endpoint,
        agent=agent,
    )
    if not uses_global(identities):
        return target
    await connections.arm.reach(deadline)
    principal = await connections.arm.sign_in(deadline)
    anonymous = config.emulator is not None or config.credential == Method.ANONYMOUS
    method = Method.ANONYMOUS if anonymous else Method(config.credential)
    return replace(
        target,
        subscription=connections.subscription,
        subscription_name=await _read_name(connections, deadline),
        identity=describe_principal(principal, method.value),
    )


def name_source(source: Checkout) -> str:
    """The URL of the remote, which holds no password, or the folder."""
    return source.remote.name if source.remote else source.name


def _find_other_subscriptions(identities: Identities, ours: str) -> tuple[str, ...]:
    found = {identity.subscription for identity in identities.values()}
    return tuple(sorted(one for one in found - {ours, ""} if "<" not in one))  # a plan may not know all of them


async def _read_name(connections: Connections, deadline: float) -> str:
    """An emulator makes its names up, so it is not asked."""
    if connections.is_local or not connections.subscription:
        return ""
    return await connections.arm.read_subscription_name(connections.subscription, deadline)
