"""The templates for GitLab CI and Azure Pipelines: their commands, with the variables that the hosts set."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.pipelines.hosted import GROUP, TOKEN, host_estate
from tests.support.command_line import SUBSCRIPTION, run_here

FOLDER = Path(__file__).resolve().parent.parent.parent / "deploy" / "pipelines"
GITLAB = yaml.safe_load((FOLDER / "gitlab.yml").read_text())
AZURE = yaml.safe_load((FOLDER / "azure-pipelines.yml").read_text())


def run(line, folder, variables):
    """Run one line of a job, which is a gitsync command and nothing else."""
    words = shlex.split(expand(line.removeprefix("exec "), variables))
    assert words[0] == "gitsync"
    ended = run_here(*words[1:], folder=folder, **variables)
    assert ended.code == 0, ended.err
    return ended


def read_post(line):
    """Read the command that a job runs with POST_STATUS alone."""
    return re.fullmatch(r'if \[ "\$POST_STATUS" = true \]; then (gitsync comment .*); fi', line)[1]


def expand(text, variables):
    return re.sub(r"\$(\w+)", lambda found: variables[found[1]], text)


def add_a_group(estate):
    """Push a branch with another group; the commit that merging it would make."""
    estate.git("checkout", "--quiet", "-b", "more")
    estate.commit("azure/more.yaml", GROUP.replace("web", "more"), "Add a group")
    return estate.open_pull_request("more")


def test_gitlab_plans_and_rehearses_a_merge_request_and_writes_notes(tmp_path):
    with host_estate(tmp_path, "gitlab-ci-token") as estate:
        merge = add_a_group(estate)
        project = tmp_path / "builds" / "estate"
        project.mkdir(parents=True)
        variables = {
            "PATH": estate.host.path,
            "GITLAB_CI": "true",
            "CI_BUILDS_DIR": str(tmp_path / "builds"),
            "CI_COMMIT_SHA": merge,
            "CI_JOB_ID": "7",
            "CI_JOB_TOKEN": TOKEN,
            "CI_MERGE_REQUEST_IID": "1",
            "CI_MERGE_REQUEST_TARGET_BRANCH_SHA": estate.git("rev-parse", "main"),
            "CI_PROJECT_DIR": str(project),
            "CI_PROJECT_ID": "5",
            "CI_PROJECT_URL": f"{estate.server}/acme/estate",
            "CI_SERVER_HOST": "gitlab.example.com",
            "GITLAB_TOKEN": "t0ken-for-the-note",
            "GITSYNC_PATH": "azure",
            "ID_TOKEN": "eyJ0",
        }
        (estate.folder / "hosted" / "acme" / "estate").rename(estate.folder / "hosted" / "acme" / "estate.git")
        offline, shared, plan = (GITLAB[name] for name in (".gitsync-offline", ".gitsync", "gitsync-plan"))
        (rule,) = (rule for rule in plan["rules"] if "TARGET_BRANCH_SHA" in rule["if"])
        for name, value in {**offline["variables"], **plan["variables"]}.items():
            variables[name] = expand(value, variables)
        rehearsing = {name: value for name, value in variables.items() if name not in SIGN_IN}
        for name, value in {**shared["variables"], **rule["variables"]}.items():
            variables[name] = expand(value, variables)
        (before,) = shared["before_script"]
        subprocess.run(["bash", "-c", before], env=variables, check=True)
        token = Path(variables["AZURE_FEDERATED_TOKEN_FILE"])
        assert (token.read_text(), token.stat().st_mode & 0o777) == ("eyJ0", 0o600)
        say_begun, line = plan["script"]
        run(read_post(say_begun), project, variables)
        assert "1 create" in run(line, project, variables).out
        remove, comment, say_ended = plan["after_script"]
        subprocess.run(["bash", "-c", remove], env=variables, check=True)
        assert not token.exists()
        run(comment, project, variables)
        assert "<code>ResourceGroup/more</code>" in estate.host.comments[0]["body"]
        run(read_post(say_ended), project, variables)
        assert [(status["commit"], status["state"]) for status in estate.host.statuses] == [
            (merge, "pending"),
            (merge, "success"),
        ]
        assert {path.name for path in (project / "report").iterdir()} >= {"report.junit.xml", "report.html"}

        rehearse = GITLAB["gitsync-rehearse"]
        assert "The sync would create 2" in run(*rehearse["script"], project, rehearsing).out
        run(*rehearse["after_script"], project, rehearsing)
        assert "<code>ResourceGroup/more</code>" in estate.host.comments[1]["body"]
        assert (project / "report" / "rehearse.html").is_file()


SIGN_IN = {"ID_TOKEN", "AZURE_FEDERATED_TOKEN_FILE"}


def test_gitlab_gives_a_rehearsal_no_token_for_azure():
    rehearse, shared = GITLAB["gitsync-rehearse"], GITLAB[".gitsync-offline"]
    assert (rehearse["extends"], rehearse["variables"].keys()) == (".gitsync-offline", {"GITSYNC_REF"})
    for job in (rehearse, shared):
        assert not {"id_tokens", "before_script", "secrets"} & job.keys()
    assert not SIGN_IN & shared["variables"].keys()


def list_jobs():
    """The jobs, with those that a parameter adds."""
    for job in AZURE["jobs"]:
        yield from [job] if "job" in job else next(iter(job.values()))


def find_steps(job, connection, status=False):
    """The steps of a job, with those of its conditions on a connection and on `postStatus`."""
    (found,) = (entry for entry in list_jobs() if entry["job"] == job)
    for step in found["steps"]:
        ((name, content), *_) = step.items()
        if not name.startswith("${{"):
            yield step
        elif status if "postStatus" in name else ("else" in name) == connection:
            yield from content


def test_azure_pipelines_plans_and_rehearses_a_pull_request_and_writes_threads(tmp_path):
    with host_estate(tmp_path, "anybody") as estate:
        merge = add_a_group(estate)
        source = tmp_path / "workspace" / "source"
        subprocess.run(["git", "clone", "--quiet", str(estate.clone), str(source)], check=True)
        subprocess.run(["git", "fetch", "--quiet", "origin", merge], cwd=source, check=True)
        subprocess.run(["git", "checkout", "--quiet", merge], cwd=source, check=True)
        macros = {"Pipeline.Workspace": str(tmp_path / "workspace"), "Agent.TempDirectory": str(tmp_path)}
        macros["System.AccessToken"] = TOKEN
        parameters = {"path": "azure", "subscription": SUBSCRIPTION, "prune": "false"}

        def fill(variables):
            filled = {}
            for name, value in variables.items():
                told = re.sub(
                    r"\$\{\{ (?:lower\()?parameters\.(\w+)\)? \}\}", lambda found: parameters[found[1]], value
                )
                filled[name] = re.sub(r"\$\(([\w.]+)\)", lambda found: macros[found[1]], told)
            return filled

        variables = {
            "PATH": estate.host.path,
            "TF_BUILD": "True",
            "SYSTEM_COLLECTIONURI": "https://dev.azure.com/acme/",
            "SYSTEM_TEAMPROJECT": "estate",
            "SYSTEM_PULLREQUEST_PULLREQUESTID": "1",
            "BUILD_REPOSITORY_ID": "0a1b",
            "BUILD_SOURCEVERSION": merge,
            **fill(AZURE["jobs"][0]["variables"]),
        }
        steps = find_steps("gitsync_plan", connection=False, status=True)
        lines = [step for step in steps if "gitsync " in step.get("bash", "")]
        outs = [run(step["bash"], tmp_path, {**variables, **fill(step.get("env", {}))}).out for step in lines]
        assert "1 create" in outs.pop(1)
        rehearsal_text = outs.pop(3)
        assert outs == [
            "Posted the status gitsync: pending.\n",
            "Posted the comment.\n",
            "Posted the status gitsync: success.\n",
            "Posted the comment.\n",
        ]
        assert "The sync would create 2" in rehearsal_text
        plan, rehearsal = (comment["comments"][0]["content"] for comment in estate.host.comments)
        assert "<code>ResourceGroup/more</code>" in plan
        assert "<code>ResourceGroup/more</code>" in rehearsal
        (show,) = (
            step["bash"] for step in find_steps("gitsync_plan", connection=False) if "##vso" in step.get("bash", "")
        )
        done = subprocess.run(["bash", "-c", show], env=variables, capture_output=True, text=True, check=True)
        assert done.stdout == f"##vso[task.uploadsummary]{tmp_path}/report/rehearse.md\n"


@pytest.mark.parametrize("job", ["gitsync_plan", "gitsync_sync"])
def test_azure_pipelines_runs_one_command_with_a_connection(job):
    scripts = [
        step["inputs"]["inlineScript"] for step in find_steps(job, connection=True) if step.get("task") == "AzureCLI@2"
    ]
    assert scripts == [f"exec gitsync {job.removeprefix('gitsync_')}"]
