"""The worked examples of the documentation print what the pages show, and the tool that compares them sees a change."""

import importlib.util
import sys
from pathlib import Path

import pytest

from tests.support.programs import needs_build_tool
from tests.support.shell_commands import run_shells_here

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("worked_examples", ROOT / "tools" / "worked_examples.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


BUILT = ("docs/variables.md", "docs/argocd.md")
RUN = sorted(
    str(page.relative_to(ROOT))
    for page in (ROOT / "README.md", *ROOT.glob("docs/**/*.md"))
    if "```console" in page.read_text(encoding="utf-8")
)
PAGES = [pytest.param(page, marks=needs_build_tool) if page in BUILT else page for page in RUN]


@pytest.mark.parametrize("page", PAGES)
def test_the_output_on_the_page_is_what_the_commands_print(tool, page, tmp_path):
    """To update a page after a change of messages: python tools/worked_examples.py --write"""
    assert ROOT / page in tool.PAGES
    example = tool.read_page(ROOT / page)
    printed = run_shells_here(lambda programs: tool.run_example(example, tmp_path, programs))
    assert [tool.normalise(text) for text in printed] == [tool.normalise(command.shown) for command in example.commands]
    assert any("gitsync" in command.text and command.shown.strip() for command in example.commands)


def test_every_page_with_commands_to_run_is_run(tool):
    """A page outside of the list would show output that no test compares."""
    assert sorted(str(page.relative_to(ROOT)) for page in tool.PAGES) == RUN


@pytest.mark.parametrize(
    ("shown", "printed", "why"),
    [
        ("sync of 0123456789ab: 3", "sync of ba9876543210: 3", "a revision differs from run to run"),
        ("2 polls in 6s\n", "2 polls in 14s", "a duration does, too"),
        ("at 2026-11-20T09:35:00Z", "at 2027-01-01T00:00:00Z", "and a time"),
        ("a\nb\n\n", "\na  \nb", "blank lines and blanks at the ends do not count"),
    ],
)
def test_what_varies_is_not_a_difference(tool, shown, printed, why):
    assert tool.normalise(shown) == tool.normalise(printed), why
    assert tool.refresh(shown, printed) == shown, why


@pytest.mark.parametrize(
    ("shown", "printed", "why"),
    [
        ("3 create", "2 create", "a number of resources"),
        ("2 polls in 6s", "3 polls in 6s", "a number of requests"),
        ("id: 00000000-0000-0000-0000-000000000000", "id: 00000000-0000-0000-0000-000000000001", "an id of Azure"),
        ("a\nb", "b\na", "the order of lines"),
    ],
)
def test_anything_else_is_a_difference(tool, shown, printed, why):
    assert tool.normalise(shown) != tool.normalise(printed), why
    assert tool.refresh(f"{shown}\n\n", printed) == f"{printed}\n\n", why


def test_files_and_commands_run_in_the_order_of_the_page_and_their_output_is_written_back(tool, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "```console\n$ mkdir inner && cd inner\n```\n"
        "```yaml\n# one.yaml\na: '$HOME'\n```\n"
        "```yaml\nnot: a file\n```\n"
        "```json\n{}\n```\n"
        '<!-- file ../two.json -->\n```json\n{"two": 2}\n```\n'
        "```console\n$ cat one.yaml\n$ cat one.yaml\nold\n$ echo wrong >&2; false\n```\n"
    )
    example = tool.read_example(page.read_text())
    printed = tool.run_example(example, tmp_path)
    assert printed == ["", "# one.yaml\na: '$HOME'\n", "# one.yaml\na: '$HOME'\n", "wrong\n"]
    assert (tmp_path / "work/two.json").read_text() == '{"two": 2}\n'
    tool.write(page, example, printed)
    assert page.read_text().endswith(
        "```console\n$ cat one.yaml\n# one.yaml\na: '$HOME'\n$ cat one.yaml\n# one.yaml\na: '$HOME'\n"
        "$ echo wrong >&2; false\nwrong\n```\n"
    )


def test_a_page_goes_on_where_another_ends(tool, tmp_path):
    (tmp_path / "first.md").write_text("```console\n$ name=one; mkdir inner && cd inner; echo first\n```\n")
    second = tmp_path / "second.md"
    second.write_text("<!-- continues first.md -->\n\n```console\n$ echo $name > file; ls\nold\n```\n")
    example = tool.read_page(second)
    printed = tool.run_example(example, tmp_path)
    assert printed == ["file\n"], "what the first page prints is not compared again"
    tool.write(second, example, printed)
    assert second.read_text().endswith("$ echo $name > file; ls\nfile\n```\n")


def test_a_block_that_begins_with_output_is_a_mistake(tool):
    with pytest.raises(ValueError, match="begins with a command, not with: output"):
        tool.read_example("```console\noutput\n$ command\n```\n")
