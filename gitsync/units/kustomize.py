"""Run the tool that builds kustomizations, `kustomize` or `kubectl kustomize`
(docs/reference/design.md#kustomizations).

The source may be a revision without a work tree, and it is not trusted: the files that a build needs are written to a
folder of their own, and the tool runs there without plugins, without helm, without access to remote files, and with
limits of time and memory.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from gitsync.errors import SourceError
from gitsync.manifests.origins import ORIGIN_PREFIX
from gitsync.processes.grace_period import Grace
from gitsync.processes.programs import Ended, Program, ProgramCall, run, select_environment
from gitsync.processes.temporary_folders import open_temporary_folder
from gitsync.redaction import truncate
from gitsync.units.unbuildable import UnbuildableError

TIMEOUT = 60.0
"""Seconds for each build."""

MEMORY = 1024**3
"""Bytes that each build may allocate."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_KUBECTL_LOG = re.compile(r'\A[EF]\d{4} \S+ +\d+ \S+\] "command failed" err=(?:(".*")|<\s(.*)>)\Z', re.DOTALL)
_QUOTED = re.compile(r"`.*?`|\[patch: .*\]", re.DOTALL)
_SECRET = re.compile(r"\bSecret|\b(?:string)?[dD]ata\b|secretGenerator")
_RESTRICTED = "is not in or below"
_OUT_OF_MEMORY = re.compile(r"fatal error: (?:runtime: )?(?:out of memory|cannot allocate memory)")
_NOWHERE = "http://127.0.0.1:9"  # the discard port: requests through a proxy are refused at once
_LONGEST_COMPLAINT = 10_000
_TOOLS = (("kustomize", ("build",)), ("kubectl", ("kustomize",)))
_SOURCE = ORIGIN_PREFIX.strip("./")


def has_tool() -> bool:
    """Tell whether a tool to build with is installed."""
    return any(shutil.which(tool) for tool, _ in _TOOLS)


def build(
    path: str,
    files: Mapping[str, bytes],
    *,
    is_restricted: bool = True,
    more: Mapping[str, Any] | None = None,
    timeout: float = TIMEOUT,
    grace: Grace | None = None,
) -> bytes:
    """The manifests of the kustomization at `path`, as one YAML text; each names its origin in an annotation.

    `files` are all that the build may need. `more` are fields of a kustomization around it. `is_restricted` keeps the
    tool to files below each kustomization. `timeout` is in seconds; the tool ends with `grace`. SourceError if no tool
    is installed, UnbuildableError if the build fails.
    """
    command = _find_command(path, is_restricted=is_restricted)
    with open_temporary_folder() as temporary:
        write_files(temporary / _SOURCE, files)
        folder = temporary / _SOURCE / PurePosixPath(path).parent
        wrapper, home = temporary / "wrapper", temporary / "home"
        home.mkdir()
        write_files(wrapper, {"kustomization.yaml": _make_wrapper(path, more or {})})
        call = ProgramCall(
            program=Program.KUSTOMIZE,
            command=[*command, str(wrapper)],
            environment=_make_environment(home),
            timeout=timeout,
            grace=grace or Grace(),
            folder=wrapper,
            memory=MEMORY,
        )
        result = _run(path, call)
        # The tool may be too old for origins; and its complaint is shorter without the wrapper.
        if result.code != 0 and not more:
            result = _run(path, replace(call, command=[*command, str(folder)], folder=folder))
    if result.code != 0:
        complaint = result.complaint.decode("utf-8", "replace")
        raise _explain(path, complaint.replace(f"{temporary / _SOURCE}/", "").replace(str(temporary / _SOURCE), "."))
    return result.output


def _find_command(path: str, *, is_restricted: bool) -> tuple[str, ...]:
    restrictor = "LoadRestrictionsRootOnly" if is_restricted else "LoadRestrictionsNone"
    for tool, words in _TOOLS:
        tool_path = shutil.which(tool)
        if tool_path:
            return (tool_path, *words, "--load-restrictor", restrictor)
    raise SourceError(
        f"{path} must be built, but neither kustomize nor kubectl is installed.",
        hint="Install one of them, or set --path to a folder without kustomizations.",
    )


def _make_wrapper(path: str, more: Mapping[str, Any]) -> bytes:
    """A kustomization that builds the one at `path`, and asks for the origin of each manifest."""
    folder = PurePosixPath(f"{ORIGIN_PREFIX}{path}").parent
    return json.dumps({"resources": [str(folder)], "buildMetadata": ["originAnnotations"], **more}).encode()


def _explain(path: str, complaint: str) -> UnbuildableError:
    folder = str(PurePosixPath(path).parent)
    if _OUT_OF_MEMORY.search(complaint):
        message = f"{path} was not built: it needs more than {MEMORY // 1024**2} MiB of memory."
        return UnbuildableError(message, hint="Split the kustomization.", path=path)
    hint = f"Run `kustomize build {folder}`."
    if _RESTRICTED in complaint:
        hint = f"Set `loadRestrictor: none` for {folder} under `units` in gitsync.yaml, as Flux does, or move the file."
    return UnbuildableError(f"{path} cannot be built: {_clean_complaint(complaint)}", hint=hint, path=path)


def _run(path: str, call: ProgramCall) -> Ended:
    try:
        return run(call)
    except TimeoutError:
        raise UnbuildableError(
            f"{path} was not built within {call.timeout:g} seconds.", hint="Split the kustomization.", path=path
        ) from None
    except OSError as error:
        raise SourceError(f"{call.command[0]} cannot be started: {error.strerror}.", hint="Reinstall it.") from error


def write_files(root: Path, files: Mapping[str, bytes]) -> None:
    """Write files below a folder that is new or empty. SourceError for a path that would lead out of it or is taken."""
    root.mkdir(exist_ok=True)
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
    """What the tool said, without the prefix of its log, and without manifests that may have a secret."""
    text = complaint.strip()
    if logged := _KUBECTL_LOG.match(text):
        text = _unquote(logged[1]) if logged[1] else logged[2]
    if _SECRET.search(text):
        text = _QUOTED.sub("(not shown: it may have a secret)", text)
    text = " ".join(_CONTROL.sub(" ", text.removeprefix("Error: ").removeprefix("error: ")).split())
    return truncate(text, _LONGEST_COMPLAINT) or "the tool gave no reason."


def _unquote(text: str) -> str:
    try:
        return str(json.loads(text))
    except ValueError:
        return text
