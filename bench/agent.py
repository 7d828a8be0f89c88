"""gitsync as it is measured: `python -m bench.agent URL TREE` is one sync of a work tree, its status on a branch."""

from __future__ import annotations

import sys
from functools import partial

import azure.core.rest._aiohttp  # noqa: F401 - imported late by azure-core; imports are start-up

import gitsync.providers.arm.http.transport  # noqa: F401 - imported late by a run
from bench.estate import SUBSCRIPTION
from bench.meter import tell
from gitsync.api import execute
from gitsync.cli.main import collect_seldom
from gitsync.model.unit_kind import UnitKind
from gitsync.repository.units.kinds.builder import find_builder
from gitsync.settings.config.config import Config


async def sync(url: str, tree: str) -> int:
    """Sync once and give the number of requests; RuntimeError where not everything is Ready afterwards."""
    config = Config(source=tree, subscription=SUBSCRIPTION, endpoint=url, credential="anonymous")
    report = await execute(config, writes=True)
    if report.exit_code:
        failures = [f"{result.key}: {result.condition.message}" for result in report.results if not result.is_fine]
        raise RuntimeError("; ".join([*failures[:5], *(problem.message for problem in report.problems[:5])]))
    sent = report.requests
    return sent.reads + sent.writes + sent.deletes + sent.polls


if __name__ == "__main__":
    collect_seldom()  # as the command does
    for kind in UnitKind:
        find_builder(kind)  # imports its module, which a run does late
    tell(partial(sync, sys.argv[1], sys.argv[2]))
