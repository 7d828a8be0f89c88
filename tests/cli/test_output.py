"""Where a report goes, and what is reported when it cannot go there."""

import json
from dataclasses import replace

import pytest

from gitsync.cli.output import find_terminal_width, show_progress, tell
from gitsync.cli.report_forms import REPORT_OUTPUTS
from gitsync.errors import PublishError
from gitsync.model.attribution import Who
from gitsync.model.problem import Problem
from gitsync.model.report import Report, RequestCounts
from gitsync.settings.config.config import Config
from gitsync.settings.config.load import list_misspelt_variables
from tests.report.golden_runs import RUNS
from tests.support.parts import build

REPORT = build(
    Report,
    command="plan",
    revision=None,
    started="2026-01-02T03:04:05Z",
    finished="2026-01-02T03:04:06Z",
    exit_code=0,
    requests=RequestCounts(),
    problems=(),
    results=(),
)


@pytest.mark.parametrize(
    ("output", "start"),
    [
        ("text", "A sync would change nothing\n"),
        ("json", "{\n"),
        ("markdown", "<!-- gitsync -->\n"),
        ("html", "<!doctype html>\n"),
        ("junit", "<?xml "),
        ("sarif", '{\n  "$schema"'),
    ],
)
def test_a_report_is_printed_as_asked_for(output, start, capsys):
    tell(REPORT, Config(output=output), {})
    printed = capsys.readouterr().out
    assert printed.startswith(start)
    assert printed.endswith("\n")


def test_colour_is_added_where_it_is_requested(capsys):
    tell(REPORT, Config(color="always"), {})
    assert capsys.readouterr().out.startswith("\x1b[1m")
    tell(REPORT, Config(color="auto"), {})
    assert "\x1b" not in capsys.readouterr().out


JOB, POD = {"GITHUB_ACTIONS": "true"}, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}


@pytest.mark.parametrize(
    ("output", "variables", "who", "has_names", "why"),
    [
        ("text", {}, "auto", True, "what a person reads"),
        ("text", JOB, "auto", False, "the log of a job"),
        ("text", {"CI": "true"}, "auto", False, "of any host"),
        ("text", POD, "auto", False, "the log of a pod"),
        ("text", JOB, "names", True, "asked for"),
        ("markdown", {}, "auto", False, "what becomes a comment"),
        ("markdown", JOB, "names", True, "asked for"),
        ("json", {}, "auto", True, "a file for programs"),
        ("html", {}, "auto", True, "a file for people"),
        ("json", JOB, "auto", False, "a log, or a file that becomes an artifact"),
        ("html", JOB, "auto", False, "a file that becomes an artifact"),
        ("json", POD, "auto", False, "the log of a pod"),
        ("json", JOB, "names", True, "asked for"),
        ("html", JOB, "names", True, "asked for"),
        ("text", {}, "off", False, "never"),
        ("json", {}, "off", False, "never"),
        ("html", {}, "off", False, "never"),
        ("sarif", {}, "names", False, "alerts that many may read"),
        ("junit", {}, "names", False, "results that many may read"),
    ],
)
def test_names_of_people_are_printed_where_they_may_stand(output, variables, who, has_names, why, capsys):
    tell(replace(RUNS["drift"], who=Who(who)), Config(output=output), variables)
    printed = capsys.readouterr()
    assert ("rob@" in printed.out.replace("&#64;", "@")) is has_names, why
    assert "rob@" not in printed.err


@pytest.mark.parametrize(
    ("variables", "who", "named", "why"),
    [
        ({}, "auto", {"report.json", "report.html"}, "files of a person"),
        ({}, "names", {"report.json", "report.html", "report.md"}, "asked for"),
        (JOB, "auto", set(), "an artifact of a job, which many may read"),
        ({"CI": "true"}, "auto", set(), "of any host"),
        (POD, "auto", set(), "a volume, or what collects it"),
        (JOB, "names", {"report.json", "report.html", "report.md", "summary.md"}, "asked for"),
        (JOB, "off", set(), "never"),
        ({}, "off", set(), "never"),
    ],
)
def test_the_files_of_a_report_have_names_of_people_where_they_may(variables, who, named, why, tmp_path, capsys):
    written = {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"), "GITHUB_OUTPUT": str(tmp_path / "outputs")}
    report = replace(RUNS["drift"], who=Who(who))
    tell(report, Config(report_dir=str(tmp_path / "report"), output="sarif"), variables | written)
    texts = {path.name: path.read_text().replace("&#64;", "@") for path in tmp_path.rglob("*") if path.is_file()}
    assert {name for name, text in texts.items() if "rob@" in text} == named, why
    assert "a person" in texts["report.md"] or "report.md" in named
    assert "rob@" not in "".join(capsys.readouterr())


def test_what_is_not_a_terminal_has_no_width():
    assert find_terminal_width() is None


def test_the_folder_of_the_report_is_made_and_written_over(tmp_path):
    folder = tmp_path / "a" / "b"
    tell(replace(REPORT, command="sync"), Config(report_dir=str(folder)), {})
    tell(REPORT, Config(report_dir=str(folder)), {})
    assert json.loads((folder / "report.json").read_text())["command"] == "plan"
    assert sorted(path.name for path in folder.iterdir()) == [
        "report.env",
        "report.html",
        "report.json",
        "report.junit.xml",
        "report.md",
        "report.sarif",
    ]


WRONG = replace(REPORT, problems=(Problem(code="NotYaml", message="This is not YAML.", path="a.yaml"),))
GITHUB = "::error file=a.yaml,title=NotYaml%3A This is not YAML.::This is not YAML."
HEADLINE = "::notice title=gitsync plan::1 error in manifests; a sync would change nothing"
AZURE = "##vso[task.logissue type=error;sourcepath=a.yaml;code=NotYaml]This is not YAML."


@pytest.mark.parametrize(
    ("variables", "line"), [({"GITHUB_ACTIONS": "true"}, GITHUB), ({"TF_BUILD": "True"}, AZURE), ({}, "::")]
)
def test_a_pipeline_is_reported_in_its_own_way(variables, line, capsys):
    tell(WRONG, Config(), variables)
    assert (line in capsys.readouterr().out) == bool(variables)


@pytest.mark.parametrize("output", [output for output in REPORT_OUTPUTS if output != "text"])
def test_what_a_machine_reads_has_no_annotations_in_it(output, capsys):
    tell(WRONG, Config(output=output), {})
    alone = capsys.readouterr().out
    tell(WRONG, Config(output=output), {"GITHUB_ACTIONS": "true"})
    assert capsys.readouterr() == (alone, f"{HEADLINE}\n{GITHUB}\n")
    tell(WRONG, Config(output=output), {"TF_BUILD": "True"})
    printed, told = capsys.readouterr()
    assert printed == alone
    assert told.startswith(f"{AZURE}\n##vso[task.setvariable ")


@pytest.mark.parametrize("output", [output for output in REPORT_OUTPUTS if output != "html"])
def test_a_file_name_commands_no_pipeline(output, capsys):
    evil = Problem(code="NotYaml", message="##vso[task.setvariable variable=a]b", path="::stop-commands::x")
    tell(replace(REPORT, problems=(evil,)), Config(output=output), {})
    printed = capsys.readouterr().out
    assert "##vso[" not in printed
    assert [line for line in printed.splitlines() if line.lstrip().startswith("::")] == []


def test_a_job_on_github_gets_a_summary_after_what_it_has(tmp_path):
    summary = tmp_path / "summary.md"
    summary.write_text("# Before\n")
    tell(REPORT, Config(), {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary)})
    assert summary.read_text().startswith("# Before\n<!-- gitsync -->\n### A sync would change nothing\n")
    summary.write_text("")
    tell(REPORT, Config(), {"GITHUB_STEP_SUMMARY": str(summary)})
    assert summary.read_text() == "", "elsewhere the variable is somebody else's"


def test_a_step_on_github_gets_the_figures_of_the_report_as_outputs(tmp_path):
    outputs = tmp_path / "outputs"
    outputs.write_text("before=1\n")
    tell(REPORT, Config(), {"GITHUB_ACTIONS": "true", "GITHUB_OUTPUT": str(outputs)})
    assert outputs.read_text().startswith("before=1\nrevision=\nresources=")
    assert outputs.read_text().endswith("\n")


def test_an_azure_pipelines_step_gets_them_as_variables_of_its_log(capsys):
    tell(REPORT, Config(), {"TF_BUILD": "True"})
    assert "\n##vso[task.setvariable variable=deletes;isOutput=true]0\n" in capsys.readouterr().out
    tell(REPORT, Config(output="json"), {"TF_BUILD": "True"})
    assert "\n##vso[task.setvariable variable=deletes;isOutput=true]0\n" in capsys.readouterr().err


def test_a_later_job_of_gitlab_gets_them_as_variables_and_none_is_taken_for_a_setting(tmp_path):
    tell(REPORT, Config(report_dir=str(tmp_path)), {})
    variables = dict(line.split("=") for line in (tmp_path / "report.env").read_text().splitlines())
    assert variables["GITSYNC_OUTPUT_DELETES"] == "0"
    assert all(variables.values()), "GitLab refuses a variable without a value"
    assert list_misspelt_variables(variables) == []


def test_a_summary_that_cannot_be_written_ends_nothing(tmp_path, capsys):
    tell(REPORT, Config(), {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(tmp_path)})
    assert capsys.readouterr().out.startswith("A sync would change nothing\n")


def test_a_folder_that_cannot_be_written_is_reported(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(
        PublishError, match=r"The report cannot be written: .*/file is not a folder\. Choose another folder\."
    ):
        tell(REPORT, Config(report_dir=str(tmp_path / "file" / "folder")), {})


def test_progress_off_a_terminal_prints_nothing_for_short_work(capsys):
    with show_progress(str, prints=True) as progress:
        progress.expect({})
    assert capsys.readouterr() == ("", "")
