"""Opens the host of the pipeline that gitsync runs in."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gitsync.errors import ConfigError
from gitsync.model.secret import Secret
from gitsync.report.hosts.azure_repos import open_azure_repos
from gitsync.report.hosts.github import open_github
from gitsync.report.hosts.gitlab import open_gitlab
from gitsync.report.hosts.host import HostUse, PipelineHost
from gitsync.settings.config.hosts import Host, find_host

_OPENINGS: Mapping[Host, Callable[[Mapping[str, str], HostUse], PipelineHost]] = {
    Host.GITHUB: open_github,
    Host.GITLAB: open_gitlab,
    Host.AZURE: open_azure_repos,
}

_TOKENS = ("GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITLAB_TOKEN", "AZURE_DEVOPS_EXT_PAT")


def open_host(environment: Mapping[str, str], use: HostUse) -> PipelineHost:
    """Open the repository of a job. Raises ConfigError outside of the supported pipelines."""
    if host := find_host(environment):
        return _OPENINGS[host](environment, use)
    raise ConfigError(
        "Not running in GitHub Actions, GitLab CI or Azure Pipelines: none of GITHUB_ACTIONS, GITLAB_CI and TF_BUILD "
        "is true.",
        hint="Run this command in a job of one of them.",
    )


def register_tokens(environment: Mapping[str, str], redact: Callable[[Secret], None]) -> None:
    """Mask the tokens of the programs: the message of an error may quote them."""
    for name in _TOKENS:
        if value := environment.get(name):
            redact(Secret(value))
