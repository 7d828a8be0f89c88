"""Finds the host of the pipeline that gitsync runs in, and the page of the job, by the variables that it sets in every
job.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from urllib.parse import quote

from gitsync.settings.config.setting_values import OFF


class Host(StrEnum):
    """A host that gitsync has outputs of its own for; the value is the variable that is `true` in its jobs."""

    GITHUB = "GITHUB_ACTIONS"
    GITLAB = "GITLAB_CI"
    AZURE = "TF_BUILD"


OTHERS = ("CI", "JENKINS_URL", "TEAMCITY_VERSION", "CODEBUILD_BUILD_ID")
"""Variables of other hosts. Most set CI; Jenkins, TeamCity and CodeBuild set only their own."""


def find_host(environment: Mapping[str, str]) -> Host | None:
    """Find the host of the pipeline; None outside of these."""
    # Azure Pipelines writes `True`, the others `true`.
    return next((host for host in Host if environment.get(host.value, "").casefold() == "true"), None)


def find_job_url(environment: Mapping[str, str]) -> str:
    """Find the page of the job, with its log; "" outside of these hosts, or if one does not say."""
    host = find_host(environment)
    if host is Host.GITLAB:
        return environment.get("CI_JOB_URL", "")
    names = ("SYSTEM_COLLECTIONURI", "SYSTEM_TEAMPROJECT", "BUILD_BUILDID")
    if host is Host.GITHUB:
        names = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")
    repository, name, number = (environment.get(variable, "") for variable in names)
    if host is None or not (repository and name and number):
        return ""
    page = "actions/runs/" if host is Host.GITHUB else "_build/results?buildId="
    # The URI of a collection ends with a slash, and the name of a project may have blanks.
    return f"{repository.rstrip('/')}/{quote(name)}/{page}{quote(number)}"


def is_pipeline(environment: Mapping[str, str]) -> bool:
    """Return whether this is a job of a pipeline, of any host: a person reads its log."""
    if find_host(environment):
        return True
    return any(environment.get(name, "").strip().casefold() not in OFF | {""} for name in OTHERS)
