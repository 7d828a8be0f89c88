"""The Python API: the two runs as functions, for those who build on gitsync.

Not in the package itself, where a function `sync` and the module of that name would conflict.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any

from gitsync.config.checks import make_config
from gitsync.config.config import Config
from gitsync.model.report import Report
from gitsync.processes.grace_period import Grace
from gitsync.redaction import Redactions, tell_settings
from gitsync.report.masked_fault import mask_exception
from gitsync.report.progress import Progress
from gitsync.run.connections import open_connections
from gitsync.run.run import sync_revision


def sync(**settings: Any) -> Report:
    """Bring Azure to the desired state in git and write the status back. `settings` are fields of `Config`, checked as
    the command checks them (docs/python-api.md).

    Raises ConfigError for a wrong setting, another GitsyncError if the run is refused. Failures of single resources are
    in the report.
    """
    return asyncio.run(execute(make_config(settings), writes=True))


def plan(**settings: Any) -> Report:
    """Report what `sync` would do, and write nothing. `settings` and errors as there."""
    return asyncio.run(execute(make_config(settings), writes=False))


async def execute(
    config: Config,
    *,
    writes: bool,
    stop: asyncio.Event | None = None,
    progress: Progress | None = None,
    redactions: Redactions | None = None,
    grace: Grace | None = None,
) -> Report:
    """Open the edges, run once, and close them.

    Once `stop` is set the run begins nothing more and ends in order. `redactions` learns every secret value that the
    run meets, for use in logs; neither the report nor an exception shows one. Once `grace` begins, programs
    that the run started end with it.
    """
    known = redactions or Redactions()
    tell_settings(known, config, os.environ)
    try:
        async with open_connections(config, stop or asyncio.Event(), progress, known, grace, writes=writes) as edges:
            return await sync_revision(config, edges, writes=writes)
    except Exception as error:
        failure = mask_exception(error, known.mask)
        if failure is error:
            raise
    raise failure  # outside of the handler, or what was masked away would be its context
