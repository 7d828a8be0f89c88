"""What a check reports of a change, and what the emulator does at the write of it, by the same settings file."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gitsync.agent.checks.check_requests import CheckRequests
from gitsync.agent.checks.check_table import Check
from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import EmulatorSettings, Timing, read_settings
from gitsync.emulator.state.store import Store
from gitsync.emulator.types.behaviour import Style
from gitsync.errors import ArmError
from gitsync.model.check import PlannedChange
from gitsync.providers.arm.client import Writer, open_arm
from gitsync.providers.arm.session import Session
from tests.agent.checks.asking import GROUP
from tests.support.arm_rig import StaticCredential, anonymous
from tests.support.fake_clock import FakeClock
from tests.support.filled_store import fill

GROUP_API = "2021-04-01"


def compare(
    check: Check, change: PlannedChange, settings: Mapping[str, Any], present: Iterable[PlannedChange] = ()
) -> tuple[set[str], str]:
    """Return the verdicts before the write, and the code that refused the write, "" if it was done.

    `present` are there, with the resource group, before the settings hold. The first principal of the settings does it,
    anonymous without one.
    """
    (verdicts,), code = compare_all([check], change, settings, present)
    return verdicts, code


def compare_all(
    checks: Iterable[Check],
    change: PlannedChange,
    settings: Mapping[str, Any],
    present: Iterable[PlannedChange] = (),
) -> tuple[list[set[str]], str]:
    """As `compare`, with the verdicts of several checks."""
    store = fill({GROUP: {"location": "westeurope"}, **{other.arm_id: other.body or {} for other in present}})
    return asyncio.run(_compare(checks, change, _read(json.dumps({"throttle": "off", **settings})), store))


@cache
def _read(settings: str) -> EmulatorSettings:
    """Read the settings of rows, of which many are equal. Each write is done at once: no row is about the wait for it."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "settings.yaml"
        file.write_text(f'{{"settings": {settings}}}')
        return replace(read_settings(file), operations=Timing(style=Style.DONE))


async def _compare(
    checks: Iterable[Check], change: PlannedChange, settings: EmulatorSettings, store: Store
) -> tuple[list[set[str]], str]:
    async with writing(settings, store) as (writer, requests):
        found = [await check([change], requests) for check in checks]
        return [{finding.verdict.value for _, finding in each} for each in found], await _try(writer, change)


async def _try(writer: Writer, change: PlannedChange) -> str:
    try:
        if change.deletes:
            await writer.wait(await writer.delete(change.arm_id, change.api_version))
        if change.body is not None:
            await put(writer, change.arm_id, change.api_version, change.body)
    except ArmError as refusal:
        return refusal.code
    return ""


async def put(writer: Writer, arm_id: str, api_version: str, body: Mapping[str, Any]) -> None:
    assert await writer.wait(await writer.put(arm_id, api_version, body))


@asynccontextmanager
async def writing(settings: EmulatorSettings, store: Store):
    clock = FakeClock()

    def open_session() -> Session:
        return Session(deadline=clock.monotonic() + 1800)

    async with Emulator(settings, store) as azure:
        tokens = [azure.tokens.token(principal) for principal in settings.principals[:1]]
        credential = StaticCredential(tokens[0]) if tokens else None
        async with open_arm(anonymous(azure.url), clock, credential) as arm:
            yield arm.writer(open_session()), CheckRequests(arm, open_session)
