"""What a run reads and what it writes to, as every report shows it at its top."""

from __future__ import annotations

from dataclasses import dataclass

BUILT_IN_EMULATOR = "built-in emulator"
"""The endpoint of a run with `--emulator`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTarget:
    """Texts for people; "" if something is not known, or has no part in the run.

    `repository` is the URL of the remote without a password, or the folder if there is no remote. `revision` is
    the commit, and `ref` the branch, tag or commit that was named or is checked out. `subscription` is an id,
    `subscription_name` its display name in Azure. `other_subscriptions` are those of credential Secrets. `identity` is
    who signed in.
    """

    repository: str = ""
    revision: str | None = None
    ref: str = ""
    subscription: str = ""
    subscription_name: str = ""
    other_subscriptions: tuple[str, ...] = ()
    endpoint: str = ""
    identity: str = ""
    agent: str = ""
