"""The workflows and the action: pinned, with few rights, and without text of strangers in a script."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from gitsync.settings.config.config import SETTINGS
from tests.pipelines.action_runner import ACTION

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / ".github" / "workflows"
COPIED = sorted((ROOT / "deploy" / "pipelines").glob("*-github.yaml"))
WORKFLOWS = [*sorted(FOLDER.glob("*.yaml")), *COPIED]
SCRIPTS = sorted([*(ROOT / "deploy").rglob("*.sh"), ROOT / ".ci" / "run", ROOT / ".ci" / "go-program"])
by_workflow = pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)

RIGHTS = {
    "accept-github": {"id-token"},
    "catalog": {"contents", "pull-requests"},
    "checks": set(),
    "drill-github": set(),
    "example-plan": {"id-token", "pull-requests", "security-events"},
    "example-sync": {"contents", "id-token", "security-events"},
    "plan": {"id-token", "pull-requests", "security-events"},
    "release": {"attestations", "contents", "id-token", "packages"},
    "scan": {"security-events"},
    "site-github": {"id-token", "pages"},
    "sync": {"contents", "id-token", "security-events"},
}
"""What each workflow may write, in any of its jobs."""

NO_SETTINGS = {"command", "workers", "name", "comment", "status", "upload-sarif", "git-token", "report"}
"""Inputs that are not settings, or that the action gives a value of its own."""


def load(path: Path) -> dict[str, Any]:
    """A workflow with all scalars as text, since YAML 1.1 reads the key `on` as a boolean."""
    return yaml.load(path.read_text(), Loader=yaml.BaseLoader)


def list_steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in load(path)["jobs"].values() for step in job.get("steps", [])]


@by_workflow
def test_actions_are_pinned_by_commit(workflow):
    used = re.findall(r"uses: (.+)", workflow.read_text())
    assert used
    pinned = r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+|\$/.*|OWNER/gitsync@COMMIT .*"
    assert [line for line in used if not re.fullmatch(pinned, line)] == []


def test_one_action_has_one_version_everywhere():
    """Two versions of one action would be a pin that no one raised."""
    text = "".join(path.read_text() for path in [*WORKFLOWS, ROOT / "action.yml"])
    pins = {tuple(path.split("@", 1)) for path in re.findall(r"uses: ([^$\s]\S+@\S+ # v\S+)", text)}
    assert len(pins) == len({name for name, _ in pins})


@by_workflow
def test_workflows_request_few_rights_and_never_run_a_fork_with_them(workflow):
    told = load(workflow)
    assert told["permissions"] in ({}, {"contents": "read"}, "")
    written = [
        name for job in told["jobs"].values() for name, right in job.get("permissions", {}).items() if right == "write"
    ]
    assert set(written) == RIGHTS[workflow.stem]
    assert "pull_request_target" not in told["on"]
    assert all("timeout-minutes" in job or "uses" in job for job in told["jobs"].values())


def test_no_expression_of_a_stranger_reaches_a_script():
    steps = [*ACTION["runs"]["steps"], *(step for workflow in WORKFLOWS for step in list_steps(workflow))]
    scripts = [step["run"] for step in steps if "run" in step]
    assert len(scripts) > 10
    assert [script for script in scripts if "${{" in script] == []


@pytest.mark.parametrize("stem", ["example-plan", "example-sync"])
def test_the_examples_are_off_unless_somebody_turns_them_on(stem):
    told = load(FOLDER / f"{stem}.yaml")
    assert all("vars.GITSYNC_ENABLED == 'true'" in job["if"] for job in told["jobs"].values())


def list_own_uses():
    for workflow in WORKFLOWS:
        for job in load(workflow)["jobs"].values():
            for user in (job, *job.get("steps", [])):
                if user.get("uses", "").startswith(("$/", "OWNER/gitsync@")):
                    yield user


def test_what_a_workflow_uses_of_the_same_commit_exists_and_has_the_inputs_that_it_gets():
    users = list(list_own_uses())
    assert len(users) == 12
    for user in users:
        path = user["uses"].removeprefix("$/") if user["uses"].startswith("$") else ""
        inputs = load(ROOT / path)["on"]["workflow_call"]["inputs"] if path else ACTION["inputs"]
        assert user["with"].keys() <= inputs.keys()
        assert {name for name, described in inputs.items() if described.get("required") == "true"} <= user[
            "with"
        ].keys()


def test_a_rehearsal_gets_no_identity_no_key_and_no_environment():
    job = load(FOLDER / "plan.yaml")["jobs"]["rehearse"]
    assert job["permissions"] == {"contents": "read", "pull-requests": "write"}
    assert "environment" not in job
    (rehearse,) = (step for step in job["steps"] if step.get("uses") == "$/")
    assert not {"tenant-id", "client-id", "credential", "digest-key"} & rehearse["with"].keys()
    assert "secrets." not in str(job)


def test_every_input_of_the_action_is_a_setting_of_that_name_and_reaches_its_variable():
    (run,) = (step for step in ACTION["runs"]["steps"] if step.get("id") == "run")
    settings = {setting.key or "git-token": setting for setting in SETTINGS.values()}
    for name in ACTION["inputs"].keys() - NO_SETTINGS - {"config", "digest-key"}:
        variable = settings[name].variables[0]
        assert run["env"][variable] == f"${{{{ inputs.{name} || env.{variable} }}}}"
    assert run["env"].keys() == {"COMMAND", "WORKERS", "GH_TOKEN", "GITSYNC_CONFIG"} | {
        variable for setting in SETTINGS.values() for variable in setting.variables if variable in run["env"]
    }


@pytest.mark.parametrize(
    "command",
    [
        [
            str(Path(sys.executable).with_name("zizmor")),
            "--offline",
            "--quiet",
            "--strict-collection",
            ".",
            *map(str, COPIED),
        ],
        ["actionlint"],
        ["shellcheck", *map(str, SCRIPTS)],
    ],
    ids=lambda command: Path(command[0]).name,
)
def test_a_linter_finds_nothing(command):
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_strict_and_can_be_run(path):
    lines = path.read_text().splitlines()
    assert lines[0] == "#!/usr/bin/env bash"
    assert "set -euo pipefail" in lines
    assert path.stat().st_mode & 0o111
