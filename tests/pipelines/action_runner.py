"""The steps of action.yml as a runner of GitHub Actions takes them: with the inputs, variables and outputs of a job.

It supports the few forms of expressions that the action uses, and fails for any other. Steps that use other actions are
only recorded.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.pipelines.scripts import run_job_script

ROOT = Path(__file__).resolve().parent.parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_FORMAT = re.compile(r"format\('(.*?)\{0\}', (.*)\)")


@dataclass
class Job:
    """A job with the action as a step."""

    folder: Path
    github: Mapping[str, Any]  # the context
    env: dict[str, str]  # the variables of the job
    inputs: dict[str, str] = field(default_factory=dict)
    used: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    log: str = ""

    def run(self, *left_out: str) -> dict[str, str]:
        """Take the steps, without those whose names are given; the outputs of the action."""
        steps: dict[str, dict[str, str]] = {}
        given = {name: declared.get("default", "") for name, declared in ACTION["inputs"].items()} | self.inputs
        contexts: dict[str, Any] = {"github": self.github, "env": self.env, "steps": steps}
        contexts["runner"] = {"temp": str(self.folder)}
        contexts["inputs"] = {name: _expand(str(value), contexts) for name, value in given.items()}
        self.used, self.log, failed = [], "", False
        for step in ACTION["runs"]["steps"]:
            runs = holds(step.get("if", "${{ success() }}"), contexts, failed=failed)
            if step["name"] in left_out or not runs:
                continue
            if "uses" in step:
                inputs = {name: _expand(value, contexts) for name, value in step["with"].items()}
                self.used.append((step["uses"].partition("@")[0], inputs))
                continue
            outputs, code = self._take(step, contexts)
            steps[step.get("id", step["name"])] = {"outputs": outputs}
            failed = failed or code != 0
        return {name: _expand(declared["value"], contexts) for name, declared in ACTION["outputs"].items()}

    def _take(self, step: Mapping[str, Any], contexts: Mapping[str, Any]) -> tuple[dict[str, str], int]:
        assert "${{" not in step["run"], "an expression in a script is run as a part of it"
        output = self.folder / "output"
        output.write_text("")
        variables = {name: _expand(value, contexts) for name, value in step.get("env", {}).items()}
        done = run_job_script(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
            self.folder,
            {**self.env, **self._variables(output), **variables},
        )
        self.log += done.out + done.err
        return dict(line.split("=", 1) for line in output.read_text().splitlines()), done.code

    def _variables(self, output: Path) -> dict[str, str]:
        """What a runner sets for every step."""
        named = (
            "server_url",
            "repository",
            "ref",
            "ref_name",
            "ref_type",
            "sha",
            "event_name",
            "run_id",
            "run_attempt",
        )
        return {
            **{f"GITHUB_{name.upper()}": str(self.github[name]) for name in named},
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "RUNNER_TEMP": str(self.folder),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    @property
    def summary(self) -> Path:
        return self.folder / "summary.md"


def _expand(text: str, contexts: Mapping[str, Any]) -> str:
    return _EXPRESSION.sub(lambda found: str(_evaluate(found[1], contexts)), text)


def _evaluate(expression: str, contexts: Mapping[str, Any]) -> Any:
    """A chain of `||`, of names, texts and `format`."""
    expression = expression.strip()
    if found := _FORMAT.fullmatch(expression):
        return found[1] + str(_evaluate(found[2], contexts))
    values = [_find(part.strip(" ()"), contexts) for part in expression.split("||")]
    return next(filter(None, values), values[-1])


def _find(name: str, contexts: Mapping[str, Any]) -> Any:
    if name.startswith("'"):
        return name.strip("'")
    assert re.fullmatch(r"[a-z]+(\.[A-Za-z_-]+)+", name), name
    value: Any = contexts
    for part in name.split("."):
        value = value.get(part, "") if isinstance(value, Mapping) else ""
    return value


def holds(condition: str, contexts: Mapping[str, Any], *, failed: bool = False) -> bool:
    """A conjunction of comparisons, after a function that selects which of the steps before. No job is cancelled."""
    (expression,) = _EXPRESSION.findall(condition)
    first, *others = (part.strip() for part in expression.split("&&"))
    assert first in {"success()", "!cancelled()", "always()"}
    if first == "success()" and failed:
        return False
    for part in others:
        left, comparison, right = re.split(r" (==|!=) ", part)
        if (_evaluate(left, contexts) == _evaluate(right, contexts)) != (comparison == "=="):
            return False
    return True
