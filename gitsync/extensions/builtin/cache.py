"""cache.azure.com: the keys of Redis, and its address."""

from __future__ import annotations

from gitsync.extensions.api import Extensions
from gitsync.extensions.factories.secret_actions import TWO_KEYS, Keys, SecretAction, StatusFields, make_exporters
from gitsync.extensions.factories.value_paths import At

GROUP = "cache.azure.com"

_ADDRESS = StatusFields({name: At(f"properties/{name}") for name in ("hostName", "port", "sslPort")})

EXTENSIONS: Extensions = make_exporters(
    GROUP,
    {
        "Redis": Keys(SecretAction("/listKeys", "2021-06-01", TWO_KEYS), _ADDRESS),
        "RedisEnterpriseDatabase": Keys(SecretAction("/listKeys", "2022-01-01", TWO_KEYS)),
    },
)
