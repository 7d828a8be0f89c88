"""The Python API: the two runs as functions, for those who build on gitsync.

Not in the package itself, where a function `sync` and the module of that name would conflict.
"""

from __future__ import annotations

import asyncio
from typing import Any

from gitsync.config.checks import make_config
from gitsync.model.report import Report
from gitsync.run.run import execute


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
