"""The tool that lists words that are not used: what it finds, what it leaves alone, and how it ends."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "words.py"
CLEAN = [
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CODE_OF_CONDUCT.md",
    *(
        f"docs/{name}.md"
        for name in (
            "README",
            "exit-codes",
            "getting-started",
            "glossary",
            "manifests",
            "pipelines",
            "running",
            "status",
            "extensions",
        )
    ),
]


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("words", TOOL)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def found(findings):
    return [(finding.line, finding.word) for finding in findings]


@pytest.mark.parametrize(
    ("text", "expected", "why"),
    [
        ("Mend it.", ["Mend"], "a word counts in any case"),
        ("They are mended.", ["mended"], "and in all its forms"),
        ("It recommends the amendment.", [], "a part of another word is no word"),
        ("As\nwhom it runs", ["whom"], "a page is read across its lines"),
        ("It stands\n  there.", ["stands there"], "several words may be on two lines"),
        ("ARM stands for Azure Resource Manager.", [], "this is plain English"),
        ("A rule can stand in for it.", [], "and so is this"),
        ("It stands in git.", ["stands in"], "but not this"),
        ("It relies on git.", [], "relies has another word inside"),
        ("What Azure says.", ["Azure says"], "servers return values"),
        ("Azure returned it beside the id.", [], "beside is a place, besides is not"),
        ("It is told besides.", ["told", "besides"], "one line may have several"),
        ("`mend` and `x: told`", [], "code between backticks is left out"),
        ("```\nmend\n```\n\n   ```yaml\n   mend\n   ```\n", [], "and so are code blocks"),
        ("> He was told.\n\n  > anew", [], "and quotes"),
        ("[page](mend.md#told)", [], "and where a link leads"),
        ("[told](page.md)", ["told"], "but not its text"),
        ("<!-- anew -->", [], "and comments"),
    ],
)
def test_pages(tool, text, expected, why):
    assert sorted(word for _, word in found(tool.in_markdown(text))) == sorted(expected), why


@pytest.mark.parametrize(
    ("code", "expected", "why"),
    [
        ('"""Mend it."""', [(1, "Mend")], "a docstring"),
        ('"""One.\n\nTwo is told.\n"""', [(3, "told")], "the line is the one of the word"),
        ('x = f"{mend} is anew"', [(1, "anew")], "the text of an f-string, and no expression in it"),
        ("told = nobody = mend(holes=1)", [], "names are no text"),
        ("# mend\nx = 1", [], "comments are for readers of the code"),
        ('x = (\n    "it "\n    "is told "\n)', [(3, "told")], "a text in several pieces"),
        ('x = "nobody is there"  # quoted from ASO', [], "a quote of ASO"),
        ('x = "nobody is there"  # quoted from Azure', [], "a quote of Azure"),
        ('x = (\n    "it "\n    "is told "  # quoted from ASO\n    "twice"\n)', [], "one comment for all pieces"),
        ('x = "nobody is there"  # quoted', [(1, "nobody")], "of whom must be said"),
        ('x = "is `gitsync.told` there"', [], "code between backticks"),
        ('x = {"hole": 1}', [(1, "hole")], "a key is text that may be shown"),
    ],
)
def test_modules(tool, code, expected, why):
    assert found(tool.in_python(code)) == expected, why


def test_every_row_of_the_table_is_a_pattern_and_has_something_better(tool):
    assert len({row.words for row in tool.BANNED}) == len(tool.BANNED)
    assert all(
        row.instead and row.words == row.words.strip(" ") for row in tool.BANNED if row.words != "stands? in (?!for)"
    )


def test_a_finding_has_its_place_and_ends_with_one(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Title\n\nIt is told anew.\n")
    done = subprocess.run([sys.executable, TOOL, page], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [f'{page}:3: "anew": again', done.stdout.splitlines()[1]]
    assert done.stdout.splitlines()[1].startswith(f'{page}:3: "told": ')
    assert done.stderr == "2 words to replace.\n"


def test_what_begins_with_these_pages_stays_in_plain_english():
    pages = [ROOT / name for name in CLEAN]
    done = subprocess.run([sys.executable, TOOL, *pages], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_it_reads_every_module_and_every_page(tool):
    read = {path.relative_to(ROOT).as_posix() for path in tool.files()}
    assert {
        "README.md",
        "docs/drift.md",
        "examples/README.md",
        "gitsync/__init__.py",
        "gitsync/planning/owner_graph.py",
    } <= read


def test_the_text_of_a_template_is_read_without_its_tags(tool):
    template = '<p title="mend">\n{{ mend }} We mend {# mend #}it.</p>\n'
    assert found(tool.in_template(template)) == [(2, "mend")]
