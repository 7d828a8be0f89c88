"""Reports the state of a run on a commit: as a status, with one context for each target, and as a deployment.

What the host lists already is not sent again. A host keeps all that it gets, GitHub at most 1,000 statuses of a
context, and a scheduled sync runs on the same commit for weeks.
"""

from __future__ import annotations

from typing import Any

from gitsync.errors import SUCCESS
from gitsync.report.escape import shorten
from gitsync.report.hosts.comment import check_name
from gitsync.report.hosts.host import Status, StatusHost, StatusState
from gitsync.settings.logging import escape_controls

RUNNING = Status(StatusState.PENDING, "The run has begun.")
WITHOUT_REPORT = Status(StatusState.FAILURE, "The run wrote no report. See its log.")


def read_status(document: Any) -> Status:
    """Read how a run or a validation ended from its report.json. Raises KeyError, TypeError or ValueError for a file
    with another form.
    """
    is_fine = int(document["exitCode"]) in SUCCESS and not document.get("interrupted")
    return Status(StatusState.SUCCESS if is_fine else StatusState.FAILURE, str(document["headline"]))


def name_context(name: str) -> str:
    """Name the context of a target; "" is that of a repository with one. Raises ConfigError for an invalid name."""
    check_name(name)
    return f"gitsync/{name}" if name else "gitsync"


def post_status(host: StatusHost, context: str, status: Status) -> bool:
    """Post a status on the commit of the job. Returns whether it was news."""
    commit = host.read_commit()
    said = host.find_status(commit, context)
    # GitLab refuses a pending status for what is pending.
    is_pending = said and said.state is status.state is StatusState.PENDING
    status = _fit(status, host.longest_description)
    if is_pending or said == status:
        return False
    host.post_status(commit, context, status)
    return True


def post_deployment(host: StatusHost, environment: str, status: Status) -> bool:
    """Record a deployment of the commit of the job, or how the running one ended. Returns whether it was news."""
    commit = host.read_commit()
    last = host.find_deployment(commit, environment)
    if last and last.state is status.state:
        return False
    running = last.number if last and last.state is StatusState.PENDING else ""
    host.post_deployment(commit, environment, _fit(status, host.longest_description), running)
    return True


def _fit(status: Status, longest: int) -> Status:
    """Make one plain line of a description, no longer than a host takes: the file of a report may be anything."""
    line = escape_controls(" ".join(status.description.split()))
    return status._replace(description=shorten(line, longest - 1))
