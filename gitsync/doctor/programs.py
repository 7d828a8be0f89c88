"""The programs that a run starts: whether those that the source needs are installed."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from gitsync.doctor.check import Check, CheckLevel, make_doubt, make_ok
from gitsync.model.unit import UnitKind
from gitsync.processes.programs import Program, ProgramCall, run, select_environment

_PATIENCE = 10.0  # seconds


class _Tool(NamedTuple):
    """The arguments that print the version, and what to install."""

    arguments: tuple[str, ...]
    hint: str


_TOOLS = {
    Program.GIT: _Tool(("--version",), "Install git 2.31 or newer, and add it to the PATH."),
    Program.KUSTOMIZE: _Tool(("version",), "Install kustomize, or kubectl, which has it built in."),
    Program.HELM: _Tool(("version", "--short"), "Install helm, version 3 or 4."),
    Program.SOPS: _Tool(
        ("--version", "--disable-version-check"), "Install it from https://github.com/getsops/sops/releases."
    ),
}

_BUILDERS = {
    UnitKind.KUSTOMIZATION: Program.KUSTOMIZE,
    UnitKind.FLUX: Program.KUSTOMIZE,
    UnitKind.APPLICATION: Program.KUSTOMIZE,
    UnitKind.CHART: Program.HELM,
    UnitKind.HELM_RELEASE: Program.HELM,
}


def find_needed_tools(units: Collection[UnitKind], *, encrypted: bool, exports_by_sops: bool) -> frozenset[Program]:
    """The programs that a source with such units needs. `encrypted` says that it has files of SOPS."""
    builders = {_BUILDERS[kind] for kind in units if kind in _BUILDERS}
    return frozenset({Program.GIT, *builders, *({Program.SOPS} if encrypted or exports_by_sops else ())})


def check_tool(program: Program) -> Check:
    """Start a program to see its version."""
    tool = _TOOLS[program]
    version = _read_version(program.value, program, tool.arguments)
    if version is None and program is Program.KUSTOMIZE:
        version = _read_version("kubectl", program, ("version", "--client"))
    if version is None:
        return Check(name=program.value, level=CheckLevel.ERROR, message="It is not installed.", hint=tool.hint)
    return make_ok(program.value, version) if version else make_doubt(program.value, "It does not tell its version.")


def _read_version(command: str, program: Program, arguments: tuple[str, ...]) -> str | None:
    """The first line that it prints; "" if it fails, None if it is not there."""
    call = ProgramCall(
        program=program,
        command=(command, *arguments),
        environment=select_environment(program, os.environ),
        timeout=_PATIENCE,
        folder=Path("/"),
    )
    try:
        ended = run(call)
    except TimeoutError:
        return ""
    except OSError:
        return None
    lines = ended.output.decode("utf-8", "replace").splitlines() if ended.code == 0 else []
    return lines[0].strip()[:100] if lines else ""
