"""The generated reference: in step with the tables, and a difference is named."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from gitsync.desired.catalog.handed_over import HANDED_OVER_FIELDS
from gitsync.planning.diff.equivalence import SPELLING_RULES
from gitsync.planning.diff.rules.own_entries import OWN_ENTRIES
from gitsync.planning.diff.rules.quantities import MIXED_RULES
from gitsync.planning.diff.rules.single_types import TYPE_RULES

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def tool():
    """The tool as a module, as it is when it runs as a program."""
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import build_reference
    finally:
        sys.path.remove(str(ROOT / "tools"))
    return build_reference


@pytest.fixture(scope="module")
def files(tool):
    return tool.build_files()


def test_the_reference_is_in_step_with_its_tables(tool, files):
    assert tool.find_differences(files) == []


def test_a_stray_page_and_one_that_is_out_of_step_are_found_and_fixed(tool, files, tmp_path, monkeypatch):
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    tool.write_files(files)
    (tmp_path / "docs/settings.md").write_text("Old\n")
    (tmp_path / "docs/man/gitsync-gone.1").write_text("Gone\n")
    (tmp_path / "docs/man/gitsync.1").unlink()
    assert tool.find_differences(files) == ["docs/man/gitsync-gone.1", "docs/man/gitsync.1", "docs/settings.md"]
    tool.write_files(files)
    assert tool.find_differences(files) == []


def test_the_tool_ends_with_1_for_a_difference(tool, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    assert tool.main(["--check"]) == 1
    assert "docs/settings.md is out of step. Run make reference." in capsys.readouterr().err
    assert tool.main([]) == 0
    assert tool.main(["--check"]) == 0


def test_the_make_target_runs_the_tool():
    command = ["make", "-n", "reference", "PYTHON=python3"]  # it would look for each version of Python
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "tools/build_reference.py" in shown


def test_no_line_of_a_man_page_is_taken_for_a_request(files):
    """A line of text that begins with a dot or a quote would be lost."""
    requests = {".nh", ".TH", ".SH", ".SS", ".TP", ".PP", ".B", ".nf", ".fi", ".RS", ".RE", '.\\"'}
    lines = [line for path, text in files.items() if path.endswith(".1") for line in text.splitlines()]
    assert {line.split()[0] for line in lines if line.startswith((".", "'"))} <= requests


def test_the_package_puts_man_pages_and_completion_where_they_are_looked_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    shared = project["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
    assert {path for path in shared if not (ROOT / path).exists()} == set()
    assert shared["docs/man"] == "share/man/man1"
    assert {target.split("/")[1] for target in shared.values()} == {"man", "bash-completion", "zsh", "fish"}


def test_the_page_of_drift_rules_has_each_rule_with_its_evidence(files):
    rules = [*SPELLING_RULES, *MIXED_RULES, *(row.rule for row in TYPE_RULES)]
    rows = [*rules, *HANDED_OVER_FIELDS, *OWN_ENTRIES]
    assert [row.evidence for row in rows if f" | {row.evidence} |" not in files["docs/drift-rules.md"]] == []
