"""Build kustomizations with the tool that is installed, `kustomize` or `kubectl kustomize`
(docs/reference/design.md#kustomizations).

The source may be a revision without a work tree, and it is not trusted: the files that a build needs are written to a
folder of their own, and the tool runs there without plugins, without helm, and without access to remote files.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path, PurePosixPath

from gitsync.errors import SourceError
from gitsync.git.source.kustomization import Read, find_folder, find_inputs, is_component
from gitsync.processes.programs import Ended, Program, ProgramCall, run, select_environment
from gitsync.processes.temporary_folders import open_temporary_folder
from gitsync.redaction import truncate

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_NOWHERE = "http://127.0.0.1:9"  # the discard port: requests through a proxy are refused at once
_LONGEST_COMPLAINT = 1000
_TOOLS = (("kustomize", ("build",)), ("kubectl", ("kustomize",)))


def build_kustomizations(
    units: Sequence[str], paths: Collection[str], read: Read, *, timeout: float = 60.0
) -> Mapping[str, bytes]:
    """The manifests of each kustomization, by its path (with the suffix .yaml), as one YAML text each.

    `units` come from `find_kustomizations`; `paths` are all files of the source, any of which a base may need, and
    `read` returns contents. `timeout` is in seconds for each build. Components are skipped. Line numbers of problems
    are those of the built text. Raises SourceError if no tool is installed, a build fails, or needs a remote file.
    """
    buildable_units = [unit for unit in units if not is_component(read([unit])[unit])]
    if not buildable_units:
        return {}
    command = _find_command(buildable_units[0])
    return {
        _make_yaml_path(unit): _build(unit, read(find_inputs(unit, paths, read)), command, timeout)
        for unit in buildable_units
    }


def _make_yaml_path(unit: str) -> str:
    """The path of the result: gitsync recognizes manifests by their suffix."""
    return unit if unit.endswith((".yaml", ".yml")) else f"{unit}.yaml"


def has_tool() -> bool:
    """Tell whether a tool to build with is installed."""
    return any(shutil.which(tool) for tool, _ in _TOOLS)


def _find_command(unit: str) -> tuple[str, ...]:
    for tool, words in _TOOLS:
        tool_path = shutil.which(tool)
        if tool_path:
            return (tool_path, *words, "--load-restrictor", "LoadRestrictionsRootOnly")
    raise SourceError(
        f"{unit} must be built, but neither kustomize nor kubectl is installed.",
        hint="Install one of them, or set --path to a folder without kustomizations.",
    )


def _build(unit: str, files: Mapping[str, bytes], command: Sequence[str], timeout: float) -> bytes:
    with open_temporary_folder() as temporary:
        root, home = temporary / "source", temporary / "home"
        root.mkdir()
        home.mkdir()
        write_files(root, files)
        folder = root / find_folder(unit)
        call = ProgramCall(
            program=Program.KUSTOMIZE,
            command=[*command, str(folder)],
            environment=_make_environment(home),
            timeout=timeout,
            folder=folder,
        )
        result = _run(unit, call)
    if result.code != 0:
        complaint = result.complaint.decode("utf-8", "replace")
        reason = _clean_complaint(complaint.replace(str(root) + "/", "").replace(str(root), "."))
        raise SourceError(
            f"{unit} cannot be built: {reason}", hint=f"Run `kustomize build {find_folder(unit) or '.'}`."
        )
    return result.output


def _run(unit: str, call: ProgramCall) -> Ended:
    try:
        return run(call)
    except TimeoutError:
        raise SourceError(
            f"{unit} was not built within {call.timeout:g} seconds.", hint="Split the kustomization."
        ) from None
    except OSError as error:
        raise SourceError(f"{call.command[0]} cannot be started: {error.strerror}.", hint="Reinstall it.") from error


def write_files(root: Path, files: Mapping[str, bytes]) -> None:
    """Write files below a folder that is empty. SourceError for a path that would lead out of it or is taken."""
    for path, content in sorted(files.items()):
        parts = PurePosixPath(path).parts
        if path.startswith("/") or "\0" in path or "\\" in path or not parts or ".." in parts:
            raise SourceError(f"{path!r} is not a path in the source.")
        target = root.joinpath(*parts)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as file:
                file.write(content)
        except OSError as error:
            raise SourceError(f"{path} cannot be written for the build: {error.strerror}.") from error


def _make_environment(home: Path) -> Mapping[str, str]:
    """Only the search path of gitsync; no home with plugins, no proxy, no transport for git."""
    proxies = {name: _NOWHERE for low in ("http_proxy", "https_proxy", "all_proxy") for name in (low, low.upper())}
    return (
        select_environment(Program.KUSTOMIZE, os.environ)
        | proxies
        | {
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home),
            "KUSTOMIZE_PLUGIN_HOME": str(home),
            "KUBECONFIG": os.devnull,
            "TMPDIR": str(home),
            "GIT_ALLOW_PROTOCOL": "none",
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C",
        }
    )


def _clean_complaint(complaint: str) -> str:
    text = " ".join(_CONTROL.sub(" ", complaint).split())
    return truncate(text, _LONGEST_COMPLAINT) or "the tool gave no reason."
