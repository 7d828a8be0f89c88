"""signalrservice.azure.com: keys and connection strings of a service."""

from __future__ import annotations

from gitsync.extensions.api import Extensions
from gitsync.extensions.factories.secret_actions import KEYS_AND_CONNECTION_STRINGS, Keys, SecretAction, make_exporters

GROUP = "signalrservice.azure.com"

EXTENSIONS: Extensions = make_exporters(
    GROUP, {"SignalR": Keys(SecretAction("/listKeys", "2023-02-01", KEYS_AND_CONNECTION_STRINGS))}
)
