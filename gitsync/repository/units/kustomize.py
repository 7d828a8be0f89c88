"""Run the tool that builds kustomizations, `kustomize` or `kubectl kustomize`: without plugins and without helm."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any, ClassVar

from gitsync.desired.manifests.origins import ORIGIN_PREFIX
from gitsync.errors import SourceError
from gitsync.model.problem import Problem
from gitsync.repository.units.build_sandbox import (
    MEMORY,
    TIMEOUT,
    KustomizationError,
    UnbuildableError,
    clean_complaint,
    digest_inputs,
    make_environment,
    run_tool,
    write_files,
)
from gitsync.settings.processes.programs import Grace, Program, ProgramCall
from gitsync.settings.processes.temporary_folders import open_temporary_folder

_KUBECTL_LOG = re.compile(r'\A[EF]\d{4} \S+ +\d+ \S+\] "command failed" err=(?:(".*")|<\s(.*)>)\Z', re.DOTALL)
_QUOTED = re.compile(r"`.*?`|\[patch: .*\]", re.DOTALL)
_WARNING = ("# Warning:", "Warning:")
_SECRET = re.compile(r"\bSecret|\b(?:string)?[dD]ata\b|secretGenerator")
_RESTRICTED = "is not in or below"
_TOOLS = (("kustomize", ("build",)), ("kubectl", ("kustomize",)))
_SOURCE = ORIGIN_PREFIX.strip("./")


@dataclass(frozen=True, slots=True, kw_only=True)
class KustomizeJob:
    """The build of one kustomization."""

    failure: ClassVar[type[UnbuildableError]] = KustomizationError

    path: str  # its folder
    files: Mapping[str, bytes] = field(repr=False)  # all that it may need; a Secret may be among them
    is_restricted: bool = True  # files must be below the kustomization
    more: Mapping[str, Any] = field(default_factory=dict)  # fields of a kustomization around it
    warnings: tuple[Problem, ...] = ()  # about what it names

    @property
    def digest(self) -> str:
        return digest_inputs([self.path, self.is_restricted, self.more], self.files)

    def run(self, timeout: float, grace: Grace) -> bytes:
        return build(
            self.path, self.files, is_restricted=self.is_restricted, more=self.more, timeout=timeout, grace=grace
        )


def has_tool() -> bool:
    """Return whether a tool to build with is installed."""
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
    """Build the manifests of the kustomization at `path`, as one YAML text; each names its origin in an annotation.

    `files` are all that the build may need. `more` are fields of a kustomization around it. `is_restricted` keeps the
    tool to files below each kustomization. `timeout` is in seconds; the tool ends with `grace`. Raises SourceError if
    no tool is installed, KustomizationError if the build fails.
    """
    command = _make_command(path, is_restricted=is_restricted)
    with open_temporary_folder() as temporary:
        write_files(temporary / _SOURCE, files)
        folder = temporary / _SOURCE / PurePosixPath(path).parent
        wrapper, home = temporary / "wrapper", temporary / "home"
        home.mkdir()
        # The tool builds a kustomization around the one at `path`, which adds the origin of each manifest.
        base = str(PurePosixPath(f"{ORIGIN_PREFIX}{path}").parent)
        around = {"resources": [base], "buildMetadata": ["originAnnotations"], **(more or {})}
        write_files(wrapper, {"kustomization.yaml": json.dumps(around).encode()})
        call = ProgramCall(
            program=Program.KUSTOMIZE,
            command=[*command, str(wrapper)],
            environment=make_environment(Program.KUSTOMIZE, home, ["KUSTOMIZE_PLUGIN_HOME"]),
            timeout=timeout,
            grace=grace or Grace(),
            folder=wrapper,
            memory=MEMORY,
        )
        result = run_tool(call, path, KustomizationError)
        # The tool may be too old for origins; and its complaint is shorter without the wrapper.
        if result.code != 0 and not more:
            result = run_tool(replace(call, command=[*command, str(folder)], folder=folder), path, KustomizationError)
    if result.code != 0:
        complaint = result.complaint.decode("utf-8", "replace")
        raise _explain(path, complaint.replace(f"{temporary / _SOURCE}/", "").replace(str(temporary / _SOURCE), "."))
    return result.output


def _make_command(path: str, *, is_restricted: bool) -> tuple[str, ...]:
    restrictor = "LoadRestrictionsRootOnly" if is_restricted else "LoadRestrictionsNone"
    for tool, words in _TOOLS:
        tool_path = shutil.which(tool)
        if tool_path:
            return (tool_path, *words, "--load-restrictor", restrictor)
    raise SourceError(
        f"{path} must be built, but neither kustomize nor kubectl is installed.",
        hint="Install one of them, or set --path to a folder without kustomizations.",
    )


def _explain(path: str, complaint: str) -> KustomizationError:
    folder = str(PurePosixPath(path).parent)
    hint = f"Run `kustomize build {folder}`."
    if _RESTRICTED in complaint:
        hint = f"Set `loadRestrictor: none` for {folder} under `units` in gitsync.yaml, as Flux does, or move the file."
    return KustomizationError(f"{path} cannot be built: {_clean_complaint(complaint)}", hint=hint, path=path)


def _clean_complaint(complaint: str) -> str:
    """Clean what the tool said: without the prefix of its log, and without manifests that may have a secret."""
    lines = complaint.strip().splitlines()
    # The warnings of deprecated fields come before the cause, and are put behind it.
    warnings = [line for line in lines if line.startswith(_WARNING)]
    text = "\n".join(line for line in lines if not line.startswith(_WARNING)).strip()
    # kubectl writes its own log line around the message of kustomize.
    if logged := _KUBECTL_LOG.match(text):
        text = _unquote(logged[1]) if logged[1] else logged[2]
    text = " ".join(filter(None, (text.removeprefix("Error: "), *warnings)))
    # The tool quotes the manifest that it cannot patch.
    if _SECRET.search(text):
        text = _QUOTED.sub("(not shown: it may have a secret)", text)
    return clean_complaint(text)


def _unquote(text: str) -> str:
    try:
        return str(json.loads(text))
    except ValueError:
        return text
