"""Which certificate authorities a connection to Azure trusts.

Apart from the connection, whose library is slow to import: a bundle that cannot be read refuses a run before that.
"""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Literal

from gitsync.errors import ConfigError

Trust = ssl.SSLContext | Literal[True]


def read_trust(ca_bundle: Path | None) -> Trust:
    """What to verify with; True for the system's certificates, which aiohttp reads once when it is imported.

    Raises ConfigError for a bundle that cannot be read.
    """
    if ca_bundle is None:
        return True
    try:
        return ssl.create_default_context(cafile=str(ca_bundle))
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(
            f"The CA bundle {ca_bundle} cannot be read: {error}.", hint="It must be a file of certificates in PEM."
        ) from error
