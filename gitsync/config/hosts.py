"""Finds the host of the pipeline that gitsync runs in, by the variables that it sets in every job."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from gitsync.config.values import OFF


class Host(StrEnum):
    """A host that gitsync has outputs of its own for; the value is the variable that is `true` in its jobs."""

    GITHUB = "GITHUB_ACTIONS"
    GITLAB = "GITLAB_CI"
    AZURE = "TF_BUILD"


OTHERS = ("CI", "JENKINS_URL", "TEAMCITY_VERSION", "CODEBUILD_BUILD_ID")
"""Variables of other hosts. Most set CI; Jenkins, TeamCity and CodeBuild set only their own."""


def find_host(environment: Mapping[str, str]) -> Host | None:
    """Find the host of the pipeline; None outside of these."""
    return next((host for host in Host if environment.get(host.value, "").casefold() == "true"), None)


def is_pipeline(environment: Mapping[str, str]) -> bool:
    """Tell whether this is a job of a pipeline, of any host: a person reads its log."""
    if find_host(environment):
        return True
    return any(environment.get(name, "").strip().casefold() not in OFF | {""} for name in OTHERS)
