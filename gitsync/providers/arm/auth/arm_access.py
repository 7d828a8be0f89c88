"""How to reach Azure and with which identity: plain values, filled from the settings when a run starts.

Separate from the code that uses them, because that code imports the SDK, which takes a fifth of a second.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol
from uuid import UUID, uuid4

from gitsync.errors import ConfigError
from gitsync.model.limits import ARM_LIMITS, Limit, RequestKind
from gitsync.model.signin import SignIn
from gitsync.providers.arm.cloud import Cloud
from gitsync.settings.backoff import Backoff
from gitsync.settings.redaction import Redactions

PATIENCE = 15.0
"""Seconds for a host that has not answered yet, such as a proxy that starts beside the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """How to reach Azure. Times are in seconds."""

    ca_bundle: Path | None = None  # a PEM file, trusted instead of the system's
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Names the proxy (`HTTPS_PROXY`, `NO_PROXY`)."""

    connect_timeout: float = 30.0  # to connect
    read_timeout: float = 120.0  # for the next byte; Azure itself gives up after 60
    patience: float = PATIENCE  # in which a host may refuse connections before it has answered anything
    concurrency: int = 32  # the most requests at a time


Trust = ssl.SSLContext | Literal[True]


def read_trust(ca_bundle: Path | None) -> Trust:
    """Read what to verify with before the connection opens, whose library is slow to import: a bundle that cannot be
    read refuses a run at once.

    Raises ConfigError for a bundle that cannot be read.
    """
    if ca_bundle is None:
        # True stands for the system's certificates, which aiohttp reads once when it is imported.
        return True
    try:
        return ssl.create_default_context(cafile=str(ca_bundle))
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(
            f"The CA bundle {ca_bundle} cannot be read: {error}.",
            hint="Set --ca-bundle to a file of certificates in PEM.",
        ) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmAccess:
    """All that `open_arm` needs."""

    cloud: Cloud
    sign_in: SignIn = field(default_factory=SignIn)
    network: Network = field(default_factory=Network)
    limits: Mapping[RequestKind, Limit] = field(default_factory=lambda: ARM_LIMITS)
    """Those that apply, for each kind of request."""

    request_share: float = 1.0  # how much of the limits may be used, from 0 to 1
    poll_interval: Backoff = field(default_factory=Backoff)  # between polls, if Azure specifies none
    user_agent_suffix: str = ""  # added to `gitsync/<version>`
    run_id: UUID = field(default_factory=uuid4)
    """The correlation ids of the run's writes follow from it, and no other run has it."""

    redactions: Redactions = field(default_factory=Redactions, compare=False)  # gets every token


class TokenCredential(Protocol):
    """azure.core's AsyncSupportsTokenInfo, as much of it as is used."""

    async def get_token_info(self, *scopes: str, options: Any = None) -> Any: ...


class RenewableCredential(TokenCredential, Protocol):
    """A credential that gives a new token after Azure refused one."""

    def forget(self, token: str) -> None:
        """Get a new token next time, unless this token was replaced already."""
        ...
