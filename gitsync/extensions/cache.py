"""cache.azure.com: the keys of Redis, and where it listens."""

from __future__ import annotations

from gitsync.extensions.keys import TWO_KEYS, Action, Keys, Status, exporting
from gitsync.extensions.places import At
from gitsync.extensions.points import Extensions

GROUP = "cache.azure.com"

_LISTENS = Status({name: At(f"properties/{name}") for name in ("hostName", "port", "sslPort")})

EXTENSIONS: Extensions = exporting(
    GROUP,
    {
        "Redis": Keys(Action("/listKeys", "2021-06-01", TWO_KEYS), _LISTENS),
        "RedisEnterpriseDatabase": Keys(Action("/listKeys", "2022-01-01", TWO_KEYS)),
    },
)
