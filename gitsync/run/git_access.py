"""How git reaches remote repositories, by the settings: the same for every command."""

from __future__ import annotations

from gitsync.config.config import Config
from gitsync.git.access import GitAccess
from gitsync.processes.programs import Grace


def make_git_access(config: Config, grace: Grace | None = None) -> GitAccess:
    """A command of git takes no longer than the run may. Once `grace` has begun, commands end with it."""
    return GitAccess(
        token=config.git_token,
        username=config.git_username,
        timeout=min(config.git_timeout, config.run_timeout),
        grace=grace or Grace(),
    )
