"""How Azure is reached and as whom: plain values, filled from the settings by whoever starts a run.

Apart from the code that uses them, because that code imports the SDK, which takes a fifth of a second.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from gitsync.arm.cloud import Cloud
from gitsync.arm.pacing import Interval
from gitsync.arm.throttle import ARM_LIMITS, Kind, Limit
from gitsync.model.secret import Secret


class Method(StrEnum):
    """How to get a token, as the setting `--credential` names it."""

    DEFAULT = "default"
    WORKLOAD_IDENTITY = "workload-identity"
    MANAGED_IDENTITY = "managed-identity"
    CLIENT_SECRET = "client-secret"  # noqa: S105 - the name of a method
    ANONYMOUS = "anonymous"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIn:
    """Who signs in. "" and None mean "not set".

    `environment` is where the variables of CI systems are looked up (`ACTIONS_ID_TOKEN_REQUEST_URL` and `_TOKEN`;
    `SYSTEM_OIDCREQUESTURI`, `SYSTEM_ACCESSTOKEN` and `AZURESUBSCRIPTION_SERVICE_CONNECTION_ID`).
    """

    method: Method = Method.DEFAULT
    tenant: str = ""
    client: str = ""
    client_secret: Secret | None = None
    token_file: str = ""
    additional_tenants: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """The way there. `ca_bundle` is a PEM file trusted instead of the system's; `environment` names the proxy
    (`HTTPS_PROXY`, `NO_PROXY`). Seconds: to connect, and for the next byte; Azure itself gives up after 60.
    """

    ca_bundle: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    connect_timeout: float = 30.0
    read_timeout: float = 120.0
    in_flight: int = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """All that `open_arm` needs to know. `user_agent_suffix` is added to `gitsync/<version>`."""

    cloud: Cloud
    sign_in: SignIn = field(default_factory=SignIn)
    network: Network = field(default_factory=Network)
    limits: Mapping[Kind, Limit] = field(default_factory=lambda: ARM_LIMITS)
    interval: Interval = field(default_factory=Interval)
    user_agent_suffix: str = ""


class Credential(Protocol):
    """azure.core's AsyncSupportsTokenInfo, as much of it as is used."""

    async def get_token_info(self, *scopes: str, options: Any = None) -> Any: ...
