"""How to reach Azure and with which identity: plain values, filled from the settings when a run starts.

Separate from the code that uses them, because that code imports the SDK, which takes a fifth of a second.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from gitsync.arm.cloud import Cloud
from gitsync.arm.http.host_state import PATIENCE
from gitsync.arm.http.pacing import Interval
from gitsync.arm.http.throttle import ARM_LIMITS, Limit, RequestKind
from gitsync.model.signin import SignIn
from gitsync.redaction import Redactions


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """How to reach Azure. `ca_bundle` is a PEM file trusted instead of the system's; `environment` names the proxy
    (`HTTPS_PROXY`, `NO_PROXY`). Seconds: to connect; for the next byte (Azure itself gives up after 60); that a
    host may refuse connections before it has answered anything.
    """

    ca_bundle: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    connect_timeout: float = 30.0
    read_timeout: float = 120.0
    patience: float = PATIENCE
    in_flight: int = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmAccess:
    """All that `open_arm` needs to know. `request_share` is how much of the limits may be used. `user_agent_suffix` is
    added to `gitsync/<version>`. `redactions` learns every token.
    """

    cloud: Cloud
    sign_in: SignIn = field(default_factory=SignIn)
    network: Network = field(default_factory=Network)
    limits: Mapping[RequestKind, Limit] = field(default_factory=lambda: ARM_LIMITS)
    request_share: float = 1.0
    interval: Interval = field(default_factory=Interval)
    user_agent_suffix: str = ""
    redactions: Redactions = field(default_factory=Redactions, compare=False)


class TokenCredential(Protocol):
    """azure.core's AsyncSupportsTokenInfo, as much of it as is used."""

    async def get_token_info(self, *scopes: str, options: Any = None) -> Any: ...


class RenewableCredential(TokenCredential, Protocol):
    """A credential that gives a new token after Azure refused one."""

    def forget(self, token: str) -> None:
        """Make the next token a new one, unless this token was replaced already."""
        ...
