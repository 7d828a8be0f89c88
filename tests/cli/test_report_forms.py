"""A form of reports is one row of one table: the help, --output and --report follow from it."""

from types import SimpleNamespace

import pytest

from gitsync.cli import sync
from gitsync.cli.output import publish
from gitsync.cli.report_forms import REPORT_FORMS, REPORT_OUTPUTS, ReportForm, list_outputs
from gitsync.cli.usage import CommandParser, read_arguments
from gitsync.errors import ConfigError
from gitsync.model.report import Report, RequestCounts
from gitsync.settings.config.config import Config
from gitsync.settings.config.load import resolve
from tests.support.parts import build

REPORT = build(
    Report,
    command="sync",
    revision="a" * 40,
    started="2026-01-02T03:04:05Z",
    finished="2026-01-02T03:04:06Z",
    exit_code=0,
    requests=RequestCounts(),
    problems=(),
    results=(),
)


def render_csv(report, /, *, names):
    return f"command,revision,names\n{report.command},{report.revision},{names}\n"


def render_text(report):
    return f"{report.command} as text\n"


FORMS = {**REPORT_FORMS, "csv": ReportForm("report.csv", render_csv)}
"""The forms of gitsync with a made-up one: a function that renders, and a row."""
COMMAND = SimpleNamespace(**{**vars(sync), "OUTPUTS": list_outputs(FORMS)})
PRINTED = f"command,revision,names\nsync,{'a' * 40},True\n"


def test_the_help_shows_a_made_up_form():
    assert "csv" in CommandParser("sync", COMMAND).format_help()


@pytest.mark.parametrize(
    ("command", "is_known", "why"),
    [(COMMAND, True, "its row makes it a choice"), (sync, False, "without the row it is a wrong value")],
)
def test_a_made_up_form_is_a_choice_of_output(command, is_known, why, tmp_path):
    options = read_arguments("sync", command, ["--output", "csv"])
    if is_known:
        assert resolve(options, {}, tmp_path, command.OUTPUTS, uses_azure=False).output == "csv", why
    else:
        with pytest.raises(ConfigError, match="--output"):
            resolve(options, {}, tmp_path, command.OUTPUTS, uses_azure=False)


def test_a_made_up_form_is_printed(capsys):
    publish(REPORT, Config(output="csv"), {}, render_text, FORMS)
    assert capsys.readouterr().out == PRINTED


def test_a_made_up_form_is_a_file_of_report(tmp_path, capsys):
    folder = tmp_path / "report"
    publish(REPORT, Config(report_dir=str(folder)), {}, render_text, FORMS)
    assert (folder / "report.csv").read_text() == PRINTED
    assert {form.file for form in FORMS.values()} | {"report.env"} == {path.name for path in folder.iterdir()}
    assert "command,revision" not in capsys.readouterr().out, "the text goes to stdout"


def test_a_form_renders_a_report_without_names_in_a_pipeline(capsys):
    publish(REPORT, Config(output="csv"), {"GITHUB_ACTIONS": "true"}, render_text, FORMS)
    assert capsys.readouterr().out.endswith(",False\n")


def test_the_outputs_of_a_run_are_text_and_the_forms():
    assert ("text", *REPORT_FORMS) == REPORT_OUTPUTS
    assert len({form.file for form in REPORT_FORMS.values()}) == len(REPORT_FORMS)
