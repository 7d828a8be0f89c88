"""The steps of the workflow that takes a release of ASO, with a repository and a `gh` that stand for GitHub's."""

import os
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
JOBS = yaml.safe_load((ROOT / ".github" / "workflows" / "catalog.yaml").read_text())["jobs"]
REMOTE = "https://x-access-token:token@github.com/Acme/gitsync"
MOST = 65536  # characters of a pull request's text
GH = """#!/bin/sh
echo "$@" >> "$CALLS"
[ "$1 $2" = "pr list" ] && cat "$OPEN"
exit 0
"""


def run_step(name, folder, **variables):
    (script,) = (step["run"] for job in JOBS.values() for step in job["steps"] if step.get("name") == name)
    environment = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GITHUB_REPOSITORY": "Acme/gitsync",
        "GITHUB_RUN_ID": "7",
        "GITHUB_SERVER_URL": "https://github.com",
        "RUNNER_TEMP": str(folder / "temp"),
        **variables,
    }
    words = ["bash", "--noprofile", "--norc", "-e", "-c", script]
    cwd = folder / "work" if (folder / "work").exists() else folder
    return subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("summary", "crds", "why"),
    [
        ("# ASO 2.22.0\n", "3 versions of kinds compared.\n", "little"),
        ("- a change é\n" * 9000, "3 versions of kinds compared.\n" + "x" * 90000, "more than fits"),
        ("", "", "nothing"),
    ],
)
def test_the_text_of_the_pull_request_has_the_checks_and_fits(tmp_path, summary, crds, why):
    temp = tmp_path / "temp"
    temp.mkdir()
    (temp / "summary.md").write_text(summary)
    (temp / "crds.txt").write_text(crds)
    done = run_step("Write the text of the pull request", tmp_path, CRDS="failure", TESTS="success")
    assert done.returncode == 0, done.stderr
    text = (temp / "body.md").read_bytes().decode(errors="replace")
    assert "- CRDs of the release: failure\n- Tests: success\n" in text, why
    assert "https://github.com/Acme/gitsync/actions/runs/7" in text, why
    assert summary[:1000] in text, why
    assert text.count("```") == 2, why
    assert len(text) < MOST, why


def git(folder, *words):
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    return subprocess.run(
        ["git", *words], cwd=folder, env=environment, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def propose(tmp_path):
    """Run the step that opens the pull request; returns its end and the calls of `gh`."""
    work, temp, programs = (tmp_path / name for name in ("work", "temp", "programs"))
    (temp / "catalog").mkdir(parents=True)
    programs.mkdir()
    (programs / "gh").write_text(GH)
    (programs / "gh").chmod(0o755)
    git(tmp_path, "init", "-q", "--bare", "github")
    git(tmp_path, "init", "-q", "work")
    (work / "CATALOG").write_text("old\n")
    git(work, "add", "-A")
    commit(work, "A maintainer", "Begin")
    git(work, "push", "-q", str(tmp_path / "github"), "HEAD:refs/heads/main")
    (work / "CATALOG").write_text("new\n")
    (temp / "catalog" / "catalog.patch").write_text(git(work, "diff", "--binary") + "\n")
    git(work, "checkout", "-q", ".")

    def propose(release="v2.22.0", pull_requests=0, draft=""):
        (tmp_path / "open").write_text(f"{pull_requests}\n")
        (tmp_path / "calls").write_text("")
        done = run_step(
            "Open or update the pull request",
            tmp_path,
            CALLS=str(tmp_path / "calls"),
            DRAFT=draft,
            GH_TOKEN="token",
            GIT_CONFIG_COUNT="1",
            GIT_CONFIG_KEY_0=f"url.{tmp_path / 'github'}.insteadOf",
            GIT_CONFIG_VALUE_0=REMOTE,
            OPEN=str(tmp_path / "open"),
            PATH=f"{programs}:{os.environ['PATH']}",
            RELEASE=release,
        )
        git(work, "reset", "-q", "--hard", "HEAD~1") if done.returncode == 0 else None
        return done, (tmp_path / "calls").read_text()

    return propose


def commit(folder, author, subject):
    git(folder, "-c", f"user.name={author}", "-c", "user.email=a@example.com", "commit", "-qm", subject)


def test_a_pull_request_is_opened_and_a_later_run_updates_it(propose, tmp_path):
    done, calls = propose(draft="yes")
    assert done.returncode == 0, done.stderr
    assert "pr create --head catalog --title Take ASO 2.22.0 into the catalog" in calls
    assert calls.strip().endswith("--draft")
    assert git(tmp_path / "github", "show", "catalog:CATALOG") == "new"

    done, calls = propose("v2.22.1", pull_requests=1)
    assert done.returncode == 0, done.stderr
    assert "pr edit catalog --title Take ASO 2.22.1 into the catalog" in calls
    assert calls.strip().endswith("pr ready catalog")
    assert git(tmp_path / "github", "log", "-1", "--format=%s", "catalog") == "Take ASO 2.22.1 into the catalog"


def test_commits_of_a_person_on_the_branch_stay(propose, tmp_path):
    propose()
    folder = tmp_path / "person"
    git(tmp_path, "clone", "-q", "--branch", "catalog", str(tmp_path / "github"), str(folder))
    (folder / "CATALOG").write_text("better\n")
    git(folder, "add", "-A")
    commit(folder, "A maintainer", "Add a reason")
    git(folder, "push", "-q", "origin", "catalog")

    done, calls = propose("v2.22.1", pull_requests=1)
    assert done.returncode == 1
    assert "::error::The branch catalog has commits of a person." in done.stdout
    assert calls == ""
    assert git(tmp_path / "github", "show", "catalog:CATALOG") == "better"


def test_the_name_of_a_release_runs_nothing(propose, tmp_path):
    name = 'v2.22.0$(touch pwned)`touch pwned`";touch pwned;"'
    done, calls = propose(name)
    assert done.returncode == 0, done.stderr
    assert name.removeprefix("v") in calls
    assert not list(tmp_path.rglob("pwned"))
