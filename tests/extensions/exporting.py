"""Exporters asked in a line, over answers that a test writes down."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitsync.extensions.factories.secret_actions import Keys
from gitsync.extensions.registry import BUILT_IN
from gitsync.model.live import Live
from tests.extensions.asking import REGISTRY, subject


class Answers:
    """An Azure that answers actions by the end of their path, and notes what it was sent.

    `said` maps an ending to an answer, `read` an id to a body; whatever else is requested fails the test.
    """

    def __init__(self, said: Mapping[str, Any] | None = None, read: Mapping[str, Any] | None = None) -> None:
        self._said = said or {}
        self._read = read or {}
        self.requested: list[tuple[str, str, str]] = []

    async def get(self, arm_id, api_version):
        self.requested.append(("GET", arm_id, api_version))
        body = self._read[arm_id]
        return None if body is None else Live(body=body)

    async def list(self, path, api_version):
        raise AssertionError(path)

    async def call(self, path, api_version, body=None, *, query=None):
        assert body is None
        assert query is None
        self.requested.append(("POST", path, api_version))
        return self._said[max((end for end in self._said if path.endswith(end)), key=len)]

    async def pages(self, path, api_version):
        page = await self.call(path, api_version)
        self.requested[-1] = ("PAGES", path, api_version)
        return page["value"]

    async def delete(self, arm_id, api_version, *, if_match=None, query=None):
        raise AssertionError(arm_id)


def exporters() -> dict[tuple[str, str], Keys]:
    """Every exporter of secrets that is built in, by group and kind."""
    return {(e.group, e.kind): e.export_secrets for e in BUILT_IN if isinstance(e.export_secrets, Keys)}


async def exported(group: str, kind: str, *wanted: str, azure: Answers, own: Live | None = None) -> dict[str, str]:
    """What comes of wanting some fields, revealed."""
    about = subject(group, kind, own=own)
    found = await REGISTRY.export_secrets(about, azure, frozenset(wanted))
    return {name: secret.reveal() for name, secret in found.items()}
