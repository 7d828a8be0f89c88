"""In which pipeline gitsync runs, by the variables of its jobs."""

import pytest

from gitsync.settings.config.hosts import Host, find_host, find_job_url, is_pipeline

ENVIRONMENTS = [
    ({"GITHUB_ACTIONS": "true", "CI": "true"}, Host.GITHUB, True, "GitHub sets both"),
    ({"GITLAB_CI": "true", "CI": "true"}, Host.GITLAB, True, "GitLab sets both"),
    ({"TF_BUILD": "True"}, Host.AZURE, True, "Azure Pipelines writes it with a capital letter, and sets no CI"),
    ({"CI": "1"}, None, True, "another host"),
    ({"CI": "woodpecker"}, None, True, "a host that sets its name"),
    ({"JENKINS_URL": "https://ci.example.com/"}, None, True, "Jenkins sets no CI"),
    ({"CI": "false"}, None, False, "some tools set it to false"),
    ({"CI": " "}, None, False, "an empty variable is as good as none"),
    ({"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, None, False, "a CronJob: a collector reads its log"),
    ({"KUBERNETES_SERVICE_HOST": "10.0.0.1", "GITLAB_CI": "true"}, Host.GITLAB, True, "a runner in a cluster"),
]


@pytest.mark.parametrize(
    ("environment", "host", "pipeline", "why"), ENVIRONMENTS, ids=[row[-1] for row in ENVIRONMENTS]
)
def test_the_host_of_a_job(environment, host, pipeline, why):
    assert (find_host(environment), is_pipeline(environment)) == (host, pipeline), why


GITHUB = {"GITHUB_ACTIONS": "true", "GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "acme/estate"}
AZURE = {"TF_BUILD": "True", "SYSTEM_COLLECTIONURI": "https://dev.azure.com/acme/", "BUILD_BUILDID": "7"}
PAGES = [
    ({**GITHUB, "GITHUB_RUN_ID": "7"}, "https://github.com/acme/estate/actions/runs/7", "the page of the run"),
    (GITHUB, "", "no number: a link to no page is worse than none"),
    ({"GITLAB_CI": "true", "CI_JOB_URL": "https://gitlab.com/a/-/jobs/7"}, "https://gitlab.com/a/-/jobs/7", "a URL"),
    (
        {**AZURE, "SYSTEM_TEAMPROJECT": "The estate"},
        "https://dev.azure.com/acme/The%20estate/_build/results?buildId=7",
        "a project may have blanks, at which a link would end",
    ),
    ({**GITHUB, "GITHUB_RUN_ID": "7", "GITHUB_ACTIONS": "false"}, "", "no job of a host"),
]


@pytest.mark.parametrize(("environment", "page", "why"), PAGES, ids=[row[-1] for row in PAGES])
def test_the_page_of_a_job(environment, page, why):
    assert find_job_url(environment) == page, why
