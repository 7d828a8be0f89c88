"""The first and the last line of a run in the log."""

from __future__ import annotations

from loguru import logger

from gitsync.model.report import Report, RunTarget


def log_start(command: str, target: RunTarget) -> None:
    """What the run reads and writes to; what is not known is left out."""
    fields = {
        "command": command,
        "repository": target.repository,
        "revision": target.revision,
        "ref": target.ref,
        "subscription": target.subscription,
        "subscription_name": target.subscription_name,
        "other_subscriptions": ", ".join(target.other_subscriptions),
        "endpoint": target.endpoint,
        "identity": target.identity,
        "agent": target.agent,
    }
    logger.bind(**{name: value for name, value in fields.items() if value}).info("Run started")


def log_end(report: Report) -> None:
    """The figures of the run."""
    requests = report.requests
    logger.bind(
        command=report.command,
        exit_code=report.exit_code,
        **{outcome.value: count for outcome, count in report.outcomes.items()},
        problems=len(report.problems),
        reads=requests.reads,
        writes=requests.writes,
        deletes=requests.deletes,
        polls=requests.polls,
    ).info("Run ended")
