"""cache.azure.com: the keys of Redis, and where it listens."""

from __future__ import annotations

from gitsync.extensions.api import Extensions
from gitsync.extensions.factories.secret_actions import TWO_KEYS, Action, Keys, Status, exporting
from gitsync.extensions.factories.value_paths import At

GROUP = "cache.azure.com"

_LISTENS = Status({name: At(f"properties/{name}") for name in ("hostName", "port", "sslPort")})

EXTENSIONS: Extensions = exporting(
    GROUP,
    {
        "Redis": Keys(Action("/listKeys", "2021-06-01", TWO_KEYS), _LISTENS),
        "RedisEnterpriseDatabase": Keys(Action("/listKeys", "2022-01-01", TWO_KEYS)),
    },
)
