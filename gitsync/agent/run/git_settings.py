"""Make what git works with from the settings, the same for every command: access to remotes, and seals of records."""

from __future__ import annotations

from collections.abc import Mapping

from gitsync.planning.run_problems import DEFAULT_AGENT
from gitsync.repository.git.git_access import GitAccess
from gitsync.repository.git.state.seal import RecordSeals
from gitsync.settings.config.config import Config
from gitsync.settings.processes.programs import Grace


def make_git_access(config: Config, grace: Grace | None = None) -> GitAccess:
    """Make the access to remote repositories. A git command takes no longer than the run may, and ends with `grace`
    once that has begun.
    """
    return GitAccess(
        token=config.git_token,
        username=config.git_username,
        timeout=min(config.git_timeout, config.run_timeout),
        grace=grace or Grace(),
        aliases=config.this_repository,
    )


def make_seals(config: Config, environment: Mapping[str, str]) -> RecordSeals:
    """Make the seals of the agent."""
    # Without --agent, records may bear the name of the agent's namespace, and are checked too.
    former = environment.get("POD_NAMESPACE", "") if config.agent is None else ""
    return RecordSeals(config.agent or DEFAULT_AGENT, config.digest_key, config.previous_digest_key, former)
