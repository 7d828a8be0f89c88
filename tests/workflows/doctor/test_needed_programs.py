"""The programs that a source needs."""

from __future__ import annotations

import pytest

from gitsync.model.unit_kind import UnitKind
from gitsync.settings.processes.programs import Program
from gitsync.workflows.doctor.source import check_tool, list_needed_tools

NEEDS = [
    ((UnitKind.FOLDER,), {}, set(), "plain files"),
    ((UnitKind.KUSTOMIZATION, UnitKind.FOLDER), {}, {"kustomize"}, "a kustomization"),
    ((UnitKind.CHART,), {}, {"helm"}, "a chart"),
    ((), {"encrypted": True}, {"sops"}, "encrypted Secrets"),
    ((), {"exports_by_sops": True}, {"sops"}, "exports that are encrypted"),
]


@pytest.mark.parametrize(("units", "more", "expected", "why"), NEEDS, ids=[row[-1] for row in NEEDS])
def test_what_is_needed_in_addition_to_git(units, more, expected, why):
    found = list_needed_tools(units, **{"encrypted": False, "exports_by_sops": False, **more})
    assert {tool.value for tool in found} == {"git", *expected}, why


def test_versions_and_missing_tools(tmp_path, monkeypatch):
    assert check_tool(Program.GIT).message.startswith("git version ")
    monkeypatch.setenv("PATH", str(tmp_path))
    missing = check_tool(Program.KUSTOMIZE)
    assert (missing.level.value, missing.hint) == ("error", "Install kustomize, or kubectl, which includes it.")
    for name, text in (("kubectl", "echo Client v1"), ("helm", "exit 3")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    assert check_tool(Program.KUSTOMIZE).message == "Client v1"
    assert check_tool(Program.HELM).level.value == "warning"
