"""The tool that lists words that are not used: what it finds, what it ignores, and how it ends."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "words.py"
STYLE = ROOT / "docs" / "style.md"


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("words", TOOL)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def words(findings):
    return [(finding.line, finding.word) for finding in findings]


@pytest.mark.parametrize(
    "sentence",
    [
        "Then there are three ways on: keep the change, or leave it.",
        "Keep the change, or put the value of git back.",
        "Or leave it until a day.",
        "This sync sent 6 reads, 3 questions, 3 writes, 4 polls in 1s.",
        "A rehearsal plays the sync in memory.",
        "in the built-in Azure, and the one after it",
        "To accept it nevertheless, name it.",
        "This is no job of a pipeline that gitsync supports.",
        "`v1` and `Vault` are no apiVersion and kind.",
        "A key stands inside of a value.",
        "ok secrets (environment): It can be opened; a run reads the values.",
        "Not brought back by git",
        "An odd answer is neither a group nor its absence.",
        "A file that is passed over has no problems.",
        "Give the whole name of the resource.",
        "A name may be abbreviated as long as it is clear.",
        "Correct it at the place that the message names.",
        "The exit code is that of the gravest problem.",
        "Policies of Azure did not apply to any write.",
        "Who may read the activity log finds the author.",
        "It takes one change into git.",
        "The resource is left alone.",
        "Nothing says who changed it.",
        "Tell whether a field is set.",
        "Azure is asked about three of them.",
        "The same function judges both.",
        "A plan does not know the value.",
        "The change is not let through.",
        "A seal of an unknown form is ignored.",
        "gitsync reads both files and prefers the latter.",
    ],
)
def test_an_old_sentence_is_found(tool, sentence):
    assert tool.find(tool.read_markdown(sentence))


def test_each_row_catches_and_allows_its_examples(tool):
    for row in tool.ROWS:
        assert row.caught, row.ours
        assert row.allowed, row.ours
        for text in row.caught:
            assert row.field in {instead for _, _, instead in tool.search(text)}, (row.ours, text)
        for text in row.allowed:
            assert list(tool.search(text)) == [], (row.ours, text)


def test_each_row_is_in_the_style_once(tool):
    lines = [line[2:-2].split(" | ") for line in STYLE.read_text().splitlines() if line.startswith("| ")]
    pairs = [tuple(cells[at : at + 2]) for cells in lines[1:] for at in range(0, len(cells), 2)]
    assert sorted(pairs) == sorted((row.ours, row.field) for row in tool.ROWS)


@pytest.mark.parametrize(
    ("text", "expected", "why"),
    [
        ("Mend it.", ["Mend"], "a word counts in any case"),
        ("They are mended.", ["mended"], "and in all its forms"),
        ("It recommends the amendment.", [], "a part of another word is not a word"),
        ("As\nwhom it runs", ["whom"], "a page is read across its lines"),
        ("It stands\n  there.", ["stands there"], "several words may be on two lines"),
        ("ARM stands for Azure Resource Manager.", [], "this is plain English"),
        ("A rule can stand in for it.", [], "and so is this"),
        ("It stands in git.", ["stands in"], "but not this"),
        ("It relies on git.", [], "relies has another word inside"),
        ("What Azure says.", ["says"], "servers return values"),
        ("Azure returned it beside the id.", [], "beside is plain English"),
        ("It is told besides.", ["told", "besides"], "one line may have several"),
        ("It stands\n\nthere.", [], "but not in two paragraphs"),
        ("`gitsync plan`\nsays it.", ["says"], "code is the subject of a sentence"),
        ("See [checks/questions.py](x.md).", [], "a file has its name"),
        ("`mend` and `x: told`", [], "code between backticks is left out"),
        ("```\nmend\n```\n\n   ```yaml\n   mend\n   ```\n", [], "and so are code blocks"),
        ("> He was told.\n\n  > anew", [], "and quotes"),
        ("[page](mend.md#told)", [], "and where a link leads"),
        ("[told](page.md)", ["told"], "but not its text"),
        ("<!-- anew -->", [], "and comments"),
        ("It is told. <!-- quoted from Azure -->\nIt is told.", ["told"], "and a line that is quoted"),
    ],
)
def test_pages(tool, text, expected, why):
    assert sorted(word for _, word in words(tool.find(tool.read_markdown(text)))) == sorted(expected), why


@pytest.mark.parametrize(
    ("code", "expected", "why"),
    [
        ('"""Mend it."""', [(1, "Mend")], "a docstring"),
        ('"""One.\n\nTwo is told.\n"""', [(3, "told")], "the line is the one of the word"),
        ('x = f"{mend} is anew"', [(1, "anew")], "the text of an f-string, and no expression in it"),
        ('x = f"Leave {name} alone"', [(1, "Leave · alone")], "the parts of an f-string are one text"),
        ("told = nobody = mend(holes=1)", [], "names are not text"),
        ("x = 1\n# mend\n", [(2, "mend")], "a comment"),
        ("x = 1  # passed\n# over\n", [], "a comment after code is on its own"),
        ("# it is passed\n# over\nx = 1", [(1, "passed over")], "comments of consecutive lines are one text"),
        ('x = (\n    "it "\n    "is told "\n)', [(3, "told")], "a text in several pieces"),
        ('x = "nobody is there"  # quoted from ASO', [], "a quote of ASO"),
        ('x = "nobody is there"  # quoted from Azure', [], "a quote of Azure"),
        ('x = (\n    "it "\n    "is told "  # quoted from ASO\n    "twice"\n)', [], "one comment for all pieces"),
        ('x = "nobody is there"  # quoted', [(1, "nobody")], "the source must be named"),
        ('x = "is `gitsync.told` there"', [], "code between backticks"),
        ('x = {"hole": 1, "passedOver": 2, "a_place": 3}', [], "a key of JSON or a code"),
        ('x["Place"]', [], "a key or a type between brackets"),
        ('x = {"Questions": 1}', [(1, "Questions")], "a heading of one word"),
    ],
)
def test_modules(tool, code, expected, why):
    assert words(tool.find(tool.read_module(code))) == expected, why


@pytest.mark.parametrize(
    ("code", "expected", "why"),
    [
        ('"""It is told."""', [(1, "told")], "a docstring"),
        ("x = 1  # anew", [(1, "anew")], "a comment"),
        ("def test_a_file_is_passed_over():\n    pass", [(1, "passed over")], "the name of a test"),
        ("def passed_over():\n    pass", [], "the name of a helper is code"),
        ('x = "It is told."', [], "a string is input or expected output"),
    ],
)
def test_modules_of_tests(tool, code, expected, why):
    assert words(tool.find(tool.read_tests(code))) == expected, why


@pytest.mark.parametrize(
    ("code", "expected", "why"),
    [
        ("def list_questions(): pass", [(1, "list_questions")], "a function"),
        ("class OddAnswer: pass", [(1, "OddAnswer")], "a class, split at its capitals"),
        ("def f(asked, *, is_whole): pass", [(1, "asked"), (1, "is_whole")], "parameters"),
        ("x = 1\nplaces = []", [(2, "places")], "a variable"),
        ("class A:\n    place: str", [(2, "place")], "a field"),
        ("self._asked = {}", [(1, "_asked")], "an attribute"),
        ("from m import f as ask", [(1, "ask")], "another name of an import"),
        ("MOST_PLACES = 4", [(1, "MOST_PLACES")], "a constant"),
        ("print(asked, x.places, f(judge=1))", [], "names that another module defines"),
        ("task = basket = misplaced = replaced = holes = []", [], "a part of another word"),
        ("def place_forest(): pass", [], "a verb"),
        ("is_in_place = True", [], "plain English"),
        ("def test_a_question(): pass", [], "a test, whose name is read as a text"),
        ("class A:\n    asks: str", [], "a name that is allowed"),
    ],
)
def test_names(tool, code, expected, why):
    assert words(tool.find_in_names(code)) == expected, why


def test_each_name_that_is_allowed_has_a_word_and_a_reason(tool):
    for name, why in tool.ALLOWED_NAMES.items():
        assert why, name
        assert any(pattern.search(name.replace("_", " ")) for pattern in tool.NAMES), name


def test_a_finding_has_its_line_and_ends_with_one(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Title\n\nIt is read anew,\nand whom.\n")
    done = subprocess.run([sys.executable, TOOL, page], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        f'{page}:3: "anew" (text): again',
        f'{page}:4: "whom" (text): turn the sentence around: which identity, which credential',
    ]
    assert done.stderr == "2 words to replace.\n"


def test_it_reads_the_project(tool):
    read = {path.relative_to(ROOT).as_posix() for path in tool.list_project()}
    assert {
        ".ci/run",
        ".github/workflows/plan.yaml",
        "CHANGELOG.md",
        "Makefile",
        "README.md",
        "deploy/chart/values.yaml",
        "docs/drift.md",
        "examples/README.md",
        "gitsync/__init__.py",
        "gitsync/desired/problems/data/checks.toml",
        "gitsync/report/html/templates/run.html",
        "tests/tools/test_words.py",
        "tools/words.py",
    } <= read
    assert not {"tools/words.toml", "tests/report/golden/runs/checks/report.md"} & read


def test_the_text_of_a_template_is_read_without_its_tags(tool):
    template = '<p title="mend">\n{{ mend }} We mend {# mend #}it.</p>\n'
    assert words(tool.find(tool.read_template(template))) == [(2, "mend")]
