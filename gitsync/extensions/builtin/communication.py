"""communication.azure.com: keys and connection strings of a service."""

from __future__ import annotations

from gitsync.extensions.api import Extensions
from gitsync.extensions.factories.secret_actions import KEYS_AND_CONNECTION_STRINGS, Keys, SecretAction, make_exporters

GROUP = "communication.azure.com"

EXTENSIONS: Extensions = make_exporters(
    GROUP, {"CommunicationService": Keys(SecretAction("/listKeys", "2020-08-20", KEYS_AND_CONNECTION_STRINGS))}
)
