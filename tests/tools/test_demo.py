"""The demo is short, nothing that it prints wraps, and it ends with an error when something does not hold."""

from __future__ import annotations

import pytest
from demo_stage import Demo, Transcript, Unexpected, cut, expect, select_lines
from emulated_azure import EmulatedAzure

from gitsync.report.terminal import Paint

LONG = "A sentence that goes on and on, " * 12
OUTPUT = "A sync would update 1\nplan of 1: 1 resource\n\n  update   Redis/one (correlation 1-2)\n  id: /one\n"


@pytest.mark.parametrize("columns", [60, 80, 100, 140])
def test_no_line_is_wider_than_the_terminal(columns, capsys):
    transcript = Transcript(columns, Paint(on=False))
    transcript.begin_step(LONG)
    transcript.print_command(["gitsync", "plan", LONG])
    transcript.print_output([LONG, "x" * 200])
    transcript.explain(LONG)
    transcript.print_text(LONG)
    printed = capsys.readouterr().out.splitlines()
    assert max(map(len, printed)) <= columns
    assert len(printed) > 6


@pytest.mark.parametrize(
    ("line", "columns", "expected", "why"),
    [
        ("one two", 7, "one two", "a line that fits stays"),
        ("one two three", 9, "one two…", "a longer one ends at a blank"),
        ("    /an/arm/id", 9, "    /an/…", "and inside of a word if only blanks precede it"),
    ],
)
def test_a_line_is_cut_to_the_terminal(line, columns, expected, why):
    assert cut(line, columns) == expected, why


@pytest.mark.parametrize(
    ("head", "pattern", "expected", "why"),
    [
        (1, "", ["A sync would update 1"], "without a pattern, the first lines alone"),
        (1, "Redis", ["A sync would update 1", "  update   Redis/one"], "without the id of a request"),
        (2, "id", ["A sync would update 1", "plan of 1: 1 resource", "  id: /one"], "in the order of the output"),
    ],
)
def test_the_lines_that_matter_are_selected(head, pattern, expected, why):
    assert select_lines(OUTPUT, head, pattern) == expected, why


def test_an_output_without_a_line_that_the_demo_shows_ends_it():
    with pytest.raises(Unexpected, match="a line of the output matches StorageAccount"):
        select_lines(OUTPUT, 1, "StorageAccount")


def test_a_claim_that_does_not_hold_ends_it():
    expect(True, "this holds")
    with pytest.raises(Unexpected, match="Azure received no write"):
        expect(False, "Azure received no write")


@pytest.fixture
def demo(tmp_path):
    transcript = Transcript(80, Paint(on=False))
    demo = Demo(tmp_path, EmulatedAzure("http://127.0.0.1:1"), "manifests", "landing-zone", transcript)
    demo.make_repository()
    return demo


def test_a_command_that_ends_with_another_code_ends_it_and_its_output_is_shown(demo, capsys):
    with pytest.raises(Unexpected, match="`git show no-such-commit` ends with exit code 0, not 128"):
        demo.run("git", "show", "no-such-commit")
    assert "no-such-commit" in capsys.readouterr().err


def test_the_settings_for_a_shell_survive_any_folder(demo, tmp_path):
    text = demo.write_settings(tmp_path / "it's a folder" / "azure.db").read_text()
    assert "export AZURE_SUBSCRIPTION_ID=00000000-0000-0000-0000-000000000000\n" in text
    assert "it'\"'\"'s a folder/azure.db'\n" in text
