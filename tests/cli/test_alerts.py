"""Alerts on the log of a run: what a collector finds in the log of a CronJob, and what a person reads in a pipeline's."""

import json
from pathlib import Path
from textwrap import dedent

import pytest

from gitsync.cli.main import run
from tests.support import world
from tests.support.command_line import SUBSCRIPTION

SECRET, UNKNOWN = "hunter2-is-known", "hunter3-was-never-read"
MANIFESTS = "---\n".join(map(dedent, (world.GROUP, world.VNET)))
REFUSING = f"""
rules:
  - match: {{method: PUT, type: Microsoft.Network/virtualNetworks}}
    answer: {{code: AuthorizationFailed, status: 403, message: "{SECRET} and {UNKNOWN} may not do that."}}
"""
UNEXPECTED_CODE = REFUSING.replace("code: AuthorizationFailed", f"code: {SECRET}")
CRON_JOB = {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}
PIPELINE = {"CI": "true", **CRON_JOB}


@pytest.fixture
def estate(tmp_path, monkeypatch, capsys):
    """Run a command with manifests, a script of the emulator, and variables; the code, stdout and stderr."""
    folder = tmp_path / "web"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "all.yaml").write_text(MANIFESTS)

    def call(command, *flags, script="rules: []", **variables):
        for name in (*CRON_JOB, *PIPELINE):
            monkeypatch.delenv(name, raising=False)
        for name, value in {"GITSYNC_GIT_TOKEN": SECRET, **variables}.items():
            monkeypatch.setenv(name, value)
        (tmp_path / "script.yaml").write_text(script)
        azure = ("--emulator", str(tmp_path / "azure.db"), "--emulator-script", str(tmp_path / "script.yaml"))
        code = run([command, *azure, "--subscription", SUBSCRIPTION, "--status-dir", "../status", *flags])
        return code, *capsys.readouterr()

    return call


def collect(err):
    """Read a log as a collector does: a line of JSON has a level, any other line is text."""
    for line in err.splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            yield {"message": line}


def fires(err):
    """The alert: the lines of level error."""
    return [line for line in collect(err) if line.get("level") == "error"]


def test_an_alert_fires_for_a_failed_run_and_reports_what_to_look_for(estate):
    """Azure's message, which may have a secret, is not in the log."""
    code, out, err = estate("sync", script=REFUSING, **CRON_JOB)
    failed, ended = fires(err)
    assert failed["message"] == "Resource failed"
    assert failed["resource"].endswith("/hub")
    assert (failed["code"], failed["advice"]) == ("AuthorizationFailed", "AuthorizationFailed")
    assert failed["request_id"]
    assert (ended["message"], ended["exit_code"], ended["failed"], ended["changed"]) == ("Run ended", code, 1, 1)
    assert ended["headline"] == "1 failed; created 1"
    assert code == 1
    assert SECRET not in err
    assert UNKNOWN not in err, "a secret that the run has not read yet, so that nothing masks it"
    assert UNKNOWN in out, "the report has it"


@pytest.mark.parametrize(
    ("command", "flags", "code"),
    [
        ("sync", (), 0),
        ("plan", (), 0),
        ("plan", ("--detailed-exitcode",), 3),
        ("plan", ("--from", "HEAD"), 2),
    ],
)
def test_an_alert_fires_only_for_such_an_exit_code(estate, command, flags, code):
    ended, _, err = estate(command, *flags, **CRON_JOB)
    assert ended == code
    assert [line["exit_code"] for line in fires(err)] == ([] if code in {0, 3} else [code])
    assert [line["message"] for line in collect(err) if "level" in line][-1] == "Run ended"


def test_an_alert_fires_for_a_refused_run(estate):
    estate("sync", **CRON_JOB)
    Path("all.yaml").write_text(dedent(world.GROUP))
    code, _, err = estate("sync", "--prune", "--max-deletes", "0", **CRON_JOB)
    [line] = fires(err)
    assert (code, line["exit_code"], line["advice"]) == (2, 2, "TooManyDeletes")
    assert "gitsync: TooManyDeletes: This run would delete" in err


@pytest.mark.parametrize("variables", [CRON_JOB, PIPELINE], ids=["cron-job", "pipeline"])
def test_no_secret_is_in_a_log_if_azure_repeats_it_as_its_code(estate, variables):
    code, _, err = estate("sync", script=UNEXPECTED_CODE, **variables)
    assert code == 1
    assert SECRET not in err


def test_the_log_of_a_pipeline_is_for_a_person_who_has_the_report(estate):
    code, out, err = estate("sync", script=REFUSING, **PIPELINE)
    assert code == 1
    assert "1 failed; created 1" in out
    assert SECRET not in err
    assert "Run ended" not in err
    assert "Resource failed" not in err
    assert "{" not in err
    assert estate("sync", **PIPELINE)[2].count("\n") == 1, "one line for the change, and none for the run"


def test_a_flag_or_a_variable_goes_before_what_the_environment_suggests(estate):
    _, _, err = estate("sync", "--log-format", "json", "--log-level", "error", script=REFUSING, **PIPELINE)
    assert [line["message"] for line in fires(err)] == ["Resource failed", "Run ended"]
    _, _, err = estate("plan", **PIPELINE, GITSYNC_LOG_LEVEL="info")
    assert " INFO    Run ended  " in err
    _, _, err = estate("plan", "--log-format", "text", "--log-level", "info", **CRON_JOB, GITSYNC_LOG_LEVEL="error")
    assert " INFO    Run started  " in err
