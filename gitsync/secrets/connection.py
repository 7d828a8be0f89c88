"""How a Key Vault is reached: the part of the connection to Azure that a vault needs.

Separate from `gitsync.arm.http.network`, whose `HttpConnection` this describes, since this package does not depend on
ARM.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class VaultConnection(Protocol):
    """The SDK's transport over an open session, and the proxy for a URL as the SDK takes it."""

    @property
    def transport(self) -> Any: ...

    def proxies(self, url: str) -> Mapping[str, str]: ...
