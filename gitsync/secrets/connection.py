"""How a vault of Azure's is reached: what of the way to Azure a vault needs.

Apart from `gitsync.arm.http.network`, whose `Way` this describes, since the places of secrets know nothing of ARM.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class VaultConnection(Protocol):
    """The SDK's transport over an open session, and the proxy for a URL as the SDK takes it."""

    @property
    def transport(self) -> Any: ...

    def proxies(self, url: str) -> Mapping[str, str]: ...
