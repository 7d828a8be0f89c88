"""What the documents and the workflows name exists: commands, flags, variables, make targets, files, headings."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from contextlib import redirect_stdout, suppress
from dataclasses import replace
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from gitsync.cli.command_table import COMMANDS
from gitsync.cli.main import run
from gitsync.errors import ExitCode
from gitsync.extensions.api import Extension, ReadsAzure, Subject
from gitsync.extensions.registry import BUILT_IN, Registry
from gitsync.model.gvk import GVK, Key
from gitsync.model.live import Live
from gitsync.settings.config.config import SETTINGS
from gitsync.settings.config.setting import VARIABLE_PREFIX

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
PAGES = sorted(ROOT.glob("docs/**/*.md"))
DOCUMENTS = sorted([*ROOT.glob("*.md"), *PAGES, *ROOT.glob("examples/**/*.md"), *ROOT.glob(".github/*.md")])
FORMS = sorted(path for path in ROOT.glob(".github/ISSUE_TEMPLATE/*.yml") if path.stem != "config")
IMAGES = sorted(path for path in ROOT.glob("docs/images/*") if path.is_file())
FLAGS_OF_OTHERS = {"--x", "--no-x", "--tags", "--action-on-unmanage", "--certificate-identity", "--permissions"}
"""A switch of any name; those of the Azure CLI; one of cosign."""

MOST_LINES_OF_THE_README = 150
MOST_LINES_OF_ITS_EXAMPLE = 40
MOST_BYTES_OF_AN_IMAGE = 200_000
DEPLOYED = sorted(path for path in ROOT.glob("deploy/**/*") if path.is_file())
WORKFLOWS = [
    ROOT / "action.yml",
    *sorted((ROOT / ".github" / "workflows").glob("*.yaml")),
    *sorted((ROOT / "deploy" / "pipelines").iterdir()),
]
VARIABLES = {name for setting in SETTINGS.values() for name in (*setting.variables, *setting.switches)}

by_workflow = pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)


def _find_faults(check: Callable[[Path], Collection[Any]], files: Iterable[Path] = DOCUMENTS) -> dict[str, Any]:
    """What a check finds wrong, by page: one test for all pages, since there are many."""
    return {str(file.relative_to(ROOT)): faults for file in files if (faults := check(file))}


def _without_code(text: str) -> str:
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


def _code(text: str) -> list[str]:
    """Lines of code blocks and what is between backticks, without prompts."""
    blocks = re.findall(r"^```.*?\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    spans = re.findall(r"`([^`\n]+)`", _without_code(text))
    return [line.strip().removeprefix("$ ") for block in (*blocks, *spans) for line in block.splitlines()]


def _anchors(text: str) -> set[str]:
    """The names that a renderer gives to headings: lower case, no punctuation, dashes for blanks."""
    headings = re.findall(r"^#+ (.+)$", _without_code(text), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.casefold()).strip().replace(" ", "-") for heading in headings}


def _section(text: str, title: str) -> str:
    """The text of one section of a page, up to the next heading of its level."""
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, flags=re.MULTILINE | re.DOTALL)
    assert found, f"the page has no section {title}"
    return found.group(1)


def _page(name: str) -> str:
    return (ROOT / "docs" / name).read_text()


def _link_targets(text: str) -> list[str]:
    return re.findall(r"\]\(([^)\s]+)\)", _without_code(text))


def test_links_lead_somewhere():
    anchors_of = cache(lambda file: _anchors(file.read_text()))

    def is_broken(document: Path, target: str) -> bool:
        path, _, anchor = target.partition("#")
        file = document.parent / path if path else document
        return not file.exists() or bool(anchor and anchor not in anchors_of(file))

    def find_broken(document: Path) -> list[str]:
        own = [target for target in _link_targets(document.read_text()) if not re.match(r"[a-z]+:", target)]
        return [target for target in own if is_broken(document, target)]

    assert _find_faults(find_broken) == {}


def test_the_readme_is_short():
    assert len(README.splitlines()) <= MOST_LINES_OF_THE_README
    assert len(_section(README, "A worked example").strip().splitlines()) <= MOST_LINES_OF_ITS_EXAMPLE


def test_the_index_lists_every_page():
    linked = {(ROOT / "docs" / target.partition("#")[0]).resolve() for target in _link_targets(_page("README.md"))}
    assert [str(page) for page in PAGES if page.parent == ROOT / "docs" and page not in linked] == [
        str(ROOT / "docs" / "README.md")
    ]


@pytest.mark.parametrize("image", IMAGES, ids=lambda path: path.name)
def test_an_image_is_small_and_shown_by_a_page(image):
    assert image.stat().st_size <= MOST_BYTES_OF_AN_IMAGE
    assert any(f"{image.name})" in document.read_text() for document in DOCUMENTS)


def test_the_readme_names_some_commands_and_links_to_all():
    section = _section(README, "Commands")
    assert len(re.findall(r"^\| `gitsync [a-z]+", section, flags=re.MULTILINE)) == 5
    assert "docs/commands.md" in _link_targets(section)
    described = re.findall(r"^### gitsync ([a-z]+)$", _page("commands.md"), flags=re.MULTILINE)
    assert sorted(described) == sorted(COMMANDS)


def test_commands_that_are_shown_exist():
    def list_unknown(document: Path) -> set[str]:
        shown = {line.split()[1] for line in _code(document.read_text()) if re.match(r"gitsync [a-z]", line)}
        return shown - set(COMMANDS)

    assert _find_faults(list_unknown) == {}


@by_workflow
def test_commands_in_workflows_exist(workflow):
    start = r"^\s*(?:- )?(?:run: |bash: |inlineScript: )?(?:exec )?"
    shown = re.findall(start + r"gitsync ([a-z]+)\b", workflow.read_text(), flags=re.MULTILINE)
    assert set(shown) <= set(COMMANDS)


def test_variables_that_are_named_exist():
    workflow_variables = {"GITSYNC_ENABLED", "GITSYNC_SITE_PAGES", "AZURE_PLAN_CLIENT_ID"}
    of_az = {"AZURE_DEVOPS_EXT_PAT", "AZURE_CONFIG_DIR", "AZURE_EXTENSION_DIR"}
    of_pods = {f"AZURE_KUBERNETES_{name}" for name in ("TOKEN_PROXY", "SNI_NAME", "CA_FILE", "CA_DATA")}
    known = VARIABLES | workflow_variables | of_az | of_pods | {"GITSYNC_CONFIG", "GITSYNC_SECRET"}

    def list_unknown(file: Path) -> set[str]:
        ours = set(re.findall(r"\b(?:GITSYNC|AZURE)_[A-Z_]*[A-Z]\b(?!_)", file.read_text()))
        own = {name for name in ours if name.startswith(("GITSYNC_SECRET_", "GITSYNC_OUTPUT_", VARIABLE_PREFIX))}
        return ours - known - own

    files = [*DOCUMENTS, *WORKFLOWS, ROOT / "tools" / "demo.py", *DEPLOYED]
    assert _find_faults(list_unknown, files) == {}


@cache
def _flags(command: str) -> frozenset[str]:
    """The flags that the help of a command names."""
    shown = StringIO()
    with redirect_stdout(shown), suppress(SystemExit):
        run([command, "--help-all"])
    text = shown.getvalue()
    switches = re.findall(r"--\[no-\]([a-z-]+)", text)
    return frozenset(
        [*re.findall(r"--[a-z][a-z-]+", text), *(f"--{no}{name}" for name in switches for no in ("", "no-"))]
    )


def test_flags_that_are_shown_exist():
    def list_unknown(document: Path) -> list[tuple[str, str]]:
        lines = [line.split() for line in _code(document.read_text()) if re.match(r"gitsync [a-z]", line)]
        return [
            (words[1], word)
            for words in lines
            for word in words
            if word.startswith("--") and re.split(r"[=,;]", word)[0] not in _flags(words[1])
        ]

    assert _find_faults(list_unknown) == {}


def test_flags_that_a_page_names_exist():
    known = {flag for command in COMMANDS for flag in _flags(command)} | FLAGS_OF_OTHERS

    def list_unknown(document: Path) -> set[str]:
        lines = _code(document.read_text())
        return {re.split(r"[ =,;`]", line)[0] for line in lines if re.match("--[a-z]", line)} - known

    assert _find_faults(list_unknown) == {}


def test_the_exit_codes_are_those_of_the_code():
    rows = [int(code) for code in re.findall(r"^\| (\d+) \|", _page("exit-codes.md"), flags=re.MULTILINE)]
    assert rows == [
        ExitCode.UNREACHABLE,
        ExitCode.REFUSED,
        ExitCode.FAILED,
        ExitCode.DRIFT,
        ExitCode.PENDING,
        ExitCode.FINE,
        ExitCode.INTERRUPTED,
        ExitCode.TERMINATED,
        ExitCode.HUNG_UP,
        ExitCode.FAULT,
    ]


async def test_the_extension_that_the_guide_shows_works():
    """It blocks what the built-in one blocks, with the same words."""
    shown = re.search(r"^```python\n(.*?)^```", _page("extensions.md"), flags=re.MULTILINE | re.DOTALL)
    assert shown
    names: dict[str, Any] = {}
    exec(compile(shown.group(1), "extensions.md", "exec"), names)
    busy = Live(body={"properties": {"provisioningState": "Updating"}})
    for extension in names["EXTENSIONS"]:
        subject = _subject(extension, busy)
        assert await _requested([extension], subject) == await _requested(BUILT_IN, subject) != ""
        assert await _requested([extension], replace(subject, live=None, owner=None)) == ""


def _subject(extension: Extension, live: Live) -> Subject:
    return Subject(
        key=Key(extension.group, extension.kind, "default", "one"),
        gvk=GVK(extension.group, "v1", extension.kind),
        spec={},
        arm_id="/subscriptions/s/resourceGroups/g/providers/P/t/one",
        api_version="2025-01-01",
        live=live,
        owner=live,
    )


async def _requested(extensions: Iterable[Extension], subject: Subject) -> str:
    """Why the checks block; "" where they agree."""
    registry = Registry(extensions)
    check = registry.owner_check if registry.checks_owner(subject.key.group, subject.key.kind) else registry.pre_check
    return (await check(subject, cast("ReadsAzure", None))).reason


def test_make_targets_that_a_page_names_exist():
    targets = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))

    def list_unknown(document: Path) -> set[str]:
        matches = (re.match(r"make ([a-z-]+)", line) for line in _code(document.read_text()))
        return {match[1] for match in matches if match} - targets

    assert _find_faults(list_unknown) == {}


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_the_pages_for_a_start_name_the_make_targets(name):
    assert {"make test", "make demo"} <= {line.partition("#")[0].strip() for line in _code((ROOT / name).read_text())}


def test_the_pipeline_runs_what_the_pages_have_people_run():
    pipeline = (ROOT / ".ci" / "run").read_text()
    assert all(f"step make {target}" in pipeline for target in ("lint", "test", "demo"))


@pytest.mark.parametrize("form", FORMS, ids=lambda path: path.stem)
def test_an_issue_form_is_one_that_github_shows(form):
    content = yaml.safe_load(form.read_text())
    fields = [field for field in content["body"] if field["type"] != "markdown"]
    assert content["name"]
    assert content["description"]
    assert len({field["id"] for field in fields}) == len(fields)
    assert all(field["attributes"]["label"] for field in fields)
    assert any(field.get("validations", {}).get("required") for field in fields)
    assert {field["type"] for field in content["body"]} <= {"markdown", "textarea", "input", "dropdown"}


def test_the_image_is_built_from_what_its_context_holds():
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    assert {name for line in copied for name in line.split()} == kept
    assert all((ROOT / name).exists() for name in kept)


def test_every_promise_of_the_security_page_names_a_test_that_exists():
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    named = re.findall(r"\]\(\.\./(tests/[\w/]+\.py)\)(?:`::(\w+)`)?", page)
    assert len(named) > 25
    assert [
        (path, test)
        for path, test in named
        if not (ROOT / path).is_file() or (test and f"def {test}(" not in (ROOT / path).read_text(encoding="utf-8"))
    ] == []


def test_the_architecture_page_answers_twenty_readers_with_paths_that_exist():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    checks = re.findall(r"^\| (Where .*\?) \| (.*) \|$", page, flags=re.MULTILINE)
    assert len(checks) >= 20
    for prompt, answer in checks:
        paths = re.findall(r"\(\.\./(gitsync/[\w/]+\.py)\)", answer)
        assert paths, prompt
        assert [path for path in paths if not (ROOT / path).is_file()] == []
