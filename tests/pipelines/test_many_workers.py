"""One run over many jobs, with the workflow and the templates: pinned, synced shard by shard, and gathered. git is
real, and behind a token; Azure is the emulator.
"""

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.pipelines.hosted import GROUP, TOKEN, host_estate
from tests.pipelines.scripts import run_job_script
from tests.support.branch_files import list_branches, read_branch_files
from tests.support.command_line import SUBSCRIPTION, run_here

ROOT = Path(__file__).resolve().parent.parent.parent
TEMPLATES = ROOT / "deploy" / "pipelines"
WORKFLOW = yaml.load((ROOT / ".github" / "workflows" / "sync.yaml").read_text(), Loader=yaml.BaseLoader)
GITLAB, CHILD, AZURE = (
    yaml.safe_load((TEMPLATES / name).read_text())
    for name in ("gitlab.yml", "gitlab-workers.yml", "azure-pipelines.yml")
)
GROUPS = ("api", "web")
SHARDS = ["1/2", "2/2"]


def add_a_group(estate):
    """Push another group: an atom for each of two workers."""
    commit = estate.commit("azure/api.yaml", GROUP.replace("web", "api"), "Add a group")
    estate.push()
    return commit


def require_recorded(bare):
    """All is on the status branch, once, and no branch of a worker is left."""
    records = [path for path in read_branch_files(bare, "gitsync/status") if path.startswith("default/")]
    assert sorted(Path(record).stem for record in records) == sorted(GROUPS)
    branches = list_branches(bare)
    assert [branch for branch in branches if "status-shards" in branch] == []
    assert len([branch for branch in branches if branch.startswith("gitsync/runs/")]) == 1


@pytest.fixture
def hosted(tmp_path):
    with host_estate(tmp_path, "x-access-token") as estate:
        yield estate


def list_all_inputs(job):
    """The inputs that a job of the workflow gives to the action."""
    (step,) = (step for step in WORKFLOW["jobs"][job]["steps"] if step["uses"] == "$/")
    return step["with"]


def test_github_shares_a_run_among_jobs(hosted):
    commit = add_a_group(hosted)
    first = hosted.job("push", commit, command="shards", workers="2", status="true")
    pinned = first.run("Install gitsync")
    assert (pinned["exit-code"], pinned["run-id"], pinned["report"]) == ("0", "7-1", ""), first.log
    assert json.loads(pinned["matrix"]) == {"shard": SHARDS}
    assert [status["state"] for status in hosted.host.statuses] == ["pending"], "and not how a run ended"

    inputs = list_all_inputs("worker")
    assert (inputs["shard"], inputs["run-id"]) == ("${{ matrix.shard }}", "${{ needs.shards.outputs.run-id }}")
    given = {"command": "sync", "run-id": pinned["run-id"], "status": "true"}
    worker = hosted.job(
        "push", commit, **given, shard=SHARDS[1]
    )  # in any order, and the first job fails before it begins
    outputs = worker.run("Install gitsync")
    assert (outputs["exit-code"], outputs["changes"]) == ("0", "1"), worker.log
    gathering = {"command": "report", "run-id": pinned["run-id"], "status": "true"}
    assert gathering.keys() - {"status"} <= list_all_inputs("gather").keys()
    gather = hosted.job("push", commit, **gathering)
    outputs = gather.run("Install gitsync")
    assert (outputs["exit-code"], outputs["changes"]) == ("1", "1"), gather.log
    assert "ShardNotEnded" in gather.log
    assert [status["state"] for status in hosted.host.statuses] == ["pending", "failure"], "workers post none"

    # Failed jobs are run again: that of the pin is not, so its output is that of the first attempt.
    again = hosted.job("push", commit, **given, shard=SHARDS[0])
    again.github |= {"run_attempt": 2}
    assert again.run("Install gitsync")["changes"] == "1", again.log
    gather = hosted.job("push", commit, **gathering, **{"upload-sarif": "true"})
    outputs = gather.run("Install gitsync")
    assert (outputs["exit-code"], outputs["changes"], outputs["revision"]) == ("0", "2", commit), gather.log
    assert [status["state"] for status in hosted.host.statuses] == ["pending", "failure", "success"]
    assert [name for name, _ in gather.used] == ["github/codeql-action/upload-sarif"]
    assert (Path(outputs["report"]) / "report.html").is_file()
    require_recorded(hosted.bare)


def test_github_runs_one_job_unless_more_are_requested():
    jobs = WORKFLOW["jobs"]
    assert WORKFLOW["on"]["workflow_call"]["inputs"]["shards"]["default"] == "1"
    assert (jobs["sync"]["if"], jobs["shards"]["if"]) == ("${{ inputs.shards <= 1 }}", "${{ inputs.shards > 1 }}")
    assert jobs["worker"]["strategy"]["fail-fast"] == "false"
    assert jobs["gather"]["if"] == "${{ !cancelled() && needs.shards.result == 'success' }}", "also if a worker failed"
    assert all("id-token" not in jobs[job]["permissions"] for job in ("shards", "gather")), "no identity for Azure"


def call(line, folder, variables):
    """Run a line of a script that is one gitsync command."""
    ended = run_here(*line.removeprefix("exec ").split()[1:], folder=folder, **variables)
    assert ended.code == 0, ended.err
    return ended.out


def test_gitlab_shares_a_run_in_a_child_pipeline(tmp_path):
    with host_estate(tmp_path, "gitlab-ci-token") as estate:
        commit = add_a_group(estate)
        bare = estate.bare.rename(estate.bare.with_name("estate.git"))
        project = tmp_path / "builds"
        project.mkdir()
        variables = {
            "PATH": estate.host.path,
            "GITLAB_CI": "true",
            "CI_BUILDS_DIR": str(tmp_path),
            "CI_COMMIT_BRANCH": "main",
            "CI_COMMIT_SHA": commit,
            "CI_JOB_ID": "9",
            "CI_JOB_TOKEN": TOKEN,
            "CI_PIPELINE_ID": "4711",
            "CI_PROJECT_DIR": str(project),
            "CI_PROJECT_ID": "5",
            "CI_PROJECT_URL": f"{estate.server}/acme/estate",
            "CI_SERVER_HOST": "gitlab.example.com",
            "GITLAB_TOKEN": "t0ken-for-the-note",
            "GITSYNC_PATH": "azure",
            "GITSYNC_EMULATOR": str(tmp_path / "azure.db"),
            "AZURE_SUBSCRIPTION_ID": SUBSCRIPTION,
            "WORKERS": "2",
        }
        (write,) = GITLAB["gitsync-shards"]["script"]
        assert run_job_script(["bash", "-c", write], project, variables).code == 0
        generated = yaml.safe_load((project / "shards.yml").read_text())
        assert generated.keys() == {"gitsync-worker"} <= CHILD.keys(), "what is generated adds the matrix of this job"
        (matrix,) = generated["gitsync-worker"]["parallel"]["matrix"]
        assert matrix == {"GITSYNC_SHARD": SHARDS}

        shared = CHILD[".gitsync-shared"]["variables"]
        filled = variables | {
            name: re.sub(r"\$(\w+)", lambda found: variables[found[1]], value) for name, value in shared.items()
        }
        (sync,) = CHILD["gitsync-worker"]["script"]
        for shard in matrix["GITSYNC_SHARD"]:
            assert "Created 1" in call(sync, project, filled | {"GITSYNC_SHARD": shard})
        (gather,) = CHILD["gitsync-gather"]["script"]
        assert "Created 2" in call(gather, project, filled)
        (post,) = CHILD["gitsync-gather"]["after_script"]
        assert run_job_script(["bash", "-c", post], project, filled | {"POST_STATUS": "true"}).code == 0
        assert [(status["commit"], status["state"]) for status in estate.host.statuses] == [(commit, "success")]
        require_recorded(bare)


def test_gitlab_syncs_in_one_job_or_in_many():
    one, first, trigger = (GITLAB[name] for name in ("gitsync-sync", "gitsync-shards", "gitsync-workers"))
    assert "|| $WORKERS" in one["rules"][0]["if"]
    assert one["rules"][0]["when"] == "never"
    assert first["rules"] == trigger["rules"]
    assert one["resource_group"] == trigger["resource_group"], "one run at a time, of whichever form"
    assert trigger["trigger"]["strategy"] == "depend", "it holds the group until the last worker has ended"
    assert (TEMPLATES.parent.parent / trigger["trigger"]["include"][1]["local"]).is_file()
    assert "resource_group" not in CHILD["gitsync-worker"], "workers run beside each other"
    assert CHILD["gitsync-gather"]["rules"] == [{"when": "always"}], "also if a worker failed"
    tokens = {name for name, job in CHILD.items() if "id_tokens" in job}
    assert tokens == {"gitsync-worker"}, "no identity for Azure but for workers"


def test_azure_pipelines_shares_a_run_among_jobs(tmp_path):
    (content,) = (job["${{ else }}"] for job in AZURE["jobs"] if "${{ else }}" in job)
    jobs = {job["job"]: job for job in content}
    with host_estate(tmp_path, "anybody") as estate:
        commit = add_a_group(estate)
        source = tmp_path / "workspace" / "source"
        remote = estate.git("remote", "get-url", "origin")
        subprocess.run(["git", "clone", "--quiet", remote, str(source)], check=True)
        subprocess.run(["git", "checkout", "--quiet", "--detach", commit], cwd=source, check=True)
        variables = {
            "PATH": estate.host.path,
            "TF_BUILD": "True",
            "BUILD_BUILDID": "12",
            "SYSTEM_JOBATTEMPT": "1",
            "GITSYNC_EMULATOR": str(tmp_path / "azure.db"),
            "GITSYNC_SOURCE": str(source),
            "GITSYNC_PATH": "azure",
            "AZURE_SUBSCRIPTION_ID": SUBSCRIPTION,
            "WORKERS": "2",
        }
        (pin,) = (step for step in jobs["gitsync_shards"]["steps"] if step.get("name") == "shards")
        done = run_job_script(["bash", "-c", pin["bash"]], tmp_path, variables)
        outputs = dict(
            re.findall(r"^##vso\[task.setvariable variable=(\w+);isOutput=true\](.+)$", done.out, re.MULTILINE)
        )
        matrix = json.loads(outputs["matrix"])
        assert [job["GITSYNC_SHARD"] for job in matrix.values()] == SHARDS
        assert (
            jobs["gitsync_worker"]["strategy"]["matrix"] == "$[ dependencies.gitsync_shards.outputs['shards.matrix'] ]"
        )
        for job in ("gitsync_worker", "gitsync_gather"):
            assert jobs[job]["variables"]["GITSYNC_RUN_ID"] == "$[ dependencies.gitsync_shards.outputs['shards.id'] ]"
        variables |= {"GITSYNC_RUN_ID": outputs["id"], "GITSYNC_REPORT": str(tmp_path / "report")}
        (task,) = (step for step in jobs["gitsync_worker"]["steps"] if step.get("task") == "AzureCLI@2")
        for job in matrix.values():
            assert "Created 1" in call(task["inputs"]["inlineScript"], tmp_path, variables | job)
        (gather,) = (step for step in jobs["gitsync_gather"]["steps"] if step.get("name") == "gather")
        assert "Created 2" in call(gather["bash"], tmp_path, variables)
        require_recorded(estate.bare)
