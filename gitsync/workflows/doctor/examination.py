"""All checks of a set-up, in the order in which a run meets what they are about."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

from gitsync.agent.run.connections import open_access
from gitsync.errors import ConfigError, GitsyncError
from gitsync.extensions.registry import Registry
from gitsync.model.clock import Clock
from gitsync.providers.arm.arms import open_arms
from gitsync.providers.arm.real_clock import SystemClock
from gitsync.settings.config.config import Config
from gitsync.settings.processes.programs import Program
from gitsync.settings.redaction import Redactions
from gitsync.workflows.doctor.azure import PATIENCE, AzureExamination
from gitsync.workflows.doctor.graph import examine_graph
from gitsync.workflows.doctor.job_token import examine_job_token
from gitsync.workflows.doctor.setup_check import Check, CheckLevel, make_doubt, make_failure, make_ok
from gitsync.workflows.doctor.source import SourceFindings, check_tool, examine_source, list_needed_tools
from gitsync.workflows.doctor.store_examination import examine_stores

_SOPS_SINK = "sops"
_FIRST = frozenset({"endpoint", "identity"})
"""The checks without which no service can be reached."""


async def examine(config: Config, redactions: Redactions) -> AsyncIterator[Check]:
    """Every check, in order. Nothing is written: neither to git nor to Azure nor to a sink of secrets."""
    # A person waits for the answer, so a server that hangs gets less time than in a run.
    config = replace(config, git_timeout=min(config.git_timeout, PATIENCE))
    clock = SystemClock()
    yield await asyncio.to_thread(check_tool, Program.GIT)
    found = await asyncio.to_thread(examine_source, config, clock, redactions)
    for program in _list_tools(config, found):
        yield await asyncio.to_thread(check_tool, program)
    for check in found.checks:
        yield check
    if config.notify or config.notify_file:
        yield check_notifications(config, redactions)
    try:
        async for check in _examine_services(config, clock, redactions, found):
            yield check
    except GitsyncError as error:
        yield make_failure("endpoint", error)


def check_notifications(config: Config, redactions: Redactions) -> Check:
    """Check that notifications can be sent, as far as that is known without one."""
    from gitsync.agent.notifications.services import is_installed, read_addresses  # noqa: PLC0415 - few settings have them

    name = "notifications"
    try:
        services = [address.service for address in read_addresses(config, redactions.add)]
    except ConfigError as error:
        return make_doubt(name, error.message, error.hint)
    if not services:
        return make_doubt(name, "GITSYNC_NOTIFY and --notify-file have no address.", "Add one, or remove the setting.")
    if not is_installed():
        hint = "Run pip install 'gitsync-azure[notifications]'."
        return make_doubt(name, "Notifications need the extra `notifications`, which is not installed.", hint)
    return make_ok(name, f"Changes of the state go to {', '.join(services)}. Nothing was sent.")


def _list_tools(config: Config, found: SourceFindings) -> list[Program]:
    """The programs that the source needs, without git."""
    units = {unit.kind for unit in found.source.contents.units.values()} if found.source else set()
    needed = list_needed_tools(units, encrypted=found.has_encrypted, exports_by_sops=_SOPS_SINK in config.export_to)
    return sorted(needed - {Program.GIT})


async def _examine_services(
    config: Config, clock: Clock, redactions: Redactions, found: SourceFindings
) -> AsyncIterator[Check]:
    """What is reached over the network, without git.

    A host that refuses a connection is not asked again: a person waits for the answer, and can.
    """
    async with open_access(config, redactions) as opened:
        access = replace(opened, network=replace(opened.network, patience=0.0))
        for check in await examine_stores(config, access, clock, found.prepared):
            yield check
        if (job_token := await examine_job_token(config, access, clock)) is not None:
            yield job_token
        async with open_arms(access, clock) as arms:
            arm = await arms.open(access.sign_in)
            checks = await AzureExamination(config, arm, clock, found.prepared, Registry.load()).examine()
            for check in checks:
                yield check
            # Without a token, the check would repeat the failure.
            has_signed_in = not any(check.name in _FIRST and check.level is CheckLevel.ERROR for check in checks)
            graph = await examine_graph(config, arm, clock, found.prepared, found.adopted) if has_signed_in else None
            if graph is not None:
                yield graph
