"""How Azure is reached, by the settings."""

from __future__ import annotations

import pytest

from gitsync.agent.run.connections import open_access
from gitsync.settings.config.config import Config
from gitsync.settings.redaction import Redactions


@pytest.mark.parametrize(
    ("settings", "first", "why"),
    [
        ({}, 1.0, "Azure counts requests"),
        ({"endpoint": "https://management.usgovcloudapi.net"}, 1.0, "another Azure does, too"),
        ({"emulator": ""}, 0.02, "nobody but this run asks its own emulator"),
        ({"endpoint": "http://127.0.0.1:9", "credential": "anonymous"}, 0.02, "an emulator of another process"),
    ],
)
async def test_an_emulator_is_polled_sooner_than_azure(settings, first, why):
    async with open_access(Config(**settings), Redactions()) as access:
        assert access.poll_interval.compute_wait(0) == first, why
