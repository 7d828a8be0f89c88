"""What the documents and the workflows name exists: commands, flags, variables, make targets, files, headings."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from contextlib import redirect_stdout, suppress
from dataclasses import replace
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from gitsync.cli.main import COMMANDS, run
from gitsync.config import SETTINGS
from gitsync.core.exitcode import DRIFT, FAULT, FINE, INTERRUPTED, NOT_READY, PENDING, REFUSED
from gitsync.extensions.points import Extension, ReadsAzure, Subject
from gitsync.extensions.registry import BUILT_IN, Registry
from gitsync.model.gvk import GVK, Key
from gitsync.model.live import Live

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yaml"))
VARIABLES = {name for setting in SETTINGS.values() for name in (*setting.variables, *setting.switches)}

by_name = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
by_workflow = pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)


def _without_code(text: str) -> str:
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


def _code(text: str) -> list[str]:
    """Lines of code blocks and what stands between backticks, without prompts."""
    blocks = re.findall(r"^```.*?\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    spans = re.findall(r"`([^`\n]+)`", _without_code(text))
    return [line.strip().removeprefix("$ ") for block in (*blocks, *spans) for line in block.splitlines()]


def _anchors(text: str) -> set[str]:
    """The names that a renderer gives to headings: lower case, no punctuation, dashes for blanks."""
    headings = re.findall(r"^#+ (.+)$", _without_code(text), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.casefold()).strip().replace(" ", "-") for heading in headings}


def _workflow(path: Path) -> dict[str, Any]:
    """A workflow with all scalars as text, since YAML 1.1 reads the key `on` as a boolean."""
    return yaml.load(path.read_text(), Loader=yaml.BaseLoader)


def _section(title: str) -> str:
    """The text of one section of the README, up to the next heading of its level."""
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", README, flags=re.MULTILINE | re.DOTALL)
    assert found, f"README has no section {title}"
    return found.group(1)


@by_name
def test_links_lead_somewhere(document):
    text = document.read_text()
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", _without_code(text)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = document.parent / path if path else document
        if not file.exists() or (anchor and anchor not in _anchors(file.read_text())):
            broken.append(target)
    assert broken == []


def test_the_readme_lists_every_command_and_no_other():
    rows = re.findall(r"^\| `gitsync ([a-z]+)", _section("Commands"), flags=re.MULTILINE)
    assert sorted(rows) == sorted(COMMANDS)


@by_name
def test_commands_that_are_shown_exist(document):
    shown = {line.split()[1] for line in _code(document.read_text()) if re.match(r"gitsync [a-z]", line)}
    assert shown <= set(COMMANDS)


@by_workflow
def test_commands_in_workflows_exist(workflow):
    shown = re.findall(r"^\s*(?:- run: )?gitsync ([a-z]+)\b", workflow.read_text(), flags=re.MULTILINE)
    assert set(shown) <= set(COMMANDS)


@pytest.mark.parametrize(
    "file",
    [*DOCUMENTS, *WORKFLOWS, ROOT / "tools" / "demo.py", ROOT / "examples" / "cronjob.yaml"],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_variables_that_are_named_exist(file):
    ours = re.findall(r"\b(?:GITSYNC|AZURE)_[A-Z_]*[A-Z]\b(?!_)", file.read_text())
    workflow_variables = {"GITSYNC_ENABLED", "AZURE_PLAN_CLIENT_ID"}
    known = VARIABLES | workflow_variables | {"GITSYNC_CONFIG", "GITSYNC_SECRET"}
    secrets = {name for name in ours if name.startswith("GITSYNC_SECRET_")}  # one a key of a Secret
    assert set(ours) - known - secrets == set()


@cache
def _flags(command: str) -> frozenset[str]:
    """The flags that the help of a command names."""
    shown = StringIO()
    with redirect_stdout(shown), suppress(SystemExit):
        run([command, "--help"])
    return frozenset(re.findall(r"--[a-z][a-z-]+", shown.getvalue()))


@by_name
def test_flags_that_are_shown_exist(document):
    lines = [line.split() for line in _code(document.read_text()) if re.match(r"gitsync [a-z]", line)]
    wrong = [
        (words[1], word)
        for words in lines
        for word in words
        if word.startswith("--") and re.split(r"[=,;]", word)[0] not in _flags(words[1])
    ]
    assert wrong == []


def test_flags_that_the_readme_speaks_of_exist():
    spoken = {re.split("[ =]", line)[0] for line in _code(README) if re.match("--[a-z]", line)}
    assert spoken - {flag for command in COMMANDS for flag in _flags(command)} == set()


def test_the_exit_codes_are_those_of_the_code():
    rows = [int(code) for code in re.findall(r"^\| (\d+) \|", _section("Exit codes"), flags=re.MULTILINE)]
    assert rows == [REFUSED, NOT_READY, DRIFT, PENDING, FINE, INTERRUPTED, FAULT]


def test_the_extension_that_the_readme_shows_works():
    """It blocks what the built-in one blocks, with the same words."""
    shown = re.search(r"^```python\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)
    assert shown
    names: dict[str, Any] = {}
    exec(compile(shown.group(1), "README.md", "exec"), names)
    busy = Live(body={"properties": {"provisioningState": "Updating"}})
    for extension in names["EXTENSIONS"]:
        subject = _subject(extension, busy)
        assert _asked([extension], subject) == _asked(BUILT_IN, subject) != ""
        assert _asked([extension], replace(subject, live=None, owner=None)) == ""


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


def _asked(extensions: Iterable[Extension], subject: Subject) -> str:
    """Why the checks block; "" where they agree."""
    registry = Registry(extensions)
    check = registry.owner_check if registry.checks_owner(subject.key.group, subject.key.kind) else registry.pre_check
    return asyncio.run(check(subject, cast("ReadsAzure", None))).reason


def test_make_targets_that_the_readme_names_exist():
    targets = set(re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    assert set(re.findall(r"(?:^|`)make ([a-z]+)", README, flags=re.MULTILINE)) <= targets


def test_the_pipeline_runs_what_the_readme_tells_people_to_run():
    pipeline = (ROOT / ".ci" / "run").read_text()
    assert all(f"step make {target}" in pipeline for target in ("lint", "test", "demo"))


@by_workflow
def test_actions_are_pinned_by_commit(workflow):
    used = re.findall(r"uses: (.+)", workflow.read_text())
    assert used
    assert [line for line in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line)] == []


@by_workflow
def test_workflows_ask_for_few_rights_and_never_run_a_fork_with_them(workflow):
    told = _workflow(workflow)
    assert told["permissions"]["contents"] == ("write" if workflow.stem == "example-sync" else "read")
    assert "pull_request_target" not in told["on"]
    assert all("timeout-minutes" in job for job in told["jobs"].values())


@by_workflow
def test_no_expression_of_a_stranger_reaches_a_script(workflow):
    told = _workflow(workflow)
    scripts = [step["run"] for job in told["jobs"].values() for step in job["steps"] if "run" in step]
    assert [script for script in scripts if "${{" in script] == []


@pytest.mark.parametrize("stem", ["example-plan", "example-sync"])
def test_the_examples_are_off_unless_somebody_turns_them_on(stem):
    told = _workflow(ROOT / ".github" / "workflows" / f"{stem}.yaml")
    assert all("vars.GITSYNC_ENABLED == 'true'" in job["if"] for job in told["jobs"].values())


def test_the_image_is_built_from_what_its_context_holds():
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    assert {name for line in copied for name in line.split()} == kept
    assert all((ROOT / name).exists() for name in kept)
